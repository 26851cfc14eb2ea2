"""Segment files that processes may read at the same time though they opened them together.

A server loads the index before it forks. Workers then share what the system keeps of an open file, its position too:
where one seeks and reads, another would read from the wrong place. These files name the place with each read.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from whoosh import index
from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import StructFile


class PlacedFile(io.RawIOBase):
    """A file opened for reading, its position kept by this process alone."""

    def __init__(self, path: Path | str) -> None:
        super().__init__()
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def readinto(self, buffer: Any) -> int:
        count = os.preadv(self._descriptor, [buffer], self._at)
        self._at += count
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}.get(whence)
        self._at = offset + (os.fstat(self._descriptor).st_size if base is None else base)
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


class PlacedStorage(FileStorage):  # type: ignore[misc]  # Whoosh has no types
    """Whoosh's folder of files, opened so."""

    def open_file(self, name: str, **kwargs: Any) -> Any:
        return StructFile(io.BufferedReader(PlacedFile(self._fpath(name))), name=name, **kwargs)


def open_to_read(folder: Path) -> index.FileIndex:
    """Return the index in a folder, for reading."""
    return index.FileIndex(PlacedStorage(str(folder)))
