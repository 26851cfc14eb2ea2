"""The sections of a foreign post-mortem → our fields, and an account of everything that has no field. Pure text.

Every piece of text ends in one place: a field, `left_over` (a section without a field of ours), `remains` (what is left
of a section that has one) or `dropped` (people, tool commands, template remains). Nothing is invented for a field about
which the document says nothing: it is named in `missing`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from incidents.documents.cleaning import (
    COMMENT,
    NUMBER,
    RULE,
    TEMPLATE,
    Dropped,
    clean,
    is_marked_hint,
    remains_of_template,
)
from incidents.documents.items import list_items, to_items, without_boxes
from incidents.documents.outline import Block, Outline, Section, TooManySectionsError, outline
from incidents.documents.reading import DocumentRefused, SourceText
from incidents.documents.tables import labelled_values, parse_table
from incidents.documents.times import first_date
from incidents.documents.timing import IncidentTimes, TimeSources, find_times, looks_like_timeline, timeline_of
from incidents.documents.titles import clean_title, title_from_filename
from incidents.documents.vocabulary import (
    DROPPED_ROLES,
    FIELD_LABELS,
    FIELDS,
    LIST_FIELDS,
    TEXT_FIELDS,
    TIME_ROLES,
    Entry,
    HeadingVocabulary,
    Match,
    display,
    heading_vocabulary,
    unnumbered,
)
from incidents.plain_text import canonical_text
from incidents.record_text import MAX_ITEMS, MAX_SECTION_CHARS, text_problems
from incidents.records import MAX_TITLE_CHARS

# From here on a heading or label means what it says; below, only where nothing around it says otherwise.
_SURE: Final = 78
# Under these headings a list is sorted by kinds of measures ("Detection", "Response"), which aren't our fields.
_KEEPS_CHILDREN: Final[Mapping[str, frozenset[str]]] = {
    "timeline": frozenset({"follow_ups", "lesson"}),
    "follow_ups": frozenset({"lesson"}),
    "lesson": frozenset({"lesson", "contributing_factors", "follow_ups"}),
    "contributing_factors": frozenset({"contributing_factors", "lesson", "follow_ups"}),
}
# Prose shorter than this is a remark, not a summary.
_LEAST_SUMMARY: Final = 40
_PREAMBLE: Final = "(머리글)"

_LABEL_LINE = re.compile(
    r"^\s*(?:[-*+]\s+)?(?:(?:\*\*|__)(?P<bold>[^*_\n]{1,120}?)\s*(?:[:：]\s*(?:\*\*|__)|(?:\*\*|__)\s*[:：]?)|(?P<plain>[^\s:：|`][^:：|`\n]{0,59}?)\s*[:：](?=\s|$))\s*(?P<value>.*)$",
    re.DOTALL,
)
_SEGMENTS = re.compile(r"\s+[/|·]\s+|\s*\|\s*")
_ONLY_IMAGES = re.compile(r"^(?:\s*!\[[^\[\]\n]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\]))+\s*$")
_IMAGE = re.compile(r"!\[([^\[\]\n]*)\](?:\(([^()\n]*)\)|\[[^\[\]\n]*\])")
_ZONE_KEY = re.compile(r"time ?zone|^tz$|시간대", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a section went: its heading with those above it (`Lessons Learned › What went well`), the field or role."""

    heading: str
    target: str
    match: str = ""
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class LeftOver:
    """Text without a field of ours, under the heading it stands under (`""` before the first heading)."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Mapped:
    """A document placed: prose and items by field, times, and everything else by name."""

    title: str
    prose: Mapping[str, str]
    items: Mapping[str, tuple[str, ...]]
    times: IncidentTimes
    missing: tuple[str, ...]
    left_over: tuple[LeftOver, ...]
    remains: tuple[LeftOver, ...]
    dropped: tuple[Dropped, ...]
    placements: tuple[Placement, ...]
    source_lines: tuple[str, ...]
    remarks: tuple[str, ...]


def map_document(source: SourceText, vocabulary: HeadingVocabulary | None = None) -> Mapped:
    """The document's text in our fields; raises `DocumentRefused` when it has more sections than people write."""
    vocabulary = vocabulary or heading_vocabulary()
    text, dropped = clean(source.text)
    try:
        tree = outline(text, vocabulary.kind_of_heading)
    except TooManySectionsError as error:
        raise DocumentRefused(
            source.filename, f"제목이 지나치게 많습니다({error}개). 사건마다 파일을 나누어 주십시오."
        ) from error
    mapper = _Mapper(source, tree, vocabulary)
    mapper.dropped.extend(dropped)
    return mapper.run()


