"""Log-in: the password alone until somebody enrols, the code after that, and a pause after too many failures."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from incidents.models import Incident
from tests.admin.forms import errors_of, open_form, save_form
from tests.conftest import PASSWORD
from tests.factories import make_incident

pytestmark = pytest.mark.django_db

LOGIN = "/admin/login/?next=/admin/"


def log_in(client: Client, **values: str) -> int:
    return client.post(LOGIN, {"username": "admin", "password": PASSWORD, "next": "/admin/", **values}).status_code


def calm(user: User) -> None:
    """Let the pauses after wrong codes be over."""
    for device in (TOTPDevice.objects.get(user=user), StaticDevice.objects.get(user=user)):
        device.throttle_reset()


def code_of(device: TOTPDevice, steps: int = 0) -> str:
    return (
        f"{totp(device.bin_key, step=device.step, t0=device.t0, digits=device.digits, drift=device.drift + steps):06d}"
    )


def test_a_superuser_logs_in_with_the_password_alone(client: Client, superuser: User) -> None:
    assert log_in(client) == 302
    assert client.get("/admin/").status_code == 200


def test_after_enrolling_the_code_is_asked_for(client: Client, superuser: User) -> None:
    client.force_login(superuser)
    page = client.get("/admin/two-factor/")
    assert "<svg" in page.content.decode()
    device = TOTPDevice.objects.get(user=superuser)
    assert not device.confirmed
    assert errors_of(client.post("/admin/two-factor/", {"token": "000000"}))
    device.refresh_from_db()
    device.throttle_reset()
    answer = client.post("/admin/two-factor/", {"token": code_of(device)})
    codes = answer.context["codes"]
    assert len(codes) == 8

    other = Client()
    assert log_in(other) == 200
    assert log_in(other, otp_token="000000") == 200
    calm(superuser)
    assert log_in(other, otp_token=codes[0]) == 302
    assert other.get("/admin/").status_code == 200
    again = Client()
    assert log_in(again, otp_token=codes[0]) == 200  # a backup code works once
    calm(superuser)
    assert log_in(again, otp_token=codes[1]) == 302


def test_ending_two_factor_needs_the_password(client: Client, superuser: User) -> None:
    client.force_login(superuser)
    TOTPDevice.objects.create(user=superuser, name="앱", confirmed=True)
    assert errors_of(client.post("/admin/two-factor/", {"password": "틀린 비밀번호"})) == ["비밀번호가 맞지 않습니다."]
    assert client.post("/admin/two-factor/", {"password": PASSWORD}).status_code == 302
    assert TOTPDevice.objects.count() == 0


def test_too_many_failures_close_the_door_for_a_while(client: Client, superuser: User) -> None:
    answers = [log_in(client, password="wrong-password") for _ in range(11)]
    assert answers[-1] == 429
    assert log_in(client) == 429
    assert timezone.now() > superuser.date_joined


def test_who_did_what_can_be_read_but_not_changed(client: Client, superuser: User) -> None:
    client.force_login(superuser)
    incident = make_incident()
    save_form(client, incident, open_form(client, incident), lesson="새 교훈이다.")
    client.post(f"/admin/incidents/incident/{incident.pk}/move/withdraw/", {"reason": "출처가 틀렸다"})
    log = client.get("/admin/admin/logentry/").content.decode()
    assert "교훈" in log
    assert "게시 → 철회. 출처가 틀렸다" in log
    assert client.get("/admin/incidents/statuschange/").status_code == 200
    assert client.get("/admin/admin/logentry/add/").status_code == 403
    assert Incident.objects.get().status == "withdrawn"
