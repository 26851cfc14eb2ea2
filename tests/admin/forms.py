"""Driving the admin as a script does: read the form of a page, change some values, send it back."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.test import Client
from lxml import html


def form_values(response: HttpResponse | Any, form_id: str | None = None) -> dict[str, Any]:
    """Return the values that a browser would send from the page's form as it stands, no submit button pressed."""
    document = html.fromstring(response.content.decode())
    forms = [form for form in document.forms if form_id is None or form.get("id") == form_id]
    form = next(
        form for form in reversed(forms) if form.get("method", "").lower() == "post" and form.get("id") != "logout-form"
    )
    values: dict[str, Any] = {}
    for name, value in form.form_values():
        if name in values:
            values[name] = [*(values[name] if isinstance(values[name], list) else [values[name]]), value]
        else:
            values[name] = value.removeprefix("\n") if isinstance(value, str) else value
    return values


def change_url(incident: Any) -> str:
    return f"/admin/incidents/incident/{incident.pk}/change/"


def open_form(client: Client, incident: Any) -> dict[str, Any]:
    """Return the values of a record's form."""
    response = client.get(change_url(incident))
    assert response.status_code == 200
    return form_values(response, "incident_form")


def save_form(client: Client, incident: Any, values: dict[str, Any], **changes: Any) -> Any:
    """Send a record's form with some values changed and return the answer."""
    return client.post(change_url(incident), {**values, **changes})


def errors_of(response: HttpResponse | Any) -> list[str]:
    """Return the error sentences that a page shows."""
    document = html.fromstring(response.content.decode())
    return [item.text_content().strip() for item in document.xpath("//ul[contains(@class, 'errorlist')]/li")]