@dataclass(slots=True)
class _Role:
    """What a section is: its entry, and how that is known. `entry` is None where nothing is known."""

    entry: Entry | None = None
    is_sure: bool = False
    phrase: str = ""
    is_own: bool = False  # said by its own heading, not by the one above it

    @property
    def name(self) -> str:
        return self.entry.role if self.entry else ""


@dataclass(slots=True)
class _Part:
    """A section's blocks on their way to a field or to the note."""

    section: Section
    trail: tuple[str, ...]
    role: _Role
    parent: _Role
    kept: list[Block] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.section.name

    @property
    def label(self) -> str:
        """The heading as it stands before its own text."""
        return unnumbered(self.section.heading)


class _Mapper:
    def __init__(self, source: SourceText, tree: Outline, vocabulary: HeadingVocabulary) -> None:
        self.source = source
        self.tree = tree
        self.vocabulary = vocabulary
        self.prose: dict[str, list[str]] = {name: [] for name in TEXT_FIELDS}
        self.has_labels: set[str] = set()  # prose in which some part stands under its own label
        self.items: dict[str, list[str]] = {name: [] for name in LIST_FIELDS}
        self.left_over: list[LeftOver] = []
        self.remains: list[LeftOver] = []
        self.dropped: list[Dropped] = [Dropped(COMMENT, comment) for comment in tree.comments if comment]
        self.placements: list[Placement] = []
        self.times = TimeSources(text=source.text)
        self.labelled_titles: list[str] = []
        self.source_lines: list[str] = []
        self.remarks: list[str] = list(source.notes)
        self.first_statements: list[tuple[Entry, tuple[str, ...]]] = []
        self.preamble: list[LeftOver] = []
        self.filled_by_heading = self._fields_with_heading()
        self.has_hints = self._count_hints() >= 2

    # --- the whole -----------------------------------------------------------------------------------------------

    def run(self) -> Mapped:
        if self.tree.unclosed_fence:
            self.remarks.append("닫히지 않은 코드 블록이 있습니다: 그 아래는 모두 코드로 읽었습니다.")
        self._front_matter()
        title_sections = self._title_sections()
        title = self._title(title_sections)
        self._walk(self.tree.root, (), _Role(), {id(section) for section in title_sections})
        if not title:
            title = self._other_title()
        self._first_statements()
        self._summary_from_preamble()
        self.remains = [*self.preamble, *self.remains]
        self._limit_items()
        texts = [*self.prose["symptom"], *self.prose["trigger"], *(part.text for part in self.remains)]
        texts += [*self.prose["cause"], *self.prose["detection"], *(part.text for part in self.left_over)]
        self.times.dates.extend(line for text in texts for line in text.split("\n") if any(map(str.isdigit, line)))
        times = find_times(self.times)
        prose = {name: self._storable_prose(name, parts) for name, parts in self.prose.items()}
        items = {name: tuple(filter(None, map(self._storable_item, found))) for name, found in self.items.items()}
        missing = tuple(name for name in FIELDS if not (prose.get(name) or items.get(name)))
        return Mapped(
            title=self._short_title(title),
            prose=prose,
            items=items,
            times=times,
            missing=missing,
            left_over=tuple(self.left_over),
            remains=tuple(part for part in self.remains if part.text.strip()),
            dropped=tuple(self.dropped),
            placements=tuple(self.placements),
            source_lines=tuple(self.source_lines),
            remarks=tuple(dict.fromkeys((*self.remarks, *times.remarks))),
        )

    def _fields_with_heading(self) -> frozenset[str]:
        """Fields that some heading of the document names for certain and that isn't one of two meanings."""
        found = set()
        for section in self.tree.root.walk():
            match = self.vocabulary.match(section.heading) if section.heading else None
            is_plain = match is not None and not match.entry.otherwise and not match.entry.first_to
            if match and is_plain and match.score >= _SURE and (section.blocks or section.children):
                found.add(match.role)
        return frozenset(found)

    def _count_hints(self) -> int:
        """How many sections open with a hint of the template in italics or the like."""
        firsts = (section.blocks[0] for section in self.tree.root.walk() if section.blocks)
        return sum(is_marked_hint(block.text) and bool(remains_of_template(block.text)) for block in firsts)

    # --- title ---------------------------------------------------------------------------------------------------

    def _title_sections(self) -> list[Section]:
        """The sections at the beginning whose headings aren't known: the title and what it is called."""
        found: list[Section] = []
        for section in self.tree.root.walk():
            if not section.heading:
                continue
            match = self.vocabulary.match(section.heading)
            is_top = section.level == 1 and not found
            if match is not None and (
                match.is_exact or (match.score >= _SURE and not is_top) or (not is_top and found)
            ):
                break
            if found and (clean_title(found[-1].heading)[0] or (section.blocks and found[-1].blocks)):
                break
            found.append(section)
        return found

    def _title(self, sections: Sequence[Section]) -> str:
        for section in sections:
            if section is not sections[0] and (self.labelled_titles or bool(section.blocks) == bool(section.children)):
                break
            title, cut = clean_title(section.heading)
            self.times.dates.insert(0, section.heading)
            self.times.zones.extend([section.heading] if first_date(section.heading) else [])
            self.dropped.extend(Dropped(NUMBER, part) for part in cut)
            if title:
                return title
        return ""

    def _other_title(self) -> str:
        """A title from a label, a first line, the page or the file's name."""
        for raw in (*self.labelled_titles, self.source.title):
            title, cut = clean_title(raw)
            if title:
                self.dropped.extend(Dropped(NUMBER, part) for part in cut)
                return title
        title = self._first_line()
        if title:
            return title
        title = title_from_filename(self.source.filename)
        if title:
            self.remarks.append("제목을 파일 이름에서 가져왔습니다.")
        return title

    def _first_line(self) -> str:
        """A title from the first lines of the text, where they are short and no sentences."""
        lines = self.preamble[0].text.split("\n") if self.preamble else []
        if not lines or len(lines) > 3 or not all(map(_is_title_line, lines)):
            return ""
        found = ""
        for line in lines:
            title, cut = clean_title(line)
            self.dropped.extend(Dropped(NUMBER, part) for part in cut)
            self.times.dates.insert(0, line)
            if title and found:
                self.preamble.append(LeftOver(_PREAMBLE, line))
            found = found or title
        self.preamble.pop(0)
        return found

    def _short_title(self, title: str) -> str:
        if len(title) <= MAX_TITLE_CHARS:
            return title
        self.remains.insert(0, LeftOver("제목", title))
        cut = title[: MAX_TITLE_CHARS - 1]
        return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"

    # --- sections ------------------------------------------------------------------------------------------------

    def _front_matter(self) -> None:
        self.times.dates.append(PurePath(self.source.filename).stem)
        left: list[str] = []
        for label, value in self.tree.front_matter:
            if not value.strip():
                continue
            match = self.vocabulary.match(label, "label")
            if _ZONE_KEY.search(label):
                self.times.zones.append(value)
            elif match is not None and match.score >= _SURE and match.role == "title":
                self.labelled_titles.append(value)
                continue
            elif match is not None and match.score >= _SURE and match.role in DROPPED_ROLES:
                self.dropped.append(Dropped(DROPPED_ROLES[match.role], f"{label}: {value}"))
                continue
            elif match is not None and match.score >= _SURE and match.role in TIME_ROLES:
                self.times.labelled.append((match.role, value))
            elif match is not None and match.is_exact and match.role in FIELDS:
                self._put_value(match, label, value, (), with_label=match.entry.keep_label)
                continue
            elif match is not None and match.role == "source":
                self.source_lines.append(value)
            left.append(f"{label}: {value}")
        if left:
            self.remains.append(LeftOver("문서 머리말", _bullets(left)))

    def _walk(self, section: Section, trail: tuple[str, ...], parent: _Role, titles: set[int]) -> None:
        """Places a section and all below it; `trail` holds the headings above."""
        is_title = id(section) in titles or (
            section.level > 6 and section.heading in {s.heading for s in self.tree.root.children if id(s) in titles}
        )
        role = _Role() if is_title or not section.heading else self._role(section, parent)
        name = section.name
        here = trail if is_title or not name else (*trail, name)
        if not role.name and not is_title and looks_like_timeline(section):
            role = _Role(Entry("timeline"), is_own=True)
        if role.name == "timeline":
            if parent.name != "timeline":
                self.times.timelines.append(timeline_of(section, trail))
                self._leave(section, here)
            return
        part = _Part(section, here, role, parent)
        self._place(part, is_preamble=is_title or not section.heading)
        above = _Role() if self._is_whole_document(section, role) else role
        for child in section.children:
            self._walk(child, here, above, titles)

    def _is_whole_document(self, section: Section, role: _Role) -> bool:
        """Whether a section named `Summary` holds the other sections because their headings are one level too deep."""
        if role.name != "symptom":
            return False
        matches = (self.vocabulary.match(child.heading) for child in section.children)
        return sum(match is not None and match.score >= _SURE and match.role != "symptom" for match in matches) >= 3

    def _role(self, section: Section, parent: _Role) -> _Role:
        match = self.vocabulary.match(section.heading)
        allowed = _KEEPS_CHILDREN.get(parent.name)
        if match is not None and (match.score >= _SURE or not parent.entry):
            always = match.role in DROPPED_ROLES or match.role == "timeline"
            if allowed is None or always or match.role in allowed:
                return _Role(self._entry(match), match.score >= _SURE, match.phrase, is_own=True)
        if parent.entry is not None and parent.name not in ("when", "facts"):
            return _Role(parent.entry, parent.is_sure, parent.phrase)
        return _Role()

    def _entry(self, match: Match) -> Entry:
        entry = match.entry
        if entry.otherwise and entry.role in self.filled_by_heading:
            return Entry(entry.otherwise, entry.keep_label)
        return entry

    def _place(self, part: _Part, *, is_preamble: bool) -> None:
        """Sends the blocks of one section where its role says."""
        role = part.role
        blocks = self._without_remains(part.section.blocks)
        if not blocks:
            if part.name and not is_preamble and not part.section.children:
                self._note_placement(part, "empty")
            return
        if role.name in DROPPED_ROLES:
            self.dropped.extend(Dropped(DROPPED_ROLES[role.name], f"{part.name}\n{block.text}") for block in blocks)
            self._note_placement(part, role.name)
        elif role.name in TEXT_FIELDS:
            part.kept = self._distributed(blocks, part)
            self._put_prose(part)
            self._note_placement(part, role.name)
        elif role.name in LIST_FIELDS:
            part.kept = list(blocks)
            self._put_items(part)
            self._note_placement(part, role.name)
        elif role.name in TIME_ROLES:
            self._read_times(part, blocks)
            self._note_placement(part, role.name)
        else:
            part.kept = self._distributed(blocks, part)
            text = _joined(part.kept)
            if not text.strip():
                return
            if is_preamble:
                self.preamble.extend(LeftOver(_PREAMBLE, block.text) for block in part.kept)
            elif role.name in ("facts", "title"):
                self.remains.append(LeftOver(" › ".join(part.trail), text))
                self._note_placement(part, "remains")
            else:
                self._leave_text(part.trail, text, is_child=not role.is_own and bool(part.parent.entry))
                self._note_placement(part, "left_over")

    def _note_placement(self, part: _Part, target: str) -> None:
        self.placements.append(Placement(" › ".join(part.trail), target, part.role.phrase, part.role.is_sure))

    def _leave(self, section: Section, trail: tuple[str, ...]) -> None:
        """Keeps a section with all below it as it stands."""
        lines: list[str] = []
        for part in section.walk():
            if part is not section:
                lines.append(f"**{part.name}**" if part.name else "")
            lines.extend(block.text for block in self._without_remains(part.blocks))
        text = "\n\n".join(line for line in lines if line.strip())
        if text.strip():
            self.left_over.append(LeftOver(" › ".join(trail), text))
            self.placements.append(Placement(" › ".join(trail), "left_over"))

    def _leave_text(self, trail: tuple[str, ...], text: str, *, is_child: bool) -> None:
        heading = " › ".join(trail)
        above = " › ".join(trail[:-1])
        if is_child and self.left_over and self.left_over[-1].heading == above:
            last = self.left_over[-1]
            self.left_over[-1] = LeftOver(last.heading, f"{last.text}\n\n**{trail[-1]}**\n\n{text}")
        else:
            self.left_over.append(LeftOver(heading, text))

    def _without_remains(self, blocks: Iterable[Block]) -> list[Block]:
        """Blocks without rules, template remains and placeholders; those are dropped by name."""
        kept: list[Block] = []
        for block in blocks:
            if block.kind == "rule":
                self.dropped.append(Dropped(RULE, block.text))
                continue
            if block.kind in ("paragraph", "quote") and (reason := self._why_no_text(block, is_first=not kept)):
                self.dropped.append(Dropped(reason, block.text))
                continue
            kept.append(block)
        return kept

    def _why_no_text(self, block: Block, *, is_first: bool) -> str:
        """Why a paragraph is no text about the incident, `""` if it is.

        Where a template explains its sections in italics, an unknown hint right under a heading is one as well.
        """
        reason = remains_of_template(block.text)
        return reason or (TEMPLATE if is_first and self.has_hints and is_marked_hint(block.text) else "")

    # --- labelled values -----------------------------------------------------------------------------------------

    def _distributed(self, blocks: Sequence[Block], part: _Part) -> list[Block]:
        """The blocks without the labelled values that belong elsewhere (`영향 범위`, `작성`, `Time to detection`)."""
        kept: list[Block] = []
        for block in blocks:
            if block.kind == "table":
                pairs = labelled_values(parse_table(block.text), self.vocabulary)
                if pairs is None:
                    kept.append(block)
                else:
                    kept.extend(self._from_table(pairs, part))
            elif block.kind == "list":
                kept.extend(self._from_list(block, part))
            elif block.kind == "paragraph":
                kept.extend(self._from_paragraph(block, part))
            else:
                kept.append(block)
        return kept

    def _from_table(self, pairs: Sequence[tuple[str, str]], part: _Part) -> list[Block]:
        own: list[tuple[str, str]] = []
        left: list[tuple[str, str]] = []
        is_preamble = not part.trail
        grouped: dict[str, list[tuple[Match, str, str]]] = {}
        for label, value in pairs:
            shown = display(label)
            match = self.vocabulary.match(label, "label") if label.strip() else None
            sure = match if match is not None and match.score >= _SURE else None
            reason = remains_of_template(value)
            if reason:
                self.dropped.append(Dropped(reason, _pair(shown, value)))
            elif sure is None:
                (left if part.role.name == "facts" or is_preamble else own).append((shown, value))
            elif sure.role in FIELDS:
                grouped.setdefault(self._entry(sure).role, []).append((sure, shown, value))
            elif not self._take_value(sure, shown, value):
                left.append((shown, value))
        for role, rows in grouped.items():
            if role == part.role.name:
                for match, shown, _ in rows:
                    self._note_label(part.trail, shown, role, match)
                own = [*((shown, value) for _, shown, value in rows), *own]
                continue
            for match, shown, value in rows:
                keeps = len(rows) > 1 or match.entry.keep_label
                self._put_value(match, shown, value, part.trail, with_label=keeps)
        if left:
            text = _bullets(_pair(label, value) for label, value in left)
            self.remains.append(LeftOver(" › ".join(part.trail) or _PREAMBLE, text))
        return _values_as_blocks(own)

    def _from_list(self, block: Block, part: _Part) -> list[Block]:
        """A list whose items are labelled: those of other fields go there, the rest stays a list."""
        items = list_items(block.text)
        matches = [self._label_of(item) for item in items]
        found = [match for match in matches if match is not None]
        is_prose = part.role.name in TEXT_FIELDS
        # In prose a single `Impact:` is style; elsewhere each label counts.
        if not found or (is_prose and (part.role.name == "lesson" or len(found) * 2 < len(items))):
            return [block]
        kept: list[str] = []
        for item, match in zip(items, matches, strict=True):
            if match is None:
                kept.append(item)
                continue
            label, value, known = match
            reason = remains_of_template(value)
            if reason:
                self.dropped.append(Dropped(reason, item))
            elif known.role in DROPPED_ROLES or known.role in ("title", "source", "zone"):
                if not self._take_value(known, label, value):
                    kept.append(item)
            elif known.role in TIME_ROLES:
                self._take_value(known, label, value)
                kept.append(item)
            elif known.role in FIELDS and known.is_exact and self._entry(known).role != part.role.name:
                keeps = known.entry.keep_label or not label.endswith("?")
                self._put_value(known, label, value, part.trail, with_label=keeps)
            else:
                kept.append(item)
        if len(kept) == len(items):
            return [block]
        return [Block("list", _bullets(kept))] if kept else []

    def _label_of(self, item: str) -> tuple[str, str, Match] | None:
        """(label, value, meaning) of `시작: 02:00` or `**How was it detected?** …`, None for other items."""
        first, _, rest = item.partition("\n")
        found = _LABEL_LINE.match(first)
        label, value = "", ""
        if found:
            label, value = found["bold"] or found["plain"], found["value"]
        elif first.rstrip("*_ ").endswith("?"):
            label = first
        if not label:
            return None
        value = "\n".join(filter(None, (value.strip(), _dedented(rest)))).strip()
        match = self.vocabulary.match(label, "label")
        if match is None or match.score < _SURE or not value:
            return None
        return display(label), value, match

    def _from_paragraph(self, block: Block, part: _Part) -> list[Block]:
        lines = block.text.split("\n")
        if any(len(line) > 400 for line in lines):
            return [block]
        segments = [segment for line in lines for segment in _SEGMENTS.split(line) if segment.strip()]
        labels = [self._label_of(segment) for segment in segments]
        known = [label for label in labels if label is not None]
        if not known or len(known) * 2 < len(segments):
            return [block]
        if part.role.name in FIELDS and not any(match.role in DROPPED_ROLES for _, _, match in known):
            for _, value, match in known:
                if match.role in TIME_ROLES:
                    self._take_value(match, "", value)
            return [block]
        kept: list[str] = []
        for segment, labelled in zip(segments, labels, strict=True):
            if labelled is None:
                kept.append(segment)
                continue
            label, value, match = labelled
            if match.role in FIELDS and match.is_exact:
                self._put_value(match, label, value, part.trail, with_label=match.entry.keep_label)
            elif match.role in TIME_ROLES or not self._take_value(match, label, value):
                if match.role in TIME_ROLES:
                    self._take_value(match, label, value)
                kept.append(segment)
        return [Block("paragraph", "\n".join(kept))] if kept else []

    def _take_value(self, match: Match, label: str, value: str) -> bool:
        """Reads a value that is no text of a field; says whether it needn't be kept besides."""
        role = match.role
        if role in DROPPED_ROLES:
            self.dropped.append(Dropped(DROPPED_ROLES[role], f"{label}: {value}"))
            return True
        if role == "title":
            self.labelled_titles.append(value)
            return True
        if role in TIME_ROLES:
            self.times.labelled.append((role, value))
        elif role == "zone":
            self.times.zones.append(value)
        elif role == "source":
            self.source_lines.append(value)
        return False

    def _put_value(self, match: Match, label: str, value: str, trail: tuple[str, ...], *, with_label: bool) -> None:
        """Puts a labelled value into its field, behind its label where that says what the value is."""
        entry = self._entry(match)
        value = self._without_images(value, trail)
        if not value.strip():
            return
        place = self._note_label(trail, label, entry.role, match)
        blocks = outline(value, lambda _: "").root.blocks or (Block("paragraph", value),)
        answers = list_items(blocks[0].text) if len(blocks) == 1 and blocks[0].kind == "list" else ()
        if len(answers) == 1:
            blocks = (Block("paragraph", answers[0]),)
        if entry.role in LIST_FIELDS:
            found = to_items(blocks)
            self.items[entry.role].extend(found.items)
            self.dropped.extend(found.dropped)
            self.remains.extend(LeftOver(place, text) for text in found.remains)
            return
        text = without_boxes(_joined(blocks))
        # A known time or figure says more with its label: "Time to detection: 155 minutes".
        short = with_label and label and (entry.keep_label or len(text) < 40)
        self.prose[entry.role].append(_pair(label, text) if short else text)

    def _note_label(self, trail: tuple[str, ...], label: str, role: str, match: Match) -> str:
        place = " › ".join((*trail, label))
        self.placements.append(Placement(place, role, match.phrase, match.score >= _SURE))
        return place

    # --- fields --------------------------------------------------------------------------------------------------

    def _put_prose(self, part: _Part) -> None:
        entry = part.role.entry
        if entry is None:
            return
        texts = [text for block in part.kept if (text := self._without_images(_prose(block), part.trail)).strip()]
        if not texts:
            return
        is_part = not part.role.is_own and bool(part.name)
        # Behind a part with a label, one without would read as its continuation.
        is_labelled = is_part or (part.role.is_own and (entry.keep_label or entry.role in self.has_labels))
        label = [f"**{part.label}**"] if is_labelled and part.label else []
        if label:
            self.has_labels.add(entry.role)
        self.prose[entry.role].append("\n\n".join([*label, *texts]))

    def _put_items(self, part: _Part) -> None:
        entry = part.role.entry
        if entry is None:
            return
        blocks: list[Block] = []
        for block in part.kept:
            text = self._without_images(block.text, part.trail)
            if text.strip():
                blocks.append(Block(block.kind, text))
        is_part = part.parent.name == entry.role and bool(part.name)
        found = to_items(blocks, part.label if is_part else "")
        if entry.first_to and entry.first_to not in self.filled_by_heading:
            self.first_statements.append((entry, found.items))
        else:
            self.items[entry.role].extend(found.items)
        self.dropped.extend(found.dropped)
        if found.remains:
            self.remains.append(LeftOver(" › ".join(part.trail), _bullets(found.remains)))

    def _read_times(self, part: _Part, blocks: Sequence[Block]) -> None:
        """Reads a section of times: labelled ones by their labels, the rest as the section's heading says."""
        self.times.zones.extend([part.section.heading] if "(" in part.section.heading else [])
        left = [block.text for block in self._distributed(blocks, part)]
        for block in blocks:
            for line in block.text.split("\n"):
                if self._label_of(line.strip().removeprefix("- ")) is None:
                    self.times.labelled.append((part.role.name, line))
        if left:
            self.remains.append(LeftOver(" › ".join(part.trail), "\n\n".join(left)))

    def _without_images(self, text: str, trail: tuple[str, ...]) -> str:
        """Text without pictures: a description in a sentence stays, a picture alone goes to the note."""
        if "![" not in text or text.lstrip().startswith(("```", "~~~")):
            return text
        lines: list[str] = []
        for line in text.split("\n"):
            if _ONLY_IMAGES.match(line):
                self.remains.append(LeftOver(" › ".join(trail), line.strip()))
                continue
            if _IMAGE.search(line):
                for found in _IMAGE.finditer(line):
                    if found.group(2) and found.group(2) != "#":
                        self.remains.append(LeftOver(" › ".join(trail), found.group()))
                line = _IMAGE.sub(r"\1", line)
            lines.append(line)
        return "\n".join(lines).strip("\n")

    def _first_statements(self) -> None:
        """A background gives its first statement to the empty field before it, the rest to its own."""
        for entry, items in self.first_statements:
            target = entry.first_to or ""
            statements = [
                line for item in items for line in (item.split("\n") if "```" not in item else [item]) if line.strip()
            ]
            if statements and target in self.prose and not self.prose[target]:
                self.prose[target].append(statements.pop(0).strip())
                self.remarks.append(
                    f"{FIELD_LABELS[target]} 절이 없어 배경의 첫 문장을 옮겼습니다. 맞는지 확인해 주십시오."
                )
            self.items[entry.role].extend(statement.strip() for statement in statements)

    def _summary_from_preamble(self) -> None:
        """The text before the first heading is the summary where no section is one."""
        if self.prose["symptom"]:
            return
        chosen = [
            part
            for part in self.preamble
            if len(part.text) >= _LEAST_SUMMARY
            and not part.text.lstrip().startswith(("|", "![", "`", ">", "-"))
            and not any(self._label_of(line) for line in part.text.split("\n"))
        ]
        if chosen and len(self.placements) > 0:
            self.preamble = [part for part in self.preamble if part not in chosen]
            self.prose["symptom"].extend(part.text for part in chosen)
            self.placements.insert(0, Placement(_PREAMBLE, "symptom", is_sure=False))

    def _limit_items(self) -> None:
        for name, found in self.items.items():
            if len(found) > MAX_ITEMS:
                self.remains.append(
                    LeftOver(f"{FIELD_LABELS[name]} ({MAX_ITEMS}개를 넘은 항목)", _bullets(found[MAX_ITEMS:]))
                )
                del found[MAX_ITEMS:]

    def _storable_prose(self, name: str, parts: Sequence[str]) -> str:
        kept: list[str] = []
        size = 0
        for part in parts:
            text = storable(part)
            if size + len(text) + 2 > MAX_SECTION_CHARS:
                self.remains.append(LeftOver(f"{FIELD_LABELS[name]} (한 절에 담기에 긴 글)", text))
                continue
            size += len(text) + 2
            kept.append(text)
        return canonical_text("\n\n".join(kept))

    def _storable_item(self, item: str) -> str:
        text = storable(item)
        if len(text) > MAX_SECTION_CHARS:
            self.remains.append(LeftOver("(한 항목에 담기에 긴 글)", text))
            return ""
        return text.lstrip()


