"""Search postings as rows of PostgreSQL: what is written and read, in SQL. No ranking, no caches.

A segment holds the documents of one writing. It never changes, but for the list of those that were taken out since.
Each of its terms is one row with all places as arrays, so that a query reads one row a term and segment; positions in
`tsvector` end at 16,383, keep 4 weights where records have 13 sections, and can't be ranked by BM25F.

Tables of a build (`…` is its name, drawn anew by each rebuild; the state names the live one):
  search_state                 one row: build, generation, revision, documents, version; made by a migration
  search_segment_…             number, documents, removed, and the columns of its documents as arrays
  search_document_…            segment, number: terms and words as analysed, and the content that they came from
  search_posting_…             key, segment: documents, counts, places of a term
  search_word_…                segment, number: where a whole word stands, for finding parts of words
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from django.db.backends.base.base import BaseDatabaseWrapper
from numpy.typing import NDArray

from incidents.search.base import SearchDocument
from incidents.search.documents import ALIAS, LABEL, SECTIONS, AnalysedDocument, pack, source_addresses, unpack
from incidents.search.literal import LiteralIndex
from incidents.search.postings import Postings

TABLES: Final = """
CREATE TABLE search_segment_{0} (
  number integer PRIMARY KEY, documents integer NOT NULL, removed bytea NOT NULL, ids bytea NOT NULL,
  dates bytea NOT NULL, revisions bytea NOT NULL, public_ids text NOT NULL, lengths bytea NOT NULL,
  keys bytea NOT NULL, counts bytea NOT NULL, labels text NOT NULL, words text NOT NULL);
CREATE TABLE search_document_{0} (
  segment integer NOT NULL, number integer NOT NULL, pk bigint NOT NULL, content text NOT NULL, lengths bytea NOT NULL,
  terms bytea NOT NULL, words bytea NOT NULL, addresses text[] NOT NULL);
CREATE TABLE search_posting_{0} (key bigint NOT NULL, segment integer NOT NULL, data bytea NOT NULL);
CREATE TABLE search_spelling_{0} (segment integer NOT NULL, term text NOT NULL, documents integer NOT NULL);
CREATE TABLE search_word_{0} (segment integer NOT NULL, number integer NOT NULL, data bytea NOT NULL);
ALTER TABLE search_document_{0} ALTER COLUMN terms SET STORAGE EXTERNAL, ALTER COLUMN words SET STORAGE EXTERNAL"""
INDEXES: Final = """
ALTER TABLE search_document_{0} ADD PRIMARY KEY (segment, number);
CREATE INDEX search_document_pk_{0} ON search_document_{0} (pk);
CREATE INDEX search_document_content_{0} ON search_document_{0} (content);
CREATE INDEX search_document_addresses_{0} ON search_document_{0} USING gin (addresses);
ALTER TABLE search_posting_{0} ADD PRIMARY KEY (key, segment);
CREATE INDEX search_spelling_size_{0} ON search_spelling_{0} (length(term));
ALTER TABLE search_word_{0} ADD PRIMARY KEY (segment, number)"""
NAMES: Final = ("segment", "document", "posting", "spelling", "word")
HEAD: Final = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class State:
    """The live build, its generation (grows with every writing), and the library's revision that it has reached."""

    build: str
    generation: int
    revision: int
    documents: int
    version: str


@dataclass(frozen=True)
class Segment:
    """A segment's columns, one entry a document: int64 ids, dates, revisions; public IDs; uint16[n, sections] lengths.

    keys: int64, sorted hashes of its terms; counts: int32, documents of each. words: its whole words, marked, one a line.
    """

    number: int
    removed: NDArray[np.int32]
    ids: NDArray[np.int64]
    dates: NDArray[np.int64]
    revisions: NDArray[np.int64]
    public_numbers: NDArray[np.int32]
    lengths: NDArray[np.uint16]
    keys: NDArray[np.int64]
    counts: NDArray[np.int32]
    labels: tuple[str, ...]
    words: str

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def plain_words(self) -> tuple[str, NDArray[np.int32]]:
        """Return the words without marks, each after a line break, and the place at which each begins."""
        plain = "\n" + self.words.replace("+", "") + "\n"
        codes = np.frombuffer(plain.encode("utf-32-le"), np.uint32)
        return plain, (np.flatnonzero(codes == 10)[:-1] + 1).astype(np.int32)

    def without(self, removed: bytes) -> Segment:
        """Return the segment with its present list of documents that were taken out; it takes over the plain words."""
        now = replace(self, removed=np.frombuffer(removed, "<i4"))
        if "plain_words" in self.__dict__:
            now.__dict__["plain_words"] = self.plain_words
        return now


