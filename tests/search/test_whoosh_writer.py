"""Segments that were added, emptied and merged answer as an index that was built at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from whoosh.filedb.filestore import FileStorage

from bench.library import made_library
from incidents.search import SearchDocument
from incidents.search.gathering import Gatherer
from incidents.search.postings import TermPlaces
from incidents.search.whoosh_backend import WhooshBackend
from incidents.search.whoosh_codec import Places, PlacesCodec, read_postings
from incidents.search.whoosh_reader import WhooshReader
from incidents.search.whoosh_writer import MERGE_SEGMENTS


def reader_of(backend: WhooshBackend) -> WhooshReader:
    reader, _ = backend.reader()
    assert isinstance(reader, WhooshReader)
    return reader


def words_of(backend: WhooshBackend) -> dict[str, list[tuple[int, int]]]:
    """Return every term with its (primary key, place)s."""
    reader = reader_of(backend)
    ids = reader.table.ids
    found = {}
    for term in {term for segment in reader._segments for term in segment.lexicon()}:
        postings = reader.word(term)
        if len(postings.rows):
            found[term] = sorted(zip(ids[postings.rows].tolist(), postings.places.tolist(), strict=True))
    return found


def inside(backend: WhooshBackend, needle: str) -> list[list[int]]:
    reader = reader_of(backend)
    return [sorted(reader.table.ids[rows].tolist()) for rows in reader.literal(needle)]


def test_segments_that_were_merged_hold_what_an_index_made_at_once_holds(tmp_path: Path) -> None:
    documents = list(made_library(60))
    grown, whole = WhooshBackend(tmp_path / "grown"), WhooshBackend(tmp_path / "whole")
    grown.rebuild(documents[:40])
    last: list[SearchDocument] = documents[:40]
    counts = []
    for step in range(2 * MERGE_SEGMENTS):
        new = [documents[40 + step], replace(documents[step], title=f"고친 제목 {step}")]
        removed = [documents[39 - step].id] if step % 5 == 4 else []
        grown.update(new, removed)
        touched = {document.id for document in new} | set(removed)
        last = [document for document in last if document.id not in touched] + new
        counts.append(len(reader_of(grown)._segments))
    assert max(counts) == MERGE_SEGMENTS
    assert counts.count(2) + counts.count(3) > 1  # merged, and more than once
    whole.rebuild(last)
    assert words_of(grown) == words_of(whole)
    for needle in ("인증", "서버", "고친", "api", "데이"):
        assert inside(grown, needle) == inside(whole, needle)
    assert grown.health().revisions == whole.health().revisions


def test_an_index_gathered_in_many_runs_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = list(made_library(30))
    at_once, in_runs = WhooshBackend(tmp_path / "once"), WhooshBackend(tmp_path / "runs")
    at_once.rebuild(documents)
    monkeypatch.setattr(Gatherer.__init__, "__defaults__", (500,))
    in_runs.rebuild(documents)
    assert words_of(in_runs) == words_of(at_once)
    assert np.array_equal(reader_of(in_runs).table.lengths, reader_of(at_once).table.lengths)


def test_documents_and_counts_of_any_size_are_read_as_written(tmp_path: Path) -> None:
    """Numbers are kept in as few bytes as a term's largest one needs."""
    groups = {
        3: {"가": [1], "나": list(range(400)), "다": [5, 9]},
        65_535: {"가": [2], "다": [7]},
        70_000: {"나": [6], "다": [1 << 27 | 3], "라": [8]},
    }
    words = Gatherer(tmp_path)
    for document, group in groups.items():
        counts = np.array([len(places) for places in group.values()], np.uint32)
        words.add(
            document,
            TermPlaces(
                tuple(group), counts, np.concatenate([np.array(places, np.uint32) for places in group.values()])
            ),
        )
    codec, storage = PlacesCodec(), FileStorage(str(tmp_path))
    segment = codec.new_segment(storage, "MAIN")
    writer = codec.field_writer(storage, segment)
    writer.start_field("words", Places())
    for part in words.parts():
        writer.put(part)
    writer.finish_field()
    writer.close()
    words.close()
    reader = codec.terms_reader(storage, segment)
    for term in "가나다라":
        rows, places = read_postings(reader._postfile, reader.term_info("words", term.encode()))
        expected = [(document, place) for document, group in groups.items() for place in group.get(term, [])]
        assert list(zip(rows.tolist(), places.tolist(), strict=True)) == expected
    reader.close()
