"""Writing segments into the tables of postgres_store: a term's places as arrays, words with their pairs of letters. SQL only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.backends.base.base import BaseDatabaseWrapper
from numpy.typing import NDArray

from incidents.search.base import SearchDocument
from incidents.search.documents import ALIAS, LABEL, SECTIONS, AnalysedDocument, pack, source_addresses, unpack
from incidents.search.literal import LiteralIndex
from incidents.search.postgres_store import BY_SEGMENT, HEAD, binary_cursor, grams, storable, term_key, word_place


def write_segment(
    connection: BaseDatabaseWrapper,
    build: str,
    number: int,
    documents: Sequence[tuple[SearchDocument, str, AnalysedDocument]],
) -> None:
    """Add a segment. documents: (document, its content's key, its analysis)."""
    terms = _inverted([analysed.words.terms for _, _, analysed in documents])
    keys = [term_key(term) for term in terms.names]
    counts = np.diff(terms.first).tolist()
    given = [document for document, _, _ in documents]
    lengths = np.array([analysed.lengths for _, _, analysed in documents], "<i8").reshape(len(documents), len(SECTIONS))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO search_segment_{build} VALUES (%s, %s, '', %s, %s, %s, %s, %s, %s)",
            [
                number,
                len(documents),
                np.array([d.id for d in given], "<i8").tobytes(),
                np.array([d.sort_date for d in given], "<i8").tobytes(),
                np.array([d.revision for d in given], "<i8").tobytes(),
                "\n".join(d.public_id for d in given),
                np.minimum(lengths, 65_535).astype("<u2").tobytes(),
                storable("\n".join(name for name in terms.names if name[0] in (LABEL, ALIAS))),
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
        _copy(
            cursor,
            f"search_posting_{build}",
            ("int8", "int4", "int4", "bytea"),
            (
                (key, number, count, data)
                for key, count, data in zip(keys, counts, _term_bytes(terms, documents), strict=True)
            ),
        )
        _copy(
            cursor,
            f"search_spelling_{build}",
            ("int4", "text", "int4"),
            (
                (number, term, count)
                for term, count in zip(terms.names, counts, strict=True)
                if 2 <= len(term) <= 24 and term.isalpha() and not term.endswith("다")
            ),
        )
        _write_words(cursor, build, number, [analysed for _, _, analysed in documents])


def _write_words(cursor: Any, build: str, segment: int, documents: Sequence[AnalysedDocument]) -> None:
    """Add the distinct whole words, alphabetically: those that begin alike lie together where they are looked for."""
    literal = LiteralIndex.of([analysed.surfaces for analysed in documents])
    marked = list(dict.fromkeys(term for analysed in documents for term in analysed.surfaces.terms))
    plain = [storable(word.replace("+", "")) for word in marked]
    order = sorted(range(len(plain)), key=plain.__getitem__)
    _copy(
        cursor,
        f"search_word_{build}",
        ("int8", "text", "bytea"),
        (
            (
                word_place(segment, number),
                storable(marked[n]),
                literal.where[literal.first[n] : literal.first[n + 1]].astype("<i4").tobytes(),
            )
            for number, n in enumerate(order)
        ),
    )
    pairs, numbers = grams(plain[n] for n in order)
    by_pair = np.argsort(pairs, kind="stable")
    pairs, numbers = pairs[by_pair], numbers[by_pair]
    is_new = np.ones(len(pairs), bool)
    is_new[1:] = (pairs[1:] != pairs[:-1]) | (numbers[1:] != numbers[:-1])
    pairs, numbers = pairs[is_new], numbers[is_new].astype("<i4")
    each, first = np.unique(pairs, return_index=True)
    ends = np.append(first[1:], len(pairs))
    _copy(
        cursor,
        f"search_gram_{build}",
        ("int8", "int4", "bytea"),
        (
            (gram, segment, numbers[start:end].tobytes())
            for gram, start, end in zip(each.tolist(), first.tolist(), ends.tolist(), strict=True)
        ),
    )


def take_out(connection: BaseDatabaseWrapper, build: str, pks: Collection[int]) -> None:
    """Mark documents as gone, in whichever segments they are, and count the terms that went with them."""
    with binary_cursor(connection) as cursor:
        cursor.execute(
            f"SELECT segment, array_agg(number) FROM search_document_{build} WHERE pk = ANY(%s) GROUP BY segment",
            [list(pks)],
        )
        for segment, numbers in cursor.fetchall():
            cursor.execute(f"SELECT removed FROM search_segment_{build} WHERE number = %s", [segment])
            before = np.frombuffer(b"".join(removed for (removed,) in cursor.fetchall()), "<i4")
            fresh = np.setdiff1d(np.array(numbers, "<i4"), before)
            if not len(fresh):
                continue
            after = np.union1d(before, fresh).astype("<i4")
            cursor.execute(
                f"UPDATE search_segment_{build} SET removed = %s WHERE number = %s", [after.tobytes(), segment]
            )
            counts = _count_terms(cursor, build, segment, fresh.tolist())
            _copy(
                cursor,
                f"search_removed_{build}",
                ("int8", "int4", "int4"),
                ((key, segment, count) for key, count in counts.items()),
            )


def _count_terms(cursor: Any, build: str, segment: int, numbers: Sequence[int]) -> Counter[int]:
    """Return {term's key: how many of some documents of a segment hold it}."""
    found: Counter[int] = Counter()
    cursor.execute(
        f"SELECT terms FROM search_document_{build} WHERE segment = %s AND number = ANY(%s)",
        [segment, list(numbers)],
    )
    for (terms,) in cursor.fetchall():
        found.update(map(term_key, unpack(terms).terms))
    return found


def delete_segments(connection: BaseDatabaseWrapper, build: str, numbers: Sequence[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM search_segment_{build} WHERE number = ANY(%s)", [list(numbers)])
        for name in BY_SEGMENT:
            cursor.execute(f"DELETE FROM search_{name}_{build} WHERE segment = ANY(%s)", [list(numbers)])
        for number in numbers:
            cursor.execute(
                f"DELETE FROM search_word_{build} WHERE place >= %s AND place < %s",
                [word_place(number, 0), word_place(number + 1, 0)],
            )


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
    """Yield each term's row: the number of documents, their numbers, their counts, all places (see postgres_reading.posting)."""
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


def _copy(cursor: Any, table: str, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)
