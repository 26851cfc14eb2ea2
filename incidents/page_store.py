"""Where finished answers lie: in this process first, then in a store that all processes share. Sizes are bounded.

Keys name the library's revision and the program, so nothing here ever goes out of date: what nobody can ask for any
more is only in the way, and is cleared.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.core.cache import caches

logger = logging.getLogger(__name__)

HEADER: Final = struct.Struct("<4sI")
MAGIC: Final = b"IL1\n"
REDIS_SECONDS: Final = 24 * 3600  # an answer that nobody asked for in a day makes room; it is no question of freshness
OTHER_PROGRAM_SECONDS: Final = 3600.0  # during an upgrade old and new processes serve side by side
QUIET_SECONDS: Final = 60.0  # a store that fails says so once in this time


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A finished 200: its headers in order, and its body as it goes over the wire."""

    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def size(self) -> int:
        """Bytes, about, that it takes in memory."""
        return len(self.body) + sum(len(name) + len(value) + 120 for name, value in self.headers) + 200

    def to_bytes(self) -> bytes:
        head = json.dumps(self.headers, ensure_ascii=False, separators=(",", ":")).encode()
        return HEADER.pack(MAGIC, len(head)) + head + self.body

    @classmethod
    def from_bytes(cls, data: bytes) -> StoredAnswer | None:
        """Return the answer, or None where the bytes are not one (a file cut short by a full disk)."""
        try:
            magic, length = HEADER.unpack_from(data)
            if magic != MAGIC:
                return None
            start = HEADER.size
            headers = tuple((str(name), str(value)) for name, value in json.loads(data[start : start + length]))
        except (struct.error, ValueError, TypeError):
            return None
        body = data[start + length :]
        promised = dict(headers).get("Content-Length")
        return cls(headers, body) if promised == str(len(body)) else None


class SharedStore(ABC):
    """Bytes by key, shared by processes. Never raises: a store that fails is an empty one."""

    @abstractmethod
    def get(self, epoch: str, key: str) -> bytes | None:
        """Return what lies under a key of an epoch (`program-revision`); None if nothing does."""

    @abstractmethod
    def put(self, epoch: str, key: str, data: bytes) -> None:
        """Keep bytes under a key."""


class FileStore(SharedStore):
    """A folder an epoch; each answer a file, moved into its place whole.

    The first answer of an epoch clears the earlier ones. Past `limit` bytes the files written first are removed.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._epoch = ""
        self._written = 0
        self._lock = threading.Lock()
        self._complained_at = 0.0

    def get(self, epoch: str, key: str) -> bytes | None:
        try:
            return self._path(epoch, key).read_bytes()
        except OSError:
            return None

    def put(self, epoch: str, key: str, data: bytes) -> None:
        path = self._path(epoch, key)
        beside = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(data)
            beside.replace(path)
        except OSError as error:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            if time.monotonic() - self._complained_at > QUIET_SECONDS:
                self._complained_at = time.monotonic()
                logger.warning("finished pages can't be kept in %s: %s", self.folder, error.strerror)
            return
        with self._lock:
            is_new = epoch != self._epoch
            self._epoch = epoch
            self._written += len(data)
            is_full = self._written > self.limit // 8
            if is_full:
                self._written = 0
        if is_new or is_full:
            threading.Thread(target=self.tidy, args=(epoch,), name="page-store", daemon=True).start()

    def tidy(self, epoch: str) -> None:
        """Remove the epochs before this one, and this one's oldest answers where they take more than the limit."""
        with suppress(OSError):
            for path in list(self.folder.iterdir()):
                if self._is_over(path, epoch):
                    shutil.rmtree(path, ignore_errors=True)
        files = []
        for path in (self.folder / epoch).glob("*/*"):
            with suppress(OSError):
                stat = path.stat()
                files.append((stat.st_mtime_ns, stat.st_size, path))
        files.sort(key=lambda item: item[:2])
        total = sum(size for _, size, _ in files)
        for _, size, path in files:
            if total <= self.limit * 3 // 4:
                break
            with suppress(OSError):
                path.unlink()
            total -= size

    @staticmethod
    def _is_over(path: Path, epoch: str) -> bool:
        """Return whether a folder belongs to an earlier revision, or to a program that has not written for an hour."""
        program, _, revision = epoch.partition("-")
        its_program, _, its_revision = path.name.partition("-")
        if its_program == program and its_revision.isdigit():
            return int(its_revision) < int(revision)
        return time.time() - path.stat().st_mtime > OTHER_PROGRAM_SECONDS

    def _path(self, epoch: str, key: str) -> Path:
        return self.folder / epoch / key[:2] / key


class RedisStore(SharedStore):
    """Django's default cache, where KB_CACHE_URL names a Redis; its own eviction bounds it (`allkeys-lru`)."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def get(self, epoch: str, key: str) -> bytes | None:
        if time.monotonic() < self._quiet_until:
            return None
        try:
            found = caches["default"].get(f"page:{epoch}:{key}")
        except Exception as error:  # whatever the client raises: without its store the library is slower, not down
            self._complain(error)
            return None
        return found if isinstance(found, bytes) else None

    def put(self, epoch: str, key: str, data: bytes) -> None:
        if time.monotonic() < self._quiet_until:
            return
        try:
            caches["default"].set(f"page:{epoch}:{key}", data, REDIS_SECONDS)
        except Exception as error:
            self._complain(error)

    def _complain(self, error: Exception) -> None:
        self._quiet_until = time.monotonic() + 5
        logger.warning("the shared cache does not answer, asked again in 5 s: %s", error)


class PageStore:
    """This process's answers, the most recently used within `limit` bytes, before the shared store."""

    def __init__(self, shared: SharedStore | None, limit: int) -> None:
        self.shared = shared
        self.limit = limit
        self._answers: OrderedDict[str, StoredAnswer] = OrderedDict()
        self._epoch = ""
        self._size = 0
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Bytes that this process keeps."""
        return self._size

    def get(self, epoch: str, key: str) -> StoredAnswer | None:
        """Return the answer under a key; None where there is none."""
        with self._lock:
            if epoch == self._epoch and (found := self._answers.get(key)) is not None:
                self._answers.move_to_end(key)
                return found
        data = self.shared.get(epoch, key) if self.shared else None
        answer = StoredAnswer.from_bytes(data) if data is not None else None
        if answer is not None:
            self._keep(epoch, key, answer)
        return answer

    def put(self, epoch: str, key: str, answer: StoredAnswer) -> None:
        """Keep an answer here and for the other processes."""
        self._keep(epoch, key, answer)
        if self.shared is not None:
            self.shared.put(epoch, key, answer.to_bytes())

    def _keep(self, epoch: str, key: str, answer: StoredAnswer) -> None:
        with self._lock:
            if epoch != self._epoch:
                self._answers.clear()
                self._size = 0
                self._epoch = epoch
            if (before := self._answers.pop(key, None)) is not None:
                self._size -= before.size
            self._answers[key] = answer
            self._size += answer.size
            while self._size > self.limit and self._answers:
                self._size -= self._answers.popitem(last=False)[1].size
