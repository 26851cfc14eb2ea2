"""PostgreSQL: copied by pg_dump in one snapshot, put back in one transaction of psql.

The dump's tables replace the live ones between a lock and a commit: readers wait a moment at the end and then see the
restored library; a process killed before leaves everything as it was. `pg_dump`, `pg_restore` and `psql` must be at hand,
of the server's version or a later one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from django.core.management import call_command
from django.db import DatabaseError, connection

from incidents.backup.stores import SESSIONS, Store
from incidents.errors import UserError
from incidents.models.library import LINEAGE

STATE: Final = "incidents_librarystate"
# Taken first and in this order, so that writers wait and every acknowledged change is in the kept state.
LOCK: Final = """
BEGIN;
CREATE TEMPORARY TABLE kept_revision (revision bigint) ON COMMIT DROP;
DO $$
DECLARE one record;
BEGIN
  FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename LOOP
    EXECUTE format('LOCK TABLE public.%I IN EXCLUSIVE MODE', one.tablename);
  END LOOP;
  IF to_regclass('public.incidents_librarystate') IS NOT NULL THEN
    INSERT INTO kept_revision SELECT revision FROM public.incidents_librarystate;
  END IF;
END $$;
"""
DROP: Final = """
DO $$
DECLARE one record;
BEGIN
  FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
    EXECUTE format('DROP TABLE public.%I CASCADE', one.tablename);
  END LOOP;
  FOR one IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' LOOP
    EXECUTE format('DROP SEQUENCE public.%I CASCADE', one.sequencename);
  END LOOP;
  FOR one IN SELECT p.oid::regprocedure AS signature FROM pg_proc p
      WHERE p.pronamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') LOOP
    EXECUTE format('DROP ROUTINE %s CASCADE', one.signature);
  END LOOP;
END $$;
"""
FINISH: Final = """
UPDATE public.incidents_librarystate SET changed_at = now(), revision =
  (greatest(revision, coalesce((SELECT max(revision) FROM pg_temp.kept_revision), 0)) / LINEAGE + 1) * LINEAGE;
UPDATE public.incidents_incident SET revision = (SELECT revision FROM public.incidents_librarystate) WHERE revision > 0;
COMMIT;
""".replace("LINEAGE", str(LINEAGE))


class PostgresStore(Store):
    engine = "postgresql"
    member = "library.pgdump"

    def copy(self, target: Path) -> None:
        self._dump(target)
        self.check(target)

    def _dump(self, target: Path) -> None:
        self._run(
            "pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--schema=public",
            f"--exclude-table-data=public.{SESSIONS}", f"--file={target}",
        )  # fmt: skip

    def check(self, copy: Path) -> None:
        listed = self._run("pg_restore", "--list", str(copy))
        if f"TABLE DATA public {STATE} " not in listed:
            raise UserError("이 라이브러리의 데이터베이스가 아닙니다. backup 명령으로 만든 파일을 주십시오.")

    def migrate(self, copy: Path) -> None:
        """A dump can't be migrated beside the library: swap() does it after the exchange."""

    def is_empty(self) -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass(%s)", [f"public.{STATE}"])
            (found,) = cursor.fetchone()
        return found is None

    def swap(self, copy: Path, keep: Path | None) -> None:
        connection.close()
        script = copy.with_name("restore.sql")
        self._run("pg_restore", "--no-owner", "--no-privileges", f"--file={script}", str(copy))
        psql = subprocess.Popen(  # noqa: S603, our own arguments
            [_program("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"],
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            if psql.stdin is None or psql.stdout is None:
                raise DatabaseError("psql has no input")  # never: both are pipes
            psql.stdin.write(LOCK + "\\echo locked\n")
            psql.stdin.flush()
            if psql.stdout.readline().strip() != "locked":
                raise DatabaseError(psql.communicate()[1].strip() or "no lock")
            if keep is not None:
                self._dump(keep)
            statements = script.read_text("utf-8")
            # The schema itself stays: making it again would fail, and its owner may be somebody else.
            statements = statements.replace("CREATE SCHEMA public;", "")
            _, errors = psql.communicate(f"{DROP}\n{statements}\n{FINISH}")
            if psql.returncode:
                raise DatabaseError((errors.strip().splitlines() or ["?"])[0])
        finally:
            if psql.poll() is None:
                psql.kill()
                psql.wait()
        call_command("migrate", verbosity=0)

    def _environment(self) -> dict[str, str]:
        """Return the process's environment with the database's address; a password never stands among arguments."""
        settings = connection.settings_dict
        named = {
            "PGDATABASE": settings["NAME"],
            "PGUSER": settings["USER"],
            "PGPASSWORD": settings["PASSWORD"],
            "PGHOST": settings["HOST"],
            "PGPORT": settings["PORT"],
        }
        options = settings.get("OPTIONS", {})
        if "sslmode" in options:
            named["PGSSLMODE"] = options["sslmode"]
        return {**os.environ, **{name: str(value) for name, value in named.items() if value}}

    def _run(self, name: str, *args: str) -> str:
        done = subprocess.run(  # noqa: S603, our own arguments
            [_program(name), *args], env=self._environment(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise UserError(f"실패했습니다: {name}. 아무것도 바꾸지 않았습니다. 까닭: {done.stderr.strip()[-400:]}")
        return done.stdout


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UserError(f"찾을 수 없는 프로그램입니다: {name}. PostgreSQL 의 클라이언트 도구를 설치하십시오.")
    return found
