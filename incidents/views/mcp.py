"""The Model Context Protocol over HTTP (Streamable HTTP), stateless: each request is answered by itself, as JSON.

The SDK speaks ASGI; here one request at a time is given to it and its answer becomes Django's. There is no session to
lose when a worker ends, and nothing that a second worker would have to know.
"""

from __future__ import annotations

from typing import Any, Final

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

MAX_BODY: Final = 256 * 1024  # the largest argument is a log excerpt of 64 kB


@csrf_exempt
def mcp(request: HttpRequest) -> HttpResponse:
    """Answer one message. Without sessions there is nothing to stream or to end: GET and DELETE are 405, as the protocol allows."""
    if request.method != "POST":
        response = HttpResponse(status=405)
        response["Allow"] = "POST, OPTIONS"
        return response
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY:
        return HttpResponse(status=413)
    request.get_host()  # a foreign name for this machine (DNS rebinding) is refused here, by ALLOWED_HOSTS
    return async_to_sync(_answer)(_scope(request), request.body)


def _scope(request: HttpRequest) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": request.META.get("QUERY_STRING", "").encode("latin-1"),
        "root_path": "",
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request.headers.items()
        ],
        "client": (request.META.get("REMOTE_ADDR", ""), 0),
        "server": (request.META.get("SERVER_NAME", ""), int(request.META.get("SERVER_PORT") or 0)),
    }


async def _answer(scope: dict[str, Any], body: bytes) -> HttpResponse:
    sent: list[dict[str, Any]] = []
    is_read = False

    async def receive() -> dict[str, Any]:
        nonlocal is_read
        if is_read:
            return {"type": "http.disconnect"}
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(dict(message))

    # The SDK takes half a second to load, which commands needn't pay; servers load it before they fork (warming.py).
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from incidents.mcp_server.server import build_server

    # Any origin may ask, as with the API: everything here is public and nothing can be changed.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    manager = StreamableHTTPSessionManager(
        app=build_server()._lowlevel_server, json_response=True, stateless=True, security_settings=security
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
    start = next((message for message in sent if message["type"] == "http.response.start"), None)
    if start is None:
        return HttpResponse(status=500)
    content = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    response = HttpResponse(content, status=start["status"])
    del response.headers["Content-Type"]
    for name, value in start["headers"]:
        if name.lower() != b"content-length":
            response.headers[name.decode("latin-1")] = value.decode("latin-1")
    response.headers["Cache-Control"] = "no-store"
    return response
