"""What a reader may be offered while typing: records, the vocabulary with records, organizations, checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from incidents.catalogue import Catalogue, get_catalogue
from incidents.indexing import fresh_backend
from incidents.models import TERM_MODELS, Check, Incident, Organization, Status, VocabularyKind
from incidents.search import SuggestEntry, Suggestion

Kind = Literal["component", "cause", "factor"]
TERM_KINDS: Final[tuple[tuple[Kind, VocabularyKind], ...]] = (
    ("component", VocabularyKind.COMPONENT),
    ("cause", VocabularyKind.CAUSE),
    ("factor", VocabularyKind.FACTOR),
)

_kept: tuple[Catalogue, Sequence[SuggestEntry]] | None = None


def suggest(text: str, limit: int = 8) -> list[Suggestion]:
    """Return completions for what has been typed, a half-composed syllable or initials only too. Raises SearchUnavailable."""
    backend = fresh_backend()
    backend.use_entries(suggest_entries)
    entries = suggest_entries()[1]
    counts: dict[tuple[str, str], int] = {(e.kind, e.target): int(e.weight) for e in entries if e.weight}
    return [replace(one, count=counts.get((one.kind, one.target), 0)) for one in backend.suggest(text, limit)]


def suggest_entries() -> tuple[object, Sequence[SuggestEntry]]:
    """Return (version, entries) of the library as it is now, read anew only when it has changed."""
    global _kept
    catalogue = get_catalogue()
    if _kept is None or _kept[0] is not catalogue:
        _kept = (catalogue, _read(catalogue))
    return (catalogue.revision, id(catalogue)), _kept[1]


def _read(catalogue: Catalogue) -> list[SuggestEntry]:
    entries: list[SuggestEntry] = []
    everything = catalogue.everything()
    for name, kind in TERM_KINDS:
        counts = everything.counts(name)
        terms = TERM_MODELS[kind].objects.all()  # type: ignore[attr-defined]
        entries += [
            SuggestEntry(name, term.label, term.slug, (*term.aliases, term.slug), float(counts[term.pk]))
            for term in terms
            if counts.get(term.pk)
        ]
    counts = everything.counts("organization")
    entries += [
        SuggestEntry("organization", one.name, one.slug, tuple(one.aliases), float(counts[one.pk]))
        for one in Organization.objects.all()
        if counts.get(one.pk)
    ]
    entries += [
        SuggestEntry("check", f"{code} {title}", code, (code,))
        for code, title in Check.objects.values_list("code", "title")
    ]
    published = Incident.objects.filter(status=Status.PUBLISHED).order_by("-number")
    entries += [
        SuggestEntry("incident", title, f"IL-{number:04d}", (f"IL-{number:04d}",))
        for number, title in published.values_list("number", "title").iterator(chunk_size=5000)
    ]
    return entries
