"""Analyses of documents kept by content, so that a rebuild analyses only what has changed."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection
from pathlib import Path

import numpy as np

from incidents.search.base import SearchDocument
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
        if self._connection is not None:
            try:
                row = self._connection.execute(
                    "SELECT lengths, words, surfaces FROM analysed WHERE key = ?", (key,)
                ).fetchone()
                if row:
                    return AnalysedDocument(unpack(row[1]), unpack(row[2]), np.frombuffer(row[0], "<i8"))
            except Exception:  # a damaged cache is as good as none
                logger.warning("unreadable token cache", exc_info=True)
        analysed = analyse(document)
        if self._connection is not None:
            lengths = np.asarray(analysed.lengths, "<i8").tobytes()
            values = (key, lengths, pack(analysed.words), pack(analysed.surfaces))
            try:
                self._connection.execute("INSERT OR REPLACE INTO analysed VALUES (?, ?, ?, ?)", values)
            except sqlite3.Error:
                logger.warning("token cache not written", exc_info=True)
        return analysed

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
