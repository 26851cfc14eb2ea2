"""Analyses of documents kept by content, so that a rebuild analyses only what has changed."""

from __future__ import annotations

import logging
import sqlite3
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from incidents.search.base import SearchDocument
from incidents.search.bulk import analyse_all
from incidents.search.documents import PackedDocument, analyse_packed, content_key, unpack

logger = logging.getLogger(__name__)

_KEPT_AT_ONCE: Final = 100


class TokenCache:
    """Analyses kept by content, so that a rebuild analyses only what changed. Losing it costs time, nothing else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = self._open()
        except sqlite3.Error:
            path.unlink(missing_ok=True)
            try:
                self._connection = self._open()
            except sqlite3.Error:
                logger.warning("no token cache at %s", path, exc_info=True)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=10)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS analysed"
            " (key TEXT PRIMARY KEY, lengths BLOB NOT NULL, words BLOB NOT NULL, surfaces BLOB NOT NULL)"
        )
        return connection

    def analyse(self, document: SearchDocument) -> PackedDocument:
        """Return a document's analysis, from the cache where its content is known."""
        key = content_key(document)
        found = self._find([key]).get(key)
        if found is None:
            found = analyse_packed(document)
            self._keep([(key, found)])
        return found

    def analyse_all(self, documents: Iterable[SearchDocument]) -> Iterator[tuple[SearchDocument, str, PackedDocument]]:
        """Yield (document, its content's key, its analysis) in order; what is not known is analysed on all cores."""
        keys: deque[tuple[str, bool]] = deque()
        new: list[tuple[str, PackedDocument]] = []

        def known(batch: list[SearchDocument]) -> list[PackedDocument | None]:
            contents = [content_key(document) for document in batch]
            given = self._find(contents)
            keys.extend((content, content not in given) for content in contents)
            return [given.get(content) for content in contents]

        for document, analysed in analyse_all(documents, known, analyse_packed):
            key, is_new = keys.popleft()
            if is_new:
                new.append((key, analysed))
                if len(new) >= _KEPT_AT_ONCE:
                    self._keep(new)
                    new.clear()
            yield document, key, analysed
        self._keep(new)

    def _find(self, keys: Sequence[str]) -> dict[str, PackedDocument]:
        """Return the analyses of those contents that are known."""
        if self._connection is None:
            return {}
        try:
            marks = ", ".join("?" * len(keys))
            rows = self._connection.execute(
                f"SELECT key, words, surfaces, lengths FROM analysed WHERE key IN ({marks})",  # noqa: S608  # only marks
                keys,
            )
            found = {key: PackedDocument(*row) for key, *row in rows}
            for analysed in found.values():
                unpack(analysed.words)
                unpack(analysed.surfaces)
        except Exception:  # a damaged cache is as good as none
            logger.warning("unreadable token cache", exc_info=True)
            return {}
        return found

    def _keep(self, analyses: Iterable[tuple[str, PackedDocument]]) -> None:
        if self._connection is None:
            return
        rows = [(key, made.lengths, made.words, made.surfaces) for key, made in analyses]
        try:
            self._connection.executemany("INSERT OR REPLACE INTO analysed VALUES (?, ?, ?, ?)", rows)
        except sqlite3.Error:
            logger.warning("token cache not written", exc_info=True)

    def keep_only(self, keys: Collection[str]) -> None:
        """Forget every analysis but those of some contents."""
        if self._connection is None:
            return
        try:
            kept = set(keys)
            stale = [(key,) for (key,) in self._connection.execute("SELECT key FROM analysed") if key not in kept]
            self._connection.executemany("DELETE FROM analysed WHERE key = ?", stale)
        except sqlite3.Error:
            logger.warning("token cache not pruned", exc_info=True)

    def close(self) -> None:
        """Commit and close."""
        if self._connection is not None:
            try:
                self._connection.commit()
                self._connection.close()
            except sqlite3.Error:
                logger.warning("token cache not saved", exc_info=True)
            self._connection = None
