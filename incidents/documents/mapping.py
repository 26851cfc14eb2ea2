"""The sections of a foreign post-mortem → our fields, and an account of everything that has no field. Pure text.

Every piece of text ends in one place: a field, `left_over` (a section without a field of ours), `remains` (what is left
of a section that has one) or `dropped` (people, tool commands, template remains). Nothing is invented for a field about
which the document says nothing: it is named in `missing`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Final

from incidents.documents.account import PREAMBLE, Account, LeftOver, Placement, joined
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
from incidents.documents.items import to_items, without_boxes
from incidents.documents.labels import LabelSorter, Spot
from incidents.documents.outline import Block, Outline, Section, TooManySectionsError, outline
from incidents.documents.reading import DocumentRefused, SourceText
from incidents.documents.times import first_date
from incidents.documents.timing import IncidentTimes, TimeSources, find_times, looks_like_timeline, timeline_of
from incidents.documents.titles import clean_title, title_from_filename
from incidents.documents.vocabulary import (
    DROPPED_ROLES,
    FIELDS,
    LIST_FIELDS,
    SURE,
    TEXT_FIELDS,
    TIME_ROLES,
    Entry,
    HeadingVocabulary,
    heading_vocabulary,
    unnumbered,
)
from incidents.records import MAX_TITLE_CHARS

# Under these headings a list is sorted by kinds of measures ("Detection", "Response"), which aren't our fields.
_KEEPS_CHILDREN: Final[Mapping[str, frozenset[str]]] = {
    "timeline": frozenset({"follow_ups", "lesson"}),
    "follow_ups": frozenset({"lesson"}),
    "lesson": frozenset({"lesson", "contributing_factors", "follow_ups"}),
    "contributing_factors": frozenset({"contributing_factors", "lesson", "follow_ups"}),
}
# Prose shorter than this is a remark, not a summary.
_LEAST_SUMMARY: Final = 40


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
    return _Mapper(source, tree, vocabulary, dropped).run()


@dataclass(frozen=True, slots=True)
class _Role:
    """What a section is: its entry, and how that is known. `entry` is None where nothing is known."""

    entry: Entry | None = None
    is_sure: bool = False
    phrase: str = ""
    is_own: bool = False  # said by its own heading, not by the one above it

    @property
    def name(self) -> str:
        return self.entry.role if self.entry else ""


@dataclass(frozen=True, slots=True)
class _Part:
    """A section with its place in the document; `trail` holds the headings down to it."""

    section: Section
    trail: tuple[str, ...]
    role: _Role
    parent: _Role
    is_preamble: bool

    @property
    def label(self) -> str:
        """The heading as it stands before its own text."""
        return unnumbered(self.section.heading)


class _Mapper:
    def __init__(
        self, source: SourceText, tree: Outline, vocabulary: HeadingVocabulary, dropped: Sequence[Dropped]
    ) -> None:
        self.source = source
        self.tree = tree
        self.vocabulary = vocabulary
        self.account = Account(TimeSources(text=source.text), remarks=list(source.notes))
        self.account.drop(COMMENT, filter(None, tree.comments))
        self.account.dropped.extend(dropped)
        self.filled = self._fields_with_heading()
        self.labels = LabelSorter(self.account, vocabulary, self.filled)
        self.has_hints = self._count_hints() >= 2

    # --- the whole -----------------------------------------------------------------------------------------------

    def run(self) -> Mapped:
        account = self.account
        if self.tree.unclosed_fence:
            account.remarks.append("닫히지 않은 코드 블록이 있습니다: 그 아래는 모두 코드로 읽었습니다.")
        account.times.dates.append(PurePath(self.source.filename).stem)
        self.labels.sort_front_matter(self.tree.front_matter)
        title_sections = self._title_sections()
        title = self._title(title_sections)
        self._walk(self.tree.root, (), _Role(), title_sections)
        title = self._short_title(title or self._other_title())
        account.share_first_statements()
        self._summary_from_preamble()
        account.remains[:0] = account.preamble
        self._offer_dates()
        times = find_times(account.times)
        prose = {name: account.stored_prose(name) for name in TEXT_FIELDS}
        items = {name: account.stored_items(name) for name in LIST_FIELDS}
        return Mapped(
            title=title,
            prose=prose,
            items=items,
            times=times,
            missing=tuple(name for name in FIELDS if not (prose.get(name) or items.get(name))),
            left_over=tuple(account.left_over),
            remains=tuple(account.remains),
            dropped=tuple(account.dropped),
            placements=tuple(account.placements),
            source_lines=tuple(account.source_lines),
            remarks=tuple(dict.fromkeys((*account.remarks, *times.remarks))),
        )

    def _fields_with_heading(self) -> frozenset[str]:
        """Fields that some heading of the document names for certain and that isn't one of two meanings."""
        found = set()
        for section in self.tree.root.walk():
            match = self.vocabulary.match(section.heading) if section.heading else None
            is_plain = match is not None and not match.entry.otherwise and not match.entry.first_to
            if match and is_plain and match.score >= SURE and (section.blocks or section.children):
                found.add(match.role)
        return frozenset(found)

    def _count_hints(self) -> int:
        """How many sections open with a hint of the template in italics or the like."""
        firsts = (section.blocks[0] for section in self.tree.root.walk() if section.blocks)
        return sum(is_marked_hint(block.text) and bool(remains_of_template(block.text)) for block in firsts)

    def _offer_dates(self) -> None:
        """Lines of the text that may name the day, where no label, title or file name does."""
        account = self.account
        texts = [*account.prose["symptom"], *account.prose["trigger"], *(part.text for part in account.remains)]
        account.times.statements.extend(
            line for text in texts[: len(account.prose["symptom"])] for line in text.split("\n")
        )
        texts += [*account.prose["cause"], *account.prose["detection"], *(part.text for part in account.left_over)]
        account.times.dates.extend(line for text in texts for line in text.split("\n") if any(map(str.isdigit, line)))

    # --- title ---------------------------------------------------------------------------------------------------

    def _title_sections(self) -> list[Section]:
        """The sections at the beginning whose headings aren't known: the title and what it is called."""
        found: list[Section] = []
        for section in self.tree.root.walk():
            if not section.heading:
                continue
            match = self.vocabulary.match(section.heading)
            is_top = section.level == 1 and not found
            if match is not None and (match.is_exact or (match.score >= SURE and not is_top) or (not is_top and found)):
                break
            if not found and self._is_one_of_many(section) and (self.account.titles or self.source.title):
                break
            if found and (clean_title(found[-1].heading)[0] or (section.blocks and found[-1].blocks)):
                break
            found.append(section)
        return found

    def _is_one_of_many(self, section: Section) -> bool:
        """Whether a section without a known heading is a chapter like those after it, and not the document's title."""
        if section.level == 1 or all(block.kind == "rule" for block in section.blocks):
            return False
        return sum(other.level == section.level for other in self.tree.root.walk()) > 1

    def _title(self, sections: Sequence[Section]) -> str:
        for section in sections:
            if section is not sections[0] and (self.account.titles or bool(section.blocks) == bool(section.children)):
                break
            title, cut = clean_title(section.heading)
            self.account.times.dates.insert(0, section.heading)
            self.account.times.zones.extend([section.heading] if first_date(section.heading) else [])
            self.account.drop(NUMBER, cut)
            if title:
                return title
        return ""

    def _other_title(self) -> str:
        """A title from a label, a first line, the page or the file's name."""
        for raw in (*self.account.titles, self.source.title):
            title, cut = clean_title(raw)
            if title:
                self.account.drop(NUMBER, cut)
                return title
        title = self._first_line()
        if title:
            return title
        title = title_from_filename(self.source.filename)
        if title:
            self.account.remarks.append("제목을 파일 이름에서 가져왔습니다.")
        return title

    def _first_line(self) -> str:
        """A title from the first lines of the text, where they are short and no sentences."""
        lines = self.account.preamble[0].text.split("\n") if self.account.preamble else []
        if not lines or len(lines) > 3 or not all(map(_is_title_line, lines)):
            return ""
        found = ""
        for line in lines:
            title, cut = clean_title(line)
            self.account.drop(NUMBER, cut)
            self.account.times.dates.insert(0, line)
            if title and found:
                self.account.preamble.append(LeftOver(PREAMBLE, line))
            found = found or title
        self.account.preamble.pop(0)
        return found

    def _short_title(self, title: str) -> str:
        if len(title) <= MAX_TITLE_CHARS:
            return title
        self.account.remain(("제목",), title)
        cut = title[: MAX_TITLE_CHARS - 1]
        return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"

    # --- sections ------------------------------------------------------------------------------------------------

    def _walk(self, section: Section, trail: tuple[str, ...], parent: _Role, titles: Sequence[Section]) -> None:
        """Places a section and all below it; `trail` holds the headings above."""
        # A label that speaks for one paragraph only is followed by the title's heading once more.
        is_title = any(section is title for title in titles) or (
            section.level > 6 and section.heading in {title.heading for title in titles}
        )
        is_preamble = is_title or not section.heading
        role = _Role() if is_preamble else self._role(section, parent)
        here = trail if is_preamble or not section.name else (*trail, section.name)
        if not role.name and not is_preamble and looks_like_timeline(section):
            role = _Role(Entry("timeline"), is_own=True)
        if role.name == "timeline":
            self.account.times.timelines.append(timeline_of(section, trail))
            self._leave_whole(section, here)
            return
        self._place(_Part(section, here, role, parent, is_preamble))
        above = _Role() if self._is_whole_document(section, role) else role
        for child in section.children:
            self._walk(child, here, above, titles)

    def _is_whole_document(self, section: Section, role: _Role) -> bool:
        """Whether a section named `Summary` holds the others because their headings are one level too deep."""
        if role.name != "symptom":
            return False
        matches = (self.vocabulary.match(child.heading) for child in section.children)
        return sum(match is not None and match.score >= SURE and match.role != "symptom" for match in matches) >= 3

    def _role(self, section: Section, parent: _Role) -> _Role:
        """What a section is by its own heading, or else by the one above it."""
        match = self.vocabulary.match(section.heading)
        allowed = _KEEPS_CHILDREN.get(parent.name)
        if match is not None and (match.score >= SURE or not parent.entry):
            always = match.role in DROPPED_ROLES or match.role == "timeline"
            if allowed is None or always or match.role in allowed:
                return _Role(self.labels.entry(match), match.score >= SURE, match.phrase, is_own=True)
        if parent.entry is not None and parent.name not in ("when", "facts"):
            return _Role(parent.entry, parent.is_sure, parent.phrase)
        return _Role()

    def _place(self, part: _Part) -> None:
        """Sends the blocks of one section where its role says."""
        role = part.role.name
        blocks = self._without_remains(part.section.blocks)
        if not blocks:
            if part.trail and not part.is_preamble and not part.section.children:
                self._note(part, "empty")
        elif role in DROPPED_ROLES:
            self.account.drop(DROPPED_ROLES[role], (f"{part.section.name}\n{block.text}" for block in blocks))
            self._note(part, role)
        elif role in TEXT_FIELDS:
            self._put_prose(part, self.labels.sort(blocks, Spot(role, part.trail)))
            self._note(part, role)
        elif role in LIST_FIELDS:
            self._put_items(part, blocks)
            self._note(part, role)
        elif role in TIME_ROLES:
            self._read_times(part, blocks)
            self._note(part, role)
        else:
            self._keep(part, self.labels.sort(blocks, Spot(role, () if part.is_preamble else part.trail)))

    def _keep(self, part: _Part, blocks: Sequence[Block]) -> None:
        """Keeps text without a field for the editor."""
        text = joined(blocks)
        if not text.strip():
            return
        if part.is_preamble:
            self.account.preamble.extend(LeftOver(PREAMBLE, block.text) for block in blocks)
        elif part.role.name == "facts":
            self.account.remain(part.trail, text)
            self._note(part, "remains")
        else:
            self.account.leave(part.trail, text, is_child=not part.role.is_own and bool(part.parent.entry))
            self._note(part, "left_over")

    def _note(self, part: _Part, target: str) -> None:
        self.account.place(part.trail, target, part.role.phrase, is_sure=part.role.is_sure)

    def _leave_whole(self, section: Section, trail: tuple[str, ...]) -> None:
        """Keeps a section with all below it as it stands."""
        texts: list[str] = []
        for part in section.walk():
            if part is not section and part.name:
                texts.append(f"**{part.name}**")
            texts.extend(block.text for block in self._without_remains(part.blocks))
        if texts:
            self.account.leave(trail, "\n\n".join(texts))
        self.account.place(trail, "left_over" if texts else "empty")

    def _without_remains(self, blocks: Iterable[Block]) -> list[Block]:
        """Blocks without rules, template remains and placeholders; those are dropped by name."""
        kept: list[Block] = []
        for block in blocks:
            if block.kind == "rule":
                self.account.drop(RULE, [block.text])
                continue
            reason = self._why_no_text(block, is_first=not kept) if block.kind in ("paragraph", "quote") else ""
            if not reason:
                kept.append(block)
                continue
            lines = block.text.split("\n")
            text = [line for line in lines if not remains_of_template(line)]
            if not text or len(text) == len(lines) or is_marked_hint(block.text):
                self.account.drop(reason, [block.text])
                continue
            # One sentence of a template doesn't take the lines around it along.
            self.account.drop(reason, (line for line in lines if line not in text))
            kept.append(Block(block.kind, "\n".join(text)))
        return kept

    def _why_no_text(self, block: Block, *, is_first: bool) -> str:
        """Why a paragraph is no text about the incident, `""` if it is.

        Where a template explains its sections in italics, an unknown hint right under a heading is one as well.
        """
        reason = remains_of_template(block.text)
        return reason or (TEMPLATE if is_first and self.has_hints and is_marked_hint(block.text) else "")

    def _put_prose(self, part: _Part, blocks: Sequence[Block]) -> None:
        entry = part.role.entry
        shown = ((without_boxes(block.text) if block.kind == "list" else block.text) for block in blocks)
        texts = [kept for text in shown if (kept := self.account.without_images(text, part.trail)).strip()]
        if entry is None or not texts:
            return
        # Behind a part with a label, one without would read as its continuation.
        needs_label = not part.role.is_own or entry.keep_label or entry.role in self.account.has_labels
        self.account.put_prose(entry.role, texts, part.label if needs_label else "")

    def _put_items(self, part: _Part, blocks: Sequence[Block]) -> None:
        entry = part.role.entry
        if entry is None:
            return
        texts = ((block.kind, self.account.without_images(block.text, part.trail)) for block in blocks)
        shown = [Block(kind, text) for kind, text in texts if text.strip()]
        is_part = part.parent.name == entry.role and part.parent.is_sure
        found = to_items(shown, part.label if is_part else "")
        if entry.first_to and entry.first_to not in self.filled:
            self.account.first_statements.append((entry, found.items))
            found = replace(found, items=())
        self.account.put_items(entry.role, found, part.trail)

    def _read_times(self, part: _Part, blocks: Sequence[Block]) -> None:
        """Reads a section of times: labelled ones by their labels, the rest as the section's heading says."""
        times = self.account.times
        times.zones.extend([part.section.heading] if "(" in part.section.heading else [])
        left = self.labels.sort(blocks, Spot(part.role.name, part.trail))
        for block in blocks:
            for line in block.text.split("\n"):
                if self.labels.label_of(line.strip().removeprefix("- ")) is None:
                    times.labelled.append((part.role.name, line))
        self.account.remain(part.trail, joined(left))

    def _summary_from_preamble(self) -> None:
        """The text before the first heading is the summary where no section is one."""
        account = self.account
        if account.prose["symptom"] or not account.placements:
            return
        chosen = [part for part in account.preamble if self._is_summary(part.text)]
        if chosen:
            account.preamble = [part for part in account.preamble if part not in chosen]
            account.prose["symptom"].extend(part.text for part in chosen)
            account.placements.insert(0, Placement(PREAMBLE, "symptom", is_sure=False))

    def _is_summary(self, text: str) -> bool:
        is_prose = len(text) >= _LEAST_SUMMARY and not text.lstrip().startswith(("|", "![", "`", ">", "-"))
        return is_prose and not any(self.labels.label_of(line) for line in text.split("\n"))


def _is_title_line(line: str) -> bool:
    line = line.strip()
    is_sentence = line.endswith((".", ":", "다", "?", ",", ";")) or line.startswith(("|", "-", "`", ">", "!"))
    return 2 <= len(line) <= 90 and not is_sentence
