"""The groups Editor and Reviewer with their permissions. What an administrator changes later stays changed."""

from django.apps import apps as real_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations

from incidents.roles import ROLE_PERMISSIONS


def make_groups(apps, schema_editor):  # type: ignore[no-untyped-def]
    # Permissions are made after all migrations; the groups need them now.
    config = real_apps.get_app_config("incidents")
    create_permissions(config, apps=apps, verbosity=0, using=schema_editor.connection.alias)
    permissions = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="incidents")
    for name, codenames in ROLE_PERMISSIONS.items():
        group, _created = apps.get_model("auth", "Group").objects.get_or_create(name=name)
        group.permissions.add(*permissions.filter(codename__in=codenames))


class Migration(migrations.Migration):
    dependencies = [
        ("incidents", "0006_desk"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
