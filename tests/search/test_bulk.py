"""Analysing on all cores gives what analysing one by one gives, in the same order."""

from __future__ import annotations

from bench.library import made_library
from incidents.search.base import SearchDocument
from incidents.search.bulk import WORTH_IT, analyse_all
from incidents.search.documents import AnalysedDocument, analyse


def flat(analysed: AnalysedDocument) -> tuple[object, ...]:
    return (analysed.words.terms, analysed.words.places.tolist(), analysed.surfaces.terms, analysed.lengths.tolist())


def test_many_documents_are_analysed_as_one_by_one():
    documents = list(made_library(WORTH_IT + 250))
    known = {document.id: analyse(document) for document in documents[::7]}

    def find(batch: list[SearchDocument]) -> list[AnalysedDocument | None]:
        return [known.get(document.id) for document in batch]

    found = list(analyse_all(iter(documents), find, analyse))
    assert [document.id for document, _ in found] == [document.id for document in documents]
    for document, analysed in found[::25]:
        assert flat(analysed) == flat(analyse(document))


def test_a_reader_that_stops_early_leaves_no_process_behind():
    import multiprocessing

    made = analyse_all(made_library(WORTH_IT * 3), lambda batch: [None] * len(batch), analyse)
    for _ in range(WORTH_IT + 200):
        next(made)
    made.close()  # type: ignore[attr-defined]  # a generator, though it promises an iterator alone
    assert multiprocessing.active_children() == []
