"""SearchDocument → its terms with places, ready for any index, and the compact bytes in which they are cached."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from incidents.search.base import SearchDocument
from incidents.search.korean import ANALYSIS_VERSION, fold, surfaces, tokens
from incidents.search.morphemes import dictionary_version
from incidents.search.postings import SECTION_BITS

SECTIONS = ("title", "symptom", "trigger", "cause", "contributing_factors", "detection", "actions", "follow_ups",
            "lesson", "organization", "labels", "sources", "id")  # fmt: skip
SECTION_NUMBER = {name: number for number, name in enumerate(SECTIONS)}
MAX_TERM = 200  # characters of a term: longer ones are cut, on both sides


@dataclass(frozen=True, slots=True)
class TermPlaces:
    """Terms, the number of places of each, and all places one after another (packed, see postings)."""

    terms: tuple[str, ...]
    counts: NDArray[np.uint32]
    places: NDArray[np.uint32]

    def items(self) -> Iterator[tuple[str, NDArray[np.uint32]]]:
        """Yield (term, its places)."""
        ends = np.cumsum(self.counts)
        start = 0
        for term, end in zip(self.terms, ends.tolist(), strict=True):
            yield term, self.places[start:end]
            start = end


@dataclass(frozen=True, slots=True)
class AnalysedDocument:
    """A document's terms. words: what queries search; surfaces: whole words as written, for parts of words.

    lengths: int64[len(SECTIONS)], positions in each section.
    """

    words: TermPlaces
    surfaces: TermPlaces
    lengths: NDArray[np.int64]


def section_texts(document: SearchDocument) -> tuple[str, ...]:
    """Return the text of each of SECTIONS, in their order."""
    sections = document.sections
    return (
        document.title,
        *(sections.get(name, "") for name in SECTIONS[1:9]),
        document.organization,
        "\n".join(document.labels),
        "\n".join(_source_text(source) for source in document.sources),
        f"{document.public_id} {document.year}",
    )


def _source_text(source: str) -> str:
    if "://" in source:
        return urlsplit(source).netloc.removeprefix("www.")
    return source


def normalized_url(text: str) -> str:
    """Return an address without scheme, `www.` and a final slash, for comparing what is pasted with what is cited."""
    rest = text.strip().partition("://")[2] or text.strip()
    return rest.removeprefix("www.").partition("#")[0].rstrip("/")


def content_key(document: SearchDocument) -> str:
    """Return the cache key of a document's analysis: its texts, the analysis and the dictionary, hashed."""
    texts = "\0".join(section_texts(document))
    return sha256(f"{ANALYSIS_VERSION}\0{dictionary_version()}\0{texts}".encode("utf-8", "surrogatepass")).hexdigest()


def analyse(document: SearchDocument) -> AnalysedDocument:
    """Return a document's terms; about 2 ms for a record of 1,500 characters with the analyser's cache warm."""
    found: dict[str, list[int]] = {}
    whole: dict[str, list[int]] = {}
    lengths = np.zeros(len(SECTIONS), np.int64)
    for number, text in enumerate(section_texts(document)):
        base = number << SECTION_BITS
        last = 0
        for token in tokens(text):
            found.setdefault(token.term[:MAX_TERM], []).append(base | token.position)
            last = max(last, token.position + token.width)
        lengths[number] = last
        for surface, ordinal in surfaces(text):
            whole.setdefault(surface[:MAX_TERM], []).append(base | ordinal)
    return AnalysedDocument(_pack(found), _pack(whole), lengths)


def _pack(found: dict[str, list[int]]) -> TermPlaces:
    terms = tuple(sorted(found))
    lists = [sorted(set(found[term])) for term in terms]
    counts = np.fromiter((len(item) for item in lists), np.uint32, len(lists))
    return TermPlaces(terms, counts, np.array([place for item in lists for place in item], np.uint32))


def to_bytes(analysed: AnalysedDocument) -> bytes:
    """Return the analysis as compressed bytes."""
    parts = [np.asarray(analysed.lengths, "<i8").tobytes()]
    for group in (analysed.words, analysed.surfaces):
        text = "\n".join(group.terms).encode("utf-8", "surrogatepass")
        parts += [text, np.asarray(group.counts, "<u4").tobytes(), np.asarray(group.places, "<u4").tobytes()]
    header = struct.pack(f"<{len(parts)}I", *map(len, parts))
    return zlib.compress(header + b"".join(parts), 1)


def from_bytes(data: bytes) -> AnalysedDocument:
    """Return the analysis of `to_bytes`; ValueError, struct.error or zlib.error if the bytes are damaged."""
    raw = zlib.decompress(data)
    sizes = struct.unpack_from("<7I", raw)
    offset = 28
    parts = []
    for size in sizes:
        parts.append(raw[offset : offset + size])
        offset += size

    def group(text: bytes, counts: bytes, places: bytes) -> TermPlaces:
        terms = tuple(text.decode("utf-8", "surrogatepass").split("\n")) if text else ()
        return TermPlaces(terms, np.frombuffer(counts, "<u4"), np.frombuffer(places, "<u4"))

    return AnalysedDocument(group(*parts[1:4]), group(*parts[4:7]), np.frombuffer(parts[0], "<i8"))


def folded_lower(text: str) -> str:
    """Return text folded and without case, as terms are."""
    return fold(text).casefold()
