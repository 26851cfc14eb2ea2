"""Who asks."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


def person_of(request: HttpRequest) -> User:
    """Return the signed-in person. Raises PermissionDenied where nobody is."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