def term_key(term: str) -> int:
    """Return the 64 bits that stand for a term. Two of ten million terms share them once in 200,000 libraries."""
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def public_number(public_id: str) -> int:
    """Return 421 for `IL-0421`."""
    return int(public_id.rpartition("-")[2])


# Writing


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


def write_segment(
    connection: BaseDatabaseWrapper,
    build: str,
    number: int,
    documents: Sequence[tuple[SearchDocument, str, AnalysedDocument]],
) -> None:
    """Add a segment. documents: (document, its content's key, its analysis)."""
    terms = _inverted([analysed.words.terms for _, _, analysed in documents])
    literal = LiteralIndex.of([analysed.surfaces for _, _, analysed in documents])
    keys = np.fromiter((term_key(term) for term in terms.names), np.int64, len(terms.names))
    order = np.argsort(keys)
    documents_of = np.diff(terms.first).astype("<i4")
    given = [document for document, _, _ in documents]
    lengths = np.array([analysed.lengths for _, _, analysed in documents], "<i8").reshape(len(documents), len(SECTIONS))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO search_segment_{build} VALUES (%s, %s, '', %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                number,
                len(documents),
                np.array([d.id for d in given], "<i8").tobytes(),
                np.array([d.sort_date for d in given], "<i8").tobytes(),
                np.array([d.revision for d in given], "<i8").tobytes(),
                "\n".join(d.public_id for d in given),
                np.minimum(lengths, 65_535).astype("<u2").tobytes(),
                keys[order].astype("<i8").tobytes(),
                documents_of[order].tobytes(),
                _storable("\n".join(name for name in terms.names if name[0] in (LABEL, ALIAS))),
                _storable(_marked_words(documents)),
            ],
        )
        _copy(
            cursor,
            f"search_document_{build}",
            ("int4", "int4", "int8", "text", "bytea", "bytea", "bytea", "text[]"),
            (
                (number, n, document.id, content, np.asarray(analysed.lengths, "<i8").tobytes(), pack(analysed.words),
                 pack(analysed.surfaces), [address.replace("\0", "") for address in source_addresses(document)])
                for n, (document, content, analysed) in enumerate(documents)
            ),
        )  # fmt: skip
        postings = _term_bytes(terms, documents)
        _copy(
            cursor,
            f"search_posting_{build}",
            ("int8", "int4", "bytea"),
            ((key, number, data) for key, data in zip(keys.tolist(), postings, strict=True)),
        )
        _copy(
            cursor,
            f"search_spelling_{build}",
            ("int4", "text", "int4"),
            (
                (number, term, count)
                for term, count in zip(terms.names, documents_of.tolist(), strict=True)
                if 2 <= len(term) <= 24 and term.isalpha() and not term.endswith("다")
            ),
        )
        _copy(
            cursor,
            f"search_word_{build}",
            ("int4", "int4", "bytea"),
            (
                (number, n, literal.where[start:end].astype("<i4").tobytes())
                for n, (start, end) in enumerate(
                    zip(literal.first[:-1].tolist(), literal.first[1:].tolist(), strict=True)
                )
            ),
        )


