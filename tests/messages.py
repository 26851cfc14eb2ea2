"""What the interface says and how it is translated, read from the sources and from `django.po` without other programs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation.template import templatize

MARKS = {"_", "gettext", "gettext_lazy", "ngettext", "pgettext", "pgettext_lazy"}
LITERAL = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
CALL = re.compile(rf"\b(\w*gettext|_)\(((?:{LITERAL}(?:,\s*)?)+)")
HANGUL = re.compile("[가-힣]")


@dataclass(frozen=True)
class Message:
    """A text as it stands in the sources; `context` tells equal texts apart and is mostly empty."""

    context: str
    text: str


@dataclass(frozen=True)
class Translation:
    """What `django.po` says of a message."""

    text: str
    is_fuzzy: bool


def read_catalogue(path: Path) -> dict[Message, Translation]:
    """Return the entries of a `.po` file but its header. AssertionError where a message stands twice."""
    found: dict[Message, Translation] = {}
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        fields: dict[str, str] = {}
        name = ""
        for line in lines:
            if not line.startswith('"'):
                name, _, line = line.partition(" ")
            fields[name] = fields.get(name, "") + str(ast.literal_eval(line))
        if fields.get("msgid"):
            message = Message(fields.get("msgctxt", ""), fields["msgid"])
            assert message not in found, message
            found[message] = Translation(
                fields["msgstr"], is_fuzzy=bool(re.search(r"^#,.*\bfuzzy", block, re.MULTILINE))
            )
    return found


def messages_of_python(file: Path) -> Iterator[Message]:
    """Yield the marked Korean texts of a module."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKS:
            texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            yield from _message(node.func.id, texts)


def messages_of_template(file: Path) -> Iterator[Message]:
    """Yield the marked Korean texts of a template."""
    for name, arguments in CALL.findall(templatize(file.read_text(encoding="utf-8"))):
        yield from _message(name, [str(ast.literal_eval(text)) for text in re.findall(LITERAL, arguments)])


def _message(function: str, texts: list[str]) -> Iterator[Message]:
    context = texts.pop(0) if function.startswith("pgettext") and texts else ""
    if texts and HANGUL.search(texts[0]):
        yield Message(context, texts[0])
