from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("incidents", "0003_lifecycle"),
    ]

    operations = [
        migrations.AddField(
            model_name="librarystate",
            name="changed_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="바뀐 때"),
        ),
    ]
