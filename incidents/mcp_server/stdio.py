"""The protocol on standard input and output: each line of output is one JSON-RPC message, whatever else is printed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any, Final

import anyio
import anyio.to_thread
import mcp_types
from mcp.server.stdio import stdio_server
from pydantic import ValidationError

from incidents.mcp_server.server import build_server

PARSE_ERROR: Final = -32700  # JSON-RPC 2.0, section 5.1
INVALID_REQUEST: Final = -32600
GRACE: Final = 60  # seconds that answers may take after the input has ended


class Wire:
    """Our own duplicate of standard output. What anything else prints goes to standard error."""

    def __init__(self) -> None:
        self.unanswered: set[str | int] = set()
        sys.stdout.flush()
        self._file = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)
        self._lock = anyio.Lock()

    async def write(self, text: str) -> None:
        """Write one message and its line's end; no two writers mix."""
        async with self._lock:
            await anyio.to_thread.run_sync(self._write, text)
        message = json.loads(text)
        if "method" not in message:
            self.unanswered.discard(message.get("id"))

    async def all_answered(self) -> None:
        """Return when every request that was read has its answer, or after GRACE seconds."""
        with anyio.move_on_after(GRACE):
            while self.unanswered:
                await anyio.sleep(0.02)

    async def flush(self) -> None:
        """Nothing is left to flush."""

    def _write(self, text: str) -> None:
        self._file.write(text)
        self._file.flush()


class Lines:
    """The lines of standard input that are messages; for others the client is told, and the next line is read."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._file = anyio.wrap_file(os.fdopen(os.dup(0), encoding="utf-8", errors="replace"))
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._file:
            if not line.strip():
                continue
            error = fault_of(line)
            if error is None:
                message = json.loads(line)
                if "method" in message and "id" in message:
                    self._wire.unanswered.add(message["id"])
                yield line
            else:
                await self._wire.write(json.dumps(error, ensure_ascii=False, separators=(",", ":")) + "\n")
        await self._wire.all_answered()  # the end of the input ends the session, not the work that it asked for


def fault_of(line: str) -> dict[str, Any] | None:
    """Return the error message for a line that is no JSON-RPC message, None for one that is."""
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "Parse error: the line is not JSON")
    try:
        mcp_types.jsonrpc_message_adapter.validate_python(parsed, by_name=False)
    except (ValidationError, RecursionError):
        identifier = parsed.get("id") if isinstance(parsed, dict) else None
        known = identifier if isinstance(identifier, str | int) and not isinstance(identifier, bool) else None
        return _error(known, INVALID_REQUEST, "Invalid request: the line is JSON but no JSON-RPC 2.0 message")
    return None


def _error(identifier: str | int | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}}


async def serve() -> None:
    """Serve until the input ends."""
    wire = Wire()
    server = build_server()._lowlevel_server
    async with stdio_server(Lines(wire), wire) as (read_stream, write_stream):  # type: ignore[arg-type]
        await server.run(read_stream, write_stream, server.create_initialization_options())
