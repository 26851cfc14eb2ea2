"""A record with its texts in one field and its facets as text, as haystack's documentation does it."""

from django.db import models


class Record(models.Model):
    title = models.CharField(max_length=300)
    body = models.TextField()
    cause = models.CharField(max_length=60)
    component = models.CharField(max_length=60)
    organization = models.CharField(max_length=120)
    year = models.IntegerField()
