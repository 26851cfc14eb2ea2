"""Two-factor log-in by time codes (TOTP): optional until somebody enrols, asked for at every log-in after that."""

from __future__ import annotations

import base64
from typing import Any

import qrcode
from django import forms
from django.contrib import admin, messages
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django_otp import devices_for_user, match_token
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from incidents.admin.people import person_of

BACKUP_CODES = 8


class LoginForm(AdminAuthenticationForm):
    """User name and password, and the code of who has enrolled."""

    otp_token = forms.CharField(
        label="인증 코드",
        required=False,
        max_length=16,
        help_text="2단계 인증을 켠 계정에서만 적습니다. 앱의 여섯 자리 수, 또는 예비 코드.",
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )

    error_messages = {  # as Django has it
        **AdminAuthenticationForm.error_messages,
        "token": "인증 코드가 없거나 맞지 않습니다. 앱에 지금 보이는 수를 적으십시오.",
    }

    def confirm_login_allowed(self, user: Any) -> None:
        super().confirm_login_allowed(user)
        if not any(devices_for_user(user)):
            return
        token = self.cleaned_data.get("otp_token", "").replace(" ", "")
        if not token or match_token(user, token) is None:
            raise ValidationError(self.error_messages["token"], code="token")


class ConfirmForm(forms.Form):
    """The code that the app shows now."""

    token = forms.CharField(
        label="앱에 보이는 수",
        max_length=8,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )


class PasswordForm(forms.Form):
    """The password again, before the protection is taken away."""

    password = forms.CharField(
        label="비밀번호", strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )


def two_factor_view(request: HttpRequest) -> HttpResponse:
    """Show whether the person has enrolled; enrol them with a code from their app, or end it with their password."""
    person = person_of(request)
    confirmed = TOTPDevice.objects.devices_for_user(person, confirmed=True).first()
    context: dict[str, Any] = {**admin.site.each_context(request), "title": "2단계 인증", "device": confirmed}
    if confirmed is not None:
        form: forms.Form = PasswordForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            if person.check_password(form.cleaned_data["password"]):
                _forget(person)
                messages.warning(request, "2단계 인증을 껐습니다. 이제 비밀번호만으로 로그인합니다.")
                return HttpResponseRedirect(reverse("two_factor"))
            form.add_error("password", "비밀번호가 맞지 않습니다.")
        return TemplateResponse(request, "admin/two_factor.html", {**context, "form": form})
    device, _ = TOTPDevice.objects.get_or_create(user=person, confirmed=False, defaults={"name": "앱"})
    form = ConfirmForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if device.verify_token(form.cleaned_data["token"].replace(" ", "")):
            device.confirmed = True
            device.save()
            codes = _new_backup_codes(person)
            messages.success(request, "2단계 인증을 켰습니다. 다음 로그인부터 코드를 묻습니다.")
            return TemplateResponse(request, "admin/two_factor.html", {**context, "device": device, "codes": codes})
        form.add_error("token", "코드가 맞지 않습니다. 앱에 지금 보이는 수를 적고, 기기의 시각을 확인하십시오.")
    key = base64.b32encode(device.bin_key).decode().rstrip("=")
    return TemplateResponse(
        request,
        "admin/two_factor.html",
        {
            **context,
            "form": form,
            "key": " ".join(key[i : i + 4] for i in range(0, len(key), 4)),
            "qr": _modules(device.config_url),
        },
    )


def _forget(person: User) -> None:
    TOTPDevice.objects.filter(user=person).delete()
    StaticDevice.objects.filter(user=person).delete()


def _new_backup_codes(person: User) -> list[str]:
    """Return codes that each work once, in place of any earlier ones."""
    StaticDevice.objects.filter(user=person).delete()
    device = StaticDevice.objects.create(user=person, name="예비 코드")
    codes = [StaticToken.random_token() for _ in range(BACKUP_CODES)]
    device.token_set.bulk_create(StaticToken(device=device, token=code) for code in codes)
    return codes


def _modules(text: str) -> dict[str, Any]:
    """Return a QR code as one SVG path over a square of `size` units, drawn without inline styles."""
    code = qrcode.QRCode(border=4)
    code.add_data(text)
    matrix = code.get_matrix()
    path = "".join(f"M{x} {y}h1v1h-1z" for y, row in enumerate(matrix) for x, is_dark in enumerate(row) if is_dark)
    return {"size": len(matrix), "path": path}