def take_out(connection: BaseDatabaseWrapper, build: str, pks: Collection[int]) -> None:
    """Mark documents as gone, in whichever segments they are."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT segment, array_agg(number) FROM search_document_{build} WHERE pk = ANY(%s) GROUP BY segment",
            [list(pks)],
        )
        for segment, numbers in cursor.fetchall():
            cursor.execute(f"SELECT removed FROM search_segment_{build} WHERE number = %s", [segment])
            before = np.frombuffer(cursor.fetchone()[0], "<i4")
            after = np.union1d(before, np.array(numbers, "<i4")).astype("<i4")
            cursor.execute(
                f"UPDATE search_segment_{build} SET removed = %s WHERE number = %s", [after.tobytes(), segment]
            )


def delete_segments(connection: BaseDatabaseWrapper, build: str, numbers: Sequence[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM search_segment_{build} WHERE number = ANY(%s)", [list(numbers)])
        for name in NAMES[1:]:
            cursor.execute(f"DELETE FROM search_{name}_{build} WHERE segment = ANY(%s)", [list(numbers)])


@dataclass(frozen=True)
class _Inverted:
    """names: terms in the order of first use. order: entries (document by document) sorted by term; first: their borders."""

    names: tuple[str, ...]
    documents: NDArray[np.int32]
    order: NDArray[np.int64]
    first: NDArray[np.int64]


def _inverted(documents: Sequence[Sequence[str]]) -> _Inverted:
    numbers: dict[str, int] = {}
    sizes = [len(terms) for terms in documents]
    term_of = np.fromiter(
        (numbers.setdefault(term, len(numbers)) for terms in documents for term in terms), np.int64, sum(sizes)
    )
    first = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(np.bincount(term_of, minlength=len(numbers)), out=first[1:])
    document_of = np.repeat(np.arange(len(documents), dtype=np.int32), sizes)
    return _Inverted(tuple(numbers), document_of, np.argsort(term_of, kind="stable"), first)


def _term_bytes(terms: _Inverted, documents: Sequence[tuple[SearchDocument, str, AnalysedDocument]]) -> Iterator[bytes]:
    """Yield each term's row: the number of documents, their numbers, their counts, all places (see `read_posting`)."""
    counts = np.concatenate([a.words.counts for _, _, a in documents]).astype(np.int64)
    places = np.concatenate([a.words.places for _, _, a in documents]).astype("<u4")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    sorted_counts = counts[terms.order]
    shift = np.repeat(starts[terms.order] - np.concatenate(([0], np.cumsum(sorted_counts)[:-1])), sorted_counts)
    sorted_places = places[shift + np.arange(len(shift))]
    sorted_documents = terms.documents[terms.order].astype("<i4")
    place_ends = np.concatenate(([0], np.cumsum(sorted_counts)))
    for start, end in zip(terms.first[:-1].tolist(), terms.first[1:].tolist(), strict=True):
        yield b"".join(
            (
                HEAD.pack(end - start),
                sorted_documents[start:end].tobytes(),
                sorted_counts[start:end].astype("<u4").tobytes(),
                sorted_places[place_ends[start] : place_ends[end]].tobytes(),
            )
        )


def _marked_words(documents: Sequence[tuple[SearchDocument, str, AnalysedDocument]]) -> str:
    """Return the distinct whole words in the order in which LiteralIndex numbers them."""
    return "\n".join(dict.fromkeys(term for _, _, analysed in documents for term in analysed.surfaces.terms))


def _storable(text: str) -> str:
    """Return text that PostgreSQL takes: NUL and lone surrogates, which analysis lets through, as one same sign."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _copy(cursor: Any, table: str, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


# Reading


def read_state(connection: BaseDatabaseWrapper) -> State | None:
    """Return the state; None before the first build is finished."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT build, generation, revision, documents, version FROM search_state")
        row = cursor.fetchone()
    return State(*row) if row else None


def segment_marks(connection: BaseDatabaseWrapper, build: str) -> list[tuple[int, int, bytes]]:
    """Return (number, documents, removed) of each segment."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT number, documents, removed FROM search_segment_{build} ORDER BY number")
        return [(number, documents, bytes(removed)) for number, documents, removed in cursor.fetchall()]


def read_segment(connection: BaseDatabaseWrapper, build: str, number: int) -> Segment:
    """Return a segment's columns; LookupError where it is gone."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT removed, ids, dates, revisions, public_ids, lengths, keys, counts, labels, words"
            f" FROM search_segment_{build} WHERE number = %s",
            [number],
        )
        row = cursor.fetchone()
    if row is None:
        raise LookupError(number)
    removed, ids, dates, revisions, public_ids, lengths, keys, counts, labels, words = row
    return Segment(
        number=number,
        removed=np.frombuffer(removed, "<i4"),
        ids=np.frombuffer(ids, "<i8"),
        dates=np.frombuffer(dates, "<i8"),
        revisions=np.frombuffer(revisions, "<i8"),
        public_numbers=np.array([public_number(one) for one in public_ids.split("\n") if one], np.int32),
        lengths=np.frombuffer(lengths, "<u2").reshape(-1, len(SECTIONS)),
        keys=np.frombuffer(keys, "<i8"),
        counts=np.frombuffer(counts, "<i4"),
        labels=tuple(labels.split("\n")) if labels else (),
        words=words,
    )


