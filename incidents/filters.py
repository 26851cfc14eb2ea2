"""The filter of the listing: a django-filter FilterSet made from FACETS and RANGES, applied to the catalogue."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import django_filters
from django import forms
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from incidents.catalogue import Catalogue, Selection, Value, Vocabulary
from incidents.errors import BadParameter
from incidents.facets import FACETS, RANGES, Facet, Range

MAX_VALUES = 100  # choices of one facet in one address; a page never makes more, a program can ask twice
WHOLE_NUMBER = re.compile(r"^[0-9]{1,12}$")


class RepeatedInput(forms.Widget):
    """Reads every value of a repeated parameter; blank ones count as absent."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        values = data.getlist(name) if isinstance(data, MultiValueDict) else data.get(name, [])
        return [value for value in values if value.strip()]


class FacetField(forms.Field):
    """Slugs of one facet → its values; an unknown slug is an error that names it, never dropped."""

    widget = RepeatedInput

    def __init__(self, *, vocabulary: Vocabulary, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "required": False})
        self.vocabulary = vocabulary

    def clean(self, value: Sequence[str]) -> tuple[Value, ...]:
        if len(value) > MAX_VALUES:
            raise forms.ValidationError(
                _("값이 너무 많습니다. %(most)d개까지 고를 수 있습니다.") % {"most": MAX_VALUES}
            )
        found: dict[int, Value] = {}
        for slug in value:
            known = self.vocabulary.find(unicodedata.normalize("NFC", slug.strip()))
            if known is None:
                raise forms.ValidationError(_("알 수 없는 값입니다: %(value)s") % {"value": slug[:100]})
            found[known.pk] = known
        return tuple(found.values())


class BoundField(forms.Field):
    """A whole number within the range's bounds, written in ASCII digits; blank counts as absent."""

    def __init__(self, *, range_: Range, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "required": False})
        self.range = range_

    def clean(self, value: str | None) -> int | None:
        text = (value or "").strip()
        if not text:
            return None
        if not WHOLE_NUMBER.match(text) or not self.range.minimum <= int(text) <= self.range.maximum:
            raise forms.ValidationError(
                _("%(least)d부터 %(most)d까지의 정수를 적으십시오: %(value)s")
                % {"least": self.range.minimum, "most": self.range.maximum, "value": text[:40]}
            )
        return int(text)


class FacetFilter(django_filters.Filter):
    """Keeps the incidents that have any of the chosen values."""

    field_class = FacetField

    def __init__(self, facet: Facet, **kwargs: Any) -> None:
        super().__init__(field_name=facet.name, label=facet.label, **kwargs)
        self.facet = facet

    def filter(self, qs: Selection, value: tuple[Value, ...]) -> Selection:
        return qs.narrow_to_values(self.facet, value) if value else qs


class BoundFilter(django_filters.Filter):
    """One bound of a range; the filter set applies both bounds together."""

    field_class = BoundField

    def __init__(self, range_: Range, **kwargs: Any) -> None:
        super().__init__(label=range_.label, range_=range_, **kwargs)

    def filter(self, qs: Selection, value: int | None) -> Selection:
        return qs


class IncidentFilterSet(django_filters.FilterSet):
    """The choices of a reader, validated, and the selection of the catalogue that they leave."""

    def __init__(self, data: MultiValueDict[str, str], catalogue: Catalogue) -> None:
        super().__init__(data=data, queryset=catalogue.everything())
        for facet in FACETS:
            self.filters[facet.name].extra["vocabulary"] = catalogue.vocabularies[facet.name]

    @classmethod
    def get_filters(cls) -> dict[str, django_filters.Filter]:
        bounds = {name: BoundFilter(r) for r in RANGES for name in (r.lower, r.upper)}
        own: dict[str, django_filters.Filter] = super().get_filters()
        return own | {facet.name: FacetFilter(facet) for facet in FACETS} | bounds

    def filter_queryset(self, queryset: Selection) -> Selection:
        """Return the selection that facets and ranges leave."""
        for facet in FACETS:
            queryset = self.filters[facet.name].filter(queryset, self.form.cleaned_data[facet.name])
        for range_ in RANGES:
            lower, upper = (self.form.cleaned_data[name] for name in (range_.lower, range_.upper))
            if lower is not None or upper is not None:
                queryset = queryset.narrow_to_range(range_.name, lower, upper)
        return queryset

    def validated(self) -> dict[str, Any]:
        """Return the cleaned choices. Raises BadParameter naming each parameter that can't be read."""
        errors = {name: " ".join(map(str, messages)) for name, messages in self.form.errors.items()}
        if not errors:
            for range_ in RANGES:
                lower, upper = (self.form.cleaned_data[name] for name in (range_.lower, range_.upper))
                if lower is not None and upper is not None and lower > upper:
                    backwards = _("범위가 거꾸로입니다: %(range)s. 두 값을 바꾸어 적으십시오.")
                    errors[range_.lower] = backwards % {"range": f"{lower}–{upper}"}
        if errors:
            raise BadParameter(next(iter(errors.values())), fields=errors)
        cleaned: dict[str, Any] = dict(self.form.cleaned_data)
        return cleaned
