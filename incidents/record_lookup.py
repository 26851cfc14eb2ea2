"""From an ID in any form to the record that it names."""

from __future__ import annotations

from django.utils.translation import gettext as _

from incidents.errors import NotFound
from incidents.models import Incident, format_public_id, parse_public_id


def find_incident(public_id: str) -> Incident:
    """Return the public record of an ID in any form (`il-421`). Raises NotFound, which doesn't tell drafts from nothing."""
    number = parse_public_id(public_id)
    incident = None
    if number is not None:
        incident = Incident.objects.public().for_records().filter(number=number).first()
    if incident is None:
        shown = format_public_id(number) if number is not None else public_id[:40]
        raise NotFound(
            _("알 수 없는 번호입니다: %(id)s. 번호는 지워지지 않으므로, 옮겨 적다가 틀렸을 수 있습니다.")
            % {"id": shown},
            fields={"id": shown},
        )
    found: Incident = incident
    return found
