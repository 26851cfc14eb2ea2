"""NDJSON: a line a record, the record as the API prints it."""

from __future__ import annotations

from collections.abc import Iterator

from incidents.api.representation import record_out, to_json
from incidents.exports.choice import ExportChoice


def ndjson_chunks(choice: ExportChoice) -> Iterator[bytes]:
    """Yield one line for each record, UTF-8, each ending in a line feed."""
    for incident in choice.incidents():
        yield to_json(record_out(incident)) + b"\n"
