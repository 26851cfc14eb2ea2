"""What a request asks of the API beyond the listing's own parameters: fields, HTML, dates, states, IDs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Final

from django.http import HttpRequest, QueryDict
from django.utils.dateparse import parse_date, parse_datetime

from incidents.api.schemas import ListedRecordOut, ListingOut, RecordOut
from incidents.errors import BadParameter
from incidents.models import Status

RECORD_FIELDS: Final = tuple(RecordOut.model_fields)
LISTED_FIELDS: Final = tuple(ListedRecordOut.model_fields)
LISTING_PARTS: Final = tuple(name for name in ListingOut.model_fields if name not in {"results", "count"})
HIDDEN_STATES: Final = (Status.WITHDRAWN.value, Status.MERGED.value)
# The plus of +09:00, left unencoded in an address, arrives as a space; nothing else can stand there.
LOST_PLUS: Final = re.compile(r"(?<=[0-9]) (?=[0-9]{2}:?[0-9]{2}$)")


@dataclass(frozen=True)
class Narrowing:
    """What of an answer is wanted. `fields` None: everything; `parts` are the parts of a listing to leave out."""

    fields: frozenset[str] | None
    without_parts: frozenset[str]
    html: bool


def refuse_unknown(data: QueryDict, allowed: Collection[str]) -> None:
    """Raise BadParameter naming every parameter that isn't one of `allowed`."""
    errors = {
        name[:100]: f"알 수 없는 매개변수입니다: {name[:100]}. 쓸 수 있는 것: {', '.join(sorted(allowed)) or '없음'}"
        for name in data
        if name not in allowed
    }
    if errors:
        raise BadParameter(next(iter(errors.values())), fields=errors)


def read_narrowing(data: QueryDict, names: Iterable[str], parts: Iterable[str] = ()) -> Narrowing:
    """Return what `fields=`, `exclude=` and `html=` ask for; `names` are the record's fields, `parts` the listing's.

    Raises BadParameter naming a field that isn't one.
    """
    known, known_parts = list(names), list(parts)
    html = read_flag(data, "html")
    chosen = _names(data, "fields", known)
    left_out = _names(data, "exclude", [*known, *known_parts])
    fields: frozenset[str] | None = None
    if chosen or left_out & set(known):
        fields = frozenset(chosen or known) - left_out
        if html:
            fields |= {name for name in known if name.endswith("_html") and name.removesuffix("_html") in fields}
    return Narrowing(fields, frozenset(left_out & set(known_parts)), html)


def _names(data: QueryDict, parameter: str, allowed: Collection[str]) -> set[str]:
    names = {name.strip() for value in data.getlist(parameter) for name in value.split(",") if name.strip()}
    if unknown := sorted(names.difference(allowed)):
        message = f"알 수 없는 항목입니다: {', '.join(unknown)[:200]}. 쓸 수 있는 것: {', '.join(allowed)}"
        raise BadParameter(message, fields={parameter: message})
    return names


def read_flag(data: QueryDict, name: str) -> bool:
    """Return whether a yes-or-no parameter is set: 1 or 0, blank counts as 0. Raises BadParameter."""
    value = (data.get(name) or "").strip()
    if value not in {"", "0", "1"}:
        message = f"0 이나 1 을 적으십시오: {value[:40]}"
        raise BadParameter(message, fields={name: message})
    return value == "1"


def read_number(data: QueryDict, name: str, default: int, maximum: int) -> int:
    """Return a whole number from 1 to `maximum`; blank is the default. Raises BadParameter."""
    value = (data.get(name) or "").strip()
    if not value:
        return default
    if not re.fullmatch(r"[1-9][0-9]{0,8}", value) or int(value) > maximum:
        message = f"1부터 {maximum}까지의 정수를 적으십시오: {value[:40]}"
        raise BadParameter(message, fields={name: message})
    return int(value)


def read_since(data: QueryDict, name: str = "updated_since") -> datetime | None:
    """Return the instant that a date or time names; without a zone it is UTC. Raises BadParameter."""
    text = (data.get(name) or "").strip()
    if not text:
        return None
    try:
        return parse_instant(text)
    except ValueError:
        message = (
            f"때로 읽을 수 없습니다: {text[:40]}. 2024-03-02 나 2024-03-02T00:00:00Z 처럼 적으십시오. "
            "시간대의 + 는 %2B 로 적습니다."
        )
        raise BadParameter(message, fields={name: message}) from None


def parse_instant(text: str) -> datetime:
    """Return the aware UTC time of `2024-03-02`, `2024-03-02T00:00:00Z`, `…+09:00` or a time without zone.

    Raises ValueError for anything else.
    """
    text = LOST_PLUS.sub("+", text)
    day: date | None = parse_date(text)
    at = datetime.combine(day, time()) if day is not None else parse_datetime(text)
    if at is None:
        raise ValueError(text)
    try:
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise ValueError(text) from None


def read_states(data: QueryDict, name: str = "include") -> frozenset[str]:
    """Return the hidden states that an export asks for besides published. Raises BadParameter."""
    states = {state.strip() for value in data.getlist(name) for state in value.split(",") if state.strip()}
    if unknown := sorted(states.difference(HIDDEN_STATES)):
        message = f"알 수 없는 상태입니다: {', '.join(unknown)[:100]}. 쓸 수 있는 것: {', '.join(HIDDEN_STATES)}"
        raise BadParameter(message, fields={name: message})
    return frozenset(states)


def own_query(request: HttpRequest) -> QueryDict:
    """Return a copy of the request's parameters that may be changed."""
    return request.GET.copy()
