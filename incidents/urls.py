"""Addresses of the library. contract.md's names: what is here may grow, but doesn't change its meaning."""

from django.urls import path, register_converter

from incidents.api import views as api_views
from incidents.models import VocabularyKind
from incidents.views import incidents, site, vocabulary


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


register_converter(VocabularyConverter, "vocabulary")
register_converter(SlugConverter, "unicode_slug")

app_name = "incidents"

urlpatterns = [
    path("", site.home, name="home"),
    path("incidents/", incidents.incident_list, name="incident_list"),
    path("incidents/<unicode_slug:public_id>/", incidents.incident_detail, name="incident_detail"),
    path("incidents/<unicode_slug:public_id>.md", incidents.incident_markdown, name="incident_markdown"),
    path("<vocabulary:kind>/", vocabulary.vocabulary_index, name="vocabulary_index"),
    path("<vocabulary:kind>/<unicode_slug:slug>/", vocabulary.vocabulary_detail, name="vocabulary_detail"),
    path("years/", vocabulary.year_index, name="year_index"),
    path("years/<int:year>/", vocabulary.year_detail, name="year_detail"),
    path("about/", site.about, name="about"),
    path("about/api/errors/<slug:code>/", api_views.error_help, name="api_error"),
    path("api/v1/schema/", api_views.schema, name="api_schema"),
    path("api/v1/docs/", api_views.docs, name="api_docs"),
    path("patterns/", site.patterns, name="patterns"),
    path("theme/", site.set_theme, name="set_theme"),
    path("language/", site.set_language, name="set_language"),
    path("healthz", site.healthz, name="healthz"),
    path("readyz", site.readyz, name="readyz"),
]
