"""A change shows in the rows that were rendered before it."""

from __future__ import annotations

from django.http import QueryDict

from incidents.indexing import rebuild_index
from incidents.listing import build_listing
from incidents.models import Organization
from incidents.templatetags.part_tags import incident_row
from tests.factories import make_incident


def test_a_changed_record_has_a_new_row(db):
    incident = make_incident(title="디스크가 가득 차 정산이 멈췄다")
    rebuild_index()
    assert "디스크가 가득" in incident_row(build_listing(QueryDict()).rows[0])
    incident.title = "로그가 넘쳐 정산이 멈췄다"
    incident.save()
    assert "로그가 넘쳐" in incident_row(build_listing(QueryDict()).rows[0])


def test_a_changed_name_of_a_term_shows_in_rows(db):
    make_incident()
    rebuild_index()
    assert "누리상회" in incident_row(build_listing(QueryDict()).rows[0])
    organization = Organization.objects.get(name="누리상회")
    organization.name = "한결은행"
    organization.save()
    assert "한결은행" in incident_row(build_listing(QueryDict()).rows[0])
