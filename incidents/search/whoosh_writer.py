"""Writing a Whoosh segment: columns as Whoosh writes them, postings gathered in arrays and written term by term."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from whoosh import columns, fields, index, writing
from whoosh.reading import SegmentReader

from incidents.search.base import SearchDocument
from incidents.search.documents import PackedDocument, source_addresses, unpack
from incidents.search.gathering import Gatherer
from incidents.search.postings import TermPlaces
from incidents.search.whoosh_codec import Places, PlacesCodec
from incidents.search.whoosh_reader import pack_facts, read_key, write_literal

MERGE_SEGMENTS: Final = 10  # more small segments than this are merged into one
_NO_PLACES: Final = (np.zeros(1, np.uint32), np.empty(0, np.uint32))


def schema() -> fields.Schema:
    """Return the fields of the index: what is deleted by, the terms of texts, and columns of bytes."""
    return fields.Schema(
        key=fields.ID(unique=True),
        words=Places(),
        terms=fields.COLUMN(columns.VarBytesColumn()),
        surfaces=fields.COLUMN(columns.VarBytesColumn()),
        facts=fields.COLUMN(columns.VarBytesColumn()),
        addresses=fields.COLUMN(columns.VarBytesColumn()),
    )


class Writer(writing.SegmentWriter):  # type: ignore[misc]  # Whoosh has no types
    """Whoosh's writer of plain files, with other postings than its pool's. The caller holds the lock.

    Plain files: Whoosh copies all of a compound file into memory when it opens one.
    """

    def __init__(self, whole: index.FileIndex) -> None:
        super().__init__(whole, codec=PlacesCodec(), compound=False, _lk=False)
        folder = Path(self.storage.folder)
        self.pool: _Pool = _Pool(folder)

    def put(self, document: SearchDocument, analysed: PackedDocument) -> None:
        """Add a document."""
        values = {
            "terms": analysed.words,
            "surfaces": analysed.surfaces,
            "facts": pack_facts(document, analysed.lengths),
            "addresses": "\n".join(source_addresses(document)).encode("utf-8", "surrogatepass"),
        }
        self._put(str(document.id), values)

    def _put(self, key: str, values: Mapping[str, bytes]) -> None:
        writer = self.perdocwriter
        writer.start_doc(self.docnum)
        for name, value in values.items():
            writer.add_column_value(name, self.schema[name].column_type, value)
        writer.finish_doc()
        self.pool.add(self.docnum, key, unpack(values["terms"]), unpack(values["surfaces"]))
        self._added = True
        self.docnum += 1

    def add_reader(self, reader: SegmentReader) -> None:
        """Add the documents of a segment, those taken out of it excepted."""
        read = {name: reader.column_reader(name) for name in ("terms", "surfaces", "facts", "addresses")}
        for number in reader.all_doc_ids():
            values = {name: column[number] for name, column in read.items()}
            self._put(read_key(values["facts"]), values)

    def _flush_segment(self) -> None:
        self.perdocwriter.close()
        for name, gathered in self.pool.fields.items():
            self.fieldwriter.start_field(name, self.schema[name])
            for part in gathered.parts():
                self.fieldwriter.put(part)
            self.fieldwriter.finish_field()
            gathered.close()
        self.fieldwriter.close()
        write_literal(Path(self.storage.folder), self.newsegment.segment_id(), self.pool.surfaces)


class _Pool:
    """What stands in for Whoosh's pool of postings.

    fields: in the order in which a segment holds them. surfaces: the words as written, which lie beside a segment.
    """

    def __init__(self, folder: Path) -> None:
        self.fields = {"key": Gatherer(folder), "words": Gatherer(folder)}
        self.surfaces = Gatherer(folder)

    def add(self, document: int, key: str, words: TermPlaces, surfaces: TermPlaces) -> None:
        self.fields["key"].add(document, TermPlaces((key,), *_NO_PLACES))
        self.fields["words"].add(document, words)
        self.surfaces.add(document, surfaces)

    def cleanup(self) -> None:
        """Let go of what was gathered; Whoosh calls it."""
        for gathered in (*self.fields.values(), self.surfaces):
            gathered.close()


def merge_small(writer: Writer, segments: list[Any]) -> list[Any]:
    """Merge small segments once there are many: seldom, so that publishing stays quick, yet readers never see dozens."""
    if len(segments) < MERGE_SEGMENTS:
        return segments
    largest = max(segment.doc_count_all() for segment in segments)
    kept = []
    for segment in segments:
        if segment.doc_count_all() * 10 < largest or segment.deleted_count() * 2 > segment.doc_count_all():
            reader = SegmentReader(writer.storage, writer.schema, segment)
            writer.add_reader(reader)
            reader.close()
        else:
            kept.append(segment)
    return kept
