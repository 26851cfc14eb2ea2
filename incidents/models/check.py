"""Checks: what a cluster checker looks at, and the incidents that are the reason for it."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from incidents.models.incident import Incident
from incidents.models.vocabulary import Component, Factor


class Severity(models.TextChoices):
    """The size of the incidents that a check wants to prevent."""

    HIGH = "high", _("높음")
    MEDIUM = "medium", _("중간")
    LOW = "low", _("낮음")


class Check(models.Model):
    """A thing to look at, read-only. Its code is never changed and never given again."""

    code = models.CharField(
        _("코드"),
        max_length=12,
        unique=True,
        validators=[RegexValidator(r"^KC-[0-9]{3,}$", _("KC-001 처럼 적으십시오."))],
    )
    title = models.CharField(_("제목"), max_length=120)
    area = models.CharField(_("분야"), max_length=60)
    severity = models.CharField(_("크기"), max_length=6, choices=Severity.choices)
    risk = models.TextField(_("위험"))
    look = models.TextField(_("확인 방법"))
    criterion = models.TextField(_("통과 기준"))
    position = models.PositiveIntegerField(_("차례"), default=0)
    components: models.ManyToManyField[Component, CheckComponent] = models.ManyToManyField(
        Component, verbose_name=_("구성 요소"), through="CheckComponent", related_name="checks"
    )
    factors: models.ManyToManyField[Factor, CheckFactor] = models.ManyToManyField(
        Factor, verbose_name=_("기여 요인"), through="CheckFactor", related_name="checks"
    )

    class Meta:
        ordering = ["position", "code"]
        verbose_name = _("점검")
        verbose_name_plural = _("점검")

    def __str__(self) -> str:
        return f"{self.code} {self.title}"

    def get_absolute_url(self) -> str:
        return reverse("incidents:check_detail", args=[self.code])


class CheckComponent(models.Model):
    check_item = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="component_tags")
    term = models.ForeignKey(
        Component, verbose_name=_("구성 요소"), on_delete=models.PROTECT, related_name="check_tags"
    )
    position = models.PositiveSmallIntegerField(_("차례"), default=0)

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("구성 요소")
        verbose_name_plural = _("구성 요소 (주된 것부터)")
        constraints = [models.UniqueConstraint(fields=["check_item", "term"], name="component_once_per_check")]

    def __str__(self) -> str:
        return str(self.term)


class CheckFactor(models.Model):
    check_item = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="factor_tags")
    term = models.ForeignKey(Factor, verbose_name=_("기여 요인"), on_delete=models.PROTECT, related_name="check_tags")
    position = models.PositiveSmallIntegerField(_("차례"), default=0)

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("기여 요인")
        verbose_name_plural = _("기여 요인")
        constraints = [models.UniqueConstraint(fields=["check_item", "term"], name="factor_once_per_check")]

    def __str__(self) -> str:
        return str(self.term)


class Citation(models.Model):
    """An incident that a check cites, with the fact of it that is the reason. A cited record can't be deleted."""

    check_item = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="citations")
    incident = models.ForeignKey(Incident, verbose_name=_("사례"), on_delete=models.PROTECT, related_name="citations")
    why = models.CharField(_("까닭"), max_length=400)
    position = models.PositiveSmallIntegerField(_("차례"), default=0)

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("근거 사례")
        verbose_name_plural = _("근거 사례")
        constraints = [
            models.UniqueConstraint(
                fields=["check_item", "incident"],
                name="incident_once_per_check",
                violation_error_message=_("같은 기록을 두 번 인용하지 마십시오."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.check_item.code} ← {self.incident.public_id}"
