"""SearchDocument → its terms with places, ready for any index, and the compact bytes in which they are cached."""

from __future__ import annotations

import struct
import threading
import zlib
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from incidents.search.base import SearchDocument
from incidents.search.korean import ANALYSIS_VERSION, fold, leaves_of, tokens, words
from incidents.search.morphemes import dictionary_version
from incidents.search.postings import SECTION_BITS, TermPlaces
from incidents.search.word_table import MAX_TERM, WordTable

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
_table = WordTable()
_table_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class AnalysedDocument:
    """A document's terms. words: what queries search; surfaces: whole words as written, for parts of words.

    lengths: int64[len(SECTIONS)], positions in each section.
    """

    words: TermPlaces
    surfaces: TermPlaces
    lengths: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PackedDocument:
    """An AnalysedDocument as bytes, to be sent and stored: words and surfaces as `pack` packs them, lengths as <i8."""

    words: bytes
    surfaces: bytes
    lengths: bytes


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
    """Return a document's terms; about 1 ms for a record of 1,500 characters whose words were met before."""
    with _table_lock:
        _table.make_room()
        more = [
            (_table.number(key), _LABELS)
            for mark, names in ((LABEL, document.labels), (ALIAS, document.aliases))
            for name in names
            for key in label_keys(name, mark)
        ]
        position = _LABELS
        for label in document.labels:
            terms, width = _label_words(label)
            more.extend((_table.number(term), position + offset) for term, offset in terms)
            position += width
        return AnalysedDocument(*_table.read(section_texts(document), more))


def analyse_packed(document: SearchDocument) -> PackedDocument:
    """Return a document's terms as bytes."""
    analysed = analyse(document)
    lengths = np.asarray(analysed.lengths, "<i8").tobytes()
    return PackedDocument(pack(analysed.words), pack(analysed.surfaces), lengths)


@lru_cache(maxsize=4_000)
def label_keys(label: str, mark: str = LABEL) -> tuple[str, ...]:
    """Return the keys of a label, or with `mark` ALIAS of an alias: all its leaves, and those of each part between middle dots if several words."""
    parts = [leaves_of(part) for part in label.split("·")]
    wholes = [leaf for part in parts for leaf in part]
    keys = [wholes, *(list(part) for part in parts if len(part) > 1 and len(parts) > 1)]
    return tuple(mark + " ".join(key)[:MAX_TERM] for key in keys if key)


@lru_cache(maxsize=4_000)
def _label_words(label: str) -> tuple[tuple[tuple[str, int], ...], int]:
    """Return the (term, position) of a label's words, for `분류:`, and the positions that they take."""
    found = tuple((LABEL_WORD + token.term[:MAX_TERM], token.position) for token in tokens(label))
    return found, sum(word.width for word, _, _ in words(fold(label)))


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
