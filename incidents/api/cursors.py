"""Where a walk through a listing stands, as an opaque text, so that it goes on in the same place whatever happened since.

A numbered page begins at a place that moves when a record before it is published or withdrawn. A cursor names the last
record that was given and its sort key: the walk goes on behind that key. Records that were there all the time come
once each; a record that comes or goes meanwhile comes once or not at all.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np

from incidents.catalogue import Catalogue, IntArray
from incidents.errors import BadParameter
from incidents.listing import Listing

START: Final = "*"


@dataclass(frozen=True)
class Cursor:
    """The last record given: its number, the key that it was sorted by, how many were given before and with it."""

    number: int
    key: int
    given: int
    choices: str  # a hash of the choices, so that a cursor isn't used with other ones

    def encode(self) -> str:
        """Return the cursor as an address carries it."""
        text = json.dumps([self.number, self.key, self.given, self.choices], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(text: str) -> Cursor:
    """Return the cursor of an address. Raises BadParameter for what no answer gave out."""
    try:
        number, key, given, choices = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        values = [number, key, given]
        if not all(type(value) is int and abs(value) < 1 << 62 for value in values) or type(choices) is not str:
            raise ValueError(text)
        return Cursor(number, key, given, choices)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        message = f"읽을 수 없는 cursor 입니다: {text[:80]}. `*` 로 시작해서 답의 next 를 따라가십시오."
        raise BadParameter(message, fields={"cursor": message}) from None


def choices_hash(listing: Listing) -> str:
    """Return what a cursor belongs to: everything that chooses and orders, but not how much comes at a time."""
    query = listing.params.query(page_size=20, view="list")
    return blake2b(query.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def place_after(listing: Listing, cursor: Cursor) -> int:
    """Return the place in the listing's order behind the cursor's record. Raises BadParameter for another listing's."""
    if cursor.choices != choices_hash(listing):
        message = "다른 목록의 cursor 입니다. 매개변수를 바꾸었다면 cursor=* 로 다시 시작하십시오."
        raise BadParameter(message, fields={"cursor": message})
    rows = listing.ordered_rows
    numbers = listing.catalogue.keys.numbers[rows]
    if listing.params.sort == "relevance" or listing.partial_count:
        # No key survives a change of the library here; the record itself, or else its place, marks where to go on.
        found = np.flatnonzero(numbers == cursor.number)
        return int(found[0]) + 1 if len(found) else min(cursor.given, len(rows))
    if listing.params.sort == "id":
        return int(np.count_nonzero(numbers <= cursor.number))
    keys = sort_keys(listing.catalogue, listing.params.sort)[rows]
    is_before = keys < cursor.key if listing.params.sort == "oldest" else keys > cursor.key
    is_tied = keys == cursor.key
    ties = numbers <= cursor.number if listing.params.sort == "oldest" else numbers >= cursor.number
    return int(np.count_nonzero(is_before | (is_tied & ties)))


def cursor_at(listing: Listing, place: int) -> Cursor:
    """Return the cursor behind the record at a place of the listing's order, counted from 0."""
    row = listing.ordered_rows[place]
    keys = sort_keys(listing.catalogue, listing.params.sort)
    return Cursor(int(listing.catalogue.keys.numbers[row]), int(keys[row]), place + 1, choices_hash(listing))


def sort_keys(catalogue: Catalogue, sort: str) -> IntArray:
    """Return each row's key in `sort`; ties go by number."""
    if sort in {"newest", "oldest"}:
        return catalogue.keys.happened
    return catalogue.keys.published if sort == "added" else catalogue.keys.numbers
