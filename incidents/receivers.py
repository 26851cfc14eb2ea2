"""Model signals → revisions: whatever is saved below the admin is seen by catalogue, index and caches."""

from __future__ import annotations

from typing import Any

from django.db.models import ProtectedError
from django.db.models.signals import post_delete, post_save, pre_delete
from django.dispatch import receiver

from incidents.models import (
    Cause,
    Check,
    Citation,
    Component,
    DetectionMethod,
    Factor,
    Incident,
    IncidentCause,
    IncidentComponent,
    IncidentFactor,
    Organization,
    RelatedIncident,
    SearchTerm,
    SlugRedirect,
    Source,
)
from incidents.revisions import mark_changed, mark_library_changed


@receiver([post_save, post_delete], sender=Incident)
def incident_changed(instance: Incident, raw: bool = False, **kwargs: Any) -> None:
    if not raw:
        mark_changed([instance.pk])


@receiver([post_save, post_delete], sender=IncidentCause)
@receiver([post_save, post_delete], sender=IncidentComponent)
@receiver([post_save, post_delete], sender=IncidentFactor)
@receiver([post_save, post_delete], sender=Source)
@receiver([post_save, post_delete], sender=RelatedIncident)
@receiver([post_save, post_delete], sender=Citation)
def part_changed(instance: Any, raw: bool = False, **kwargs: Any) -> None:
    if not raw:
        mark_changed([instance.incident_id])


@receiver([post_save, post_delete], sender=Cause)
@receiver([post_save, post_delete], sender=Component)
@receiver([post_save, post_delete], sender=Factor)
@receiver([post_save, post_delete], sender=DetectionMethod)
@receiver([post_save, post_delete], sender=Organization)
def term_changed(instance: Any, raw: bool = False, created: bool = False, **kwargs: Any) -> None:
    if raw:
        return
    mark_library_changed()
    if instance.pk and not created:
        mark_changed(instance.incidents.all())


@receiver([post_save, post_delete], sender=Check)
@receiver([post_save, post_delete], sender=SlugRedirect)
@receiver([post_save, post_delete], sender=SearchTerm)
def page_changed(instance: Any, raw: bool = False, **kwargs: Any) -> None:
    if not raw:
        mark_library_changed()
        if isinstance(instance, Check) and instance.pk:
            mark_changed(Incident.objects.filter(citations__check_item=instance))


@receiver(pre_delete, sender=Incident)
def public_record_stays(instance: Incident, **kwargs: Any) -> None:
    """Refuse to delete a record that was ever public: its address and its number must go on answering."""
    if instance.published_at is not None or instance.version:
        raise ProtectedError(
            f"게시한 적이 있는 기록은 지울 수 없습니다: {instance.public_id}. 철회하십시오.", {instance}
        )
