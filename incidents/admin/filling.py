"""A record's form filled in by something else than its reader: kept text, an earlier version, a proposal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.http import QueryDict

from incidents.admin.concurrency import LIST_MODELS
from incidents.admin.forms import MOMENTS, IncidentForm
from incidents.admin.inlines import OrderedFormSet
from incidents.item_lines import write_items
from incidents.models import (
    TERM_MODELS,
    Incident,
    Organization,
    SlugRedirect,
    VocabularyKind,
    parse_public_id,
)
from incidents.record_text import LIST_SECTIONS, SECTION_LABELS
from incidents.records import RecordData

_KINDS = {
    "causes": VocabularyKind.CAUSE,
    "components": VocabularyKind.COMPONENT,
    "factors": VocabularyKind.FACTOR,
    "detection_method": VocabularyKind.DETECTION_METHOD,
}


def form_data(form: IncidentForm, formsets: Iterable[Any]) -> QueryDict:
    """Return what a browser would send of an unbound form with its lists, untouched."""
    data = QueryDict(mutable=True)
    for name in form.fields:
        data[form.add_prefix(name)] = _as_text(form[name].value())
    for formset in formsets:
        rows = [
            {name: _as_text(row[name].value()) for name in row.fields if name != "DELETE"}
            for row in formset.initial_forms
        ]
        write_rows(data, formset.prefix, rows)
    return data


def record_as_form_data(record: RecordData, form: IncidentForm, formsets: Iterable[Any]) -> QueryDict:
    """Return form data that would make the saved record say what `record` says.

    `form` and `formsets` are unbound and show what is saved. Terms, records and organizations that are gone are left
    out; rows that `record` lacks are marked for deletion.
    """
    formsets = list(formsets)
    data = form_data(form, formsets)
    organization = Organization.objects.filter(name=record.organization).first()
    method = _term_key("detection_method", record.detection_method)
    data["title"] = record.title
    data["organization"] = str(organization.pk) if organization else ""
    data["year"] = _as_text(record.year)
    data["detection_method"] = method
    for name in MOMENTS:
        data[f"{name}_at"] = _as_text(getattr(record, f"{name}_at"))
    for name in SECTION_LABELS:
        value = getattr(record, name)
        data[name] = write_items(value) if name in LIST_SECTIONS else value
    wanted: dict[str, tuple[str, list[dict[str, str]]]] = {
        name: ("term", [{"term": key} for slug in getattr(record, name) if (key := _term_key(name, slug))])
        for name in ("causes", "components", "factors")
    }
    wanted["sources"] = (
        "url",
        [
            {
                "title": source.title,
                "url": source.url,
                "publisher": source.publisher,
                "published": source.published,
                "archived_url": source.archived_url,
            }
            for source in record.sources
        ],
    )
    wanted["related"] = (
        "other",
        [
            {"other": str(other.pk), "relation": one.relation, "note": one.note}
            for one in record.related
            if (other := Incident.objects.filter(number=parse_public_id(one.id) or 0).first())
        ],
    )
    for name, (key, rows) in wanted.items():
        formset = next((one for one in formsets if one.model is LIST_MODELS[name]), None)
        if isinstance(formset, OrderedFormSet):
            _fill_rows(data, formset, key, rows)
    return data


def write_rows(data: QueryDict, prefix: str | None, rows: list[dict[str, str]]) -> None:
    """Write rows of a list into form data, those with an `id` first, with the management form."""
    rows = sorted(rows, key=lambda row: not row.get("id"))
    for key in [key for key in data if key.startswith(f"{prefix}-")]:
        del data[key]
    for index, row in enumerate(rows):
        for name, value in row.items():
            data[f"{prefix}-{index}-{name}"] = value
    data[f"{prefix}-TOTAL_FORMS"] = str(len(rows))
    data[f"{prefix}-INITIAL_FORMS"] = str(sum(bool(row.get("id")) for row in rows))
    data[f"{prefix}-MIN_NUM_FORMS"] = "0"
    data[f"{prefix}-MAX_NUM_FORMS"] = "1000"


def _fill_rows(data: QueryDict, formset: OrderedFormSet, key: str, rows: list[dict[str, str]]) -> None:
    saved = {_as_text(row[key].value()): row for row in formset.initial_forms}
    filled = []
    for position, row in enumerate(rows, start=1):
        known = saved.pop(row[key], None)
        pk = {"id": _as_text(known["id"].value())} if known is not None else {}
        filled.append({**row, **pk, "position": str(position)})
    for known in saved.values():
        kept = {name: _as_text(known[name].value()) for name in known.fields if name != "DELETE"}
        filled.append({**kept, "DELETE": "on"})
    write_rows(data, formset.prefix, filled)


def _term_key(name: str, slug: str) -> str:
    """Return the primary key of a term by its slug, a former one too; empty where there is none."""
    kind = _KINDS[name]
    redirect = SlugRedirect.objects.filter(kind=kind, old_slug=slug).first()
    find: Callable[..., Any] = TERM_MODELS[kind]._default_manager.filter
    term = find(slug=redirect.new_slug if redirect else slug).first()
    return str(term.pk) if term else ""


def _as_text(value: Any) -> str:
    return "" if value is None else str(value)
