"""Record text (Markdown) to safe HTML, to plain text and to numbered statements.

The only place where text written by people becomes HTML: Python-Markdown with the dialect of `incidents.markup`, then
nh3 with a short allow-list. Raw HTML, pictures and reference definitions are shown as typed, so no text is ever lost.

No function here raises on any `str`. A text of more than `MAX_LENGTH` characters, or of more than `MAX_SIGNS` signs
that may mean something, is shown as typed, so that none takes longer than about a second.
"""

import html
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe

from incidents.markup import dialect, particles
from incidents.markup.blocks import Kind, as_lines, scan_blocks
from incidents.markup.cleaning import clean, printable
from incidents.markup.sentences import split_sentences

logger = logging.getLogger(__name__)

MAX_LENGTH = 100_000  # characters; a record's longest field is about 2,000, an imported post-mortem's about 40,000
MAX_SIGNS = 20_000  # the richest post-mortems have about one for every twenty characters
_SIGNS = "\n\\`*_[]|<>&-#"
# Paragraphs of one line, of words and simple code: nine of ten fields. Their words are known without reading them as
# Markdown, which takes ten times as long; that counts where a page cuts snippets from twenty records, and an import
# from thousands.
_WORDS = r"(?:[가-힣A-Za-z0-9 .,:;()%/?+='\"‘’“”·–-]|(?<!~)~(?!~))"
_IN_CODE = r"가-힣A-Za-z0-9_~@#.,:;()%/?+='\"\-"
_CODE = rf"`[{_IN_CODE}](?:[{_IN_CODE} ]*[{_IN_CODE}])?`(?!`)"
_LINE = rf"(?!\d+[.)])(?:[가-힣A-Za-z0-9]|{_CODE})(?:{_WORDS}|{_CODE})*+(?<! )"
_PLAIN = re.compile(rf"{_LINE}(?:\n\n{_LINE})*+")
_CACHED_LENGTH = 4_000  # longer texts are rare, and keeping them would cost more memory than rendering costs time
_CACHED_TEXTS = 8_192  # sentences and items; about 1 KB each with their HTML


@dataclass(frozen=True)
class Statement:
    """One statement of a field: its number from 1, and its inline HTML (block HTML in a list, table or fence)."""

    number: int
    html: SafeString


@dataclass(frozen=True)
class StatementBlock:
    """A paragraph with its sentences, or one other block (list, table, fence) that is a statement as a whole."""

    is_paragraph: bool
    statements: tuple[Statement, ...]


def render_text(markdown: str) -> SafeString:
    """Return the HTML of a whole field: paragraphs, lists, tables, fences."""
    return _render(markdown, is_inline=False)


def render_inline(markdown: str) -> SafeString:
    """Return the HTML of one line of Markdown, without a paragraph around it."""
    return _render(markdown, is_inline=True)


def render_item(markdown: str) -> SafeString:
    """Return the HTML of a list item: inline where it is one paragraph, blocks where it holds more."""
    if _is_without_measure(markdown):
        return render_text(markdown)
    kinds = [block.kind for block in scan_blocks(as_lines(markdown))]
    return render_inline(markdown) if kinds == [Kind.PARAGRAPH] else render_text(markdown)


def plain_text(markdown: str) -> str:
    """Return the words without markup: blocks on lines of their own, code and `<host>` as they stand."""
    if _is_without_measure(markdown):
        return markdown
    if _PLAIN.fullmatch(markdown):
        return markdown.replace("`", "").replace("\n\n", "\n")
    try:
        return dialect.block_words(markdown)
    except Exception:
        logger.exception("Markdown could not be read")
        return markdown


def statements(markdown: str) -> tuple[str, ...]:
    """Return a field's statements as source text, in the order of their numbers (`#symptom-1` is the first).

    A paragraph is split into its sentences; a list, a table, a fence, a quotation or a heading is one statement.
    """
    return tuple(source for _, sources in _blocks(markdown) for source in sources)


def render_statements(markdown: str) -> tuple[StatementBlock, ...]:
    """Return a field's blocks with their statements numbered through, particles bound for display."""
    if len(markdown) > _CACHED_LENGTH:
        return _render_statements(markdown)
    return _cached_statements(markdown)


def bind_particles(rendered: str) -> SafeString:
    """Return HTML in which a Latin word or number and its particle are kept on one line (`<span class="josa">`).

    `rendered` is HTML that is already safe. Only text nodes outside `code` and `pre` are touched, and never across a
    tag's edge; the characters of the text stay as they were.
    """
    return SafeString(particles.bind_particles(rendered))  # adds spans to HTML that is safe


def _render_statements(markdown: str) -> tuple[StatementBlock, ...]:
    blocks: list[StatementBlock] = []
    number = 0
    for is_paragraph, sources in _blocks(markdown):
        numbered: list[Statement] = []
        for source in sources:
            number += 1
            rendered = render_inline(source) if is_paragraph else render_text(source)
            numbered.append(Statement(number, bind_particles(rendered)))
        blocks.append(StatementBlock(is_paragraph, tuple(numbered)))
    return tuple(blocks)


def _render(markdown: str, *, is_inline: bool) -> SafeString:
    if len(markdown) > _CACHED_LENGTH:
        return _rendered(markdown, is_inline=is_inline)
    return _cached(markdown, is_inline=is_inline)


def _rendered(markdown: str, *, is_inline: bool) -> SafeString:
    """Return clean HTML, or the text as typed where it can't be read as Markdown."""
    if _is_without_measure(markdown):
        return _as_typed(markdown, is_inline=is_inline)
    try:
        rendered = dialect.inline_html(markdown) if is_inline else dialect.block_html(markdown)
    except Exception:
        logger.exception("Markdown could not be rendered")
        return _as_typed(markdown, is_inline=is_inline)
    return mark_safe(clean(rendered))  # nothing but the allow-list


# Readers ask for the same fields again and again.
_cached = lru_cache(maxsize=_CACHED_TEXTS)(_rendered)
_cached_statements = lru_cache(maxsize=_CACHED_TEXTS)(_render_statements)


def _is_without_measure(text: str) -> bool:
    if len(text) <= MAX_SIGNS:
        return False
    return len(text) > MAX_LENGTH or sum(map(text.count, _SIGNS)) > MAX_SIGNS


def _as_typed(markdown: str, *, is_inline: bool) -> SafeString:
    escaped = html.escape(printable(markdown), quote=False)
    return mark_safe(escaped if is_inline else f"<p>{escaped}</p>\n")  # escaped


def _blocks(markdown: str) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Yield (is a paragraph, its statements' source) for each block of the text."""
    if _is_without_measure(markdown):
        yield True, (markdown,)
        return
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for block in scan_blocks(as_lines(markdown)):
        source = "\n".join(lines[block.start : block.end])
        if block.kind is Kind.PARAGRAPH:
            yield True, split_sentences(source.strip())
        else:
            yield False, (source,)
