"""Run in an environment of its own: documents and queries in on standard input as JSON, rankings out.

The project that django-haystack's tutorial makes: a model, an index with a document field, a Whoosh folder.
"""

import json
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Index what is given, search each query with auto_query and write the IDs found, best first."""
    given = json.load(sys.stdin)
    folder = tempfile.mkdtemp()
    package = Path(folder) / "tutorial"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "models.py").write_text(
        "from django.db import models\n\n\nclass Note(models.Model):\n"
        "    name = models.CharField(max_length=20)\n    text = models.TextField()\n"
    )
    (package / "search_indexes.py").write_text(
        "from haystack import indexes\nfrom tutorial.models import Note\n\n\n"
        "class NoteIndex(indexes.SearchIndex, indexes.Indexable):\n"
        "    text = indexes.CharField(document=True, model_attr='text')\n"
        "    name = indexes.CharField(model_attr='name')\n\n"
        "    def get_model(self):\n        return Note\n"
    )
    sys.path.insert(0, folder)
    import django
    from django.conf import settings

    engine = "haystack.backends.whoosh_backend.WhooshEngine"
    settings.configure(
        INSTALLED_APPS=["haystack", "tutorial"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{folder}/db.sqlite3"}},
        HAYSTACK_CONNECTIONS={"default": {"ENGINE": engine, "PATH": f"{folder}/index"}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        USE_TZ=True,
    )
    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from haystack.query import SearchQuerySet  # type: ignore[import-not-found]
    from tutorial.models import Note  # type: ignore[import-not-found]

    with connection.schema_editor() as editor:
        editor.create_model(Note)
    Note.objects.bulk_create(Note(name=item["id"], text=item["text"]) for item in given["documents"])
    call_command("rebuild_index", interactive=False, verbosity=0)
    rankings = []
    for text in given["queries"]:
        try:
            rankings.append([result.name for result in SearchQuerySet().auto_query(text)[:100]])
        except Exception:  # its parser fails on some pasted lines; for a reader that is no result
            rankings.append([])
    json.dump(rankings, sys.stdout)


if __name__ == "__main__":
    main()
