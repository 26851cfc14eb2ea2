"""The rules of `cleaning.yaml` and `signals.yaml`, compiled once. Pure text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Rules:
    """Compiled patterns: what is dropped, what is a template's remain, how titles are cleaned, how detection reads."""

    drop_lines: tuple[tuple[str, re.Pattern[str]], ...]
    template: tuple[re.Pattern[str], ...]
    template_marked: tuple[re.Pattern[str], ...]
    placeholder: tuple[re.Pattern[str], ...]
    owner_tail: tuple[re.Pattern[str], ...]
    person: tuple[re.Pattern[str], ...]
    chat_address: tuple[re.Pattern[str], ...]
    title_kind: str
    title_tail: str
    title_number: str
    detection: Mapping[str, tuple[re.Pattern[str], ...]]
    negation: tuple[re.Pattern[str], ...]
    begins: tuple[re.Pattern[str], ...]
    ends: tuple[re.Pattern[str], ...]
    weak_terms: frozenset[str]
    cues: Mapping[str, tuple[str, ...]]


@cache
def rules() -> Rules:
    """The rules as they stand in the data files beside this module."""
    cleaning, signals = _load("cleaning.yaml"), _load("signals.yaml")
    return Rules(
        drop_lines=tuple(
            (reason, pattern) for reason, found in cleaning["drop_lines"].items() for pattern in _compiled(found)
        ),
        template=_compiled(cleaning["template"]),
        template_marked=_compiled(cleaning["template_marked"]),
        placeholder=_compiled(cleaning["placeholder"]),
        owner_tail=_compiled(cleaning["owner_tail"]),
        person=_compiled(cleaning["person"]),
        chat_address=_compiled(cleaning["chat_address"]),
        title_kind="|".join(cleaning["title_kinds"]),
        title_tail="|".join(cleaning["title_tails"]),
        title_number="|".join(cleaning["title_numbers"]),
        detection={method: _compiled(found) for method, found in signals["detection"].items()},
        negation=_compiled(signals["negation"]),
        begins=_compiled(signals["begins"]),
        ends=_compiled(signals["ends"]),
        weak_terms=frozenset(word.casefold() for word in signals["weak_terms"]),
        cues={slug: tuple(words) for slug, words in signals["cues"].items()},
    )


def _load(name: str) -> dict[str, Any]:
    """The mapping of a data file: text, lists and mappings only, hence Any."""
    source = Path(__file__).with_name(name).read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.load(source, Loader=yaml.BaseLoader)  # noqa: S506 (BaseLoader makes only text)
    return loaded


def _compiled(patterns: list[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)
