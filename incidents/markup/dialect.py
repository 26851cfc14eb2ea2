"""The dialect on Python-Markdown's pipeline: lines are made printable, split into blocks, marked up, laid out, written.

What `blocks` and `inline` read becomes elements here, block by block as Python-Markdown's own processors do. Headings
sit below a record's own, tables scroll in themselves, and blocks nested without measure are text.
"""

import itertools
import threading
from collections.abc import Callable
from functools import cached_property
from typing import ClassVar
from xml.etree.ElementTree import Element, SubElement, tostring

import markdown
from markdown.blockparser import BlockParser
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString, Registry

from incidents.markup import blocks as reading
from incidents.markup import inline
from incidents.markup.blocks import Kind
from incidents.markup.cleaning import printable

MAX_NESTING = 6  # blocks inside blocks; real texts nest lists three deep, and each level is read again

_WITH_BLOCKS = frozenset(("div", "blockquote", "ul", "ol", "li", "table", "thead", "tbody", "tr"))
_BLOCKS = _WITH_BLOCKS | frozenset(("p", "pre", "hr", "h3", "h4", "h5", "h6", "th", "td"))
_LINES = frozenset(("p", "h3", "h4", "h5", "h6", "li", "th", "td"))  # what holds text of its own


def block_html(text: str) -> str:
    """Return the HTML of a text of any number of blocks, not yet cleaned."""
    rendered = _converters.to_html.convert(text)
    return f"{rendered}\n" if rendered else ""


def inline_html(text: str) -> str:
    """Return the HTML of one paragraph's text without the paragraph, not yet cleaned."""
    root = Element("div")
    inline.build(root, printable(text.replace("\r\n", "\n").replace("\r", "\n")).strip())
    return _to_html(root)


def block_words(text: str) -> str:
    """Return the words of a text without markup, each block on a line of its own."""
    return _converters.to_words.convert(text)


class _Converters(threading.local):
    """One Markdown instance a thread and a form: an instance holds the text it is working on."""

    @cached_property
    def to_html(self) -> markdown.Markdown:
        return _converter(_to_html)

    @cached_property
    def to_words(self) -> markdown.Markdown:
        return _converter(_to_words)


_converters = _Converters()


def _converter(serializer: Callable[[Element], str]) -> markdown.Markdown:
    converter = markdown.Markdown(extensions=[RecordDialect()])
    # Python-Markdown's own writer leaves `&lt;` as it is, so that typed entities would show as signs.
    converter.serializer = serializer
    converter.stripTopLevelTags = False
    return converter


class RecordDialect(Extension):
    """Replaces each stage of Python-Markdown by the dialect's."""

    def extendMarkdown(self, md: markdown.Markdown) -> None:  # noqa: N802  # the library's name
        """Register the stages."""
        md.preprocessors = Registry()
        md.preprocessors.register(_Printable(md), "printable", 10)
        md.parser = _StructureParser(md)
        for processor in (_Paragraph, _Heading, _Rule, _Fence, _Indented, _Quote, _List, _Table):
            md.parser.blockprocessors.register(processor(md.parser), processor.kind, 10)
        md.treeprocessors = Registry()
        md.treeprocessors.register(_Inline(md), "inline", 20)
        md.treeprocessors.register(_Layout(md), "layout", 10)
        md.postprocessors = Registry()


