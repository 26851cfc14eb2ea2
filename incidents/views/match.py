"""The page where a reader pastes an error and sees the incidents that look like it."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from incidents.errors import PayloadTooLarge
from incidents.log_words import MAX_BYTES
from incidents.symptom_match import match_symptom

MATCHES = 8


@csrf_exempt  # nothing is changed and nobody is signed in by it: a form from elsewhere could only read public records
@require_http_methods(["GET", "HEAD", "POST"])
def match(request: HttpRequest) -> HttpResponse:
    """The form; after a POST the same with what was found. What was pasted stands in this one answer and nowhere else."""
    text = request.POST.get("text", "").replace("\r\n", "\n") if request.method == "POST" else ""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise PayloadTooLarge(
            _("붙여 넣은 글이 너무 깁니다. %(most)d kB 까지 받으니, 오류가 난 줄과 그 앞뒤만 붙여 넣으십시오.")
            % {"most": MAX_BYTES // 1024}
        )
    context = {
        "text": text,
        "result": match_symptom(text, MATCHES) if text.strip() else None,
        "was_blank": request.method == "POST" and not text.strip(),
        "canonical_url": settings.BASE_URL + reverse("incidents:match"),
    }
    response = render(request, "incidents/match.html", context)
    if request.method == "POST":
        response["Cache-Control"] = "no-store"
    return response
