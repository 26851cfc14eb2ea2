"""Reading the tables of postgres_store. SQL and bytes only: no ranking, no caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from typing import Final

import numpy as np
from django.db.backends.base.base import BaseDatabaseWrapper
from numpy.typing import NDArray

from incidents.search.documents import SECTIONS, AnalysedDocument, unpack
from incidents.search.postgres_store import (
    HEAD,
    LETTER_BITS,
    binary_cursor,
    grams,
    public_number,
    segment_of_word,
    word_place,
)
from incidents.search.postings import Postings

RAREST: Final = 3  # pairs of a piece's letters that are read: the words that hold these few are seldom others


@dataclass(frozen=True)
class Segment:
    """A segment's columns, one entry a document: int64 ids, int32 dates; public IDs; uint16[n, sections] lengths.

    removed: the numbers of documents that were taken out since. labels: keys of facet labels and aliases.
    """

    number: int
    removed: NDArray[np.int32]
    ids: NDArray[np.int64]
    dates: NDArray[np.int32]
    public_numbers: NDArray[np.int32]
    lengths: NDArray[np.uint16]
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def without(self, removed: bytes) -> Segment:
        """Return the segment with its present list of documents that were taken out."""
        return replace(self, removed=np.frombuffer(removed, "<i4"))


def segment_marks(connection: BaseDatabaseWrapper, build: str) -> list[tuple[int, int, bytes]]:
    """Return (number, documents, removed) of each segment."""
    with binary_cursor(connection) as cursor:
        cursor.execute(f"SELECT number, documents, removed FROM search_segment_{build} ORDER BY number")
        found: list[tuple[int, int, bytes]] = cursor.fetchall()
        return found


def read_segment(connection: BaseDatabaseWrapper, build: str, number: int) -> Segment:
    """Return a segment's columns; LookupError where it is gone."""
    with binary_cursor(connection) as cursor:
        cursor.execute(
            f"SELECT removed, ids, dates, public_ids, lengths, labels FROM search_segment_{build} WHERE number = %s",
            [number],
        )
        row = cursor.fetchone()
    if row is None:
        raise LookupError(number)
    removed, ids, dates, public_ids, lengths, labels = row
    return Segment(
        number=number,
        removed=np.frombuffer(removed, "<i4"),
        ids=np.frombuffer(ids, "<i8"),
        dates=np.frombuffer(dates, "<i8").astype(np.int32),
        public_numbers=np.array([public_number(one) for one in public_ids.split("\n") if one], np.int32),
        lengths=np.frombuffer(lengths, "<u2").reshape(-1, len(SECTIONS)),
        labels=tuple(labels.split("\n")) if labels else (),
    )


def read_revisions(connection: BaseDatabaseWrapper, build: str, number: int) -> NDArray[np.int64]:
    """Return the library's revision of each document of a segment, when it was last changed."""
    with binary_cursor(connection) as cursor:
        cursor.execute(f"SELECT revisions FROM search_segment_{build} WHERE number = %s", [number])
        row = cursor.fetchone()
    if row is None:
        raise LookupError(number)
    return np.frombuffer(row[0], "<i8")


def read_postings(connection: BaseDatabaseWrapper, build: str, keys: Sequence[int]) -> list[tuple[int, int, Postings]]:
    """Return (key, segment, postings by document number) of some terms, by segment."""
    with binary_cursor(connection) as cursor:
        cursor.execute(
            f"SELECT key, segment, data FROM search_posting_{build} WHERE key = ANY(%s) ORDER BY segment", [list(keys)]
        )
        return [(key, segment, posting(data)) for key, segment, data in cursor.fetchall()]


def posting(data: bytes) -> Postings:
    """Return what a term's row holds."""
    (size,) = HEAD.unpack_from(data)
    numbers = np.frombuffer(data, "<i4", size, 4)
    counts = np.frombuffer(data, "<u4", size, 4 + 4 * size)
    places = np.frombuffer(data, "<u4", -1, 4 + 8 * size)
    return Postings(np.repeat(numbers, counts).astype(np.int64), places.astype(np.uint32, copy=False))


def count_documents(connection: BaseDatabaseWrapper, build: str, keys: Sequence[int]) -> dict[int, int]:
    """Return {key: documents that hold the term, without those that were taken out} of some terms; none: left out."""
    with binary_cursor(connection) as cursor:
        cursor.execute(
            "SELECT key, sum(documents) FROM ("
            f"SELECT key, documents FROM search_posting_{build} WHERE key = ANY(%s) UNION ALL "
            f"SELECT key, -documents FROM search_removed_{build} WHERE key = ANY(%s)) AS found GROUP BY key",
            [list(keys), list(keys)],
        )
        return {key: int(count) for key, count in cursor.fetchall()}


def count_removed(connection: BaseDatabaseWrapper, build: str, keys: Sequence[int]) -> dict[int, int]:
    """Return {key: documents that held the term and were taken out} of some terms; none: left out."""
    with binary_cursor(connection) as cursor:
        cursor.execute(
            f"SELECT key, sum(documents) FROM search_removed_{build} WHERE key = ANY(%s) GROUP BY key", [list(keys)]
        )
        return {key: int(count) for key, count in cursor.fetchall()}


