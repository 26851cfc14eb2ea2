"""The environment's variables as typed values: the only place that reads them.

A malformed value raises ImproperlyConfigured with the variable's name, so that a typing mistake stops the start
instead of becoming a default nobody asked for.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off", ""})


def env_str(name: str, default: str = "") -> str:
    """Return the variable without surrounding white space, or `default` where it is unset or blank."""
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, *, default: bool) -> bool:
    """Return a yes or no. Raises ImproperlyConfigured for any other word."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    word = raw.strip().lower()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    raise ImproperlyConfigured(f"{name} must be one of 1, true, yes, on, 0, false, no, off; it is {raw!r}")


def env_int(name: str, default: int, *, minimum: int = 0) -> int:
    """Return a whole number of at least `minimum`. Raises ImproperlyConfigured otherwise."""
    raw = env_str(name)
    if not raw:
        return default
    if not raw.isascii() or not raw.isdigit() or int(raw) < minimum:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {minimum}; it is {raw!r}")
    return int(raw)


def env_list(name: str, default: tuple[str, ...]) -> list[str]:
    """Return the comma-separated values, blanks left out."""
    raw = env_str(name)
    return [part.strip() for part in raw.split(",") if part.strip()] if raw else list(default)


def env_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    """Return one of `choices`. Raises ImproperlyConfigured otherwise."""
    value = env_str(name, default)
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}; it is {value!r}")
    return value


def env_secret(name: str) -> str:
    """Return a secret of at least 16 characters, or "" where the variable is unset. Raises ImproperlyConfigured."""
    value = env_str(name)
    if value and len(value) < 16:
        raise ImproperlyConfigured(f"{name} must be a secret of at least 16 characters")
    return value


def env_url(name: str, default: str) -> str:
    """Return an http(s) address without a slash at its end. Raises ImproperlyConfigured otherwise."""
    value = env_str(name, default).rstrip("/")
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
        raise ImproperlyConfigured(f"{name} must be an address like https://library.example.org; it is {value!r}")
    return value


def secret_key(name: str, data_dir: Path) -> str:
    """Return the variable, or the secret kept in the data folder, made there at the first start.

    The file is written beside and linked into its place, so that two processes starting together agree on one secret
    and neither reads a half; its mode is 0600, so that other users of the machine can't read it.
    """
    given = env_str(name)
    if given:
        if len(given) < 32:
            raise ImproperlyConfigured(f"{name} must have at least 32 characters")
        return given
    path = data_dir / "secret_key"
    if not path.exists():
        beside = path.with_name(f".secret_key.{os.getpid()}")
        beside.touch(0o600)
        beside.write_text(secrets.token_urlsafe(50), encoding="ascii")
        with suppress(FileExistsError):
            os.link(beside, path)
        beside.unlink()
    kept = path.read_text(encoding="ascii").strip()
    if len(kept) < 32:
        raise ImproperlyConfigured(
            f"{path} holds no usable secret; delete the file to have a new one made, or set {name}"
        )
    return kept
