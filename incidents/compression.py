"""Choosing and making content encodings. Only answers without secrets are compressed: lengths tell of them."""

from __future__ import annotations

import gzip
from typing import Final

import brotli

SMALLEST: Final = 500  # bytes; below, the header costs what compression saves
BROTLI_QUALITY: Final = 5  # 30 kB page: 2 ms and 5.4 kB; quality 11 takes 60 ms for 0.5 kB less
GZIP_LEVEL: Final = 6
ENCODINGS: Final = ("br", "gzip", "identity")


def accepted_encoding(header: str) -> str:
    """Return the best of ENCODINGS that an Accept-Encoding header takes. Weights only tell refusal from consent."""
    if header in _KNOWN:
        return _KNOWN[header]
    taken: dict[str, bool] = {}
    for part in header.lower().split(","):
        name, _, rest = part.strip().partition(";")
        weight = rest.strip().removeprefix("q=").strip()
        try:
            taken[name.strip()] = not weight or float(weight) > 0
        except ValueError:
            taken[name.strip()] = False
    anything = taken.get("*", False)
    return next((name for name in ("br", "gzip") if taken.get(name, anything)), "identity")


_KNOWN: Final = {
    "": "identity",
    "gzip, deflate, br": "br",
    "gzip, deflate, br, zstd": "br",
    "gzip, deflate": "gzip",
}


def compress(body: bytes, encoding: str) -> bytes:
    """Return a body in one of ENCODINGS; equal bodies give equal bytes."""
    if encoding == "br":
        compressed: bytes = brotli.compress(body, mode=brotli.MODE_TEXT, quality=BROTLI_QUALITY)
        return compressed
    return gzip.compress(body, GZIP_LEVEL, mtime=0) if encoding == "gzip" else body


def decompress(body: bytes, encoding: str) -> bytes:
    """Return the plain body again."""
    if encoding == "br":
        plain: bytes = brotli.decompress(body)
        return plain
    return gzip.decompress(body) if encoding == "gzip" else body
