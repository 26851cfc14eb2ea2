"""The incident record, its ordered relations, its sources and its versions."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, ClassVar, Self, cast

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from incidents.models.library import LibraryState
from incidents.models.vocabulary import Cause, Component, DetectionMethod, Factor, Organization
from incidents.plain_text import CONTROL, canonical_line, canonical_text
from incidents.querysets import IncidentQuerySet
from incidents.record_text import LIST_SECTIONS, MAX_ITEMS, SECTION_LABELS, canonical_item, text_problems
from incidents.records import (
    MAX_NOTE_CHARS,
    MAX_PUBLISHER_CHARS,
    MAX_REASON_CHARS,
    MAX_SOURCE_TITLE_CHARS,
    MAX_TITLE_CHARS,
    MAX_URL_CHARS,
    YEAR_RANGE,
    Moment,
    order_problems,
    parse_moment,
    url_problem,
)
from incidents.records import Precision as RecordPrecision
from incidents.states import Status, is_legal

PUBLIC_ID = re.compile(r"^[Ii][Ll][-\u2010-\u2015\u2212]([0-9]{1,9})$")
FIRST_YEAR, LAST_YEAR = YEAR_RANGE


class Precision(models.TextChoices):
    """How much of a time the report gives. What it doesn't give is never made up."""

    YEAR = "year", _("연도까지")
    DAY = "day", _("날짜까지")
    MINUTE = "minute", _("분까지")


def format_public_id(number: int) -> str:
    """Return `IL-0421` for 421: four digits or more."""
    return f"IL-{number:04d}"


def parse_public_id(text: str) -> int | None:
    """Return 421 for `IL-0421`, `il-421` or any width or hyphen of it; None where it is no ID."""
    import unicodedata  # used by this function alone

    match = PUBLIC_ID.match(unicodedata.normalize("NFKC", text).strip())
    return int(match.group(1)) if match else None


class Relation(models.TextChoices):
    """How another record relates to this one."""

    SAME_EVENT = "same-event", _("같은 사건")
    REPEAT_OF = "repeat-of", _("되풀이")
    FOLLOW_ON = "follow-on", _("뒤이음")
    SIMILAR = "similar", _("비슷함")