class _Printable(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return reading.as_lines(printable("\n".join(lines)))


# -- Blocks -----------------------------------------------------------------------------------------------------------


class _BlockText(str):
    """A block's text with its kind, as the parser hands it to the processors."""

    __slots__ = ("kind",)
    kind: Kind


class _StructureParser(BlockParser):
    """Splits a text where its structure does, not at every blank line."""

    def __init__(self, md: markdown.Markdown) -> None:
        super().__init__(md)
        self._depth = 0

    def parseChunk(self, parent: Element, text: str) -> None:  # noqa: N802  # the library's name
        """Parse the blocks of a text into `parent`."""
        lines = text.split("\n")
        found = reading.scan_blocks(lines)
        if self._depth == MAX_NESTING:
            found = [reading.Block(Kind.PARAGRAPH, block.start, block.end) for block in found]
        texts: list[str] = []
        for block in found:
            block_text = _BlockText("\n".join(lines[block.start : block.end]))
            block_text.kind = block.kind
            texts.append(block_text)
        self._depth += 1
        try:
            self.parseBlocks(parent, texts)
        finally:
            self._depth -= 1


class _KindProcessor(BlockProcessor):
    """Makes elements of the blocks of one kind."""

    kind: ClassVar[Kind]

    def test(self, parent: Element, block: str) -> bool:
        return isinstance(block, _BlockText) and block.kind is self.kind

    def run(self, parent: Element, blocks: list[str]) -> None:
        self.add(parent, blocks.pop(0).split("\n"))

    def add(self, parent: Element, lines: list[str]) -> None:
        """Put the block of these lines into `parent`."""
        raise NotImplementedError


class _Paragraph(_KindProcessor):
    kind = Kind.PARAGRAPH

    def add(self, parent: Element, lines: list[str]) -> None:
        SubElement(parent, "p").text = "\n".join(lines).strip()


class _Heading(_KindProcessor):
    kind = Kind.HEADING

    def add(self, parent: Element, lines: list[str]) -> None:
        level, text = reading.heading_parts(lines[0])
        SubElement(parent, f"h{min(6, level + 2)}").text = text  # h1 is the record's, h2 its fields'


class _Rule(_KindProcessor):
    kind = Kind.RULE

    def add(self, parent: Element, lines: list[str]) -> None:
        SubElement(parent, "hr")


class _Fence(_KindProcessor):
    kind = Kind.FENCE

    def add(self, parent: Element, lines: list[str]) -> None:
        _add_code(parent, reading.fenced_code(lines))


class _Indented(_KindProcessor):
    kind = Kind.INDENTED

    def add(self, parent: Element, lines: list[str]) -> None:
        _add_code(parent, reading.indented_code(lines))


class _Quote(_KindProcessor):
    kind = Kind.QUOTE

    def add(self, parent: Element, lines: list[str]) -> None:
        self.parser.parseChunk(SubElement(parent, "blockquote"), "\n".join(reading.quoted_lines(lines)))


class _List(_KindProcessor):
    kind = Kind.LIST

    def add(self, parent: Element, lines: list[str]) -> None:
        items = reading.list_items(lines)
        numbers = [item.number for item in items]
        element = SubElement(parent, "ul" if numbers[0] is None else "ol")
        if numbers[0] not in (None, 1):
            element.set("start", str(numbers[0]))
        is_numbered_by_hand = any(number != numbers[0] for number in numbers)  # not `1.` before each item
        is_loose = any(item.is_followed_by_blank for item in items[:-1]) or any(map(_has_gap, items))
        following = numbers[0]
        for item in items:
            child = SubElement(element, "li")
            if is_numbered_by_hand and item.number is not None:
                if item.number != following:
                    child.set("value", str(item.number))
                following = item.number + 1
            self.parser.parseChunk(child, "\n".join(item.lines))
            if not is_loose and len(child) and child[0].tag == "p":
                child.text = child[0].text
                child.remove(child[0])


class _Table(_KindProcessor):
    kind = Kind.TABLE

    def add(self, parent: Element, lines: list[str]) -> None:
        table = reading.table(lines)
        scroller = SubElement(
            parent, "div", {"class": "table-scroll", "role": "region", "tabindex": "0", "aria-label": "표"}
        )
        element = SubElement(scroller, "table")
        self._add_row(SubElement(element, "thead"), "th", table.header, table.alignments)
        body = SubElement(element, "tbody") if table.rows else element
        for row in table.rows:
            self._add_row(body, "td", row, table.alignments)

    @staticmethod
    def _add_row(parent: Element, tag: str, cells: tuple[str, ...], alignments: tuple[str, ...]) -> None:
        row = SubElement(parent, "tr")
        for cell, alignment in zip(cells, alignments, strict=True):
            # A class, for the content security policy refuses inline styles.
            SubElement(row, tag, {"class": f"align-{alignment}"} if alignment else {}).text = cell


def _has_gap(item: reading.Item) -> bool:
    """Whether a blank line stands between two blocks of an item."""
    if all(line.strip() for line in item.lines):
        return False
    found = reading.scan_blocks(item.lines)
    return any(block.end < following.start for block, following in itertools.pairwise(found))


def _add_code(parent: Element, code: str) -> None:
    element = SubElement(SubElement(parent, "pre"), "code")
    element.text = AtomicString(f"{code}\n" if code else "")


# -- The tree ---------------------------------------------------------------------------------------------------------


class _Inline(Treeprocessor):
    """Marks up the text of every element that is not code."""

    def run(self, root: Element) -> None:
        for element in list(root.iter()):
            text = element.text
            if text and not isinstance(text, AtomicString):
                element.text = None
                inline.build(element, text)


class _Layout(Treeprocessor):
    """Sets each block on a line of its own."""

    def run(self, root: Element) -> None:
        for element in root.iter():
            if element.tag not in _WITH_BLOCKS:
                continue
            previous: Element | None = None
            for child in element:
                if child.tag in _BLOCKS:
                    if previous is not None:
                        previous.tail = _on_new_line(previous.tail)
                    elif element is not root:
                        element.text = _on_new_line(element.text)
                    child.tail = "\n"
                previous = child


def _on_new_line(text: str | None) -> str:
    return text if text and text.endswith("\n") else f"{text or ''}\n"


def _to_html(root: Element) -> str:
    written = tostring(root, encoding="unicode", method="html")
    return written.removeprefix("<div>").removesuffix("</div>")


def _to_words(root: Element) -> str:
    lines: list[str] = []
    for element in root.iter():
        if element.tag == "pre":
            lines.append("".join(element.itertext()).rstrip("\n"))
        elif element.tag == "tr":
            lines.append(" | ".join(_line(cell) for cell in element))
        elif element.tag in _LINES and element.tag not in ("th", "td"):
            lines.append(_line(element))
    return "\n".join(line for line in lines if line)


def _line(element: Element) -> str:
    """Return an element's own text in one line, the blocks inside it left out."""
    pieces = [element.text or ""]
    for child in element:
        if child.tag not in _BLOCKS:
            pieces += ["".join(child.itertext()), child.tail or ""]
    return "".join(pieces).replace("\n", " ").strip()