def read_postings(connection: BaseDatabaseWrapper, build: str, key: int) -> list[tuple[int, Postings]]:
    """Return (segment, postings by document number) of a term."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT segment, data FROM search_posting_{build} WHERE key = %s ORDER BY segment", [key])
        return [(segment, _posting(bytes(data))) for segment, data in cursor.fetchall()]


def _posting(data: bytes) -> Postings:
    (size,) = HEAD.unpack_from(data)
    numbers = np.frombuffer(data, "<i4", size, 4)
    counts = np.frombuffer(data, "<u4", size, 4 + 4 * size)
    places = np.frombuffer(data, "<u4", -1, 4 + 8 * size)
    return Postings(np.repeat(numbers, counts).astype(np.int64), places.astype(np.uint32, copy=False))


def read_words(
    connection: BaseDatabaseWrapper, build: str, segment: int, numbers: Sequence[int]
) -> dict[int, NDArray[np.int32]]:
    """Return {word's number: its places, as LiteralIndex.where has them}."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT number, data FROM search_word_{build} WHERE segment = %s AND number = ANY(%s)",
            [segment, list(numbers)],
        )
        return {number: np.frombuffer(bytes(data), "<i4") for number, data in cursor.fetchall()}


def read_terms(
    connection: BaseDatabaseWrapper, build: str, segment: int, number: int
) -> tuple[Sequence[str], NDArray[np.float32]]:
    """Return a document's terms and how often each stands in it."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT terms FROM search_document_{build} WHERE segment = %s AND number = %s", [segment, number]
        )
        words = unpack(bytes(cursor.fetchone()[0]))
    return words.terms, words.counts.astype(np.float32)


def count_terms(connection: BaseDatabaseWrapper, build: str, segment: int, numbers: Sequence[int]) -> Counter[int]:
    """Return {term's key: how many of some documents of a segment hold it}."""
    found: Counter[int] = Counter()
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT terms FROM search_document_{build} WHERE segment = %s AND number = ANY(%s)",
            [segment, list(numbers)],
        )
        for (terms,) in cursor.fetchall():
            found.update(map(term_key, unpack(bytes(terms)).terms))
    return found


def read_spellings(
    connection: BaseDatabaseWrapper, build: str, *, shortest: int, longest: int, like: str, ends: int
) -> dict[str, int]:
    """Return {word: documents} of the words within these numbers of characters that may correct the word `like`.

    They begin or end as it does, in `ends` characters: two wrong letters are seldom at both ends, and a library of 100,000
    records has too many words to look through.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT term, sum(documents) FROM search_spelling_{build} WHERE length(term) BETWEEN %s AND %s"
            " AND (left(term, %s) = %s OR right(term, %s) = %s) GROUP BY term",
            [shortest, longest, ends, like[:ends], ends, like[-ends:]],
        )
        return {term: int(count) for term, count in cursor.fetchall()}


def find_address(connection: BaseDatabaseWrapper, build: str, address: str) -> list[tuple[int, int]]:
    """Return (segment, number) of the documents that cite a normalized address."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT segment, number FROM search_document_{build} WHERE addresses @> ARRAY[%s] ORDER BY segment, number",
            [address.replace("\0", "")],
        )
        return [(segment, number) for segment, number in cursor.fetchall()]


def read_analyses(connection: BaseDatabaseWrapper, build: str, contents: Sequence[str]) -> dict[str, AnalysedDocument]:
    """Return {content's key: analysis} of those that the build has, so that they needn't be analysed again."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT DISTINCT ON (content) content, lengths, terms, words FROM search_document_{build} WHERE content = ANY(%s)",
            [list(contents)],
        )
        return {
            content: AnalysedDocument(unpack(bytes(terms)), unpack(bytes(words)), np.frombuffer(bytes(lengths), "<i8"))
            for content, lengths, terms, words in cursor.fetchall()
        }


def read_documents(
    connection: BaseDatabaseWrapper, build: str, segment: int
) -> list[tuple[int, str, AnalysedDocument, list[str]]]:
    """Return (number, content's key, analysis, addresses) of a segment's documents."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT number, content, lengths, terms, words, addresses FROM search_document_{build} WHERE segment = %s ORDER BY number",
            [segment],
        )
        return [
            (
                n,
                content,
                AnalysedDocument(unpack(bytes(t)), unpack(bytes(w)), np.frombuffer(bytes(lengths), "<i8")),
                addresses,
            )
            for n, content, lengths, t, w, addresses in cursor.fetchall()
        ]
