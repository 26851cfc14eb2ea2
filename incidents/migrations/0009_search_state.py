"""The one row that names the search index's tables in PostgreSQL; those are made by each build of the index."""

from django.db import migrations

# A library that had its index before this migration has the table already.
TABLE = """
CREATE TABLE IF NOT EXISTS search_state (
  id smallint PRIMARY KEY CHECK (id = 1), build text NOT NULL, generation bigint NOT NULL, revision bigint NOT NULL,
  documents integer NOT NULL, version text NOT NULL)"""


def make_table(apps, schema_editor):  # type: ignore[no-untyped-def]
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(TABLE)


class Migration(migrations.Migration):
    dependencies = [
        ("incidents", "0008_search_terms"),
    ]

    operations = [migrations.RunPython(make_table, migrations.RunPython.noop)]
