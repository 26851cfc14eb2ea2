"""The single row of the library's state."""

from django.db import migrations


def make_state(apps, schema_editor):  # type: ignore[no-untyped-def]
    apps.get_model("incidents", "LibraryState").objects.get_or_create(pk=1)


class Migration(migrations.Migration):
    dependencies = [("incidents", "0001_initial")]

    operations = [migrations.RunPython(make_state, migrations.RunPython.noop)]
