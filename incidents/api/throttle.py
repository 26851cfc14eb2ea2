"""How fast one client may ask: a bucket per client that empties evenly (GCRA), shared by all worker processes.

The table lies in anonymous shared memory, made when the module is loaded. Gunicorn loads the program before it forks
(`preload_app`), so its workers count together, without a lock, a file or a round trip: a lost race gives a request
away, no more. Two clients whose hashes fall on one slot take turns in it; the later one starts afresh.
"""

from __future__ import annotations

import mmap
import struct
import time
from dataclasses import dataclass
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from math import ceil
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

SLOTS: Final = 1 << 16
SLOT: Final = struct.Struct("<Qd")  # the client's hash, and the time until which its bucket is spoken for
WINDOW: Final = 60.0  # seconds that the rate is counted in

_table = mmap.mmap(-1, SLOTS * SLOT.size)


@dataclass(frozen=True)
class Allowance:
    """Whether a request may pass, what is left, and after how many seconds there is more (whole seconds, rounded up)."""

    is_allowed: bool
    limit: int
    remaining: int
    reset: int
    retry_after: int

    def write(self, response: HttpResponse) -> None:
        """Put the allowance into the headers: the draft standard's two fields and the three that clients know from before."""
        response["RateLimit-Policy"] = f'"default";q={self.limit};w={WINDOW:.0f}'
        response["RateLimit"] = f'"default";r={self.remaining};t={self.reset}'
        response["RateLimit-Limit"] = str(self.limit)
        response["RateLimit-Remaining"] = str(self.remaining)
        response["RateLimit-Reset"] = str(self.reset)


def client_of(request: HttpRequest) -> str:
    """Return the client's address: of IPv6 the /64 that one customer has; behind a proxy what the proxy saw."""
    address: str = request.META.get("REMOTE_ADDR", "")
    if settings.IS_BEHIND_PROXY:
        address = request.headers.get("X-Forwarded-For", address).rpartition(",")[2].strip() or address
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or int(parsed) >> 64)
    return str(parsed)


def take(client: str, limit: int, now: float | None = None) -> Allowance:
    """Take one request of `limit` a minute from the client's bucket. A client that was quiet may take all at once."""
    now = time.monotonic() if now is None else now
    key = int.from_bytes(blake2b(f"{limit} {client}".encode(), digest_size=8).digest(), "little")
    place = key % SLOTS * SLOT.size
    owner, spoken_for = SLOT.unpack_from(_table, place)
    if owner != key:
        spoken_for = 0.0
    step = WINDOW / limit
    start = max(spoken_for, now)
    if start - now > WINDOW - step:
        wait = start - now - (WINDOW - step)
        return Allowance(False, limit, 0, ceil(start - now), max(1, ceil(wait)))
    SLOT.pack_into(_table, place, key, start + step)
    used = start + step - now
    return Allowance(True, limit, int((WINDOW - used) / step + 1e-9), ceil(used), 0)


def forget_clients() -> None:
    """Empty every bucket."""
    _table[:] = bytes(len(_table))
