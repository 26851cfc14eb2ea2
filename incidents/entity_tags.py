"""Strong entity tags that are known before any work: what an address answers depends on the library's revision, the
program, and what the request says. Pages and API make their tags here, so that a new release renews all of them.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import django
from django.conf import settings

# What answers are made of besides the database: code, templates, static files (their hashed names stand in pages),
# translations, dictionaries. Compiled and editor's files are no part of it.
PARTS = {
    "incidents": ("*.py", "*.html", "*.txt", "*.yaml", "*.json"),
    "kb": ("*.py",),
    "templates": ("*",),
    "static": ("*",),
    "locale": ("*.mo", "*.po"),
}


@lru_cache(maxsize=1)
def program_fingerprint() -> str:
    """Return a hash of the program as it was when this process started: 24 hexadecimal digits."""
    digest = blake2b(f"{settings.BASE_URL}\0{settings.SEARCH_BACKEND}\0{django.__version__}".encode(), digest_size=12)
    for path in _program_files(settings.BASE_DIR):
        digest.update(str(path.relative_to(settings.BASE_DIR)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _program_files(base: Path) -> list[Path]:
    found = {
        path
        for folder, patterns in PARTS.items()
        for pattern in patterns
        for path in (base / folder).rglob(pattern)
        if path.is_file() and "__pycache__" not in path.parts
    }
    return sorted(found)


def answer_key(*parts: str) -> str:
    """Return the opaque value of a tag for an answer that depends on just these parts and on the program."""
    text = "\0".join((program_fingerprint(), *parts))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
