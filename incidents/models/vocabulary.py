"""The controlled vocabulary: causes, components, factors, detection methods, and the organizations."""

from __future__ import annotations

from typing import Any

from django.core.validators import RegexValidator
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from incidents.records import MAX_ORGANIZATION_CHARS
from incidents.term_labels import term_label
from incidents.yaml_fields import MAX_SLUG_CHARS

SLUG_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"


class VocabularyKind(models.TextChoices):
    """The vocabularies, named as their addresses name them."""

    CAUSE = "causes", _("원인 분류")
    COMPONENT = "components", _("구성 요소")
    FACTOR = "factors", _("기여 요인")
    DETECTION_METHOD = "detections", _("감지 방법")
    ORGANIZATION = "organizations", _("조직")


class Term(models.Model):
    """A word of the vocabulary: a stable slug and what a reader sees of it."""

    slug = models.CharField(
        _("슬러그"),
        max_length=MAX_SLUG_CHARS,
        unique=True,
        validators=[RegexValidator(SLUG_PATTERN, _("영문 소문자와 숫자를 붙임표로 이어 쓰십시오."))],
    )
    label = models.CharField(_("이름"), max_length=80, unique=True)
    label_en = models.CharField(_("영어 이름"), max_length=80, blank=True, default="")
    group = models.CharField(_("묶음"), max_length=40, blank=True, default="")
    about = models.TextField(_("뜻"), blank=True, default="")
    aliases = models.JSONField(_("다른 이름"), default=list, blank=True)
    position = models.PositiveIntegerField(_("차례"), default=0)

    kind: VocabularyKind

    class Meta:
        abstract = True
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return self.label

    def get_absolute_url(self) -> str:
        return reverse("incidents:vocabulary_detail", args=[self.kind.value, self.slug])

    @property
    def local_label(self) -> str:
        """The label in the interface's language; the slug's own words where no English label was written."""
        return term_label(self.label, self.label_en, self.slug)


class Cause(Term):
    """원인 분류: what kind of thing failed."""

    kind = VocabularyKind.CAUSE

    class Meta(Term.Meta):
        verbose_name = _("원인 분류")
        verbose_name_plural = _("원인 분류")


class Component(Term):
    """구성 요소: where it failed."""

    kind = VocabularyKind.COMPONENT

    class Meta(Term.Meta):
        verbose_name = _("구성 요소")
        verbose_name_plural = _("구성 요소")


class Factor(Term):
    """기여 요인: what let it happen, spread or last."""

    kind = VocabularyKind.FACTOR

    class Meta(Term.Meta):
        verbose_name = _("기여 요인")
        verbose_name_plural = _("기여 요인")


class DetectionMethod(Term):
    """감지 방법: how the organization learned of it."""

    UNKNOWN = "unknown"

    kind = VocabularyKind.DETECTION_METHOD

    class Meta(Term.Meta):
        verbose_name = _("감지 방법")
        verbose_name_plural = _("감지 방법")


class Organization(models.Model):
    """조직: whose incident it was. The slug is made of the name once and then kept."""

    slug = models.CharField(_("슬러그"), max_length=120, unique=True)
    name = models.CharField(
        _("이름"),
        max_length=MAX_ORGANIZATION_CHARS,
        unique=True,
        error_messages={"unique": _("같은 이름의 조직이 이미 있습니다.")},
    )
    aliases = models.JSONField(_("다른 이름"), default=list, blank=True)

    kind = VocabularyKind.ORGANIZATION

    class Meta:
        ordering = ["name"]
        verbose_name = _("조직")
        verbose_name_plural = _("조직")

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save; a new organization gets its slug of its name."""
        if not self.slug:
            self.slug = free_organization_slug(self.name)
            if (update_fields := kwargs.get("update_fields")) is not None:
                kwargs["update_fields"] = {*update_fields, "slug"}
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        return reverse("incidents:vocabulary_detail", args=[self.kind.value, self.slug])

    @property
    def label(self) -> str:
        return self.name

    @property
    def local_label(self) -> str:
        return self.name


def organization_slug(name: str) -> str:
    """Return the name as a slug: case folded, NFC, letters and digits (Hangul too) joined by single hyphens."""
    import unicodedata  # used by this function alone

    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())
    words = "".join(sign if sign.isalnum() else " " for sign in folded).split()
    return "-".join(words)[:100].strip("-") or "organization"


def free_organization_slug(name: str) -> str:
    """Return a slug for `name` that no organization and no redirect uses."""
    base = slug = organization_slug(name)
    number = 1
    while (
        Organization.objects.filter(slug=slug).exists()
        or SlugRedirect.objects.filter(kind=VocabularyKind.ORGANIZATION, old_slug=slug).exists()
    ):
        number += 1
        slug = f"{base}-{number}"
    return slug


class SlugRedirect(models.Model):
    """A slug that a term had before it was renamed or merged; its address leads to the new one."""

    kind = models.CharField(_("어휘"), max_length=20, choices=VocabularyKind.choices)
    old_slug = models.CharField(_("옛 슬러그"), max_length=120)
    new_slug = models.CharField(_("새 슬러그"), max_length=120)
    created_at = models.DateTimeField(_("만든 때"), auto_now_add=True)

    class Meta:
        verbose_name = _("옛 주소")
        verbose_name_plural = _("옛 주소")
        constraints = [
            models.UniqueConstraint(fields=["kind", "old_slug"], name="slug_redirect_is_unique"),
            models.CheckConstraint(condition=~models.Q(old_slug=models.F("new_slug")), name="slug_redirect_moves"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}/{self.old_slug} → {self.new_slug}"


TERM_MODELS: dict[VocabularyKind, type[Term]] = {
    VocabularyKind.CAUSE: Cause,
    VocabularyKind.COMPONENT: Component,
    VocabularyKind.FACTOR: Factor,
    VocabularyKind.DETECTION_METHOD: DetectionMethod,
}
