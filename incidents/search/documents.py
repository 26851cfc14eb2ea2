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
from incidents.search.korean import ANALYSIS_VERSION, fold, leaves_of, placed_terms, surface_of, tokens, words
from incidents.search.morphemes import dictionary_version
from incidents.search.postings import SECTION_BITS

SECTIONS = ("title", "symptom", "trigger", "cause", "contributing_factors", "detection", "actions", "follow_ups",
            "lesson", "organization", "labels", "sources", "id")  # fmt: skip
SECTION_NUMBER = {name: number for number, name in enumerate(SECTIONS)}
HEADINGS = {
    "symptom": "증상", "trigger": "촉발", "cause": "원인", "contributing_factors": "기여 요인", "detection": "감지",
    "actions": "조치", "follow_ups": "후속 조치", "lesson": "교훈",
}  # fmt: skip  # they stand on every record's page, so a search for one must find the records that have it
LABEL = "@"  # before a whole label of a facet value; no term of a text begins so
ALIAS = "~"  # before a whole alias, which helps ranking only: a value has aliases for all that falls under it
LABEL_WORD = "#"  # before a word of a label, for `분류:`; `부족` in 용량 계획 부족 says little of a record
_LABELS = SECTION_NUMBER["labels"] << SECTION_BITS
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
        "",  # labels stand apart, see LABEL
        "\n".join(_source_text(source) for source in document.sources),
        " ".join(
            (document.public_id, str(document.year), *(HEADINGS[name] for name in SECTIONS[1:9] if sections.get(name)))
        ),
    )


def _source_text(source: str) -> str:
    if "://" in source:
        return urlsplit(source).netloc.removeprefix("www.")
    return source


def normalized_url(text: str) -> str:
    """Return an address without scheme, `www.` and a final slash, for comparing what is pasted with what is cited."""
    rest = text.strip().partition("://")[2] or text.strip()
    return rest.removeprefix("www.").partition("#")[0].rstrip("/")


def source_addresses(document: SearchDocument) -> list[str]:
    """Return the normalized addresses that a document cites."""
    return [normalized_url(source) for source in document.sources if "://" in source]


def content_key(document: SearchDocument) -> str:
    """Return the cache key of a document's analysis: its texts, the analysis and the dictionary, hashed."""
    texts = "\0".join((*section_texts(document), *document.labels, "", *document.aliases))
    return sha256(f"{ANALYSIS_VERSION}\0{dictionary_version()}\0{texts}".encode("utf-8", "surrogatepass")).hexdigest()


def analyse(document: SearchDocument) -> AnalysedDocument:
    """Return a document's terms; about 2 ms for a record of 1,500 characters with the analyser's cache warm."""
    found: dict[str, list[int]] = {}
    whole: dict[str, list[int]] = {}
    lengths = np.zeros(len(SECTIONS), np.int64)
    for number, text in enumerate(section_texts(document)):
        base = number << SECTION_BITS
        position = last = 0
        for ordinal, (word, _, _) in enumerate(words(fold(text))):
            for term, offset, width in placed_terms(word):
                found.setdefault(term[:MAX_TERM], []).append(base | (position + offset))
                last = max(last, position + offset + width)
            position += word.width
            whole.setdefault(surface_of(word)[:MAX_TERM], []).append(base | ordinal)
        lengths[number] = last
    for mark, names in ((LABEL, document.labels), (ALIAS, document.aliases)):
        for key in (key for name in names for key in label_keys(name, mark)):
            found.setdefault(key, []).append(_LABELS)
    for token in tokens("\n".join(document.labels)):
        found.setdefault(LABEL_WORD + token.term[:MAX_TERM], []).append(_LABELS | token.position)
    return AnalysedDocument(_pack(found), _pack(whole), lengths)


def _pack(found: dict[str, list[int]]) -> TermPlaces:
    terms = tuple(sorted(found))
    lists = [sorted(set(found[term])) for term in terms]
    counts = np.fromiter((len(item) for item in lists), np.uint32, len(lists))
    return TermPlaces(terms, counts, np.array([place for item in lists for place in item], np.uint32))


def label_keys(label: str, mark: str = LABEL) -> list[str]:
    """Return the keys of a label, or with `mark` ALIAS of an alias: all its leaves, and those of each part between middle dots if several words."""
    parts = [leaves_of(part) for part in label.split("·")]
    wholes = [leaf for part in parts for leaf in part]
    keys = [wholes, *(list(part) for part in parts if len(part) > 1 and len(parts) > 1)]
    return [mark + " ".join(key)[:MAX_TERM] for key in keys if key]


def pack(group: TermPlaces) -> bytes:
    """Return terms with their places as compressed bytes."""
    text = "\n".join(group.terms).encode("utf-8", "surrogatepass")
    parts = (text, np.asarray(group.counts, "<u4").tobytes(), np.asarray(group.places, "<u4").tobytes())
    return zlib.compress(struct.pack("<3I", *map(len, parts)) + b"".join(parts), 1)


def unpack(data: bytes) -> TermPlaces:
    """Return what `pack` packed; ValueError, struct.error or zlib.error if the bytes are damaged."""
    raw = zlib.decompress(data)
    a, b, c = struct.unpack_from("<3I", raw)
    if len(raw) != 12 + a + b + c:
        raise ValueError("cut short")
    text = raw[12 : 12 + a].decode("utf-8", "surrogatepass")
    terms = tuple(text.split("\n")) if text else ()
    return TermPlaces(terms, np.frombuffer(raw, "<u4", b // 4, 12 + a), np.frombuffer(raw, "<u4", c // 4, 12 + a + b))
