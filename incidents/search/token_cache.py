"""Analyses of documents kept by content, so that a rebuild analyses only what has changed."""

from __future__ import annotations

import logging
import sqlite3
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import numpy as np

from incidents.search.base import SearchDocument
from incidents.search.bulk import analyse_all
from incidents.search.documents import AnalysedDocument, analyse, content_key, pack, unpack

logger = logging.getLogger(__name__)


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

    def analyse(self, document: SearchDocument) -> AnalysedDocument:
        """Return a document's analysis, from the cache where its content is known."""
        key = content_key(document)
        found = self._find(key)
        if found is None:
            found = analyse(document)
            self._keep(key, found)
        return found

    def analyse_all(
        self, documents: Iterable[SearchDocument]
    ) -> Iterator[tuple[SearchDocument, str, AnalysedDocument]]:
        """Yield (document, its content's key, its analysis) in order; what is not known is analysed on all cores."""
        keys: deque[tuple[str, bool]] = deque()

        def known(batch: list[SearchDocument]) -> list[AnalysedDocument | None]:
            found = []
            for document in batch:
                key = content_key(document)
                found.append(self._find(key))
                keys.append((key, found[-1] is None))
            return found

        for document, analysed in analyse_all(documents, known):
            key, is_new = keys.popleft()
            if is_new:
                self._keep(key, analysed)
            yield document, key, analysed

    def _find(self, key: str) -> AnalysedDocument | None:
        if self._connection is None:
            return None
        try:
            row = self._connection.execute(
                "SELECT lengths, words, surfaces FROM analysed WHERE key = ?", (key,)
            ).fetchone()
            if row:
                return AnalysedDocument(unpack(row[1]), unpack(row[2]), np.frombuffer(row[0], "<i8"))
        except Exception:  # a damaged cache is as good as none
            logger.warning("unreadable token cache", exc_info=True)
        return None

    def _keep(self, key: str, analysed: AnalysedDocument) -> None:
        if self._connection is None:
            return
        lengths = np.asarray(analysed.lengths, "<i8").tobytes()
        values = (key, lengths, pack(analysed.words), pack(analysed.surfaces))
        try:
            self._connection.execute("INSERT OR REPLACE INTO analysed VALUES (?, ?, ?, ?)", values)
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
