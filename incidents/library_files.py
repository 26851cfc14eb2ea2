"""The files of a library's folder, found and read one by one. No database.

taxonomy.yaml  checks.yaml  incidents/IL-0001.md …      (or the records beside the two files)
"""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from incidents import checks_file, records, taxonomy_file
from incidents.checks_file import LocatedChecks, parse_located_checks
from incidents.errors import NotFound, UserError
from incidents.faults import Fault, RecordError
from incidents.records import LocatedRecord, parse_located
from incidents.taxonomy_file import TaxonomyData, parse_taxonomy

TAXONOMY_FILE = "taxonomy.yaml"
CHECKS_FILE = "checks.yaml"
RECORDS_FOLDER = "incidents"

# Markdown files of a library's own that may lie beside records.
NOT_RECORDS = frozenset({"readme.md", "format.md", "license.md", "contributing.md", "changelog.md"})


@dataclass(frozen=True, slots=True)
class LibraryFolder:
    """Where the files of a library lie; nothing of them is read yet. Files are named relative to `root` in faults."""

    root: Path
    record_files: tuple[Path, ...] = ()
    taxonomy_file: Path | None = None
    checks_file: Path | None = None
    faults: tuple[Fault, ...] = field(default=())

    def name(self, file: Path) -> str:
        """Return the file as faults name it."""
        return file.relative_to(self.root).as_posix()

    def __len__(self) -> int:
        """Return the number of record files."""
        return len(self.record_files)


def find_library(path: Path) -> LibraryFolder:
    """Return the files of a library folder, or the one file that `path` is.

    Raises NotFound when there is nothing at `path`, UserError when there is nothing to read in it.
    """
    if path.is_dir():
        folder = _find_in_folder(path)
        if not (folder.record_files or folder.taxonomy_file or folder.checks_file or folder.faults):
            raise UserError(
                f"읽을 것이 없습니다: {path}. {TAXONOMY_FILE}, {CHECKS_FILE}, "
                f"{RECORDS_FOLDER}/IL-0001.md 같은 파일이 있는 폴더를 주십시오."
            )
        return folder
    if not path.exists():
        raise NotFound(f"파일이나 폴더가 없습니다: {path}. 경로를 확인해 주십시오.")
    if path.name == TAXONOMY_FILE:
        return LibraryFolder(path.parent, taxonomy_file=path)
    if path.name == CHECKS_FILE:
        return LibraryFolder(path.parent, checks_file=path)
    if path.suffix == ".md":
        return LibraryFolder(path.parent, record_files=(path,))
    raise UserError(
        f"읽을 수 없는 파일입니다: {path}. 기록(.md), {TAXONOMY_FILE}, {CHECKS_FILE} 가운데 하나를 주십시오."
    )


def _find_in_folder(root: Path) -> LibraryFolder:
    faults: list[Fault] = []
    found: list[Path] = []
    for base, folders, names in os.walk(root):
        folder = Path(base)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if folder == root:
            folders[:] = [name for name in folders if name == RECORDS_FOLDER]
        for name in sorted(names):
            if name.startswith((".", "~")):
                continue
            file = folder / name
            if name.endswith(".md"):
                if name.lower() not in NOT_RECORDS:
                    found.append(file)
            elif folder != root or name.startswith("IL-"):
                advice = "기록이 아닌 파일입니다. 기록이면 IL-0135.md 처럼 이름을 고치고, 아니면 옮겨 주십시오."
                faults.append(Fault(file.relative_to(root).as_posix(), 1, advice))
            elif name in {"taxonomy.yml", "checks.yml"}:
                faults.append(Fault(name, 1, f"파일 이름을 {name.removesuffix('.yml')}.yaml 로 고쳐 주십시오."))
    taxonomy, checks = root / TAXONOMY_FILE, root / CHECKS_FILE
    return LibraryFolder(
        root,
        tuple(found),
        taxonomy if taxonomy.exists() else None,
        checks if checks.exists() else None,
        tuple(faults),
    )


def read_bytes(file: Path, name: str, *, limit: int) -> bytes:
    """Return the bytes of a file, at most one more than `limit`. Raises RecordError when it can't be read."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise RecordError([Fault(name, 1, "보통 파일이 아닙니다. 옮기거나 지워 주십시오.")])
        with file.open("rb") as stream:
            return stream.read(limit + 1)
    except OSError as error:
        reason = error.strerror or "알 수 없는 까닭"
        raise RecordError([Fault(name, 1, f"파일을 읽을 수 없습니다({reason}). 권한을 확인해 주십시오.")]) from error


def read_located(folder: LibraryFolder, file: Path) -> LocatedRecord:
    """Return one record of the folder. Raises RecordError."""
    name = folder.name(file)
    return parse_located(read_bytes(file, name, limit=records.MAX_BYTES), name)


def read_taxonomy(folder: LibraryFolder) -> TaxonomyData | None:
    """Return the folder's taxonomy, None when it has none. Raises RecordError."""
    file = folder.taxonomy_file
    if file is None:
        return None
    return parse_taxonomy(read_bytes(file, folder.name(file), limit=taxonomy_file.MAX_BYTES), folder.name(file))


def read_checks(folder: LibraryFolder) -> LocatedChecks | None:
    """Return the folder's checks, None when it has none. Raises RecordError."""
    file = folder.checks_file
    if file is None:
        return None
    return parse_located_checks(read_bytes(file, folder.name(file), limit=checks_file.MAX_BYTES), folder.name(file))
