"""What comes to the editors' desk: readers' reports, editors' proposals, dead links, searches that found nothing."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.core.validators import MaxLengthValidator
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from incidents.models.incident import Incident, Source

MAX_REPORT_CHARS = 5_000
MAX_MISS_CHARS = 200


class ReportState(models.TextChoices):
    """What became of a reader's report."""

    RECEIVED = "received", _("받음")
    ACCEPTED = "accepted", _("반영함")
    DECLINED = "declined", _("반영하지 않음")


def new_token() -> str:
    """Return an address part that can't be guessed."""
    return secrets.token_urlsafe(18)


class Report(models.Model):
    """What a reader says is wrong with a record. Its status address is known to its sender alone."""

    incident = models.ForeignKey(Incident, verbose_name=_("사례"), on_delete=models.CASCADE, related_name="reports")
    version = models.PositiveIntegerField(_("본 판"), default=0)
    field = models.CharField(_("항목"), max_length=30, blank=True, default="")
    text = models.TextField(_("고칠 점"), validators=[MaxLengthValidator(MAX_REPORT_CHARS)])
    evidence_url = models.CharField(_("근거 주소"), max_length=1_000, blank=True, default="")
    sender = models.CharField(_("보낸 사람"), max_length=120, blank=True, default="")
    token = models.CharField(_("확인 주소"), max_length=40, unique=True, default=new_token, editable=False)
    state = models.CharField(_("상태"), max_length=10, choices=ReportState.choices, default=ReportState.RECEIVED)
    answer = models.TextField(_("답"), blank=True, default="", help_text=_("보낸 사람에게 보입니다."))
    handled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name=_("다룬 사람"), on_delete=models.SET_NULL, null=True, related_name="+"
    )
    handled_at = models.DateTimeField(_("다룬 때"), null=True, blank=True)
    created_at = models.DateTimeField(_("보낸 때"), auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("고칠 점 알림")
        verbose_name_plural = _("고칠 점 알림")
        indexes = [models.Index(fields=["state", "created_at"], name="report_state")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state=ReportState.RECEIVED) | ~models.Q(answer=""),
                name="handled_report_has_an_answer",
                violation_error_message=_("어떻게 했는지 답을 적으십시오. 보낸 사람이 봅니다."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.incident.public_id}: {self.text[:40]}"

    def get_absolute_url(self) -> str:
        return reverse("incidents:report_status", args=[self.token])


class ProposalState(models.TextChoices):
    """What became of an editor's proposal."""

    WAITING = "waiting", _("기다림")
    ACCEPTED = "accepted", _("받아들임")
    DECLINED = "declined", _("돌려보냄")


class Proposal(models.Model):
    """A correction of a public record by somebody who may not publish: the form as they filled it in."""

    incident = models.ForeignKey(Incident, verbose_name=_("사례"), on_delete=models.CASCADE, related_name="proposals")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name=_("쓴 사람"), on_delete=models.CASCADE, related_name="+"
    )
    data = models.TextField(_("양식"))
    reason = models.TextField(_("고친 까닭"), blank=True, default="")
    fields = models.CharField(_("바뀐 항목"), max_length=300, blank=True, default="")
    state = models.CharField(_("상태"), max_length=10, choices=ProposalState.choices, default=ProposalState.WAITING)
    answer = models.TextField(_("답"), blank=True, default="")
    handled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name=_("다룬 사람"), on_delete=models.SET_NULL, null=True, related_name="+"
    )
    handled_at = models.DateTimeField(_("다룬 때"), null=True, blank=True)
    created_at = models.DateTimeField(_("쓴 때"), auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("고치자는 제안")
        verbose_name_plural = _("고치자는 제안")

    def __str__(self) -> str:
        return f"{self.incident.public_id}: {self.fields}"


class LinkState(models.TextChoices):
    """What was found at an address."""

    ALIVE = "alive", _("열림")
    MOVED = "moved", _("옮겨짐")
    DEAD = "dead", _("열리지 않음")
    REFUSED = "refused", _("살피지 않음")


class SourceCheck(models.Model):
    """When a source's address was last looked at, and what was there. Failures are counted: one alone says little."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, related_name="link_check")
    url = models.CharField(_("살핀 주소"), max_length=1_000)
    state = models.CharField(_("상태"), max_length=8, choices=LinkState.choices)
    http_status = models.PositiveSmallIntegerField(_("HTTP 상태"), null=True, blank=True)
    detail = models.CharField(_("까닭"), max_length=300, blank=True, default="")
    moved_to = models.CharField(_("옮겨 간 주소"), max_length=1_000, blank=True, default="")
    archived_state = models.CharField(_("사본의 상태"), max_length=8, choices=LinkState.choices, blank=True, default="")
    proposed_archive = models.CharField(_("보관된 사본 제안"), max_length=1_000, blank=True, default="")
    failures = models.PositiveSmallIntegerField(_("이어서 실패한 횟수"), default=0)
    checked_at = models.DateTimeField(_("살핀 때"))

    class Meta:
        ordering = ["checked_at"]
        verbose_name = _("출처 점검")
        verbose_name_plural = _("출처 점검")
        indexes = [models.Index(fields=["state"], name="source_check_state")]

    def __str__(self) -> str:
        return f"{self.url}: {self.get_state_display()}"


class SearchMiss(models.Model):
    """A query that found nothing, and how often; nothing about who asked."""

    query = models.CharField(_("찾은 말"), max_length=MAX_MISS_CHARS, unique=True)
    count = models.PositiveIntegerField(_("횟수"), default=1)
    is_done = models.BooleanField(_("다룸"), default=False)
    first_at = models.DateTimeField(_("처음"), auto_now_add=True)
    last_at = models.DateTimeField(_("마지막"), auto_now=True)

    class Meta:
        ordering = ["-count", "query"]
        verbose_name = _("아무것도 찾지 못한 검색")
        verbose_name_plural = _("아무것도 찾지 못한 검색")

    def __str__(self) -> str:
        return f"{self.query} ({self.count})"