class Incident(models.Model):
    """One incident, as a public report tells it."""

    number = models.PositiveIntegerField(_("번호"), unique=True, editable=False)
    title = models.CharField(_("제목"), max_length=MAX_TITLE_CHARS, blank=True, default="")
    organization = models.ForeignKey(
        Organization, verbose_name=_("조직"), on_delete=models.PROTECT, null=True, blank=True, related_name="incidents"
    )
    year = models.PositiveSmallIntegerField(
        _("연도"),
        null=True,
        blank=True,
        validators=[MinValueValidator(FIRST_YEAR), MaxValueValidator(LAST_YEAR)],
        help_text=_("일어난 해. 긴 기간의 연구라면 보고서의 해."),
    )
    started_at = models.DateTimeField(_("시작"), null=True, blank=True)
    started_precision = models.CharField(
        _("시작의 정밀도"), max_length=6, choices=Precision.choices, blank=True, default=""
    )
    detected_at = models.DateTimeField(_("감지"), null=True, blank=True)
    detected_precision = models.CharField(
        _("감지의 정밀도"), max_length=6, choices=Precision.choices, blank=True, default=""
    )
    mitigated_at = models.DateTimeField(_("완화"), null=True, blank=True)
    mitigated_precision = models.CharField(
        _("완화의 정밀도"), max_length=6, choices=Precision.choices, blank=True, default=""
    )
    resolved_at = models.DateTimeField(_("해소"), null=True, blank=True)
    resolved_precision = models.CharField(
        _("해소의 정밀도"), max_length=6, choices=Precision.choices, blank=True, default=""
    )
    detection_method = models.ForeignKey(
        DetectionMethod,
        verbose_name=_("감지 방법"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="incidents",
    )

    symptom = models.TextField(_("증상"), blank=True, default="")
    trigger = models.TextField(_("촉발"), blank=True, default="")
    cause = models.TextField(_("원인"), blank=True, default="")
    contributing_factors = models.JSONField(_("기여 요인"), blank=True, default=list)
    detection = models.TextField(_("감지 경위"), blank=True, default="")
    actions = models.JSONField(_("조치"), blank=True, default=list)
    follow_ups = models.JSONField(_("후속 조치"), blank=True, default=list)
    lesson = models.TextField(_("교훈"), blank=True, default="")

    causes: models.ManyToManyField[Cause, IncidentCause] = models.ManyToManyField(
        Cause, verbose_name=_("원인 분류"), through="IncidentCause", related_name="incidents"
    )
    components: models.ManyToManyField[Component, IncidentComponent] = models.ManyToManyField(
        Component, verbose_name=_("구성 요소"), through="IncidentComponent", related_name="incidents"
    )
    factors: models.ManyToManyField[Factor, IncidentFactor] = models.ManyToManyField(
        Factor, verbose_name=_("기여 요인 분류"), through="IncidentFactor", related_name="incidents"
    )

    status = models.CharField(_("상태"), max_length=10, choices=Status.choices, default=Status.DRAFT)
    status_reason = models.TextField(_("상태의 까닭"), blank=True, default="")
    status_changed_at = models.DateTimeField(_("상태가 바뀐 때"), null=True, blank=True)
    status_precision = models.CharField(
        _("상태가 바뀐 때의 정밀도"), max_length=6, choices=Precision.choices, blank=True, default="", editable=False
    )
    merged_into = models.ForeignKey(
        "self",
        verbose_name=_("합쳐진 기록"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="merged_from",
    )
    editor_note = models.TextField(
        _("편집자 메모"), blank=True, default="", help_text=_("게시되지 않습니다. 자리를 찾지 못한 글을 여기에 둡니다.")
    )

    version = models.PositiveIntegerField(_("판"), default=0, editable=False)
    revision = models.PositiveBigIntegerField(_("라이브러리 판"), default=0, editable=False)
    edit_number = models.PositiveIntegerField(_("저장 횟수"), default=0, editable=False)
    created_at = models.DateTimeField(_("만든 때"), auto_now_add=True)
    published_at = models.DateTimeField(_("처음 게시한 때"), null=True, blank=True, editable=False)
    updated_at = models.DateTimeField(_("고친 때"), null=True, blank=True, editable=False)

    _loaded_status: str | None = None
    _is_moving: bool = False

    objects: ClassVar[models.Manager[Incident]] = IncidentQuerySet.as_manager()

    class Meta:
        verbose_name = _("사례")
        verbose_name_plural = _("사례")
        ordering = ["-number"]
        permissions = [("publish_incident", _("사례를 게시하고 철회할 수 있다"))]
        indexes = [
            models.Index(fields=["status", "number"], name="incident_status"),
            models.Index(fields=["revision"], name="incident_revision"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(status=Status.PUBLISHED)
                | ~(Q(title="") | Q(symptom="") | Q(cause="") | Q(lesson="") | Q(actions=[])),
                name="published_has_required_text",
                violation_error_message=_("게시하려면 제목, 증상, 원인, 조치, 교훈이 모두 있어야 합니다."),
            ),
            models.CheckConstraint(
                condition=~Q(status=Status.PUBLISHED)
                | Q(organization__isnull=False, year__isnull=False, detection_method__isnull=False),
                name="published_has_required_facts",
                violation_error_message=_("게시하려면 조직, 연도, 감지 방법이 모두 있어야 합니다."),
            ),
            models.CheckConstraint(
                condition=Q(status__in=[Status.DRAFT, Status.IN_REVIEW])
                | Q(version__gte=1, published_at__isnull=False),
                name="public_has_a_version",
                violation_error_message=_("게시한 기록에는 판이 있어야 합니다. 게시 절차를 거치십시오."),
            ),
            models.CheckConstraint(
                condition=Q(status=Status.MERGED, merged_into__isnull=False)
                | (~Q(status=Status.MERGED) & Q(merged_into__isnull=True)),
                name="merged_names_the_survivor",
                violation_error_message=_("병합한 기록에는 합쳐진 기록이 있어야 하고, 다른 상태에는 없어야 합니다."),
            ),
            models.CheckConstraint(
                condition=~Q(status__in=[Status.WITHDRAWN]) | ~Q(status_reason=""),
                name="withdrawn_has_a_reason",
                violation_error_message=_("철회하려면 까닭을 적으십시오."),
            ),
            models.CheckConstraint(
                condition=Q(number__gte=1), name="number_is_positive", violation_error_message=_("번호는 1 이상입니다.")
            ),
            models.CheckConstraint(
                condition=Q(year__isnull=True) | Q(year__gte=FIRST_YEAR, year__lte=LAST_YEAR),
                name="year_in_range",
                violation_error_message=_("연도는 1940년부터 2100년까지 적을 수 있습니다."),
            ),
            *[
                models.CheckConstraint(
                    condition=Q(**{f"{name}_at__isnull": True, f"{name}_precision": ""})
                    | Q(**{f"{name}_at__isnull": False, f"{name}_precision__in": Precision.values}),
                    name=f"{name}_has_precision",
                    violation_error_message=_("때를 적으면 정밀도(연도까지, 날짜까지, 분까지)도 고르십시오."),
                )
                for name in ("started", "detected", "mitigated", "resolved")
            ],
        ]

    def __str__(self) -> str:
        return f"{self.public_id} {self.title}".strip()

    @classmethod
    def from_db(cls, *args: Any, **kwargs: Any) -> Self:
        incident = super().from_db(*args, **kwargs)
        incident._loaded_status = incident.__dict__.get("status")
        return incident

    def refresh_from_db(self, *args: Any, **kwargs: Any) -> None:
        """Read the row again, its state too: what was loaded is what a change of state is measured by."""
        super().refresh_from_db(*args, **kwargs)
        if "status" in self.__dict__:
            fields = kwargs.get("fields") or (args[1] if len(args) > 1 else None)
            if fields is None or "status" in fields:
                self._loaded_status = self.status

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save, with every text in its canonical form. A new record takes the next number.

        Raises ValidationError where the state changes in an illegal way, or past `incidents.lifecycle.move`, which
        asks for permission and reason and records them.
        """
        before = self._loaded_status
        if before is not None and before != self.status:
            words = {"before": Status(before).label, "after": Status(self.status).label}
            if not is_legal(before, self.status):
                raise ValidationError({"status": _("이 상태로는 바꿀 수 없습니다: %(before)s → %(after)s") % words})
            if not self._is_moving:
                raise ValidationError(
                    {"status": _("상태는 게시·철회 같은 절차로만 바꿀 수 있습니다: %(before)s → %(after)s") % words}
                )
        self.make_canonical()
        with transaction.atomic():
            number: int | None = self.number
            if number is None:
                self.number = LibraryState.objects.next_number()
            elif self._state.adding:
                LibraryState.objects.reserve_numbers_up_to(self.number)
            super().save(*args, **kwargs)
        self._loaded_status = self.status

    def make_canonical(self) -> None:
        """Bring the texts to the form that files have (NFC, LF), without control characters and empty items.

        Fields that the instance hasn't loaded stay unloaded.
        """
        loaded = self.__dict__
        if "title" in loaded:
            self.title = canonical_line(CONTROL.sub(" ", self.title))
        for name in SECTION_LABELS:
            if name not in loaded:
                continue
            if name in LIST_SECTIONS:
                items = (
                    canonical_item(CONTROL.sub("", _line_feeds(item))) for item in loaded[name] if isinstance(item, str)
                )
                setattr(self, name, [item for item in items if item])
            else:
                setattr(self, name, canonical_text(CONTROL.sub("", _line_feeds(loaded[name]))))

    def clean(self) -> None:
        """Raise ValidationError for texts that no file of the format can hold, and for times in an impossible order."""
        problems: dict[str, list[str]] = {}
        for name in SECTION_LABELS:
            value = getattr(self, name)
            if name in LIST_SECTIONS:
                if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                    problems[name] = [str(_("한 줄에 한 항목씩 적으십시오."))]
                    continue
                if len(value) > MAX_ITEMS:
                    problems[name] = [_("항목은 %(most)d개까지 적을 수 있습니다.") % {"most": MAX_ITEMS}]
                found = [
                    f"{number}번째 항목: {message}"
                    for number, item in enumerate(value, start=1)
                    for _line, message in text_problems(canonical_item(item))
                ]
            else:
                found = [f"{line + 1}번째 줄: {message}" for line, message in text_problems(canonical_text(value))]
            if found:
                problems.setdefault(name, []).extend(found)
        moments = {f"{name}_at": self.moment(name) for name in ("started", "detected", "mitigated", "resolved")}
        for field, message in order_problems(moments):
            problems.setdefault(field, []).append(message)
        if problems:
            raise ValidationError(problems)

    def moment(self, name: str) -> Moment | None:
        """Return `started`, `detected`, `mitigated`, `resolved` or `status` as far as it is known."""
        at = getattr(self, "status_changed_at" if name == "status" else f"{name}_at")
        precision = getattr(self, f"{name}_precision")
        return Moment(at.astimezone(UTC), precision) if at is not None and precision else None

    def get_absolute_url(self) -> str:
        return reverse("incidents:incident_detail", args=[self.public_id])

    @property
    def public_id(self) -> str:
        """`IL-0421`; empty while the record is unsaved."""
        return format_public_id(self.number) if self.number is not None else ""

    @property
    def is_published(self) -> bool:
        return self.status == Status.PUBLISHED

    @property
    def duration_minutes(self) -> int | None:
        """Minutes from start to resolution; None unless both are known to the minute."""
        return self._minutes_until("resolved")

    @property
    def minutes_to_detect(self) -> int | None:
        """Minutes from start to detection; None unless both are known to the minute."""
        return self._minutes_until("detected")

    @property
    def minutes_to_mitigate(self) -> int | None:
        """Minutes from start to mitigation; None unless both are known to the minute."""
        return self._minutes_until("mitigated")

    def _minutes_until(self, name: str) -> int | None:
        end: datetime | None = getattr(self, f"{name}_at")
        if self.started_at is None or end is None:
            return None
        if self.started_precision != Precision.MINUTE or getattr(self, f"{name}_precision") != Precision.MINUTE:
            return None
        return round((end - self.started_at).total_seconds() / 60)

    def time_text(self, name: str) -> str | None:
        """Return `started` or another moment as API and files write it: a UTC time, a day, a year, or None."""
        return format_moment(getattr(self, f"{name}_at"), getattr(self, f"{name}_precision"))


def format_moment(at: datetime | None, precision: str) -> str | None:
    """Return `2023-11-15T20:31:00Z` or `2023-11-15`, as much as is known; None where nothing is."""
    if at is None:
        return None
    return str(Moment(at.astimezone(UTC), cast(RecordPrecision, precision)))


def _line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class OrderedTag(models.Model):
    """A vocabulary term given to an incident, in order: the main one first."""

    position = models.PositiveSmallIntegerField(_("차례"), default=0)

    class Meta:
        abstract = True
        ordering = ["position", "pk"]


class IncidentCause(OrderedTag):
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="cause_tags")
    term = models.ForeignKey(Cause, verbose_name=_("원인 분류"), on_delete=models.PROTECT, related_name="tags")

    class Meta(OrderedTag.Meta):
        verbose_name = _("원인 분류")
        verbose_name_plural = _("원인 분류 (주된 것부터)")
        constraints = [models.UniqueConstraint(fields=["incident", "term"], name="cause_once_per_incident")]

    def __str__(self) -> str:
        return str(self.term)


class IncidentComponent(OrderedTag):
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="component_tags")
    term = models.ForeignKey(Component, verbose_name=_("구성 요소"), on_delete=models.PROTECT, related_name="tags")

    class Meta(OrderedTag.Meta):
        verbose_name = _("구성 요소")
        verbose_name_plural = _("구성 요소 (주된 것부터)")
        constraints = [models.UniqueConstraint(fields=["incident", "term"], name="component_once_per_incident")]

    def __str__(self) -> str:
        return str(self.term)


class IncidentFactor(OrderedTag):
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="factor_tags")
    term = models.ForeignKey(Factor, verbose_name=_("기여 요인"), on_delete=models.PROTECT, related_name="tags")

    class Meta(OrderedTag.Meta):
        verbose_name = _("기여 요인 분류")
        verbose_name_plural = _("기여 요인 분류")
        constraints = [models.UniqueConstraint(fields=["incident", "term"], name="factor_once_per_incident")]

    def __str__(self) -> str:
        return str(self.term)


def validate_source_url(url: str) -> None:
    """Raise ValidationError for an address that files of the format refuse."""
    if problem := url_problem(url):
        raise ValidationError(f"{problem}.")


def validate_day(text: str) -> None:
    """Raise ValidationError unless `text` is a day as 2023-11-20."""
    try:
        moment = parse_moment(text)
    except ValueError as error:
        raise ValidationError(str(error)) from None
    if moment.precision != "day":
        raise ValidationError(_("2023-11-20 처럼 날짜를 적으십시오."))


class Source(models.Model):
    """A public report that the record rests on; the first is the primary one."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="sources")
    position = models.PositiveSmallIntegerField(_("차례"), default=0)
    title = models.CharField(_("제목"), max_length=MAX_SOURCE_TITLE_CHARS)
    url = models.CharField(_("주소"), max_length=MAX_URL_CHARS, validators=[validate_source_url])
    publisher = models.CharField(_("펴낸 곳"), max_length=MAX_PUBLISHER_CHARS, blank=True, default="")
    published = models.CharField(
        _("펴낸 날"),
        max_length=10,
        blank=True,
        default="",
        validators=[validate_day],
        help_text=_("2023-11-20 처럼."),
    )
    archived_url = models.CharField(
        _("보관된 사본"), max_length=MAX_URL_CHARS, blank=True, default="", validators=[validate_source_url]
    )

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("출처")
        verbose_name_plural = _("출처 (처음이 1차 보고서)")

    def __str__(self) -> str:
        return self.title


class RelatedIncident(models.Model):
    """A typed relation to another record, with the editor's reason."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="relations")
    other = models.ForeignKey(
        Incident, verbose_name=_("관련 기록"), on_delete=models.PROTECT, related_name="relations_from"
    )
    relation = models.CharField(_("관계"), max_length=10, choices=Relation.choices)
    note = models.CharField(_("설명"), max_length=MAX_NOTE_CHARS, blank=True, default="")
    position = models.PositiveSmallIntegerField(_("차례"), default=0)

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("관련 기록")
        verbose_name_plural = _("관련 기록")
        constraints = [
            models.UniqueConstraint(
                fields=["incident", "other"],
                name="related_once_per_incident",
                violation_error_message=_("같은 기록을 두 번 잇지 마십시오."),
            ),
            models.CheckConstraint(
                condition=~Q(incident=models.F("other")),
                name="related_is_another",
                violation_error_message=_("기록을 자기 자신과 이을 수 없습니다."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_relation_display()} {self.other.public_id}"


class IncidentVersion(models.Model):
    """What the record said in one published version, as a file of the library's own format. Never changed."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField(_("판"))
    text = models.TextField(_("기록"))
    reason = models.CharField(_("바꾼 까닭"), max_length=MAX_REASON_CHARS, blank=True, default="")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("바꾼 사람"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    created_at = models.DateTimeField(_("만든 때"))

    class Meta:
        ordering = ["incident", "number"]
        verbose_name = _("판")
        verbose_name_plural = _("판")
        constraints = [models.UniqueConstraint(fields=["incident", "number"], name="version_number_is_unique")]

    def __str__(self) -> str:
        return f"{self.incident.public_id}@{self.number}"


class StatusChange(models.Model):
    """A move of a record from one state to another: who, when, why."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="status_changes")
    before = models.CharField(_("앞 상태"), max_length=10, choices=Status.choices)
    after = models.CharField(_("뒤 상태"), max_length=10, choices=Status.choices)
    reason = models.TextField(_("까닭"), blank=True, default="")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("한 사람"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    move = models.CharField(_("한 일"), max_length=20, blank=True, default="")
    merged_into = models.ForeignKey(
        Incident, verbose_name=_("합쳐진 기록"), on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(_("때"), auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("상태 변경")
        verbose_name_plural = _("상태 변경")

    def __str__(self) -> str:
        return f"{self.incident.public_id} {self.before} → {self.after}"
