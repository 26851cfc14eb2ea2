"""Everybody at once on one SQLite file: readers, editors, imports and backups get along, and nothing is lost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.conftest import FIXTURES, Server
from tests.torture.scenarios import Editor, Figures, Reader, require_whole

EDITS = 2
PATIENCE = 240  # seconds; only a machine that is busy with something else needs them


def test_readers_editors_imports_and_a_backup_at_once(make_server: Callable[..., Server], tmp_path: Path) -> None:
    server = make_server(KB_FORM_RATE="0", KB_API_RATE="0")
    stop = threading.Event()
    editors = [Editor(server, pk, stop) for pk in (11, 12, 13, 14)]
    readers = [Reader(server, stop) for _ in range(6)]
    folder = tmp_path / "import"
    (folder / "incidents").mkdir(parents=True)
    for thread in (*editors, *readers):
        thread.start()
    try:
        for number in (1, 2):
            text = (FIXTURES / "incidents" / "IL-0200.md").read_text()
            changed = text.replace("## 증상\n", f"## 증상\n기린이 {number}번 랙에 기대어 있었다. ", 1)
            (folder / "incidents" / "IL-0200.md").write_text(changed)
            server.manage("import_library", str(folder / "incidents" / "IL-0200.md"))
        server.manage("backup", str(tmp_path / "backup.zip"))
        waited = 0
        while waited < PATIENCE and any(len(editor.acknowledged) < EDITS for editor in editors):
            stop.wait(1)
            waited += 1
    finally:
        stop.set()
        for thread in (*editors, *readers):
            thread.join(timeout=60)
    read = sum((reader.statuses for reader in readers), Counter[int]())
    refused = sum((editor.refused for editor in editors), Counter[int]())
    assert [len(editor.acknowledged) >= EDITS for editor in editors] == [True] * 4, refused
    assert set(read) == {200}
    assert refused == Counter()
    figures = Figures("everything at once")
    require_whole(figures, server, editors)
    assert figures.broken == []
