"""Two people at one record: the second is told, sees both, and loses nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import QueryDict

from incidents.admin.forms import IncidentForm
from incidents.admin.inlines import OrderedFormSet, take_row
from incidents.models import IncidentCause, IncidentComponent, IncidentFactor, RelatedIncident, Source
from incidents.record_merge import Merge

LIST_MODELS: dict[str, type] = {
    "causes": IncidentCause,
    "components": IncidentComponent,
    "factors": IncidentFactor,
    "sources": Source,
    "related": RelatedIncident,
}
"""Fields of RecordData that are rows of their own."""


def rebase(data: QueryDict, merge: Merge, fresh_form: IncidentForm, fresh_formsets: Iterable[Any]) -> None:
    """Bring a posted form onto what is saved now; `data` is changed in place.

    Fields that only others changed take the saved value; what the editor typed stays. Rows that others added to a list
    that both changed come back to the form, so that they are seen. `fresh_*` are unbound and show what is saved.
    """
    for name in merge.taken:
        if name in fresh_form.fields:
            data[name] = _as_text(fresh_form[name].value())
    for formset in fresh_formsets:
        if not isinstance(formset, OrderedFormSet):
            continue
        if any(LIST_MODELS.get(name) is formset.model for name in merge.taken):
            for key in [key for key in data if key.startswith(f"{formset.prefix}-")]:
                del data[key]
            _write_rows(data, formset, [])
        elif any(LIST_MODELS.get(conflict.field) is formset.model for conflict in merge.conflicts):
            _write_rows(data, formset, _posted_rows(data, formset.prefix))


def _posted_rows(data: QueryDict, prefix: str | None) -> list[dict[str, list[str]]]:
    """Take the posted rows of a list out of the data and return them."""
    total = int(str(data[f"{prefix}-TOTAL_FORMS"]))  # a valid formset's
    return [take_row(data, f"{prefix}-{index}-") for index in range(total)]


def _write_rows(data: QueryDict, formset: OrderedFormSet, posted: list[dict[str, list[str]]]) -> None:
    """Write posted rows back, those with a key first, with every saved row that is missing among them."""
    keys = {next(iter(row.get("id", [])), "") for row in posted}
    saved: list[dict[str, list[str]]] = []
    for form in formset.initial_forms:
        if str(form.instance.pk) not in keys:
            saved.append({name: [_as_text(form[name].value())] for name in form.fields if name != "DELETE"})
    initial = [row for row in posted if next(iter(row.get("id", [])), "")] + saved
    added = [row for row in posted if not next(iter(row.get("id", [])), "")]
    for index, row in enumerate([*initial, *added]):
        for name, values in row.items():
            data.setlist(f"{formset.prefix}-{index}-{name}", values)
    data[f"{formset.prefix}-TOTAL_FORMS"] = str(len(initial) + len(added))
    data[f"{formset.prefix}-INITIAL_FORMS"] = str(len(initial))
    data.setdefault(f"{formset.prefix}-MIN_NUM_FORMS", "0")
    data.setdefault(f"{formset.prefix}-MAX_NUM_FORMS", "1000")


def _as_text(value: Any) -> str:
    return "" if value is None else str(value)
