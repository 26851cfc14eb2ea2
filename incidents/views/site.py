"""The first page, pages about the library, and the addresses that browsers and crawlers ask for."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from incidents.catalogue import get_catalogue
from incidents.context_processors import THEMES
from incidents.errors import BadParameter, NotFound, SearchUnavailable
from incidents.indexing import fresh_backend
from incidents.lenses import LENSES, lens_rows
from incidents.listing import build_listing
from incidents.metrics import get_metrics
from incidents.models import Incident, LibraryState, VocabularyKind
from incidents.record_page import similar_to
from incidents.static_storage import uncollected_files
from incidents.stats import known_counts, library_figures, year_figure
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
    catalogue = get_catalogue()
    listing = build_listing(QueryDict("page_size=3"))
    timed = build_listing(QueryDict("duration_from=60&sort=id&page_size=1")).incidents
    sample = Incident.objects.for_records().filter(pk__in=[one.pk for one in timed]).first()
    context = {
        "listing": listing,
        "found": build_listing(QueryDict("q=인증서&page_size=3")),
        "sample": sample,
        "similar": similar_to(sample, limit=2) if sample else (),
        "figures": library_figures(catalogue),
        "groups": index_groups(VocabularyKind.CAUSE)[:2],
        "lens_rows": lens_rows(LENSES["actions"], listing.incidents),
    }
    return render(request, "patterns.html", context)


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
    """Ready: migrations applied, static files collected, the search index answers; else 503 with what is missing.

    Asking heals, as any reader's search does: a new version's index is built before the first reader comes.
    """
    problems = ["static files"] if _lacks_static_files() else []
    try:
        if _pending_migrations():
            problems.append("migrations")
        elif fresh_backend().revision() != LibraryState.objects.current_revision():
            problems.append("index is behind")
    except SearchUnavailable:
        problems.append("index")
    except DatabaseError:
        problems.append("database")
    is_ready = problems in ([], ["index is behind"])  # the last good index answers meanwhile
    status = {"status": "ok" if is_ready else "unready", "problems": problems}
    response = JsonResponse(status, status=200 if is_ready else 503)
    response["Cache-Control"] = "no-store"
    return response


_collected = False


def _lacks_static_files() -> bool:
    """Return whether collectstatic was not run for this program; once it was, it is not asked for again."""
    global _collected
    _collected = _collected or not uncollected_files()
    return not _collected


_migrated = False


def _pending_migrations() -> bool:
    """Return whether tables are older than this program; once they are not, they are not asked for again."""
    global _migrated
    if not _migrated:
        from django.db.migrations.executor import MigrationExecutor  # no other page needs it

        executor = MigrationExecutor(connection)
        _migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
    return not _migrated


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Figures for Prometheus; to others than who knows the secret, an address that isn't there."""
    found = get_metrics()
    given = request.headers.get("Authorization", "")
    if found is None or not constant_time_compare(given, f"Bearer {settings.METRICS_TOKEN}"):
        raise NotFound(_("이 주소에는 아무것도 없습니다. 주소를 확인하거나 아래에서 찾아보십시오."))
    body, media_type = found.exposition()
    response = HttpResponse(body, content_type=media_type)
    response["Cache-Control"] = "no-store"
    return response


@csrf_exempt  # a token would make every page one person's; a stranger could at most change the theme
@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Remember light, dark or the device's, and lead back."""
    theme = request.POST.get("theme", "")
    if theme not in {*THEMES, "system", ""}:
        raise BadParameter(
            _("알 수 없는 화면 밝기입니다. light, dark, system 가운데 고르십시오."),
            fields={"theme": theme[:40]},
            names_nothing=False,
        )
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
        raise BadParameter(
            _("알 수 없는 언어입니다. ko, en 가운데 고르십시오."),
            fields={"language": language[:40]},
            names_nothing=False,
        )
    response = HttpResponseRedirect(_way_back(request))
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        samesite="Lax",
        secure=settings.IS_TLS,
    )
    return response


def _way_back(request: HttpRequest) -> str:
    """Return the page that the form names, or that it stood on; only ever an address of this library."""
    for address in (request.POST.get("next", ""), request.headers.get("Referer", "")):
        if address and url_has_allowed_host_and_scheme(
            address, {request.get_host()}, require_https=request.is_secure()
        ):
            return address
    return "/"
