"""What rows are cut from, kept per record and revision: title and plain texts, so that a search page that shows known
records asks the database for nothing but the revision, and others for one query.
"""

from __future__ import annotations

from collections.abc import Mapping

from incidents.catalogue import Catalogue
from incidents.models import Incident
from incidents.part_cache import Lru
from incidents.search import SearchDocument
from incidents.search_documents import row_documents

KEPT = 2_048  # records, about 5 kB each

_documents: Lru[SearchDocument] = Lru(KEPT)


def keep_newest(catalogue: Catalogue) -> None:
    """Read as many of the newest records as are kept: before a server forks, for all of its processes."""
    rows = catalogue.order("newest")[:KEPT]
    documents_of(dict(zip(catalogue.keys.pks[rows].tolist(), catalogue.keys.revisions[rows].tolist(), strict=True)))


def documents_of(revisions: Mapping[int, int]) -> dict[int, SearchDocument]:
    """Return {primary key: document} of the records in `revisions` ({primary key: revision}), in its order.

    A record that has changed since comes as it is now, and is not kept under the revision asked for.
    """
    found = {pk: _documents.get((pk, revision)) for pk, revision in revisions.items()}
    missing = [pk for pk, document in found.items() if document is None]
    if missing:
        for document in row_documents(Incident.objects.filter(pk__in=missing)):
            found[document.id] = document
            _documents.put((document.id, document.revision), document)
    return {pk: document for pk, document in found.items() if document is not None}
