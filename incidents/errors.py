"""Errors that a reader may see: a Korean sentence that says what to do, with a status and a code.

Anything else that is raised is a bug and is logged. The middleware renders these as pages, the API as
`application/problem+json` (RFC 9457) with `fields` as its `errors[]`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

_NO_FIELDS: Mapping[str, str] = MappingProxyType({})


class UserError(Exception):
    """An error for the reader.

    `message` is one or two Korean sentences; `fields` maps the name of a parameter or form field to what is wrong with
    it. `status` is the HTTP status, `code` a short stable name for programs.
    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = "invalid_request"

    def __init__(self, message: str, *, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fields: Mapping[str, str] = MappingProxyType(dict(fields)) if fields else _NO_FIELDS

    def __str__(self) -> str:
        return self.message


class BadParameter(UserError):
    """A parameter has a value that it can't have; `fields` names it.

    The API answers 400. On a page the address as a whole names nothing, which is 404, unless `names_nothing` is false.
    """

    status = 400
    code = "bad_parameter"

    def __init__(self, message: str, *, fields: Mapping[str, str] | None = None, names_nothing: bool = True) -> None:
        super().__init__(message, fields=fields)
        self.names_nothing = names_nothing


class PermissionRefused(UserError):
    """The reader may not do this."""

    status = 403
    code = "permission_refused"


class NotFound(UserError):
    """There is no such page, record or value."""

    status = 404
    code = "not_found"


class MethodRefused(UserError):
    """The address is there, but not for this method."""

    status = 405
    code = "method_not_allowed"


class Conflict(UserError):
    """Someone else changed the same thing in the meantime."""

    status = 409
    code = "conflict"


class Gone(UserError):
    """It was here once and was taken away for good."""

    status = 410
    code = "gone"


class PayloadTooLarge(UserError):
    """What was sent is larger than what is taken."""

    status = 413
    code = "payload_too_large"


class TooManyRequests(UserError):
    """The client asks too often; it may ask again after `retry_after` seconds."""

    status = 429
    code = "too_many_requests"

    def __init__(self, message: str, *, retry_after: int, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message, fields=fields)
        self.retry_after = retry_after


class SearchUnavailable(UserError):
    """Search can't answer just now; "no results" would be untrue. `retry_after` is in seconds."""

    status = 503
    code = "search_unavailable"

    def __init__(self, message: str = "", *, retry_after: int = 10, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message or "지금은 검색할 수 없습니다. 잠시 뒤에 다시 시도해 주세요.", fields=fields)
        self.retry_after = retry_after


class DatabaseUnavailable(UserError):
    """The database can't answer or can't be written to just now; nothing was changed. `retry_after` is in seconds."""

    status = 503
    code = "database_unavailable"

    def __init__(self, message: str = "", *, retry_after: int = 10, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(
            message or "지금은 데이터베이스가 답하지 않습니다. 바뀐 것은 없습니다. 잠시 뒤에 다시 해 주세요.",
            fields=fields,
        )
        self.retry_after = retry_after
