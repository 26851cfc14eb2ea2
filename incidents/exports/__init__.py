"""The library, or any choice of it, as files: NDJSON, CSV, Markdown in a ZIP, SQLite. Others import from here.

Every form is written record by record, in memory that doesn't grow with the library.
"""

from incidents.exports.choice import ExportChoice, read_choice
from incidents.exports.csv_file import csv_chunks
from incidents.exports.ndjson import ndjson_chunks

__all__ = ["ExportChoice", "csv_chunks", "ndjson_chunks", "read_choice"]
