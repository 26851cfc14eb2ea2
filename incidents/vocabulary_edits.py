"""Renaming and merging words of the vocabulary, with every record and check that has them, in one transaction.

A word's slug stands in each record's text, so each public record that is touched gets a version that says why; the
versions before keep the old word, and its address leads to the new one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import models, transaction

from incidents.errors import UserError
from incidents.lifecycle import commit_version
from incidents.models import (
    CheckComponent,
    CheckFactor,
    Incident,
    IncidentCause,
    IncidentComponent,
    IncidentFactor,
    Organization,
    SlugRedirect,
    Status,
    Term,
    VocabularyKind,
)
from incidents.revisions import mark_changed, mark_library_changed
from incidents.states import PUBLIC

Word = Term | Organization

# Rows that give a word to a record or to a check, by the word's kind: (model, field that owns the row).
_TAGS: dict[VocabularyKind, tuple[tuple[type[models.Model], str], ...]] = {
    VocabularyKind.CAUSE: ((IncidentCause, "incident"),),
    VocabularyKind.COMPONENT: ((IncidentComponent, "incident"), (CheckComponent, "check_item")),
    VocabularyKind.FACTOR: ((IncidentFactor, "incident"), (CheckFactor, "check_item")),
}
_KEYS = {VocabularyKind.DETECTION_METHOD: "detection_method", VocabularyKind.ORGANIZATION: "organization"}


@dataclass(frozen=True)
class Touched:
    """How much a change of a word touches: published records, others, checks."""

    published: int
    unpublished: int
    checks: int


def touched_by(word: Word) -> Touched:
    """Return what has this word now."""
    incidents = incidents_with(word)
    published = incidents.filter(status=Status.PUBLISHED).count()
    checks = sum(
        model._default_manager.filter(term=word).count()
        for model, owner in _TAGS.get(word.kind, ())
        if owner == "check_item"
    )
    return Touched(published, incidents.count() - published, checks)


def incidents_with(word: Word) -> models.QuerySet[Incident]:
    """Return the records, in any state, that have this word."""
    if key := _KEYS.get(word.kind):
        return Incident.objects.filter(**{key: word.pk})
    return Incident.objects.filter(**{f"{word.kind.value}__pk": word.pk})


def rename(word: Word, *, slug: str, label: str, author: User | None) -> Touched:
    """Give a word another slug, another name, or both, and return what it touched.

    The old slug leads to the new one from then on, and the old name stays as one that is found. Raises UserError where
    another word has that slug or that name.
    """
    slug, label = slug.strip(), label.strip()
    name_field = "name" if isinstance(word, Organization) else "label"
    old_slug, old_label = word.slug, getattr(word, name_field)
    if (slug, label) == (old_slug, old_label):
        raise UserError("바뀐 것이 없습니다. 새 이름이나 새 슬러그를 적으십시오.")
    others = type(word)._default_manager.exclude(pk=word.pk)
    if others.filter(slug=slug).exists():
        raise UserError(
            f"이미 있는 슬러그입니다: {slug}. 하나로 합치려면 병합을 쓰십시오.",
            fields={"slug": "이미 있는 슬러그입니다."},
        )
    if others.filter(**{name_field: label}).exists():
        raise UserError(
            f"이미 있는 이름입니다: {label}. 하나로 합치려면 병합을 쓰십시오.",
            fields={"label": "이미 있는 이름입니다."},
        )
    with transaction.atomic():
        touched = touched_by(word)
        setattr(word, name_field, label)
        word.slug = slug
        if label != old_label:
            word.aliases = [*dict.fromkeys([*word.aliases, old_label])]
        word.full_clean()
        word.save()
        if slug != old_slug:
            _redirect(word.kind, old_slug, slug)
        _commit(
            incidents_with(word),
            f"{word.kind.label} 이름 바꿈: {_shown(old_slug, old_label)} → {_shown(slug, label)}",
            author,
        )
    return touched


def merge(word: Word, into: Word, *, author: User | None) -> Touched:
    """Give everything that has `word` the word `into` instead, delete `word`, and return what it touched.

    A record that has both keeps `into` once, in the better place. The address of `word` leads to `into`, its names stay
    as ones that are found. Raises UserError for words of two vocabularies, for a word and itself, and where the
    detection method "unknown" would go.
    """
    if type(word) is not type(into):
        raise UserError("같은 어휘의 두 말만 합칠 수 있습니다.")
    if word.pk == into.pk:
        raise UserError("자기 자신과 합칠 수 없습니다. 다른 말을 고르십시오.", fields={"into": "다른 말을 고르십시오."})
    if word.kind == VocabularyKind.DETECTION_METHOD and word.slug == "unknown":
        raise UserError("‘공개되지 않음’ 은 다른 말에 합칠 수 없습니다.")
    kind, old_slug, old_label = word.kind, word.slug, word.label
    with transaction.atomic():
        touched = touched_by(word)
        pks = list(incidents_with(word).values_list("pk", flat=True))
        for model, owner in _TAGS.get(kind, ()):
            _retag(model, owner, word, into)
        if key := _KEYS.get(kind):
            Incident.objects.filter(pk__in=pks).update(**{key: into.pk})
        into.aliases = [*dict.fromkeys([*into.aliases, old_label, *word.aliases])]
        into.save()
        word.delete()
        _redirect(kind, old_slug, into.slug)
        _commit(
            Incident.objects.filter(pk__in=pks),
            f"{kind.label} 병합: {_shown(old_slug, old_label)} → {_shown(into.slug, into.label)}",
            author,
        )
    return touched


def _retag(model: type[models.Model], owner: str, word: Word, into: Word) -> None:
    """Replace the word on each owner; where both stand, the better place stays."""
    rows: dict[Any, Any] = {getattr(row, f"{owner}_id"): row for row in model._default_manager.filter(term=word)}
    for row in model._default_manager.filter(term=into, **{f"{owner}__in": list(rows)}):
        leaving = rows.pop(getattr(row, f"{owner}_id"))
        if (leaving.position, leaving.pk) < (row.position, row.pk):  # type: ignore[attr-defined]
            row.position = leaving.position  # type: ignore[attr-defined]
            row.save(update_fields=["position"])
        leaving.delete()
    for row in rows.values():
        row.term = into
        row.save(update_fields=["term"])


def _redirect(kind: VocabularyKind, old_slug: str, new_slug: str) -> None:
    """Let an address lead to another; what led to the old one goes on to the new one, and nothing leads in a circle."""
    SlugRedirect.objects.filter(kind=kind, old_slug=new_slug).delete()
    for redirect in SlugRedirect.objects.filter(kind=kind, new_slug=old_slug):
        redirect.new_slug = new_slug
        redirect.save()
    SlugRedirect.objects.update_or_create(kind=kind, old_slug=old_slug, defaults={"new_slug": new_slug})


def _commit(incidents: Iterable[Incident], reason: str, author: User | None) -> None:
    """Make the versions of the touched public records and let readers' pages follow."""
    pks = [incident.pk for incident in incidents]
    for incident in Incident.objects.filter(pk__in=pks, status__in=PUBLIC):
        commit_version(incident, author=author, reason=reason)
    mark_changed(pks)
    mark_library_changed()


def _shown(slug: str, label: str) -> str:
    return f"{label} ({slug})"
