"""“고칠 점 알리기”: what a reader says is wrong with a record, without an account, and where its fate is told."""

from __future__ import annotations

from datetime import timedelta
from hashlib import blake2b

from django import forms
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from incidents.api.throttle import client_of
from incidents.errors import NotFound, TooManyRequests
from incidents.models import Report
from incidents.models.desk import MAX_REPORT_CHARS
from incidents.plain_text import CONTROL
from incidents.record_lookup import find_incident
from incidents.record_sections import SECTION_NAMES
from incidents.records import url_problem

HOURLY_LIMIT = 5  # reports of one client: enough for a careful reader, too few to fill the desk
HOUR = 3600


class ReportForm(forms.Form):
    """What is wrong, where, and on what ground. `website` is for machines alone: no person sees it."""

    field = forms.ChoiceField(
        label=gettext_lazy("어느 항목"),
        required=False,
        choices=[("", gettext_lazy("기록 전체")), *SECTION_NAMES.items(), ("sources", gettext_lazy("출처"))],
    )
    text = forms.CharField(
        label=gettext_lazy("고칠 점"),
        max_length=MAX_REPORT_CHARS,
        widget=forms.Textarea(attrs={"rows": 7}),
        help_text=gettext_lazy("무엇이 사실과 다른지, 무엇이 맞는지 적어 주십시오."),
    )
    evidence_url = forms.CharField(
        label=gettext_lazy("근거가 되는 주소"),
        required=False,
        max_length=1_000,
        help_text=gettext_lazy("공개된 보고서나 글이 있으면 적어 주십시오."),
    )
    sender = forms.CharField(
        label=gettext_lazy("보내는 분"),
        required=False,
        max_length=120,
        help_text=gettext_lazy("적지 않아도 됩니다. 적으면 편집자만 봅니다."),
    )
    website = forms.CharField(required=False, widget=forms.TextInput(attrs={"tabindex": "-1", "autocomplete": "off"}))

    def clean_text(self) -> str:
        return CONTROL.sub("", self.cleaned_data["text"].replace("\r\n", "\n"))

    def clean_sender(self) -> str:
        return CONTROL.sub("", self.cleaned_data["sender"])

    def clean_evidence_url(self) -> str:
        url: str = self.cleaned_data["evidence_url"].strip()
        if url and (problem := url_problem(url)):
            raise forms.ValidationError(f"{problem}.")
        return url


@require_http_methods(["GET", "HEAD", "POST"])
def report_form(request: HttpRequest, public_id: str) -> HttpResponse:
    """The form, and what is sent with it. The sender is led to an address that only they know."""
    incident = find_incident(public_id)
    if request.method != "POST" and public_id != incident.public_id:
        return HttpResponseRedirect(reverse("incidents:report", args=[incident.public_id]))
    form = ReportForm(
        request.POST if request.method == "POST" else None, initial={"field": request.GET.get("field", "")}
    )
    if request.method == "POST" and form.is_valid():
        if form.cleaned_data["website"]:  # a machine; it is told what a person would be told
            return HttpResponseRedirect(incident.get_absolute_url())
        _count(request)
        report = Report.objects.create(
            incident=incident,
            version=incident.version,
            field=form.cleaned_data["field"],
            text=form.cleaned_data["text"],
            evidence_url=form.cleaned_data["evidence_url"],
            sender=form.cleaned_data["sender"],
        )
        return HttpResponseRedirect(report.get_absolute_url())
    status = 400 if form.errors else 200
    response = render(request, "incidents/report_form.html", {"incident": incident, "form": form}, status=status)
    response["X-Robots-Tag"] = "noindex"
    response["Cache-Control"] = "no-store"
    return response


@require_safe
def report_status(request: HttpRequest, token: str) -> HttpResponse:
    """What became of a report. Its address is the only key to it, so it is neither cached nor sent on as a referrer."""
    report = Report.objects.select_related("incident").filter(token=token).first()
    if report is None:
        raise NotFound(_("알 수 없는 확인 주소입니다. 보내신 뒤에 받은 주소를 그대로 붙여 넣어 주십시오."))
    response = render(request, "incidents/report_status.html", {"report": report, "incident": report.incident})
    response["X-Robots-Tag"] = "noindex"
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"
    return response


def _count(request: HttpRequest) -> None:
    """Count a report of this client. Raises TooManyRequests after too many within the hour.

    The client's address isn't kept: only its hash, in the cache, until the hour is over.
    """
    now = timezone.now()
    hour = now.replace(minute=0, second=0, microsecond=0)
    client = blake2b(f"{client_of(request)} {hour:%Y%m%d%H}".encode(), digest_size=12).hexdigest()
    key = f"reports-{client}"
    sent = cache.get(key, 0)
    if sent >= HOURLY_LIMIT:
        wait = int((hour + timedelta(hours=1) - now).total_seconds()) + 1
        raise TooManyRequests(
            _("한 시간에 보낼 수 있는 만큼 모두 보내셨습니다. 다음 시간에 다시 보내 주십시오."), retry_after=wait
        )
    cache.set(key, sent + 1, HOUR)
