"""Putting a backup in the place of the library: verified first, prepared beside, swapped in one transaction."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

from incidents.backup.archive import Manifest, read_archive, scratch_folder, write_archive
from incidents.backup.making import describe
from incidents.backup.stores import Store, open_store
from incidents.catalogue import forget_catalogue
from incidents.errors import UserError
from incidents.indexing import rebuild_index

KEPT = "before-restore-%Y%m%dT%H%M%SZ.zip"
ENGINES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@dataclass(frozen=True)
class RestoreReport:
    """What was put in, and where the state before it is kept (None where there was no library yet)."""

    manifest: Manifest
    kept: Path | None
    is_migrated: bool


def restore_backup(path: Path, *, step: Callable[[], object] | None = None) -> RestoreReport:
    """Bring the library to the state of a backup, with the server running or not.

    The file is checked to its last byte and unpacked, its database checked and migrated beside the live one; then the
    tables are exchanged in one transaction, the state before is kept as a backup of its own in the data folder, and
    the index is built anew. Raises UserError; up to the exchange nothing has changed then.
    """
    store = open_store()
    settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    try:
        with _alone(), scratch_folder(settings.DATA_DIR) as folder:
            manifest, copy = read_archive(path, folder)
            _require_fit(manifest, store, path)
            store.check(copy)
            is_old = _pending(manifest)
            if is_old:
                store.migrate(copy)
                store.check(copy)
            kept = _swap(store, copy, folder)
    except OSError as error:
        raise UserError(
            f"복원하지 못했습니다({error.strerror or error}). 라이브러리는 그대로입니다. "
            "남은 공간과 권한을 확인하십시오."
        ) from error
    connection.close()
    forget_catalogue()
    rebuild_index(step=step)
    return RestoreReport(manifest, kept, is_old)


def _require_fit(manifest: Manifest, store: Store, path: Path) -> None:
    if manifest.engine != store.engine:
        raise UserError(
            f"다른 데이터베이스의 백업입니다: {ENGINES.get(manifest.engine, manifest.engine)}. 여기는 "
            f"{ENGINES[store.engine]}. 같은 종류에 복원한 뒤 export_library 와 import_library 로 옮기십시오."
        )
    loader = MigrationLoader(None)
    known = set(loader.disk_migrations)
    newer = [
        f"{app}.{name}"
        for app, names in manifest.migrations.items()
        if app in loader.migrated_apps
        for name in names
        if (app, name) not in known
    ]
    if newer:
        raise UserError(
            f"더 새로운 판의 백업입니다({newer[0]}): {path.name}. 라이브러리를 먼저 그 판으로 올린 뒤 복원하십시오."
        )


def _pending(manifest: Manifest) -> bool:
    applied = {(app, name) for app, names in manifest.migrations.items() for name in names}
    return bool(set(MigrationLoader(None).disk_migrations) - applied)


def _swap(store: Store, copy: Path, folder: Path) -> Path | None:
    """Exchange the tables and return where the state before is kept, packed as a backup."""
    try:
        if store.is_empty():
            store.swap(copy, None)
            return None
        before = describe(store)
        keep = folder / "before"
        store.swap(copy, keep)
    except (DatabaseError, sqlite3.DatabaseError) as error:
        return _swap_for_damaged(store, copy, error)
    target = settings.DATA_DIR / datetime.now(UTC).strftime(KEPT)
    try:
        write_archive(target, keep, before)
    except OSError:
        # The exchange is done; rather an unpacked copy than none.
        target = target.with_suffix(".sqlite3")
        with suppress(OSError):
            keep.replace(target)
    return target


def _swap_for_damaged(store: Store, copy: Path, error: Exception) -> Path | None:
    """Set a live SQLite file that can't be read aside, and put the copy in its place."""
    path: Path | None = getattr(store, "path", None)
    if path is None or "locked" in str(error) or "full" in str(error):
        raise UserError(
            f"복원하지 못했습니다({error}). 라이브러리는 그대로입니다. 다른 작업이 끝난 뒤 다시 하십시오."
        ) from error
    connection.close()
    aside = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    store.swap(copy, None)
    return aside


@contextmanager
def _alone() -> Iterator[None]:
    """Let one restore at a time work on a data folder. Raises UserError where another one does."""
    with (settings.DATA_DIR / "restore.lock").open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UserError("다른 복원이 진행되고 있습니다. 끝난 뒤 다시 하십시오.") from error
        yield
