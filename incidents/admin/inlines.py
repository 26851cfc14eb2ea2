"""The lists of a record and of a check: ordered, without doubles, whole where the record is public."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict

from incidents.admin.fields import TermChoiceField
from incidents.admin.generic import AnyInlineFormSet, AnyModelForm, AnyStackedInline, AnyTabularInline
from incidents.models import (
    IncidentCause,
    IncidentComponent,
    IncidentFactor,
    RelatedIncident,
    Source,
    Status,
    Term,
)
from incidents.records import CAUSES_RANGE, COMPONENTS_RANGE, FACTORS_RANGE


class OrderedForm(AnyModelForm):
    """A row of an ordered list. A row without a place goes to the end."""

    position = forms.IntegerField(
        label="차례", required=False, min_value=0, max_value=999, widget=forms.NumberInput(attrs={"class": "position"})
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is None:
            self.initial["position"] = None

    def has_changed(self) -> bool:
        """A new row with nothing but a place is still an empty row."""
        if self.instance.pk is None and set(self.changed_data) <= {"position"}:
            return False
        return super().has_changed()

    def clean_position(self) -> int:
        position: int | None = self.cleaned_data.get("position")
        return position if position is not None else 999


class OrderedFormSet(AnyInlineFormSet):
    """Rows in the order of their places; when anything changes they are numbered through from 1.

    `least` and `most` bound the rows of a published record; a draft may have any number while it is written.
    """

    least = 0
    most: int | None = None
    noun = "항목"

    def kept_forms(self) -> list[Any]:
        """Return the rows that will be there after saving, in their order. Only for a valid formset."""
        kept = [
            form
            for form in self.forms
            if hasattr(form, "cleaned_data")
            and not (self.can_delete and form.cleaned_data.get("DELETE"))
            and (form.instance.pk is not None or form.has_changed())
        ]
        return sorted(kept, key=lambda form: form.cleaned_data.get("position", 999))

    def clean(self) -> None:
        super().clean()
        if any(self.errors) or getattr(self.instance, "status", None) != Status.PUBLISHED:
            return
        number = len(self.kept_forms())
        if number < self.least:
            raise ValidationError(f"게시된 기록에는 {self.noun} 하나 이상이 있어야 합니다.")
        if self.most is not None and number > self.most:
            raise ValidationError(
                f"{self.noun} {number}개입니다. {self.most}개까지 둘 수 있습니다. 주된 것만 남기십시오."
            )

    def save(self, commit: bool = True) -> Any:
        if self.has_changed():
            for place, form in enumerate(self.kept_forms(), start=1):
                if getattr(form.instance, "position", place) != place:
                    form.instance.position = place
                    if "position" not in form.changed_data:
                        form.changed_data.append("position")
        return super().save(commit)


def keep_rows_that_exist(data: QueryDict, prefix: str | None, existing: Iterable[int]) -> None:
    """Make posted rows fit the rows that are there: one that someone else deleted meanwhile becomes a new row.

    `data` is changed in place. Without this a formset takes such a row for another one.
    """
    known = {str(pk) for pk in existing}
    try:
        total = min(int(data.get(f"{prefix}-TOTAL_FORMS", "")), 1000)
    except ValueError:
        return
    rows: list[dict[str, list[str]]] = []
    for index in range(total):
        start = f"{prefix}-{index}-"
        rows.append(take_row(data, start))
    initial: list[dict[str, list[str]]] = []
    added: list[dict[str, list[str]]] = []
    for row in rows:
        pk = next(iter(row.get("id", [])), "")
        if pk in known:
            known.discard(pk)
            initial.append(row)
        elif not (pk and "DELETE" in row):
            added.append({**row, "id": [""]})
    for index, row in enumerate([*initial, *added]):
        for name, values in row.items():
            data.setlist(f"{prefix}-{index}-{name}", values)
    data[f"{prefix}-TOTAL_FORMS"] = str(len(initial) + len(added))
    data[f"{prefix}-INITIAL_FORMS"] = str(len(initial))


def take_row(data: QueryDict, start: str) -> dict[str, list[str]]:
    """Take the values whose names begin with `start` out of the data and return them by the rest of their names."""
    row: dict[str, list[str]] = {}
    for key in [key for key in data if key.startswith(start)]:
        row[key.removeprefix(start)] = data.getlist(key)
        del data[key]
    return row


def terms_of(request: HttpRequest, model: type[Term]) -> list[Term]:
    """Return a vocabulary, groups together; read once in a request."""
    memo: dict[type[Term], list[Term]] = request.__dict__.setdefault("_terms", {})
    if model not in memo:
        terms = list(model._default_manager.all())
        groups = list(dict.fromkeys(term.group for term in terms))
        memo[model] = sorted(terms, key=lambda term: groups.index(term.group))
    return memo[model]


class OrderedInline(AnyTabularInline):
    """An ordered list of something that a record has."""

    formset = OrderedFormSet
    form = OrderedForm
    extra = 1


class TermInline(OrderedInline):
    """An ordered list of vocabulary terms."""

    fields = ("term", "position")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        model = db_field.remote_field.model
        if issubclass(model, Term):
            return TermChoiceField(
                terms=terms_of(request, model),
                queryset=model._default_manager.all(),
                label=db_field.verbose_name,
                required=True,
            )
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class CauseFormSet(OrderedFormSet):
    least, most = CAUSES_RANGE
    noun = "원인 분류"


class ComponentFormSet(OrderedFormSet):
    least, most = COMPONENTS_RANGE
    noun = "구성 요소"


class FactorFormSet(OrderedFormSet):
    least, most = FACTORS_RANGE
    noun = "기여 요인 분류"


class SourceFormSet(OrderedFormSet):
    least = 1
    noun = "출처"


class CauseInline(TermInline):
    model = IncidentCause
    formset = CauseFormSet
    classes = ("tags",)


class ComponentInline(TermInline):
    model = IncidentComponent
    formset = ComponentFormSet
    classes = ("tags",)


class FactorInline(TermInline):
    model = IncidentFactor
    formset = FactorFormSet
    classes = ("tags",)


class SourceInline(AnyStackedInline):
    model = Source
    form = OrderedForm
    formset = SourceFormSet
    extra = 1
    fields = (("title", "publisher", "published"), "url", "archived_url", "position")


class RelatedInline(OrderedInline):
    model = RelatedIncident
    fk_name = "incident"
    fields = ("other", "relation", "note", "position")
    autocomplete_fields = ("other",)
    extra = 1
