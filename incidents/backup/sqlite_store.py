"""SQLite: copied by its online backup, put back inside one transaction of the live file.

The live file is never renamed or replaced: workers hold it open, and a file put in its place would leave them writing
to one that no longer has a name. Instead its tables are replaced by SQL in one immediate transaction. In WAL mode
readers see the old tables until the commit; a process killed before it leaves them as they were.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection
from django.utils import timezone

from incidents.backup.stores import SESSIONS, Store
from incidents.errors import UserError
from incidents.models.library import next_lineage

WAIT_SECONDS = 60.0
STATE = "incidents_librarystate"
DAMAGED = "데이터베이스가 상해 있습니다({why}). 가장 가까운 백업에서 restore 로 되살리십시오."


class SqliteStore(Store):
    engine = "sqlite"
    member = "library.sqlite3"

    def __init__(self, path: Path) -> None:
        self.path = path

    def copy(self, target: Path) -> None:
        if not self.path.exists():
            raise UserError(f"백업할 데이터베이스가 없습니다: {self.path}. KB_DATA_DIR 을 확인하십시오.")
        try:
            self._snapshot(target)
            with closing(sqlite3.connect(target, isolation_level=None)) as copy:
                copy.execute("PRAGMA journal_mode=DELETE")
                if _has_table(copy, SESSIONS):
                    copy.execute(f'DELETE FROM "{SESSIONS}"')  # noqa: S608, a constant
                copy.execute("VACUUM")
        except sqlite3.OperationalError as error:
            raise OSError(f"{error}") from error
        except sqlite3.DatabaseError as error:
            raise UserError(DAMAGED.format(why=error)) from error
        self.check(target)

    def _snapshot(self, target: Path) -> None:
        """Copy in one step: a step at a time would start anew whenever somebody writes."""
        with (
            closing(sqlite3.connect(self.path, timeout=WAIT_SECONDS)) as live,
            closing(sqlite3.connect(target)) as copy,
        ):
            live.backup(copy, pages=-1)

    def check(self, copy: Path) -> None:
        try:
            with closing(sqlite3.connect(copy)) as database:
                found = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
                broken = database.execute("PRAGMA foreign_key_check").fetchone()
                has_state = _has_table(database, STATE)
        except sqlite3.DatabaseError as error:
            raise UserError(DAMAGED.format(why=error)) from error
        if found != "ok":
            raise UserError(DAMAGED.format(why=found))
        if broken is not None:
            raise UserError(DAMAGED.format(why=f"{broken[0]} 표의 {broken[1]}번 행이 없는 것을 가리킵니다"))
        if not has_state:
            raise UserError("이 라이브러리의 데이터베이스가 아닙니다. backup 명령으로 만든 파일을 주십시오.")

    def migrate(self, copy: Path) -> None:
        """Run the migrations on the copy, in a process whose only database it is."""
        done = subprocess.run(  # noqa: S603, our own command
            [sys.executable, str(settings.BASE_DIR / "manage.py"), "migrate", "--no-input", "--verbosity", "0"],
            env={
                **os.environ,
                "KB_DATA_DIR": str(settings.DATA_DIR),
                "DATABASE_URL": f"sqlite:///{quote(str(copy))}",
            },
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            raise UserError(
                "백업의 표를 지금 판으로 올리지 못했습니다. 아무것도 바꾸지 않았습니다. 백업을 만든 판으로 복원한 뒤 "
                f"올리십시오. 까닭: {(done.stderr.strip().splitlines() or ['?'])[-1]}"
            )
        with closing(sqlite3.connect(copy)) as database:
            database.execute("PRAGMA journal_mode=DELETE")  # all of it in the one file that is attached next

    def is_empty(self) -> bool:
        if not self.path.exists():
            return True
        with closing(sqlite3.connect(self.path)) as live:
            return not _has_table(live, STATE)

    def swap(self, copy: Path, keep: Path | None) -> None:
        connection.close()
        with closing(sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)) as live:
            live.execute("PRAGMA journal_mode=WAL")
            live.execute("PRAGMA foreign_keys=OFF")
            live.execute("ATTACH ? AS incoming", (str(copy),))
            live.execute("BEGIN IMMEDIATE")
            try:
                if keep is not None:
                    self._snapshot(keep)
                revision = max(_revision(live, "main"), _revision(live, "incoming"))
                _replace_tables(live)
                _begin_lineage(live, next_lineage(revision))
                live.execute("COMMIT")
            except BaseException:
                live.execute("ROLLBACK")
                raise
            live.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _has_table(database: sqlite3.Connection, name: str, schema: str = "main") -> bool:
    query = f"SELECT 1 FROM {schema}.sqlite_master WHERE type = 'table' AND name = ?"  # noqa: S608, our own names
    return database.execute(query, (name,)).fetchone() is not None


def _revision(database: sqlite3.Connection, schema: str) -> int:
    if not _has_table(database, STATE, schema):
        return 0
    row = database.execute(f"SELECT revision FROM {schema}.{STATE}").fetchone()  # noqa: S608, our own names
    return int(row[0]) if row is not None else 0


def _begin_lineage(live: sqlite3.Connection, revision: int) -> None:
    """Give the library and every record that was ever public a revision that none had before, here or elsewhere.

    Processes keep texts by record and revision; a backup of another machine may have the same pairs for other texts.
    """
    now = timezone.now().strftime("%Y-%m-%d %H:%M:%S.%f")
    live.execute(f"UPDATE main.{STATE} SET revision = ?, changed_at = ?", (revision, now))  # noqa: S608, a constant
    live.execute("UPDATE main.incidents_incident SET revision = ? WHERE revision > 0", (revision,))


def _replace_tables(live: sqlite3.Connection) -> None:
    """Drop every table of `main` and make those of `incoming` in their place, with rows, indexes and counters."""
    for kind, name in live.execute(
        "SELECT type, name FROM main.sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    ).fetchall():
        live.execute(f"DROP {kind} main.{_quoted(name)}")
    entries = live.execute(
        "SELECT type, name, sql FROM incoming.sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        " ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 ELSE 2 END"
    ).fetchall()
    tables = [name for kind, name, _ in entries if kind == "table"]
    for kind, _, sql in entries:
        if kind == "table":
            live.execute(sql)
    for name in tables:
        columns = ", ".join(
            _quoted(row[1]) for row in live.execute(f"PRAGMA main.table_xinfo({_quoted(name)})") if row[6] == 0
        )
        table = _quoted(name)
        live.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM incoming.{table}")  # noqa: S608, quoted
    for kind, _, sql in entries:
        if kind != "table":
            live.execute(sql)
    if _has_table(live, "sqlite_sequence", "incoming"):
        live.execute("DELETE FROM main.sqlite_sequence")
        live.execute("INSERT INTO main.sqlite_sequence (name, seq) SELECT name, seq FROM incoming.sqlite_sequence")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
