"""What editing keeps beside the record: every saved state, and what is typed but not saved yet."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from incidents.models.incident import Incident


class IncidentEdit(models.Model):
    """What a record said after one saving in the admin, public or not. `text` is a file of the library's format."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="edits")
    number = models.PositiveIntegerField(_("저장 횟수"))
    text = models.TextField(_("기록"))
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name=_("저장한 사람"), on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(_("때"), auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        verbose_name = _("저장 기록")
        verbose_name_plural = _("저장 기록")
        constraints = [models.UniqueConstraint(fields=["incident", "number"], name="edit_number_is_unique")]

    def __str__(self) -> str:
        return f"{self.incident.public_id} #{self.number}"


class UnsavedText(models.Model):
    """A form as somebody left it without saving: kept by the page while they type, until they save or drop it."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="unsaved_texts")
    incident = models.ForeignKey(
        Incident, on_delete=models.CASCADE, null=True, blank=True, related_name="unsaved_texts"
    )
    data = models.TextField(_("양식"))
    updated_at = models.DateTimeField(_("때"), auto_now=True)

    class Meta:
        ordering = ["-updated_at"]
        verbose_name = _("저장하지 않은 글")
        verbose_name_plural = _("저장하지 않은 글")
        constraints = [
            models.UniqueConstraint(fields=["owner", "incident"], name="one_unsaved_text_per_record"),
            models.UniqueConstraint(
                fields=["owner"], condition=models.Q(incident__isnull=True), name="one_unsaved_text_of_a_new_record"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.owner}: {self.incident or '새 사례'}"
