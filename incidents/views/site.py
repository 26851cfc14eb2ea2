"""The first page, pages about the library, and the addresses that browsers and crawlers ask for."""

from __future__ import annotations

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from incidents.catalogue import get_catalogue
from incidents.context_processors import THEMES
from incidents.errors import BadParameter
from incidents.listing import build_listing
from incidents.models import VocabularyKind
from incidents.search import get_search_backend
from incidents.stats import known_counts, year_figure
from incidents.vocabulary_pages import index_groups

NEWEST = 6
COOKIE_AGE = 365 * 24 * 3600


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The search box, the library in figures, ways to browse, the records added last."""
    catalogue = get_catalogue()
    everything = catalogue.everything()
    detected_count, duration_count = known_counts(everything)
    years = catalogue.keys.years
    newest = build_listing(QueryDict(f"sort=added&page_size={NEWEST}"))
    context = {
        "count": len(catalogue),
        "organization_count": len(set(catalogue.columns["organization"].terms.tolist())),
        "first_year": int(years.min()) if len(years) else None,
        "last_year": int(years.max()) if len(years) else None,
        "detected_count": detected_count,
        "duration_count": duration_count,
        "years": year_figure(everything),
        "newest": newest,
        "components": index_groups(VocabularyKind.COMPONENT),
        "causes": index_groups(VocabularyKind.CAUSE),
        "factors": index_groups(VocabularyKind.FACTOR),
        "canonical_url": settings.BASE_URL + "/",
    }
    return render(request, "incidents/home.html", context)


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """What the library is, how records are made and checked, how to cite, licence."""
    return render(request, "incidents/about.html", {"count": len(get_catalogue())})


@require_safe
def patterns(request: HttpRequest) -> HttpResponse:
    """Every component of the design on one page, with the newest records as its matter."""
    listing = build_listing(QueryDict("page_size=3"))
    found = build_listing(QueryDict("q=인증서&page_size=3"))
    return render(request, "patterns.html", {"listing": listing, "found": found})


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Alive: this process answers and can ask its database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    response = JsonResponse({"status": "ok"})
    response["Cache-Control"] = "no-store"
    return response


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Ready: migrations are applied and the search index answers; 503 with what is missing otherwise."""
    from django.db.migrations.executor import MigrationExecutor  # loads every migration, which no other page needs

    executor = MigrationExecutor(connection)
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    health = get_search_backend().health()
    problems = (["migrations"] if pending else []) + ([] if health.ok else ["index"])
    response = JsonResponse({"status": "unready" if problems else "ok", "problems": problems}, status=503 if problems else 200)
    response["Cache-Control"] = "no-store"
    return response


@csrf_exempt  # a token would make every page one person's; a stranger could at most change the theme
@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Remember light, dark or the device's, and lead back."""
    theme = request.POST.get("theme", "")
    if theme not in {*THEMES, "system", ""}:
        raise BadParameter("알 수 없는 화면 밝기입니다. light, dark, system 가운데 고르십시오.", fields={"theme": theme[:40]}, names_nothing=False)
    response = HttpResponseRedirect(_way_back(request))
    if theme in THEMES:
        response.set_cookie("theme", theme, max_age=COOKIE_AGE, samesite="Lax", secure=settings.IS_TLS)
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response


@csrf_exempt  # a token would make every page one person's; a stranger could at most change the language
@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Remember Korean or English, and lead back."""
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        raise BadParameter("알 수 없는 언어입니다. ko, en 가운데 고르십시오.", fields={"language": language[:40]}, names_nothing=False)
    response = HttpResponseRedirect(_way_back(request))
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME, language, max_age=settings.LANGUAGE_COOKIE_AGE, samesite="Lax", secure=settings.IS_TLS
    )
    return response


def _way_back(request: HttpRequest) -> str:
    """Return the page that the form names, or that it stood on; only ever an address of this library."""
    for address in (request.POST.get("next", ""), request.headers.get("Referer", "")):
        if address and url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure()):
            return address
    return "/"
