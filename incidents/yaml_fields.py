"""Values out of a YAML tree, each with its fault in Korean by line when it isn't what it should be. Pure."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeGuard

from incidents import yaml_nodes
from incidents.faults import FaultList
from incidents.plain_text import CONTROL, canonical_line, canonical_text
from incidents.yaml_nodes import Node, Scalar

MAX_SLUG_CHARS = 60

ID_PATTERN = re.compile(r"IL-(?!0000\Z)(?:[0-9]{4}|[1-9][0-9]{4,8})\Z")
SLUG_PATTERN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


def is_filled(node: Node | None) -> TypeGuard[Node]:
    """Return whether a value is there and not an empty scalar."""
    return node is not None and not (isinstance(node, Scalar) and not node.text.strip())


class FieldReader:
    """Reads values, notes each fault and goes on.

    `faulty` holds the keys that had a fault, so that one mistake isn't told twice; `lines` holds where values stand.
    """

    def __init__(self, faults: FaultList) -> None:
        self.faults = faults
        self.faulty: set[str] = set()
        self.lines: dict[str, int] = {}

    def fault(self, key: str, message: str, line: int | None = None) -> None:
        """Note a fault of `key` at `line`, or at the line where the key stands."""
        self.faulty.add(key)
        self.faults.add(line or self.lines.get(key, 1), message)

    def known(self, mapping: yaml_nodes.Mapping, allowed: tuple[str, ...]) -> dict[str, Node]:
        """Return the values of a mapping by its known keys; every other key is a fault."""
        for key, line in mapping.keys.items():
            if key not in allowed:
                near = get_close_matches(key[:60], allowed, n=1, cutoff=0.6)
                advice = f"혹시 {near[0]} 입니까?" if near else f"쓸 수 있는 키: {', '.join(allowed)}"
                self.faults.add(line, f"알 수 없는 키입니다: {key[:60]}. {advice}")
        return {key: value for key, value in mapping.values.items() if key in allowed}

    def scalar(self, key: str, node: Node | None) -> Scalar | None:
        """Return a value that is filled; None when it is absent or, after a fault, not a scalar."""
        if node is None:
            return None
        if not isinstance(node, Scalar):
            self.fault(key, f"{key}: 값 하나여야 합니다. 괄호로 시작하는 글이면 큰따옴표로 감싸 주십시오.", node.line)
            return None
        return node if node.text.strip() else None

    def line_of_text(self, key: str, node: Node | None, limit: int) -> str:
        """Return one line of text of at most `limit` characters, empty when it is absent or faulty."""
        scalar = self._whole(key, node)
        if scalar is None:
            return ""
        if "\n" in scalar.text.strip() or "\t" in scalar.text or CONTROL.search(scalar.text):
            self.fault(key, f"{key}: 한 줄로 적고 제어 문자는 지워 주십시오.", scalar.line)
            return ""
        return self._within(key, canonical_line(scalar.text), limit, scalar.line)

    def text(self, key: str, node: Node | None, limit: int) -> str:
        """Return a text of one or more lines in canonical form, empty when it is absent or faulty."""
        scalar = self._whole(key, node)
        if scalar is None:
            return ""
        if CONTROL.search(scalar.text):
            self.fault(key, f"{key}: 제어 문자를 지워 주십시오.", scalar.line)
            return ""
        return self._within(key, canonical_text(scalar.text), limit, scalar.line)

    def _whole(self, key: str, node: Node | None) -> Scalar | None:
        """Return a filled scalar of which no comment has cut off a part; None when it is absent or faulty."""
        if isinstance(node, Scalar) and node.is_cut:
            advice = "# 부터는 주석이 되어 사라집니다. 값 전체를 큰따옴표로 감싸 주십시오."
            self.fault(key, f"{key}: {advice}", node.line)
            return None
        return self.scalar(key, node)

    def _within(self, key: str, text: str, limit: int, line: int) -> str:
        if len(text) <= limit:
            return text
        self.fault(key, f"{key}: 너무 깁니다({len(text):,}자). {limit:,}자 아래로 줄여 주십시오.", line)
        return ""

    def slug(self, key: str, node: Node | None) -> str:
        """Return a slug, empty when it is absent or faulty."""
        scalar = self.scalar(key, node)
        if scalar is None:
            return ""
        if len(scalar.text) <= MAX_SLUG_CHARS and SLUG_PATTERN.match(scalar.text):
            return scalar.text
        advice = "dns-error 처럼 영문 소문자와 숫자를 붙임표로 이어 적어 주십시오."
        self.fault(key, f"{key}: 슬러그의 꼴이 아닙니다: {scalar.text[:60]}. {advice}", scalar.line)
        return ""

    def slugs(self, key: str, node: Node | None, most: int, *, prefix: str = "") -> tuple[str, ...]:
        """Return a list of at most `most` slugs, none twice; `lines` gets their lines as `<prefix><key>.<position>`."""
        if not is_filled(node):
            return ()
        if not isinstance(node, yaml_nodes.Sequence):
            text = node.text[:40] if isinstance(node, Scalar) else "…"
            self.fault(key, f"{key}: 목록이어야 합니다. `{key}: [{text}]` 처럼 대괄호로 감싸 주십시오.", node.line)
            return ()
        slugs: list[str] = []
        if len(node.items) > 10 * most:  # not worth a look at each
            self.fault(key, f"{key}: {most}개까지 적을 수 있습니다(지금 {len(node.items)}개).", node.line)
            return ()
        for item in node.items:
            if not is_filled(item):
                self.fault(key, f"{key}: 빈 값이 있습니다. 쉼표를 확인해 주십시오.", item.line)
                continue
            slug = self.slug(key, item)
            if slug in slugs:
                self.fault(key, f"{key}: 같은 값이 두 번 있습니다: {slug}", item.line)
            elif slug:
                self.lines[f"{prefix}{key}.{len(slugs)}"] = item.line
                slugs.append(slug)
        if len(slugs) > most:
            advice = f"{most}개까지 적을 수 있습니다(지금 {len(slugs)}개). 주된 것만 남겨 주십시오."
            self.fault(key, f"{key}: {advice}", node.line)
        return tuple(slugs)

    def texts(self, key: str, node: Node | None, limit: int) -> tuple[str, ...]:
        """Return a list of single lines, none empty or twice."""
        if not is_filled(node):
            return ()
        if not isinstance(node, yaml_nodes.Sequence):
            self.fault(key, f"{key}: 목록이어야 합니다. 대괄호로 감싸 주십시오.", node.line)
            return ()
        texts: dict[str, None] = {}
        for item in node.items:
            text = self.line_of_text(key, item, limit)
            if not is_filled(item):
                self.fault(key, f"{key}: 빈 값이 있습니다. 쉼표를 확인해 주십시오.", item.line)
            elif text in texts:
                self.fault(key, f"{key}: 같은 값이 두 번 있습니다: {text}", item.line)
            elif text:
                texts[text] = None
        return tuple(texts)

    def choice(self, key: str, node: Node | None, allowed: tuple[str, ...], *, default: str) -> str:
        """Return one of `allowed`; the default when it is absent or faulty."""
        scalar = self.scalar(key, node)
        if scalar is None:
            return default
        if scalar.text in allowed:
            return scalar.text
        advice = f"쓸 수 있는 값: {', '.join(allowed)}"
        self.fault(key, f"{key}: 알 수 없는 값입니다: {scalar.text[:40]}. {advice}", scalar.line)
        return default

    def entries(
        self, key: str, node: Node | None, allowed: tuple[str, ...], most: int
    ) -> list[tuple[dict[str, Node], int]]:
        """Return the mappings of a list by their known keys, with the line of each."""
        if not is_filled(node):
            return []
        if not isinstance(node, yaml_nodes.Sequence):
            self.fault(key, f"{key}: 목록이어야 합니다. 항목마다 `- ` 로 시작해 주십시오.", node.line)
            return []
        if len(node.items) > most:
            self.fault(key, f"{key}: {most}개까지 적을 수 있습니다(지금 {len(node.items)}개).", node.line)
            return []
        entries = []
        for item in node.items:
            if isinstance(item, yaml_nodes.Mapping):
                entries.append((self.known(item, allowed), item.line))
            else:
                advice = f"항목은 `키: 값` 으로 적어 주십시오. 쓸 수 있는 키: {', '.join(allowed)}"
                self.fault(key, f"{key}: {advice}", item.line)
        return entries

    def need(self, key: str, values: Mapping[str, Node], names: tuple[str, ...], line: int) -> None:
        """Note a fault of `key` at `line` for each name that is absent or empty in `values`."""
        for name in names:
            if not is_filled(values.get(name)):
                self.fault(key, f"{key}: 꼭 있어야 하는 값이 없습니다: {name}", line)

    def record_id(self, key: str, node: Node | None, own_id: str = "") -> str:
        """Return the ID of another record, empty when it is absent or faulty; `own_id` itself is refused."""
        scalar = self.scalar(key, node)
        if scalar is None:
            return ""
        if not ID_PATTERN.match(scalar.text):
            advice = "IL-0135 처럼 적어 주십시오."
            self.fault(key, f"{key}: ID 의 꼴이 아닙니다: {scalar.text[:40]}. {advice}", scalar.line)
            return ""
        if own_id and scalar.text == own_id:
            self.fault(key, f"{key}: 자기 자신을 가리킵니다: {own_id}. 지우거나 다른 ID 로 고쳐 주십시오.", scalar.line)
        return scalar.text
