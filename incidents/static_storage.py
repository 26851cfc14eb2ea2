"""Static files with a hash in their names, compressed ahead, each only once.

WhiteNoise compresses every file at every collectstatic, which takes longer than all else that a start does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import brotli
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
    """WhiteNoise's storage with that compressor."""

    def create_compressor(self, **kwargs: Any) -> Compressor:
        """Return the compressor of collectstatic."""
        return KeepingCompressor(**kwargs)
