"""Labelled values (`영향 범위 | …`, `시작: 02:00`, `**How was it detected?** …`) → where their labels say.

A value goes to a field, to the times, or out with the people; what has no place comes back. Pure text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from incidents.documents.account import Account, bullets, joined
from incidents.documents.cleaning import remains_of_template
from incidents.documents.items import list_items, to_items, without_boxes
from incidents.documents.outline import Block, outline
from incidents.documents.tables import labelled_values, parse_table
from incidents.documents.times import readings
from incidents.documents.vocabulary import (
    DROPPED_ROLES,
    FIELDS,
    LIST_FIELDS,
    SURE,
    TEXT_FIELDS,
    TIME_ROLES,
    Entry,
    HeadingVocabulary,
    Match,
    display,
)

_LABEL_LINE = re.compile(
    r"^\s*(?:[-*+]\s+)?(?:(?:\*\*|__)(?P<bold>[^*_\n]{1,120}?)\s*(?:[:：]\s*(?:\*\*|__)|(?:\*\*|__)\s*[:：]?)"
    r"|(?P<plain>[^\s:：|`][^:：|`\n]{0,59}?)\s*[:：](?=\s|$))\s*(?P<value>.*)$",
    re.DOTALL,
)
_SEGMENTS = re.compile(r"\s+[/|·]\s+|\s*\|\s*")
_ZONE_KEY = re.compile(r"time ?zone|^tz$|시간대", re.IGNORECASE)
# In a longer line a colon is punctuation.
_LONGEST_LABELLED = 400


@dataclass(frozen=True, slots=True)
class Labelled:
    """A label, its value, and what the label means."""

    label: str
    value: str
    match: Match


@dataclass(frozen=True, slots=True)
class Spot:
    """The section in which values stand: what it is (a role or `""`), and the headings down to it."""

    role: str
    trail: tuple[str, ...]


class LabelSorter:
    """Sends labelled values into an account. `filled` are the fields that some heading names for certain."""

    def __init__(self, account: Account, vocabulary: HeadingVocabulary, filled: frozenset[str]) -> None:
        self.account = account
        self.vocabulary = vocabulary
        self.filled = filled

    def entry(self, match: Match) -> Entry:
        """The entry that a match stands for here: some headings mean another field when theirs has a section."""
        entry = match.entry
        return Entry(entry.otherwise, entry.keep_label) if entry.otherwise and entry.role in self.filled else entry

    def sort_front_matter(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Reads a document's front matter; what has no place stays in the note."""
        left: list[str] = []
        for label, value in pairs:
            match = self._sure(label)
            if not value.strip():
                continue
            if _ZONE_KEY.search(label):
                self.account.times.zones.append(value)
            elif match is not None and match.role == "date":
                # The day of the incident or of the post: good for a year and for a timeline without dates.
                self.account.times.dates.append(value)
            elif match is not None and match.role in FIELDS and match.is_exact:
                self.put(match, label, value, (), with_label=match.entry.keep_label)
                continue
            elif match is not None and self._take(match, label, value):
                continue
            left.append(_pair(label, value))
        self.account.remain(("문서 머리말",), bullets(left))

    def sort(self, blocks: Sequence[Block], spot: Spot) -> list[Block]:
        """The blocks without the labelled values that belong elsewhere."""
        kept: list[Block] = []
        for block in blocks:
            if block.kind == "table":
                pairs = labelled_values(parse_table(block.text), self.vocabulary)
                kept.extend([block] if pairs is None else self._from_table(pairs, spot))
            elif block.kind == "list":
                kept.extend(self._from_list(block, spot))
            elif block.kind == "paragraph":
                kept.extend(self._from_paragraph(block, spot))
            else:
                kept.append(block)
        return kept

    def label_of(self, item: str) -> Labelled | None:
        """The known label and the value of an item or line, None for other text."""
        first, _, rest = item.partition("\n")
        found = _LABEL_LINE.match(first)
        label, value = "", ""
        if found:
            label, value = found["bold"] or found["plain"], found["value"]
        elif first.rstrip("*_ ").endswith("?"):
            label = first
        value = "\n".join(filter(None, (value.strip(), _dedented(rest)))).strip()
        match = self._sure(label)
        return Labelled(display(label), value, match) if match is not None and value else None

    def put(self, match: Match, label: str, value: str, trail: tuple[str, ...], *, with_label: bool) -> None:
        """Puts a labelled value into its field, behind its label where that says what the value is."""
        entry = self.entry(match)
        value = self.account.without_images(value, trail)
        if not value.strip():
            return
        place = (*trail, label)
        self.account.place(place, entry.role, match.phrase, is_sure=match.score >= SURE)
        blocks = outline(value, lambda _: "").root.blocks or (Block("paragraph", value),)
        answers = list_items(blocks[0].text) if len(blocks) == 1 and blocks[0].kind == "list" else ()
        if len(answers) == 1:
            blocks = (Block("paragraph", answers[0]),)
        if entry.role in LIST_FIELDS:
            is_line = len(blocks) == 1 and blocks[0].kind == "paragraph" and "\n" not in value
            if is_line and not any(sign in value for sign in (".", "`")):
                blocks = tuple(Block("paragraph", text) for text in value.split("; ") if text.strip())
            self.account.put_items(entry.role, to_items(blocks), place)
            return
        text = without_boxes(joined(blocks))
        # A figure says nothing without its label: "Time to detection: 155 minutes".
        is_figure = len(text) < 40 and any(map(str.isdigit, text))
        is_short = with_label and (entry.keep_label or is_figure)
        self.account.put_prose(entry.role, [_pair(label, text) if is_short else text])

    def _sure(self, label: str) -> Match | None:
        match = self.vocabulary.match(label, "label") if label.strip() else None
        return match if match is not None and match.score >= SURE else None

    def _take(self, match: Match, label: str, value: str) -> bool:
        """Reads a value that is no text of a field; says whether it needn't be kept besides."""
        role = match.role
        if role in DROPPED_ROLES:
            self.account.drop(DROPPED_ROLES[role], [_pair(label, value)])
            return True
        if role == "title":
            self.account.titles.append(value)
            return True
        if role in TIME_ROLES:
            self.account.times.labelled.append((role, value))
        elif role == "measure" and any(reading.day and reading.minute is not None for reading in readings(value)):
            # "장애 시간: 2024-06-01 13:00 ~ 13:47" is a period, "장애 시간: 47분" a length.
            self.account.times.labelled.append(("period", value))
        elif role == "zone":
            self.account.times.zones.append(value)
        elif role == "source":
            self.account.source_lines.append(value)
        return False

    def _from_table(self, pairs: Sequence[tuple[str, str]], spot: Spot) -> list[Block]:
        own: list[tuple[str, str]] = []
        left: list[tuple[str, str]] = []
        grouped: dict[str, list[Labelled]] = {}
        for label, value in pairs:
            shown, match = display(label), self._sure(label)
            reason = remains_of_template(value)
            if reason:
                self.account.drop(reason, [_pair(shown, value)])
            elif match is None:
                (left if spot.role == "facts" or not spot.trail else own).append((shown, value))
            elif match.role in FIELDS:
                grouped.setdefault(self.entry(match).role, []).append(Labelled(shown, value, match))
            elif not self._take(match, shown, value):
                left.append((shown, value))
        for role, rows in grouped.items():
            for row in rows:
                if role == spot.role:
                    self.account.place((*spot.trail, row.label), role, row.match.phrase)
                else:
                    keeps = len(rows) > 1 or row.match.entry.keep_label
                    self.put(row.match, row.label, row.value, spot.trail, with_label=keeps)
        own = [*((row.label, row.value) for row in grouped.get(spot.role, ())), *own]
        self.account.remain(spot.trail, bullets(_pair(label, value) for label, value in left))
        if len(own) == 1:
            return [Block("paragraph", own[0][1])]
        return [Block("list", bullets(_pair(label, value) for label, value in own))] if own else []

    def _from_list(self, block: Block, spot: Spot) -> list[Block]:
        """A list whose items are labelled: those of other fields go there, the rest stays a list."""
        items = list_items(block.text)
        labelled = [self.label_of(item) for item in items]
        known = sum(found is not None for found in labelled)
        # In prose a single `Impact:` is style; elsewhere each label counts.
        if not known or spot.role == "lesson" or (spot.role in TEXT_FIELDS and known * 2 < len(items)):
            return [block]
        pairs = zip(items, labelled, strict=True)
        kept = [item for item, found in pairs if found is None or self._stays(found, item, spot)]
        if len(kept) == len(items):
            return [block]
        return [Block("list", bullets(kept))] if kept else []

    def _stays(self, found: Labelled, text: str, spot: Spot) -> bool:
        """Sends a labelled value where it belongs; says whether its text stays where it is."""
        role = found.match.role
        reason = remains_of_template(found.value)
        if reason:
            self.account.drop(reason, [text])
            return False
        if role in FIELDS:
            if not found.match.is_exact or self.entry(found.match).role == spot.role:
                return True
            keeps = found.match.entry.keep_label or not found.label.endswith("?")
            self.put(found.match, found.label, found.value, spot.trail, with_label=keeps)
            return False
        return not self._take(found.match, found.label, found.value)

    def _from_paragraph(self, block: Block, spot: Spot) -> list[Block]:
        """A paragraph of labels, one a line or with signs between them (`작성: … / 참석: …`)."""
        lines = block.text.split("\n")
        if any(len(line) > _LONGEST_LABELLED for line in lines):
            return [block]
        segments = [segment for line in lines for segment in _SEGMENTS.split(line) if segment.strip()]
        labelled = [self.label_of(segment) for segment in segments]
        known = [found for found in labelled if found is not None]
        if not known or len(known) * 2 < len(segments):
            return [block]
        if spot.role in FIELDS and not any(found.match.role in DROPPED_ROLES for found in known):
            for found in known:
                if found.match.role in TIME_ROLES:
                    self._take(found.match, found.label, found.value)
            return [block]
        pairs = zip(segments, labelled, strict=True)
        kept = [segment for segment, found in pairs if found is None or self._stays(found, segment, spot)]
        return [Block("paragraph", "\n".join(kept))] if kept else []


def _pair(label: str, value: str) -> str:
    """`label: value`; a question needs no colon."""
    if not label:
        return value
    return f"{label} {value}" if label.endswith("?") else f"{label}: {value}"


def _dedented(text: str) -> str:
    lines = text.split("\n")
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[depth:] for line in lines).strip("\n")
