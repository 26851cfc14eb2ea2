"""The tables of the search index in PostgreSQL, its state and its lock. Rows are written in postgres_writing, read in postgres_reading.

A segment holds the documents of one writing. It never changes, but for the list of those that were taken out since.
Each of its terms is one row with all places as arrays, so that a query reads one row a term and segment; positions in
`tsvector` end at 16,383, keep 4 weights where records have 13 sections, and can't be ranked by BM25F.

Tables of a build (`…` is its name, drawn anew by each rebuild; the state names the live one):
  search_state                 one row: build, generation, revision, documents, version; made by a migration
  search_segment_…             number, documents, removed, and the columns of its documents as arrays
  search_document_…            segment, number: terms and words as analysed, and the content that they came from
  search_posting_…             key, segment: how many documents hold a term; documents, counts, places
  search_removed_…             key, segment: how many of those documents were taken out since
  search_spelling_…            words that may correct a mistyped one
  search_word_…                place (see `word_place`): a whole word, and where it stands, for finding parts of words
  search_gram_…                gram, segment: the numbers of the words in which two letters stand next to each other
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper
from numpy.typing import NDArray
from psycopg.pq import Format

TABLES: Final = """
CREATE TABLE search_segment_{0} (
  number integer PRIMARY KEY, documents integer NOT NULL, removed bytea NOT NULL, ids bytea NOT NULL,
  dates bytea NOT NULL, revisions bytea NOT NULL, public_ids text NOT NULL, lengths bytea NOT NULL, labels text NOT NULL);
CREATE TABLE search_document_{0} (
  segment integer NOT NULL, number integer NOT NULL, pk bigint NOT NULL, content text NOT NULL, lengths bytea NOT NULL,
  terms bytea NOT NULL, words bytea NOT NULL, addresses text[] NOT NULL);
CREATE TABLE search_posting_{0} (key bigint NOT NULL, segment integer NOT NULL, documents integer NOT NULL, data bytea NOT NULL);
CREATE TABLE search_removed_{0} (key bigint NOT NULL, segment integer NOT NULL, documents integer NOT NULL);
CREATE TABLE search_spelling_{0} (segment integer NOT NULL, term text NOT NULL, documents integer NOT NULL);
CREATE TABLE search_word_{0} (place bigint NOT NULL, word text NOT NULL, data bytea NOT NULL);
CREATE TABLE search_gram_{0} (gram bigint NOT NULL, segment integer NOT NULL, numbers bytea NOT NULL);
ALTER TABLE search_document_{0} ALTER COLUMN terms SET STORAGE EXTERNAL, ALTER COLUMN words SET STORAGE EXTERNAL"""
INDEXES: Final = """
ALTER TABLE search_document_{0} ADD PRIMARY KEY (segment, number);
CREATE INDEX search_document_pk_{0} ON search_document_{0} (pk);
CREATE INDEX search_document_content_{0} ON search_document_{0} (content);
CREATE INDEX search_document_addresses_{0} ON search_document_{0} USING gin (addresses);
ALTER TABLE search_posting_{0} ADD PRIMARY KEY (key, segment);
CREATE INDEX search_removed_key_{0} ON search_removed_{0} (key);
CREATE INDEX search_spelling_size_{0} ON search_spelling_{0} (length(term));
ALTER TABLE search_word_{0} ADD PRIMARY KEY (place);
ALTER TABLE search_gram_{0} ADD PRIMARY KEY (gram, segment)"""
NAMES: Final = ("segment", "document", "posting", "removed", "spelling", "word", "gram")
BY_SEGMENT: Final = ("document", "posting", "removed", "spelling", "gram")  # which have a column of that name
HEAD: Final = struct.Struct("<I")  # of a term's row: the number of documents
LETTER_BITS: Final = 21  # of a letter's code point
_PLACE_BITS: Final = 32  # of a word's number in its segment
_END: Final = ord("\n")  # stands behind a word's last letter; no word holds it


@dataclass(frozen=True, slots=True)
class State:
    """The live build, its generation (grows with every writing), and the library's revision that it has reached."""

    build: str
    generation: int
    revision: int
    documents: int
    version: str


def term_key(term: str) -> int:
    """Return the 64 bits that stand for a term. Two of ten million terms share them once in 200,000 libraries."""
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def public_number(public_id: str) -> int:
    """Return 421 for `IL-0421`."""
    return int(public_id.rpartition("-")[2])


def storable(text: str) -> str:
    """Return text that PostgreSQL takes: NUL and lone surrogates, which analysis lets through, as one same sign."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def word_place(segment: int, number: int) -> int:
    """Return the key of a segment's word; the words of one segment follow one another."""
    return (segment << _PLACE_BITS) | number


def segment_of_word(place: int) -> int:
    """Return the segment of a word's key."""
    return place >> _PLACE_BITS


def grams(words: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (pairs of neighbouring letters, the word's number for each), ascending by number.

    A word's last letter pairs with its end, so that each letter is the first of some pair.
    """
    codes = np.frombuffer("".join(f"{word}\n" for word in words).encode("utf-32-le"), np.uint32).astype(np.int64)
    numbers = np.cumsum(codes == _END)
    is_letter = codes[:-1] != _END
    return ((codes[:-1] << LETTER_BITS) | codes[1:])[is_letter], numbers[:-1][is_letter]


# Building


def create(connection: BaseDatabaseWrapper, build: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(TABLES.format(build))


def finish(connection: BaseDatabaseWrapper, build: str) -> None:
    """Make a filled build's indexes and statistics."""
    with connection.cursor() as cursor:
        cursor.execute(INDEXES.format(build))
        for name in NAMES:
            cursor.execute(f"ANALYZE search_{name}_{build}")


def drop(connection: BaseDatabaseWrapper, build: str) -> None:
    with connection.cursor() as cursor:
        for name in NAMES:
            cursor.execute(f"DROP TABLE IF EXISTS search_{name}_{build}")


def builds(connection: BaseDatabaseWrapper) -> list[str]:
    """Return the names of all builds that have tables, half-made ones too."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT substr(tablename, 16) FROM pg_tables WHERE tablename LIKE 'search\\_segment\\_%%'")
        return [name for (name,) in cursor.fetchall()]


# State


def read_state(connection: BaseDatabaseWrapper) -> State | None:
    """Return the state; None before the first build is finished."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT build, generation, revision, documents, version FROM search_state")
        row = cursor.fetchone()
    return State(*row) if row else None


def write_state(connection: BaseDatabaseWrapper, state: State) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO search_state VALUES (1, %s, %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE SET build = EXCLUDED.build,"
            " generation = EXCLUDED.generation, revision = EXCLUDED.revision, documents = EXCLUDED.documents,"
            " version = EXCLUDED.version",
            [state.build, state.generation, state.revision, state.documents, state.version],
        )


def lock(connection: BaseDatabaseWrapper, seconds: float) -> None:
    """Wait for the writer's lock, which ends with the transaction. Raises OperationalError after `seconds`."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{int(seconds * 1000)}ms'")
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('incident search index'))")


@contextmanager
def binary_cursor(connection: BaseDatabaseWrapper) -> Iterator[psycopg.Cursor[Any]]:
    """A cursor that receives arrays as the bytes that they are, where text would be twice as many to take apart."""
    # Django's own cursors put values into the statement by themselves, and psycopg gives those text alone.
    with connection.cursor() as checked, connection.wrap_database_errors, psycopg.Cursor(checked.connection) as cursor:
        cursor.format = Format.BINARY
        yield cursor
