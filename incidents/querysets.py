"""Chainable questions about incidents, named by what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Prefetch

from incidents.states import PUBLIC, Status

if TYPE_CHECKING:
    from incidents.models import Incident  # noqa: F401, named in the base class below


class IncidentQuerySet(models.QuerySet["Incident"]):
    """Incidents, narrowed and joined as pages, feeds, API and commands need them."""

    def published(self) -> IncidentQuerySet:
        """Incidents that are listed, counted and searched."""
        return self.filter(status=Status.PUBLISHED)

    def public(self) -> IncidentQuerySet:
        """Incidents whose address answers a reader: published, withdrawn or merged."""
        return self.filter(status__in=PUBLIC)

    def for_cards(self) -> IncidentQuerySet:
        """With what a row of a list shows, in a constant number of queries."""
        return self.select_related("organization", "detection_method").prefetch_related(
            *(Prefetch(f"{name}_tags", queryset=self._tags(name)) for name in ("cause", "component", "factor"))
        )

    def for_records(self) -> IncidentQuerySet:
        """With everything that a whole record holds, in a constant number of queries."""
        return (
            self.for_cards()
            .select_related("merged_into")
            .prefetch_related(
                Prefetch("sources", queryset=self._sources()), "relations__other__organization", "citations__check_item"
            )
        )

    def _sources(self) -> models.QuerySet[models.Model]:
        """Sources with what was found at their addresses."""
        model: Any = self.model._meta.get_field("sources").related_model  # a model, imported nowhere to the left of it
        sources: models.QuerySet[models.Model] = model._default_manager.select_related("link_check")
        return sources

    def _tags(self, name: str) -> models.QuerySet[models.Model]:
        model: Any = self.model._meta.get_field(f"{name}_tags").related_model
        tags: models.QuerySet[models.Model] = model._default_manager.select_related("term")
        return tags
