"""A library in a ZIP archive, as the export and the snapshot make it → a library folder. No database.

Only the last part of a name counts, so that no entry can be written elsewhere, and any folder around is all right.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Final

from incidents.errors import UserError
from incidents.library_files import CHECKS_FILE, NOT_RECORDS, RECORDS_FOLDER, TAXONOMY_FILE

MAX_ENTRY_BYTES: Final = 64 * 1024 * 1024  # a taxonomy or a record is a thousandth of it


@contextmanager
def library_at(path: Path) -> Iterator[Path]:
    """Give the folder or file that `path` is; of a ZIP archive a folder with its files, gone afterwards.

    Raises UserError for what is no ZIP archive or has a file that no library has.
    """
    if path.suffix.lower() != ".zip" or not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="library-") as folder:
        with path.open("rb") as stream:
            for name, content in zip_entries(stream, path.name):
                lay_out(Path(folder), name, content)
        yield Path(folder)


def zip_entries(
    stream: IO[bytes], shown: str, *, most: int | None = None, most_bytes: int | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the files of a ZIP archive; `shown` is its name in errors.

    Raises UserError for what is no ZIP archive, and for more than `most` files or `most_bytes` in all.
    """
    try:
        with zipfile.ZipFile(stream) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            size = sum(info.file_size for info in infos)
            if (most is not None and len(infos) > most) or (most_bytes is not None and size > most_bytes):
                raise UserError("묶음이 너무 큽니다. 명령 import_library 로 가져오십시오.")
            for info in infos:
                if info.file_size > MAX_ENTRY_BYTES:
                    raise UserError(f"묶음 안의 파일이 너무 큽니다: {plain_name(info.filename)}.")
                with archive.open(info) as entry:
                    yield info.filename, entry.read(info.file_size + 1)  # an archive may lie about the size
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise UserError(f"열 수 없는 ZIP 파일입니다: {shown}. 다시 묶어 주십시오.") from error


def lay_out(folder: Path, name: str, content: bytes) -> None:
    """Write a file to its place in a library folder. Raises UserError for a name that no library has, or has twice."""
    place = _place_of(name)
    if place is None:
        return
    file = folder / place
    if file.exists():
        raise UserError(f"같은 이름의 파일이 둘입니다: {place}. 하나만 남기십시오.")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def plain_name(name: str | None) -> str:
    """Return the last part of a file's name, as it can be shown and written."""
    return PurePosixPath((name or "파일").replace("\\", "/")).name.replace("\x00", "")[:150] or "파일"


def _place_of(name: str) -> str | None:
    """Return where a file belongs in a library folder; None for what may lie beside records."""
    last = plain_name(name)
    if last.startswith((".", "__")) or last.lower() in NOT_RECORDS:
        return None
    if last in {TAXONOMY_FILE, CHECKS_FILE}:
        return last
    if last.endswith(".md"):
        return f"{RECORDS_FOLDER}/{last}"
    raise UserError(
        f"기록이 아닌 파일입니다: {last[:80]}. IL-0001.md, taxonomy.yaml, checks.yaml 이나 그 ZIP 을 고르십시오."
    )
