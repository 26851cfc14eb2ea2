"""The backup file: a zip archive that proves its own wholeness. Pure files, no database.

Its members are `manifest.json` and one copy of the database; its comment, the file's last bytes, is a SHA-256 of every
byte before the digest. So a cut, a flipped byte anywhere or a foreign file is known before anything is unpacked.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from incidents.errors import UserError

FORMAT: Final = "incident-library-backup"
FORMAT_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
SEAL: Final = b"sha256:"
SEAL_SIZE: Final = len(SEAL) + 64
CHUNK: Final = 1 << 20
LARGEST_MANIFEST: Final = 1_000_000

NOT_A_BACKUP: Final = "이 라이브러리의 백업 파일이 아닙니다: {name}. backup 명령으로 만든 파일을 주십시오."
DAMAGED: Final = "백업 파일이 상했습니다({why}): {name}. 아무것도 바꾸지 않았습니다. 다른 백업을 쓰십시오."


@dataclass(frozen=True)
class Manifest:
    """What a backup says of itself.

    engine: `sqlite` or `postgresql`. created_at: ISO time, UTC. migrations: {app: applied migrations}, in order.
    counts: rows that tell a reader whether it is the right file. member, size, sha256: the copy of the database.
    """

    engine: str
    created_at: str
    revision: int
    counts: Mapping[str, int]
    migrations: Mapping[str, list[str]]
    member: str
    size: int = 0
    sha256: str = ""
    format: str = FORMAT
    format_version: int = FORMAT_VERSION
    extra: Mapping[str, Any] = field(default_factory=dict)


def digest_of(path: Path, size: int | None = None) -> str:
    """Return the SHA-256 of a file's first `size` bytes, of all without it, in hexadecimal."""
    digest = hashlib.sha256()
    left = size if size is not None else path.stat().st_size
    with path.open("rb") as file:
        while left > 0 and (block := file.read(min(CHUNK, left))):
            digest.update(block)
            left -= len(block)
    return digest.hexdigest()


def write_archive(target: Path, data: Path, manifest: Manifest) -> Manifest:
    """Pack a copy of the database with its manifest into `target`, and return the manifest with size and checksum.

    The file is written beside its place, sealed, flushed and moved there: whatever fails, nothing that looks whole is
    left, and a file that stood there stays. Raises OSError.
    """
    whole = Manifest(**{**asdict(manifest), "size": data.stat().st_size, "sha256": digest_of(data)})
    with _beside(target) as scratch:
        with zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            archive.comment = SEAL + b"0" * 64
            archive.writestr(MANIFEST, json.dumps(asdict(whole), ensure_ascii=False, indent=1))
            archive.write(data, whole.member)
        seal = digest_of(scratch, scratch.stat().st_size - 64).encode("ascii")
        with scratch.open("r+b") as file:
            file.seek(-64, os.SEEK_END)
            file.write(seal)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(target)
        sync_folder(target.parent)
    return whole


def read_archive(path: Path, folder: Path) -> tuple[Manifest, Path]:
    """Check a backup to the last byte, unpack its database into `folder`, and return the manifest and that file.

    Raises UserError where it is no backup, is damaged, or was made by a later version of the format.
    """
    manifest = read_manifest(path)
    target = folder / "restored"
    try:
        with zipfile.ZipFile(path) as archive:
            if sorted(archive.namelist()) != sorted([MANIFEST, manifest.member]):
                raise UserError(DAMAGED.format(why="내용 목록이 다릅니다", name=path.name))
            # Copied up to the promised size: an archive that unpacks to more must not fill the disk.
            with archive.open(manifest.member) as packed, target.open("wb") as unpacked:
                _copy(packed, unpacked, manifest.size)
                if packed.read(1):
                    raise UserError(DAMAGED.format(why="크기가 다릅니다", name=path.name))
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, KeyError) as error:
        raise UserError(DAMAGED.format(why="풀 수 없습니다", name=path.name)) from error
    if target.stat().st_size != manifest.size or digest_of(target) != manifest.sha256:
        raise UserError(DAMAGED.format(why="체크섬이 다릅니다", name=path.name))
    return manifest, target


def read_manifest(path: Path) -> Manifest:
    """Return a backup's manifest after checking the seal over the whole file. Raises UserError."""
    name = path.name
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(0, size - SEAL_SIZE))
            seal = file.read()
    except OSError as error:
        raise UserError(f"읽을 수 없습니다: {path} ({error.strerror}). 자리와 권한을 확인하십시오.") from error
    if not seal.startswith(SEAL):
        is_zip = zipfile.is_zipfile(path) or _starts_like_zip(path)
        raise UserError(DAMAGED.format(why="끝이 없습니다", name=name) if is_zip else NOT_A_BACKUP.format(name=name))
    if digest_of(path, size - 64).encode("ascii") != seal[len(SEAL) :]:
        raise UserError(DAMAGED.format(why="체크섬이 다릅니다", name=name))
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
                raise ValueError("manifest too large")
            values = json.loads(archive.read(MANIFEST))
        if values["format"] != FORMAT:
            raise ValueError("another format")
        if values["format_version"] > FORMAT_VERSION:
            raise UserError(f"더 새로운 판의 백업입니다: {name}. 라이브러리를 먼저 새 판으로 올린 뒤 복원하십시오.")
        return Manifest(**values)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, NotImplementedError) as error:
        raise UserError(NOT_A_BACKUP.format(name=name)) from error


def _starts_like_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    left = size
    while left > 0 and (block := source.read(min(CHUNK, left))):
        target.write(block)
        left -= len(block)


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Yield a path for writing beside `target`; it is gone afterwards unless it was moved into place."""
    scratch = target.with_name(f".{target.name}.{os.getpid()}.part")
    scratch.unlink(missing_ok=True)
    os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # it holds the accounts' password hashes
    try:
        yield scratch
    finally:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Yield an empty folder in `parent` that only this user reads; it is gone afterwards."""
    folder = parent / f".backup-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a rename outlives a power cut. Where the system can't, nothing happens."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
