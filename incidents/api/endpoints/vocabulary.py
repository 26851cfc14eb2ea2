"""The vocabulary: causes, components, factors, detection methods and organizations, each value with its count."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from ninja import Path, Router

from incidents.api.answers import kept, kept_model
from incidents.api.reading import refuse_unknown
from incidents.api.representation import API_ROOT, absolute, listing_url
from incidents.api.schemas import CountedTerm, TermDetailOut, TermOut, VocabularyOut
from incidents.catalogue import get_catalogue
from incidents.facets import FACETS_BY_KIND
from incidents.models import TERM_MODELS, Component, Factor, Organization, SlugRedirect, VocabularyKind
from incidents.vocabulary_pages import companions, find_term, term_listing

router = Router(tags=["어휘"])

ABOUT: Final = {
    VocabularyKind.CAUSE: "원인 분류: 어떤 종류의 것이 고장 났나.",
    VocabularyKind.COMPONENT: "구성 요소: 어디가 고장 났나.",
    VocabularyKind.FACTOR: "기여 요인: 무엇이 일어나게, 번지게, 오래가게 했나.",
    VocabularyKind.DETECTION_METHOD: "감지 방법: 어떻게 알았나.",
    VocabularyKind.ORGANIZATION: "조직: 누구의 사고였나. 게시된 기록이 있는 조직만 나옵니다.",
}
SINGULAR: Final = {
    VocabularyKind.CAUSE: "Cause",
    VocabularyKind.COMPONENT: "Component",
    VocabularyKind.FACTOR: "Factor",
    VocabularyKind.DETECTION_METHOD: "Detection",
    VocabularyKind.ORGANIZATION: "Organization",
}


def vocabulary_terms(kind: VocabularyKind) -> list[TermOut]:
    """Return the values of a vocabulary in its order; organizations by name, only those with published records."""
    counts = get_catalogue().everything().counts(FACETS_BY_KIND[kind].name)
    if kind == VocabularyKind.ORGANIZATION:
        terms: list[Any] = [one for one in Organization.objects.all() if counts.get(one.pk)]
    else:
        terms = list(TERM_MODELS[kind].objects.all())  # type: ignore[attr-defined]
    return [TermOut(**_term_values(kind, term, counts.get(term.pk, 0))) for term in terms]


def _term_values(kind: VocabularyKind, term: Any, count: int) -> dict[str, Any]:
    return {
        "slug": term.slug,
        "label": term.label,
        "label_en": getattr(term, "label_en", ""),
        "group": getattr(term, "group", ""),
        "about": getattr(term, "about", ""),
        "aliases": [alias for alias in term.aliases if isinstance(alias, str)],
        "count": count,
        "url": absolute(term.get_absolute_url()),
        "incidents_url": listing_url(FACETS_BY_KIND[kind].name, term.slug),
    }


def term_detail(kind: VocabularyKind, term: Any) -> TermDetailOut:
    """Return one value with what stands most often beside it."""
    facet = FACETS_BY_KIND[kind]
    listing = term_listing(kind, term.slug)
    return TermDetailOut(
        **_term_values(kind, term, listing.count),
        checks=[check.code for check in term.checks.order_by("code")] if isinstance(term, Component | Factor) else [],
        companions={
            one.facet.name: [CountedTerm(slug=t.value, label=t.label, count=t.count) for t in one.terms]
            for one in companions(listing, facet.name)
        },
    )


def _add(kind: VocabularyKind) -> None:
    """Make the two operations of a vocabulary."""

    @router.get(
        f"/{kind.value}/",
        response=VocabularyOut,
        url_name=kind.value,
        operation_id=f"list{SINGULAR[kind]}s",
        summary=f"{kind.label}의 목록",
        description=ABOUT[kind],
    )
    def list_terms(request: HttpRequest) -> HttpResponseBase:
        def make() -> VocabularyOut:
            refuse_unknown(request.GET, ())
            terms = vocabulary_terms(kind)
            return VocabularyOut(count=len(terms), results=terms)

        return kept_model(request, make)

    @router.get(
        f"/{kind.value}/{{slug}}/",
        response={200: TermDetailOut, 301: None},
        url_name=f"{kind.value}-detail",
        operation_id=f"get{SINGULAR[kind]}",
        summary=f"{kind.label} 하나",
        description="함께 자주 나오는 값도 줍니다. 슬러그가 바뀌었으면 301 로 지금의 주소를 가리킵니다.",
    )
    def get_term(request: HttpRequest, slug: Path[str]) -> HttpResponseBase:
        def make() -> HttpResponseBase:
            refuse_unknown(request.GET, ())
            term = find_term(kind, slug)
            if isinstance(term, SlugRedirect):
                moved = HttpResponse(status=301)
                moved["Location"] = f"{API_ROOT}{kind.value}/{term.new_slug}/"
                return moved
            return HttpResponse(
                term_detail(kind, term).model_dump_json(exclude_unset=True), content_type="application/json"
            )

        return kept(request, make)


with translation.override(settings.LANGUAGE_CODE):  # the schema is Korean, whoever's request loads this module
    for _kind in VocabularyKind:
        _add(_kind)
