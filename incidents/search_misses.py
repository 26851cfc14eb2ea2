"""Searches that found nothing, on pages, in the API and by agents: noted as text with a count, not who asked.

A reader's search never waits for the database's write lock: the text goes to a small file in the data folder, and
whoever opens the desk gathers it into the table.
"""

from __future__ import annotations

import logging
import os
import re
import unicodedata
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from incidents.models import SearchMiss
from incidents.models.desk import MAX_MISS_CHARS

if TYPE_CHECKING:
    from incidents.listing import Listing

logger = logging.getLogger(__name__)

MAX_FILE_BYTES: Final = 1_000_000  # between two openings of the desk; what comes after that isn't noted
MAX_ROWS: Final = 5_000  # the rarest and oldest go first

# What may name a person is not kept: addresses of mail, and runs of digits as long as a telephone number.
_PERSONAL = re.compile(r"\S@\S|(?:[0-9][\s().-]?){9,}")
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028\u2029\ufeff]+")


def note_miss(query: str) -> None:
    """Note that a search found nothing. Never fails: a note that can't be written is left out."""
    text = clean_query(query)
    if not text:
        return
    path = _path()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > MAX_FILE_BYTES:
            return
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, f"{text}\n".encode())  # one write: lines of several processes don't mix
        finally:
            os.close(descriptor)


def note_if_missed(listing: Listing) -> bool:
    """Note the words of a listing that found nothing by words alone, and return whether it did."""
    is_miss = found_nothing(listing)
    if is_miss:
        note_miss(listing.params.q)
    return is_miss


def found_nothing(listing: Listing) -> bool:
    """Return whether words alone, without any other condition, found no record with all of them."""
    params = listing.params
    is_narrowed = bool(params.bounds) or any(params.values.values())
    return bool(params.q) and not is_narrowed and listing.count == 0 and params.page == 1


def clean_query(query: str) -> str:
    """Return a query as it is counted: NFC, folded, single spaces, cut; empty for what isn't to be kept."""
    text = unicodedata.normalize("NFC", _UNSHOWN.sub(" ", query.encode("utf-8", "ignore").decode()))
    text = " ".join(text.casefold().split())[:MAX_MISS_CHARS].strip()
    return "" if _PERSONAL.search(text) else text


def gather_misses() -> int:
    """Bring what was noted since into the table and return how many searches that were."""
    path = _path()
    taken = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        path.rename(taken)  # what is noted from now on goes to a new file
    except OSError:
        taken_before = sorted(path.parent.glob(f"{path.name}.*"))  # left by a process that ended half-way
        if not taken_before:
            return 0
        taken = taken_before[0]
    try:
        counts = Counter(filter(None, map(clean_query, taken.read_text("utf-8", "replace").splitlines())))
    except OSError:
        return 0
    now = timezone.now()
    with transaction.atomic():
        for query, count in counts.items():
            found = SearchMiss.objects.filter(query=query)
            if not found.update(count=F("count") + count, last_at=now):
                SearchMiss.objects.create(query=query, count=count)
        surplus = SearchMiss.objects.count() - MAX_ROWS
        if surplus > 0:
            rarest = SearchMiss.objects.order_by("count", "last_at").values_list("pk", flat=True)[:surplus]
            SearchMiss.objects.filter(pk__in=list(rarest)).delete()
    taken.unlink(missing_ok=True)
    return sum(counts.values())


def _path() -> Path:
    return Path(settings.DATA_DIR) / "search-misses.txt"