def _is_title_line(line: str) -> bool:
    line = line.strip()
    is_sentence = line.endswith((".", ":", "다", "?", ",", ";")) or line.startswith(("|", "-", "`", ">", "!"))
    return 2 <= len(line) <= 90 and not is_sentence


def storable(text: str) -> str:
    """Markdown that may stand in a record: no line of it reads as a heading, no fence stays open."""
    text = canonical_text(text)
    for _ in range(3):
        lines = text.split("\n")
        problems = text_problems(text)
        if not problems:
            return text
        for at, _message in problems:
            line = lines[at]
            if line.lstrip().startswith("#"):
                lines[at] = line.replace("#", "\\#", 1)
            elif line.lstrip().startswith(("```", "~~~")) or "```" in line or "~~~" in line:
                lines.append(_closing_fence(line))
            elif re.match(r"^\s*[=-]{2,}\s*$", line):
                lines[at] = f"\n{line}"
            else:
                lines[at] = re.sub(r"\*\*|__", "", line)
        text = canonical_text("\n".join(lines))
    return text


def _closing_fence(line: str) -> str:
    found = re.search(r"`{3,}|~{3,}", line)
    return found.group() if found else "```"


def _prose(block: Block) -> str:
    """A block as it stands in prose: lists without check boxes."""
    return without_boxes(block.text) if block.kind == "list" else block.text


def _joined(blocks: Iterable[Block]) -> str:
    return "\n\n".join(block.text for block in blocks)


def _dedented(text: str) -> str:
    lines = text.split("\n")
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[depth:] for line in lines).strip("\n")


def _bullets(items: Iterable[str]) -> str:
    """A Markdown list; further lines of an item stand under its text."""
    return "\n".join("- " + item.strip().replace("\n", "\n  ") for item in items)


def _pair(label: str, value: str) -> str:
    """`label: value`; a question needs no colon."""
    if not label:
        return value
    return f"{label} {value}" if label.endswith("?") else f"{label}: {value}"


def _values_as_blocks(pairs: Sequence[tuple[str, str]]) -> list[Block]:
    """Labelled values of a section's own field: a single one as its text, more as a list with their labels."""
    pairs = [(label, value) for label, value in pairs if value.strip()]
    if len(pairs) == 1:
        return [Block("paragraph", pairs[0][1])]
    return [Block("list", _bullets(_pair(label, value) for label, value in pairs))] if pairs else []
