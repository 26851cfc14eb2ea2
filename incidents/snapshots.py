"""Dated snapshots: the library of one moment in every form, in a folder of its own that is whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.conf import settings
from django.http import QueryDict
from django.utils import timezone

from incidents.errors import Conflict
from incidents.exports import FORMS, changes_chunks, manifest, read_choice

ATTEMPTS: Final = 5
EVERYTHING: Final = "include=withdrawn,merged"


@dataclass(frozen=True)
class Snapshot:
    """A snapshot that was taken."""

    folder: Path
    records: int
    files: int


def take_snapshot(parent: Path) -> Snapshot:
    """Write every form, changes.csv and manifest.json to `parent`/YYYY-MM-DD-r<revision> and return what was written.

    The folder is made beside its place and moved there when all is written. Where the library changes meanwhile the
    files would not agree, so all is written again. Raises Conflict where it is there already or the library changes on
    and on, OSError where it can't be written.
    """
    for _ in range(ATTEMPTS):
        choice = read_choice(QueryDict(EVERYTHING))
        name = f"{timezone.now():%Y-%m-%d}-r{choice.revision}"
        folder = parent / name
        if folder.exists():
            raise Conflict(f"이 스냅숏은 이미 있습니다: {folder}. 라이브러리가 바뀐 뒤에 다시 만드십시오.")
        beside = parent / f".{name}.{os.getpid()}"
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        try:
            files = {form.filename: _write(beside / form.filename, form.chunks(choice)) for form in FORMS}
            files["changes.csv"] = _write(beside / "changes.csv", changes_chunks(settings.BASE_URL))
            about = {**manifest(choice), "taken_at": f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}", "files": files}
            (beside / "manifest.json").write_text(json.dumps(about, ensure_ascii=False, indent=2) + "\n", "utf-8")
            if read_choice(QueryDict(EVERYTHING)).revision == choice.revision:
                beside.rename(folder)
                return Snapshot(folder, choice.total, len(files) + 1)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    raise Conflict("라이브러리가 계속 바뀌어 스냅숏을 만들지 못했습니다. 편집이 뜸할 때 다시 만드십시오.")


def _write(path: Path, chunks: Iterable[bytes]) -> dict[str, object]:
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        for chunk in chunks:
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    return {"sha256": digest.hexdigest(), "bytes": size}
