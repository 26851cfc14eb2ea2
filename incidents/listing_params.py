"""The listing's parameters: what an address says, validated, and the addresses of its neighbours."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote_plus

from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from incidents.catalogue import Catalogue, Selection, Value
from incidents.errors import BadParameter
from incidents.facets import FACETS, RANGES
from incidents.filters import IncidentFilterSet

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

DEFAULT_PAGE_SIZE: Final = 20
MAX_PAGE_SIZE: Final = 100
MAX_QUERY_LENGTH: Final = 65_536
POSITIVE = re.compile(r"^[1-9][0-9]{0,8}$")
PLACE: Final = "\uf8ff"  # stands for a slug, of which none holds a sign of the private use area
BLANK = re.compile(r"[\s\u200b-\u200f\u2060\ufeff\u115f\u1160\u3164\uffa0]+")

SORTS: Final[Mapping[str, StrOrPromise]] = {
    "relevance": _("관련도순"),
    "newest": _("최신순"),
    "oldest": _("오래된순"),
    "added": _("등록순"),
    "id": _("번호순"),
}
VIEWS: Final[Mapping[str, StrOrPromise]] = {"list": _("목록"), "full": _("전문")}
GROUPS: Final[Mapping[str, StrOrPromise]] = {
    "cause": _("원인"),
    "component": _("구성 요소"),
    "organization": _("조직"),
    "year": _("연도"),
}
PARAMETERS: Final = (
    "q",
    "as_typed",
    *(facet.name for facet in FACETS),
    *(name for range_ in RANGES for name in (range_.lower, range_.upper)),
    "sort",
    "view",
    "group",
    "page_size",
    "page",
)


@lru_cache(maxsize=16_384)
def quoted_slug(slug: str) -> str:
    """Return a value's name as it stands in addresses: there are thousands of them, on every page again."""
    return quote_plus(slug)


def encode_query(pairs: list[tuple[str, str]]) -> str:
    """Return the pairs as a query string without `?`."""
    return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in pairs)


@dataclass(frozen=True, slots=True)
class ValueQuery:
    """The addresses of choosing one more value of a facet: a listing shows hundreds, which differ in one word."""

    before: str
    after: str

    def of(self, slug: str) -> str:
        """Return the address's query with the value."""
        return f"{self.before}{quoted_slug(slug)}{self.after}"


@dataclass(frozen=True)
class ListingParams:
    """Every choice of a reader. `bounds` has the ranges' parameters that are set; `is_as_typed` declines a correction."""

    q: str
    is_as_typed: bool
    values: Mapping[str, tuple[Value, ...]]
    bounds: Mapping[str, int]
    sort: str
    view: str
    group: str
    page: int
    page_size: int

    @property
    def default_sort(self) -> str:
        return "relevance" if self.q else "newest"

    @property
    def has_choices(self) -> bool:
        """Whether anything narrows the listing."""
        return bool(self.q or self.bounds or any(self.values.values()))

    def pairs(self) -> list[tuple[str, str]]:
        """Return the parameters that differ from their defaults, always in one order: equal choices, equal address."""
        pairs = [("q", self.q)] if self.q else []
        if self.q and self.is_as_typed:
            pairs.append(("as_typed", "1"))
        for facet in FACETS:
            pairs += [(facet.name, value.slug) for value in self.values.get(facet.name, ())]
        pairs += [(name, str(number)) for name, number in self.bounds.items()]
        if self.sort != self.default_sort:
            pairs.append(("sort", self.sort))
        if self.view != "list":
            pairs.append(("view", self.view))
        if self.group:
            pairs.append(("group", self.group))
        if self.page_size != DEFAULT_PAGE_SIZE:
            pairs.append(("page_size", str(self.page_size)))
        if self.page != 1:
            pairs.append(("page", str(self.page)))
        return pairs

    def query(self, **changes: Any) -> str:
        """Return the address's query after the changes; every change but of `page` leads to the first page."""
        return encode_query(self.changed(**changes).pairs())

    def changed(self, **changes: Any) -> ListingParams:
        """Return these choices with some replaced; a sort by relevance ends with the words it was for."""
        params = replace(self, **{"page": 1, **changes})
        if params.sort == "relevance" and not params.q:
            params = replace(params, sort="newest")
        elif "q" in changes and self.sort == self.default_sort and "sort" not in changes:
            params = replace(params, sort=params.default_sort)
        return params

    def with_toggled(self, facet_name: str, value: Value) -> ListingParams:
        """Return the choices after `value` was pressed."""
        chosen = self.values.get(facet_name, ())
        kept = tuple(other for other in chosen if other.pk != value.pk)
        return self.changed(values={**self.values, facet_name: kept if len(kept) < len(chosen) else (*chosen, value)})

    def adding(self, facet_name: str) -> ValueQuery:
        """Return the addresses after another value of a facet was chosen: `with_toggled` for the unchosen."""
        chosen = self.values.get(facet_name, ())
        mark = Value(pk=0, slug=PLACE, label="", label_en="", group="", position=0)
        before, _, after = self.query(values={**self.values, facet_name: (*chosen, mark)}).rpartition(quote_plus(PLACE))
        return ValueQuery(before, after)

    def without_bounds(self, *names: str) -> ListingParams:
        return self.changed(bounds={name: number for name, number in self.bounds.items() if name not in names})

    def cleared(self) -> ListingParams:
        """Return the listing of everything, in the same view."""
        return self.changed(q="", is_as_typed=False, values={}, bounds={})


