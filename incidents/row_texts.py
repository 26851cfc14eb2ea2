"""What rows are cut from, kept per record and revision: title and plain texts, so that a search page that shows known
records asks the database for nothing but the revision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from incidents.models import Incident
from incidents.part_cache import Lru
from incidents.search import SearchDocument
from incidents.search_documents import snippet_document

KEPT = 2_048  # records, about 5 kB each

_documents: Lru[SearchDocument] = Lru(KEPT)


def documents_of(revisions: Mapping[int, int], load: Callable[[], Iterable[Incident]]) -> dict[int, SearchDocument]:
    """Return {primary key: document} of the records in `revisions` ({primary key: revision}), in its order.

    `load` is called only where one of them isn't known yet; a record that it doesn't bring is left out.
    """
    found = {pk: _documents.get((pk, revision)) for pk, revision in revisions.items()}
    if any(document is None for document in found.values()):
        for incident in load():
            if found.get(incident.pk, 0) is None:
                document = snippet_document(incident)
                found[incident.pk] = document
                _documents.put((incident.pk, incident.revision), document)
    return {pk: document for pk, document in found.items() if document is not None}
