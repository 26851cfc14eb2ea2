"""How well the search finds, and how that was measured."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from incidents.search import relevance_figures

KINDS = {
    "symptom": _("증상을 적은 말"),
    "cause": _("원인"),
    "component": _("구성 요소"),
    "short": _("한 낱말"),
    "particle": _("조사와 어미가 붙은 말"),
    "spacing": _("붙여 쓴 말"),
    "mixed": _("영어가 섞인 말"),
    "typo": _("오타와 다른 자판"),
    "error": _("붙여 넣은 오류"),
    "entity": _("조직과 장소와 해"),
    "question": _("물음"),
    "action": _("조치와 교훈"),
}


@require_safe
def about_search(request: HttpRequest) -> HttpResponse:
    """The last figures of the judged queries, beside common ways of searching on the same records."""
    figures = relevance_figures()
    own = figures.searches[0]
    others = [search.kinds for search in figures.searches[1:]]
    kinds = [
        {"label": label, "own": own.kinds[kind], "best_other": max((other[kind] for other in others), default=0.0)}
        for kind, label in KINDS.items()
        if kind in own.kinds
    ]
    return render(request, "incidents/about_search.html", {"figures": figures, "kinds": kinds})