def clean_query(text: str) -> str:
    """Return what a person typed in NFC, white space single; invisible signs alone are no query."""
    normal = unicodedata.normalize("NFC", text.replace("\x00", " "))
    return BLANK.sub(" ", normal).strip()


def read_params(
    data: MultiValueDict[str, str], catalogue: Catalogue, *, extra: frozenset[str] | None = None
) -> tuple[ListingParams, Selection]:
    """Return the choices and what facets and ranges leave of the catalogue.

    `extra=None` ignores unknown parameters, as pages do; a set names what else is allowed, and the rest is refused.
    Raises BadParameter naming every parameter that can't be taken.
    """
    errors: dict[str, str] = {}
    if extra is not None:
        for name in data:
            if name not in PARAMETERS and name not in extra:
                unknown = gettext("알 수 없는 매개변수입니다: %(name)s. 쓸 수 있는 것: %(known)s")
                known = ", ".join(sorted({*PARAMETERS, *extra}))
                errors[name[:100]] = unknown % {"name": name[:100], "known": known}
    cleaned: dict[str, Any] = {}
    selection = catalogue.everything()
    if not data.keys().isdisjoint(IncidentFilterSet.base_filters):  # most searches name no facet: no form for them
        filters = IncidentFilterSet(data, catalogue)
        try:
            cleaned = filters.validated()
            selection = filters.filter_queryset(selection)
        except BadParameter as error:
            errors |= error.fields
    raw_q = data.get("q") or ""
    if len(raw_q) > MAX_QUERY_LENGTH:
        errors["q"] = gettext("찾는 말이 너무 깁니다. %(most)s자 안으로 줄이십시오.") % {
            "most": f"{MAX_QUERY_LENGTH:,}"
        }
    if any("\ud800" <= sign <= "\udfff" for sign in raw_q):
        errors["q"] = gettext("찾는 말에 읽을 수 없는 글자가 있습니다. UTF-8 로 다시 보내십시오.")
    q = clean_query(raw_q) if "q" not in errors else ""
    sort = _choice(data, "sort", SORTS, errors) or ("relevance" if q else "newest")
    if sort == "relevance" and not q:
        sort = "newest"
    view = _choice(data, "view", VIEWS, errors) or "list"
    group = _choice(data, "group", GROUPS, errors)
    page = _whole(data, "page", 1, 999_999_999, errors)
    page_size = _whole(data, "page_size", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, errors)
    if errors:
        # Words that can't be read name no page that might be there: only they are no 404.
        raise BadParameter(next(iter(errors.values())), fields=errors, names_nothing=errors.keys() != {"q"})
    params = ListingParams(
        q=q,
        is_as_typed=(data.get("as_typed") or "").strip() not in {"", "0"},
        values={facet.name: cleaned[facet.name] for facet in FACETS if cleaned.get(facet.name)},
        bounds={n: cleaned[n] for r in RANGES for n in (r.lower, r.upper) if cleaned.get(n) is not None},
        sort=sort,
        view=view,
        group=group,
        page=page,
        page_size=page_size,
    )
    return params, selection


def _choice(
    data: MultiValueDict[str, str], name: str, choices: Mapping[str, StrOrPromise], errors: dict[str, str]
) -> str:
    value = (data.get(name) or "").strip()
    if value and value not in choices:
        unknown = gettext("알 수 없는 값입니다: %(value)s. 쓸 수 있는 값: %(known)s")
        errors[name] = unknown % {"value": value[:100], "known": ", ".join(choices)}
    return value


def _whole(data: MultiValueDict[str, str], name: str, default: int, maximum: int, errors: dict[str, str]) -> int:
    value = data.get(name) or ""
    if not value.strip():
        return default
    if not POSITIVE.match(value) or int(value) > maximum:
        wrong = gettext("%(least)d부터 %(most)d까지의 정수를 적으십시오: %(value)s")
        errors[name] = wrong % {"least": 1, "most": maximum, "value": value[:40]}
        return default
    return int(value)
