"""Editors' words for the search, and who may change them."""

import django.db.models.deletion
from django.apps import apps as real_apps
from django.conf import settings
from django.contrib.auth.management import create_permissions
from django.db import migrations, models

from incidents.roles import ROLE_PERMISSIONS


def permit(apps, schema_editor):  # type: ignore[no-untyped-def]
    # As in 0007: permissions are made after all migrations; the groups need these now. The groups may be gone.
    config = real_apps.get_app_config("incidents")
    create_permissions(config, apps=apps, verbosity=0, using=schema_editor.connection.alias)
    permissions = apps.get_model("auth", "Permission").objects.filter(
        content_type__app_label="incidents", content_type__model="searchterm"
    )
    for group in apps.get_model("auth", "Group").objects.filter(name__in=ROLE_PERMISSIONS):
        group.permissions.add(*permissions.filter(codename__in=ROLE_PERMISSIONS[group.name]))


class Migration(migrations.Migration):

    dependencies = [
        ('incidents', '0007_roles'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SearchTerm',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('terms', models.JSONField(default=list, help_text='한 줄에 하나. “함께 볼 말”은 첫 줄의 말을 찾을 때 나머지를 함께 봅니다.', verbose_name='말')),
                ('relation', models.CharField(choices=[('same', '같은 말'), ('alike', '비슷한 말'), ('near', '함께 볼 말'), ('word', '한 낱말'), ('apart', '잇지 않을 말')], default='same', help_text='같은 말: 어느 것으로 찾아도 모두 찾고, 이미 있는 묶음의 말을 적으면 그 묶음에 듭니다. 비슷한 말·함께 볼 말: 순서에만 쓰입니다. 한 낱말: 형태소 분석기가 모르는 이름을 쪼개지 않고 찾습니다. 잇지 않을 말: 프로그램에 실린 묶음에서 떼어 놓습니다.', max_length=5, verbose_name='사이')),
                ('is_active', models.BooleanField(default=True, help_text='끄면 다음 검색부터 쓰이지 않습니다.', verbose_name='쓰는 중')),
                ('note', models.CharField(blank=True, default='', help_text='독자에게는 보이지 않습니다.', max_length=300, verbose_name='까닭')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='만든 때')),
                ('changed_at', models.DateTimeField(auto_now=True, verbose_name='고친 때')),
                ('changed_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='고친 사람')),
            ],
            options={
                'verbose_name': '찾는 말 묶음',
                'verbose_name_plural': '찾는 말 묶음',
                'ordering': ['-changed_at', '-pk'],
            },
        ),
        migrations.RunPython(permit, migrations.RunPython.noop),
    ]
