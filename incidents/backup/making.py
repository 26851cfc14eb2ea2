"""Making a backup while the library serves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from incidents.backup.archive import Manifest, scratch_folder, write_archive
from incidents.backup.stores import Store, open_store
from incidents.errors import UserError
from incidents.models import Incident, IncidentVersion, LibraryState

NAME: Final = "library-%Y%m%dT%H%M%SZ.zip"
PATTERN: Final = "library-????????T??????Z.zip"


@dataclass(frozen=True)
class BackupReport:
    """What was written, where, and how large it is in bytes."""

    path: Path
    size: int
    manifest: Manifest


def backup_name(now: datetime) -> str:
    """Return a backup's name in a folder: sorted by name is sorted by time."""
    return now.astimezone(UTC).strftime(NAME)


def make_backup(target: Path, *, overwrite: bool = False) -> BackupReport:
    """Write everything that the library holds into one file; `target` may be a folder, which gets a name by time.

    Changes that were acknowledged before the start are in it; the library goes on serving and editing meanwhile.
    Raises UserError where the file exists already or can't be written; then no file that looks whole is left.
    """
    if target.is_dir():
        target = target / backup_name(datetime.now(UTC))
    if target.exists() and not overwrite:
        raise UserError(f"이미 있는 파일입니다: {target}. 다른 이름을 주거나 --overwrite 를 붙이십시오.")
    store = open_store()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(target.parent) as folder:
            copy = folder / store.member
            manifest = describe(store)
            store.copy(copy)
            whole = write_archive(target, copy, manifest)
            return BackupReport(target, target.stat().st_size, whole)
    except OSError as error:
        raise UserError(
            f"백업을 쓰지 못했습니다: {target} ({error.strerror or error}). 남은 공간과 권한을 확인하고 다시 하십시오."
        ) from error


def describe(store: Store) -> Manifest:
    """Return the manifest of the library as it is now, without the copy's size and checksum."""
    migrations: dict[str, list[str]] = {}
    for app, name in sorted(MigrationRecorder(connection).applied_migrations()):
        migrations.setdefault(app, []).append(name)
    return Manifest(
        engine=store.engine,
        created_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        revision=LibraryState.objects.current_revision(),
        counts={
            "records": Incident.objects.count(),
            "published": Incident.objects.filter(status="published").count(),
            "versions": IncidentVersion.objects.count(),
        },
        migrations=migrations,
        member=store.member,
        extra={"base_url": settings.BASE_URL},
    )


def prune(folder: Path, keep: int) -> list[Path]:
    """Remove all but the `keep` latest backups of a folder, those named by time only, and return what is gone."""
    old = sorted(folder.glob(PATTERN))[:-keep] if keep > 0 else []
    for path in old:
        path.unlink(missing_ok=True)
    return old
