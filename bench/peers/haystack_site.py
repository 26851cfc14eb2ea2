"""django-haystack with Whoosh as its documentation shows it: one index, three facets, highlighting, 20 hits a page.

python haystack_site.py build RECORDS.ndjson FOLDER | python haystack_site.py update RECORDS.ndjson FOLDER
HAYSTACK_FOLDER=FOLDER gunicorn haystack_site:application
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import django
from django.conf import settings

FOLDER = Path(os.environ.get("HAYSTACK_FOLDER") or sys.argv[3])  # the server's own arguments are others
FACETS = ("cause", "component", "organization")

settings.configure(
    SECRET_KEY="bench",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["haystack", "records"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "haystack.sqlite3"}},
    HAYSTACK_CONNECTIONS={
        "default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": str(FOLDER / "index")}
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {"loaders": [("django.template.loaders.locmem.Loader", {})]},
        }
    ],
)

django.setup()

from django.core.paginator import Paginator  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.template import Context, Template  # noqa: E402
from django.urls import path  # noqa: E402
from haystack import connections  # noqa: E402
from haystack.query import SearchQuerySet  # noqa: E402
from records.models import Record  # noqa: E402

PAGE = Template(
    "<!doctype html><title>{{ q }}</title><ul>{% for name, values in facets %}<li>{{ name }}<ul>{% for value, count in values %}"
    '<li><a href="?q={{ q|urlencode }}&{{ name }}={{ value|urlencode }}">{{ value }}</a> {{ count }}</li>{% endfor %}</ul>{% endfor %}</ul>'
    "<p>{{ count }}</p>{% for hit in hits %}<article><h3>{{ hit.title }}</h3><p>{{ hit.highlighted.0|safe }}</p></article>{% endfor %}"
)


def page(request):
    q = request.GET.get("q", "")
    found = SearchQuerySet().auto_query(q).highlight()
    for name in FACETS:
        found = found.facet(name)
    counts = found.facet_counts().get("fields", {})
    hits = Paginator(found, 20).page(1)
    facets = [(name, counts.get(name, [])[:28]) for name in FACETS]
    context = Context({"q": q, "facets": facets, "count": hits.paginator.count, "hits": hits.object_list})
    return HttpResponse(PAGE.render(context))


urlpatterns = [path("", page)]


def build(source: Path) -> None:
    started = time.perf_counter()
    with connection.schema_editor() as editor:
        editor.create_model(Record)
    rows = [json.loads(line) for line in source.open(encoding="utf-8")]
    Record.objects.bulk_create((Record(**row) for row in rows), batch_size=500)
    imported = time.perf_counter()
    backend = connections["default"].get_backend()
    index = connections["default"].get_unified_index().get_index(Record)
    backend.setup()
    records = list(Record.objects.order_by("pk"))
    for start in range(0, len(records), 1000):
        backend.update(index, records[start : start + 1000])
    print(json.dumps({"import_s": imported - started, "index_s": time.perf_counter() - imported}))


def update() -> None:
    backend = connections["default"].get_backend()
    index = connections["default"].get_unified_index().get_index(Record)
    times = []
    for record in Record.objects.order_by("pk")[:5]:
        started = time.perf_counter()
        record.title += " x"
        record.save()
        backend.update(index, [record])
        times.append((time.perf_counter() - started) * 1000)
    print(json.dumps({"update_ms": sorted(times)[2]}))


if __name__ == "__main__":
    build(Path(sys.argv[2])) if sys.argv[1] == "build" else update()
else:
    application = get_wsgi_application()
