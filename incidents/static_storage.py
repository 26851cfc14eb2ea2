"""Static files with a hash in their names, compressed ahead, each only once; and whether all were collected.

WhiteNoise compresses every file at every collectstatic, which takes longer than all else that a start does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import brotli
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

QUALITY = 9  # of 11: the last two steps took five sixths of a start's time


class KeepingCompressor(Compressor):  # type: ignore[misc]  # WhiteNoise has no types here
    """Leaves a file alone whose compressed forms were made from it: they have its time."""

    def compress(self, path: str) -> list[str]:
        """Return the names of a file's compressed forms."""
        made = [Path(f"{path}{suffix}") for suffix in (".br", ".gz")]
        at = Path(path).stat().st_mtime
        if all(one.exists() and one.stat().st_mtime == at for one in made):
            return [str(one) for one in made]
        names: list[str] = super().compress(path)
        return names

    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        """Return the data as brotli."""
        compressed: bytes = brotli.compress(data, quality=QUALITY)
        return compressed


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """WhiteNoise's storage with that compressor; an address is made once, since each page asks for a dozen."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._urls: dict[str | None, str] = {}

    def url(self, name: str | None, force: bool = False) -> str:
        """Return a file's address, by the manifest that was there when the process began."""
        if name not in self._urls:
            self._urls[name] = super().url(name, force)
        return self._urls[name]

    def create_compressor(self, **kwargs: Any) -> Compressor:
        """Return the compressor of collectstatic."""
        return KeepingCompressor(**kwargs)


def uncollected_files() -> list[str]:
    """Return the static files that pages would ask for in vain: collectstatic was not run, or not since an upgrade.

    None are missing where files are served as they lie in the tree, as in development.
    """
    collected: dict[str, str] | None = getattr(staticfiles_storage, "hashed_files", None)  # of storages with a manifest
    if collected is None:
        return []
    names = {name.replace("\\", "/") for finder in get_finders() for name, _ in finder.list([])}
    return sorted(names - collected.keys())
