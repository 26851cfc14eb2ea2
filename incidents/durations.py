"""Durations in words, in the interface's language."""

from django.utils.translation import gettext

HOUR = 60
DAY = 24 * HOUR
IN_DAYS_FROM = 3 * DAY  # up to three days hours are easier to compare, beyond that they need counting


def duration_text(minutes: int) -> str:
    """Return `41분`, `3시간 10분`, `49시간 19분`, from three days on `3일 2시간`, and `1분 안` below a minute."""
    if minutes < 1:
        return gettext("1분 안")
    large, small, names = minutes // HOUR, minutes % HOUR, (gettext("%(n)s시간"), gettext("%(n)s분"))
    if minutes >= IN_DAYS_FROM:
        large, small = divmod(round(minutes / HOUR), 24)
        names = (gettext("%(n)s일"), gettext("%(n)s시간"))
    return " ".join(name % {"n": number} for name, number in zip(names, (large, small), strict=True) if number)
