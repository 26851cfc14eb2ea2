"""How postings lie in Whoosh's segment files: each term's whole list as arrays in one piece, written and read without a loop.

Only the postings' file differs from Whoosh's own format 3. A term's piece of it holds, one after another: the places
(uint32), the documents that hold it (uint16 where all fit, else uint32), the number of places of each (nothing where
each has one, else uint8 or uint32), and a byte that says which. All are little-endian.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from whoosh import fields, formats
from whoosh.codec.whoosh3 import W3Codec, W3FieldWriter, W3TermInfo
from whoosh.matching import ListMatcher
from whoosh.system import pack_int, pack_long, pack_ushort

from incidents.search.gathering import TermPostings

_DOCUMENTS: Final = (np.dtype("<u4"), np.dtype("<u2"))  # by the lowest bit of a piece's last byte
_COUNTS: Final = (None, np.dtype("u1"), np.dtype("<u4"))  # by the bits above it


class PlacesFormat(formats.Format):  # type: ignore[misc]  # Whoosh has no types
    """What Whoosh is told of a posting: it reads no more of it than its document."""

    posting_size = -1

    def __init__(self) -> None:
        super().__init__()


class Places(fields.FieldType):  # type: ignore[misc]
    """A field whose terms and places are made elsewhere; Whoosh analyses nothing."""

    def __init__(self) -> None:
        super().__init__(PlacesFormat(), None, scorable=False, stored=False)

    def from_bytes(self, value: bytes) -> str:
        """Return a term as text."""
        return decode(value)

    def to_bytes(self, value: str | bytes) -> bytes:
        """Return a term as stored."""
        return value if isinstance(value, bytes) else encode(value)


def encode(term: str) -> bytes:
    """Return a term as stored; lone surrogates survive."""
    return term.encode("utf-8", "surrogatepass")


def decode(term: bytes) -> str:
    """Return a stored term as text."""
    return term.decode("utf-8", "surrogatepass")


class PlacesWriter(W3FieldWriter):  # type: ignore[misc]
    """Writes a segment's terms and postings, some terms at a time."""

    def put(self, part: TermPostings) -> None:
        """Write the next terms of the field that was started."""
        field = pack_ushort(self._fieldid)
        at = self._postfile.tell()
        lows, highs = part.documents[part.first[:-1]].tolist(), part.documents[part.first[1:] - 1].tolist()
        most = np.maximum.reduceat(part.counts, part.first[:-1])
        least = np.minimum.reduceat(part.counts, part.first[:-1])
        kinds = np.where((most == 1) & (least == 1), 0, np.where(most < 1 << 8, 1, 2)).tolist()
        documents = [part.documents.astype(kind).tobytes() for kind in _DOCUMENTS]
        counts = [b"" if kind is None else part.counts.astype(kind).tobytes() for kind in _COUNTS]
        places = part.places.astype("<u4").tobytes()
        first, first_place = part.first.tolist(), part.first_place.tolist()
        pieces: list[bytes] = []
        for n, term in enumerate(part.terms):
            start, stop = first[n], first[n + 1]
            is_short = highs[n] < 1 << 16
            width, kind = 2 if is_short else 4, kinds[n]
            size = (0, 1, 4)[kind]
            piece = b"".join(
                (
                    places[4 * first_place[n] : 4 * first_place[n + 1]],
                    documents[is_short][width * start : width * stop],
                    counts[kind][size * start : size * stop],
                    bytes((kind << 1 | is_short,)),
                )
            )
            pieces.append(piece)
            self._tindex.add(field + encode(term), _term_info(stop - start, lows[n], highs[n], at, len(piece)))
            at += len(piece)
        self._postfile.write(b"".join(pieces))


def _term_info(count: int, low: int, high: int, at: int, size: int) -> bytes:
    """Return a term as W3TermInfo reads it: not inlined, weight 1 a posting, no lengths; where its piece lies."""
    facts: bytes = W3TermInfo._struct.pack(0, count, count, 0, 0, 1.0, low, high)
    where: bytes = pack_long(at) + pack_int(size)
    return facts + where


def read_postings(file: Any, info: W3TermInfo) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return (document for each place: int64, places: uint32) of a term, from a segment's file of postings."""
    documents, counts, places = _read(file, info)
    return (documents if counts is None else np.repeat(documents, counts)), places


def _read(file: Any, info: W3TermInfo) -> tuple[NDArray[np.int64], NDArray[Any] | None, NDArray[np.uint32]]:
    at, (size,) = info.extent()  # Whoosh leaves the size as struct unpacks it
    data = file.get(at, size)
    if len(data) != size:
        raise EOFError("a term's postings are cut short")
    count = info.doc_frequency()
    document, counts_kind = _DOCUMENTS[data[-1] & 1], _COUNTS[data[-1] >> 1]
    after = size - 1 - count * (counts_kind.itemsize if counts_kind else 0)
    before = after - count * document.itemsize
    return (
        np.frombuffer(data, document, count, before).astype(np.int64),
        np.frombuffer(data, counts_kind, count, after) if counts_kind else None,
        np.frombuffer(data, "<u4", before // 4),
    )


class PlacesCodec(W3Codec):  # type: ignore[misc]
    """Whoosh's format 3 with lists in one piece. A segment remembers its codec, so readers need not be told."""

    length_stats = False  # Whoosh scores nothing, so it needn't know how long fields are

    def field_writer(self, storage: Any, segment: Any) -> PlacesWriter:
        """Return the writer of terms and postings."""
        return PlacesWriter(self, storage, segment)

    def postings_reader(self, dbfile: Any, terminfo: Any, format_: Any, term: Any = None, scorer: Any = None) -> Any:
        """Return a matcher over the documents that hold one term."""
        documents, _, _ = _read(dbfile, terminfo)
        return ListMatcher(documents.tolist(), format=format_, scorer=scorer, term=term, terminfo=terminfo)
