"""What rows are cut from, kept per record and revision: title and plain texts, so that a search page that shows known
records asks the database for nothing but the revision, and others for one query.
"""

from __future__ import annotations

from collections.abc import Mapping

from incidents.catalogue import Catalogue
from incidents.models import Incident
from incidents.part_cache import Lru
from incidents.search import RecordText
from incidents.search_documents import row_texts

KEPT = 2_048  # records, some 7 kB each

_texts: Lru[RecordText] = Lru(KEPT)


def keep_newest(catalogue: Catalogue) -> None:
    """Read as many of the newest records as are kept: before a server forks, for all of its processes."""
    rows = catalogue.order("newest")[:KEPT]
    texts_of(dict(zip(catalogue.keys.pks[rows].tolist(), catalogue.keys.revisions[rows].tolist(), strict=True)))


def texts_of(revisions: Mapping[int, int]) -> dict[int, RecordText]:
    """Return {primary key: text} of the records in `revisions` ({primary key: revision}), in its order.

    A record that has changed since comes as it is now, and is not kept under the revision asked for.
    """
    found = {pk: _texts.get((pk, revision)) for pk, revision in revisions.items()}
    missing = [pk for pk, text in found.items() if text is None]
    if missing:
        for text in row_texts(Incident.objects.filter(pk__in=missing)):
            found[text.id] = text
            _texts.put((text.id, text.revision), text)
    return {pk: text for pk, text in found.items() if text is not None}
