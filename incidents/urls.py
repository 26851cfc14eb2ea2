"""Addresses of the library. contract.md's names: what is here may grow, but doesn't change its meaning."""

from django.urls import path, register_converter

from incidents.api import views as api_views
from incidents.models import VocabularyKind
from incidents.views import (
    about_search,
    checks,
    discovery,
    feeds,
    history,
    incidents,
    lenses,
    match,
    mcp,
    reports,
    site,
    stats,
    twins,
    vocabulary,
)


class VocabularyConverter:
    """The vocabularies, by the names of their addresses."""

    regex = "|".join(kind.value for kind in VocabularyKind)

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class SlugConverter:
    """A slug, Hangul ones too: letters, digits and hyphens of any script."""

    regex = r"[\w-]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class RecordIdConverter(SlugConverter):
    """A record's ID as people write it, in any width and with any hyphen; the view reads it."""

    regex = r"[^/.?#\s]{1,40}"


register_converter(VocabularyConverter, "vocabulary")
register_converter(SlugConverter, "unicode_slug")
register_converter(RecordIdConverter, "record_id")

app_name = "incidents"

urlpatterns = [
    path("", site.home, name="home"),
    path("incidents/", incidents.incident_list, name="incident_list"),
    path("incidents/<record_id:public_id>/", incidents.incident_detail, name="incident_detail"),
    path("incidents/<record_id:public_id>.md", twins.incident_markdown, name="incident_markdown"),
    path("incidents/<record_id:public_id>.json", twins.incident_json, name="incident_json"),
    path("incidents.json", twins.incident_list_json, name="incident_list_json"),
    path("incidents.md", twins.incident_list_markdown, name="incident_list_markdown"),
    path("incidents/<record_id:public_id>/history/", history.incident_history, name="incident_history"),
    path("incidents/<record_id:public_id>/v/<str:number>/", history.incident_version, name="incident_version"),
    path("incidents/<record_id:public_id>/report/", reports.report_form, name="report"),
    path("reports/<str:token>/", reports.report_status, name="report_status"),
    path("corrections/", history.corrections_log, name="corrections"),
    path("detections/all/", lenses.lens, {"name": "detection"}, name="detection"),
    path("<vocabulary:kind>/", vocabulary.vocabulary_index, name="vocabulary_index"),
    path("<vocabulary:kind>/<unicode_slug:slug>/", vocabulary.vocabulary_detail, name="vocabulary_detail"),
    path("<vocabulary:kind>/<unicode_slug:slug>/feed/", feeds.vocabulary_feed, name="vocabulary_feed"),
    path(
        "<vocabulary:kind>/<unicode_slug:slug>/feed/changed/",
        feeds.vocabulary_feed,
        {"feed_kind": "changed"},
        name="vocabulary_feed_changed",
    ),
    path("feed/", feeds.feed, name="feed"),
    path("feed/changed/", feeds.feed, {"kind": "changed"}, name="feed_changed"),
    path("feeds/", feeds.feed_list, name="feeds"),
    path("checks/", checks.check_list, name="check_list"),
    path("checks/table/", checks.check_table, name="check_table"),
    path("checks/<unicode_slug:code>/", checks.check_detail, name="check_detail"),
    path("years/", vocabulary.year_index, name="year_index"),
    path("years/<int:year>/", vocabulary.year_detail, name="year_detail"),
    path("years/<int:year>/feed/", feeds.year_feed, name="year_feed"),
    path("actions/", lenses.lens, {"name": "actions"}, name="actions"),
    path("follow-ups/", lenses.lens, {"name": "follow-ups"}, name="follow_ups"),
    path("stats/", stats.stats, name="stats"),
    path("about/", site.about, name="about"),
    path("about/search/", about_search.about_search, name="about_search"),
    path("about/api/errors/<slug:code>/", api_views.error_help, name="api_error"),
    path("api/v1/schema/", api_views.schema, name="api_schema"),
    path("api/v1/docs/", api_views.docs, name="api_docs"),
    path("sitemap.xml", discovery.sitemap, name="sitemap"),
    path("sitemap-<int:part>.xml", discovery.sitemap, name="sitemap_part"),
    path("robots.txt", discovery.robots, name="robots"),
    path("opensearch.xml", discovery.opensearch, name="opensearch"),
    path("opensearch/suggest/", discovery.opensearch_suggest, name="opensearch_suggest"),
    path("llms.txt", discovery.llms, name="llms"),
    path("match/", match.match, name="match"),
    path("mcp", mcp.mcp, name="mcp"),
    path("mcp/", mcp.mcp),
    path("patterns/", site.patterns, name="patterns"),
    path("theme/", site.set_theme, name="set_theme"),
    path("language/", site.set_language, name="set_language"),
    path("healthz", site.healthz, name="healthz"),
    path("readyz", site.readyz, name="readyz"),
    path("metrics", site.metrics, name="metrics"),
]