def read_words(
    connection: BaseDatabaseWrapper, build: str, needle: str
) -> list[tuple[int, list[str], list[NDArray[np.int32]]]]:
    """Return (segment, marked words, places of each as LiteralIndex.where has them) of all words that hold a needle.

    Some that hold its pairs of letters elsewhere are among them.
    """
    found = _numbers(connection, build, needle)
    places = [word_place(segment, number) for segment, numbers in found.items() for number in numbers.tolist()]
    if not places:
        return []
    with binary_cursor(connection) as cursor:
        cursor.execute(
            f"SELECT place, word, data FROM search_word_{build} WHERE place = ANY(%s) ORDER BY place", [places]
        )
        rows = cursor.fetchall()
    out = []
    for segment, own in groupby(rows, lambda row: segment_of_word(row[0])):
        given = list(own)
        out.append((segment, [word for _, word, _ in given], [np.frombuffer(data, "<i4") for _, _, data in given]))
    return out


def _numbers(connection: BaseDatabaseWrapper, build: str, needle: str) -> dict[int, NDArray[np.int32]]:
    """Return {segment: numbers of the words that hold the rarest pairs of a needle's letters}."""
    found: dict[int, list[NDArray[np.int32]]] = {}
    with binary_cursor(connection) as cursor:
        if len(needle) == 1:
            first = ord(needle) << LETTER_BITS
            cursor.execute(
                f"SELECT segment, numbers FROM search_gram_{build} WHERE gram >= %s AND gram < %s",
                [first, first + (1 << LETTER_BITS)],
            )
        else:
            pairs = sorted(set(grams([needle])[0][:-1].tolist()))
            cursor.execute(
                "SELECT segment, numbers FROM (SELECT segment, numbers, count(*) OVER (PARTITION BY segment) AS present,"
                " row_number() OVER (PARTITION BY segment ORDER BY octet_length(numbers)) AS place"
                f" FROM search_gram_{build} WHERE gram = ANY(%s)) AS found WHERE present = %s AND place <= %s",
                [pairs, len(pairs), RAREST],
            )
        for segment, numbers in cursor.fetchall():
            found.setdefault(segment, []).append(np.frombuffer(numbers, "<i4"))
    if len(needle) == 1:
        return {segment: np.unique(np.concatenate(parts)) for segment, parts in found.items()}
    return {segment: reduce(_common, parts) for segment, parts in found.items()}


def _common(one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.intersect1d(one, other, assume_unique=True)


def read_terms(
    connection: BaseDatabaseWrapper, build: str, segment: int, number: int
) -> tuple[Sequence[str], NDArray[np.float32]]:
    """Return a document's terms and how often each stands in it."""
    with binary_cursor(connection) as cursor:
        cursor.execute(
            f"SELECT terms FROM search_document_{build} WHERE segment = %s AND number = %s", [segment, number]
        )
        row = cursor.fetchone()
    if row is None:
        raise LookupError(segment, number)
    words = unpack(row[0])
    return words.terms, words.counts.astype(np.float32)


def read_spellings(
    connection: BaseDatabaseWrapper, build: str, *, shortest: int, longest: int, like: str, ends: int
) -> dict[str, int]:
    """Return {word: documents} of the words within these numbers of characters that may correct the word `like`.

    They begin or end as it does, in `ends` characters: two wrong letters are seldom at both ends, and a library of 100,000
    records has too many words to look through.
    """
    with binary_cursor(connection) as cursor:
        cursor.execute(
            f"SELECT term, sum(documents) FROM search_spelling_{build} WHERE length(term) BETWEEN %s AND %s"
            " AND (left(term, %s) = %s OR right(term, %s) = %s) GROUP BY term",
            [shortest, longest, ends, like[:ends], ends, like[-ends:]],
        )
        return {term: int(count) for term, count in cursor.fetchall()}


def find_address(connection: BaseDatabaseWrapper, build: str, address: str) -> list[tuple[int, int]]:
    """Return (segment, number) of the documents that cite a normalized address."""
    with binary_cursor(connection) as cursor:
        cursor.execute(
            f"SELECT segment, number FROM search_document_{build} WHERE addresses @> ARRAY[%s] ORDER BY segment, number",
            [address.replace("\0", "")],
        )
        return [(segment, number) for segment, number in cursor.fetchall()]


def read_analyses(connection: BaseDatabaseWrapper, build: str, contents: Sequence[str]) -> dict[str, AnalysedDocument]:
    """Return {content's key: analysis} of those that the build has, so that they needn't be analysed again."""
    with binary_cursor(connection) as cursor:
        cursor.execute(
            f"SELECT DISTINCT ON (content) content, lengths, terms, words FROM search_document_{build} WHERE content = ANY(%s)",
            [list(contents)],
        )
        return {
            content: AnalysedDocument(unpack(terms), unpack(words), np.frombuffer(lengths, "<i8"))
            for content, lengths, terms, words in cursor.fetchall()
        }


def read_documents(
    connection: BaseDatabaseWrapper, build: str, segment: int
) -> list[tuple[int, str, AnalysedDocument, list[str]]]:
    """Return (number, content's key, analysis, addresses) of a segment's documents."""
    with binary_cursor(connection) as cursor:
        cursor.execute(
            f"SELECT number, content, lengths, terms, words, addresses FROM search_document_{build} WHERE segment = %s ORDER BY number",
            [segment],
        )
        return [
            (
                n,
                content,
                AnalysedDocument(unpack(t), unpack(w), np.frombuffer(lengths, "<i8")),
                addresses,
            )
            for n, content, lengths, t, w, addresses in cursor.fetchall()
        ]
