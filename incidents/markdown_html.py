"""Record text (Markdown) to safe HTML, to plain text and to numbered statements.

The only place where text written by people becomes HTML. The dialect is CommonMark with tables, and with what Korean
records need: `<host>` is text and never a tag, tildes never strike out (`10~20분`), `2024. 3. 2.` at a line's start is
a date and not a list, bold may end in a bracket before a particle, a list two spaces deep belongs to the item above,
and a pipe inside code doesn't break a table's row. Raw HTML, images and reference definitions are shown as typed, so
no text is ever lost. What comes out is cleaned once more against a short allow-list.

No function here raises on any `str`, and none looks at more than `MAX_LENGTH` characters as Markdown.
"""

import html
import logging
import re
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

logger = logging.getLogger(__name__)

MAX_LENGTH = 50_000  # characters; a record's longest field is about 2,000; the worst such text takes about a second

_ALLOWED_TAGS = {
    *("p", "br", "hr", "strong", "em", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h3", "h4", "h5", "h6", "div", "table", "thead", "tbody", "tr", "th", "td"),
}
_ALLOWED_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, "div": {"role", "tabindex", "aria-label"}}
_ALLOWED_CLASSES = {
    "div": {"table-scroll"},
    "th": {"align-left", "align-center", "align-right"},
    "td": {"align-left", "align-center", "align-right"},
}
_ALLOWED_SCHEMES = {"http", "https", "mailto"}


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
    return _safe(_render(markdown, inline=False))


def render_inline(markdown: str) -> SafeString:
    """Return the HTML of one line of Markdown, without a paragraph around it."""
    return _safe(_render(markdown, inline=True))


def render_item(markdown: str) -> SafeString:
    """Return the HTML of a list item: inline where it is one paragraph, blocks where it holds more."""
    rendered = _render(markdown, inline=False)
    only = re.fullmatch(r"<p>(.*)</p>\s*", rendered, flags=re.DOTALL)
    return _safe(only[1] if only and "<p>" not in only[1] else rendered)


def plain_text(markdown: str) -> str:
    """Return the words without markup: blocks on lines of their own, code and `<host>` as they stand."""
    markdown = _UNPRINTABLE.sub("", markdown)
    if len(markdown) > MAX_LENGTH:
        return markdown
    try:
        tokens = _parser().parse(_mend(markdown))
    except Exception:
        logger.exception("Markdown could not be read")
        return markdown
    lines: list[str] = []
    for token in tokens:
        if token.type == "inline":
            lines.append(_inline_words(token.children or []))
        elif token.type in ("fence", "code_block"):
            lines.append(token.content.rstrip("\n"))
    return "\n".join(line for line in lines if line)


def statements(markdown: str) -> tuple[str, ...]:
    """Return a field's statements as source text, in the order of their numbers (`#symptom-1` is the first).

    A paragraph is split into its sentences; a list, a table, a fence, a quotation or a heading is one statement.
    """
    return tuple(source for _, sources in _blocks(markdown) for source in sources)


def render_statements(markdown: str) -> tuple[StatementBlock, ...]:
    """Return a field's blocks with their statements numbered through, particles bound for display."""
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


def bind_particles(rendered: str) -> SafeString:
    """Return HTML in which a Latin word or number and its particle are kept on one line (`<span class="josa">`).

    `rendered` is HTML that is already safe. Only text nodes outside `code` and `pre` are touched, and never across a
    tag's edge; the characters of the text stay as they were.
    """
    parts = _TAG.split(rendered)
    depth = 0
    for index, part in enumerate(parts):
        if index % 2:  # a tag
            name = _TAG_NAME.match(part)
            if name and name[2] in ("code", "pre"):
                depth += -1 if name[1] else 1
        elif depth == 0:
            parts[index] = _PARTICLE.sub(r'<span class="josa">\1 \2</span>', part)
    return _safe("".join(parts))


_TAG = re.compile(r'(<(?:"[^"]*"|[^>"])*>)')
_TAG_NAME = re.compile(r"<(/?)([a-z0-9]+)")
# The particles that records set off from a Latin word or a number; longer ones first.
_PARTICLES = (
    "에서는|에서도|에서의|에서만|에게는|에게서|으로는|으로도|으로만|이라는|이라고|이었다|까지의|까지는|부터는|"
    "에서|에게|에는|에도|에만|으로|로는|로도|로만|이나|이며|이고|이라|이다|이면|이던|라는|라고|였다|까지|부터|보다|처럼|만큼|마다|만의|와의|과의|"
    "은|는|이|가|을|를|와|과|의|에|로|도|만|나|며|고|란|인"
)
# A word of at most 14 characters, so that a phone's narrow line can still hold it.
_PARTICLE = re.compile(
    rf"(?<![A-Za-z0-9.%+#/_:;-])([A-Za-z0-9][A-Za-z0-9.%+#/_:-]{{0,13}}) ({_PARTICLES})(?=[\s.,!?)\]…’”·]|&|$)"
)


# Control characters, lone surrogates and noncharacters: none can stand in HTML or XML.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def _safe(rendered: str) -> SafeString:
    return mark_safe(rendered)  # cleaned by _render, or derived from what it cleaned


@lru_cache(maxsize=4096)
def _render(markdown: str, *, inline: bool) -> str:
    """Return clean HTML. Cached because a page of records renders the same fields for every reader."""
    markdown = _UNPRINTABLE.sub("", markdown)
    if len(markdown) > MAX_LENGTH:
        return _as_typed(markdown, inline=inline)
    try:
        mended = _mend(markdown)
        rendered = _parser().renderInline(mended) if inline else _parser().render(mended)
    except Exception:
        logger.exception("Markdown could not be rendered")
        return _as_typed(markdown, inline=inline)
    cleaned: str = nh3.clean(
        rendered,
        tags=_ALLOWED_TAGS,
        attributes=_ALLOWED_ATTRIBUTES,
        allowed_classes=_ALLOWED_CLASSES,
        url_schemes=_ALLOWED_SCHEMES,
        link_rel="nofollow noopener",
        strip_comments=True,
    )
    return cleaned


def _as_typed(markdown: str, *, inline: bool) -> str:
    escaped = html.escape(markdown)
    return escaped if inline else f"<p>{escaped}</p>\n"


def _inline_words(children: Sequence[Token]) -> str:
    words: list[str] = []
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            words.append(" ")
        else:
            words.append(child.content)
    return "".join(words).strip()


# -- The dialect ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}, renderer_cls=_Renderer)
    parser.enable("table")
    # Shown as typed instead: HTML, pictures, definitions; a line of dashes under a sentence is no heading.
    parser.disable(["html_block", "html_inline", "image", "reference", "lheading"])
    parser.inline.ruler.at("emphasis", _tokenize_emphasis)
    parser.validateLink = _is_allowed_link  # type: ignore[method-assign]  # the documented way to set the rule
    return parser


class _Renderer(RendererHTML):
    """HTML whose headings sit below a record's own, and whose tables scroll in themselves."""

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<{self._heading(tokens[idx])}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"</{self._heading(tokens[idx])}>\n"

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<div class="table-scroll" role="region" tabindex="0" aria-label="표"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return self._cell(tokens[idx])

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return self._cell(tokens[idx])

    @staticmethod
    def _heading(token: Token) -> str:
        return f"h{min(6, max(3, int(token.tag[1:]) + 2))}"

    @staticmethod
    def _cell(token: Token) -> str:
        style = str(token.attrs.get("style", ""))  # "text-align:right": an inline style, which the CSP refuses
        return f'<{token.tag} class="align-{style.rpartition(":")[2]}">' if style else f"<{token.tag}>"


def _is_allowed_link(url: str) -> bool:
    """Whether the address is http(s), mailto, relative or an anchor, whatever hides in it."""
    bare = re.sub(r"[\s\x00-\x20\x7f-\x9f\u200b-\u200f\u2028\u2029\ufeff]", "", unquote(html.unescape(url)))
    scheme = re.match(r"([^/?#]*?):", bare)
    return scheme is None or scheme[1].lower() in _ALLOWED_SCHEMES


def _is_hangul(char: str) -> bool:
    return "\uac00" <= char <= "\ud7a3" or "\u1100" <= char <= "\u11ff" or "\u3131" <= char <= "\u318e"


def _tokenize_emphasis(state: StateInline, silent: bool) -> bool:
    """Scan a run of `*` or `_` as CommonMark does, but let `*` close or open beside Hangul.

    CommonMark reads `**재시도(retry)**였고` as four asterisks, because a bracket stands before the run and a letter
    after it; Korean writes its particles just there.
    """
    marker = state.src[state.pos]
    if silent or marker not in "*_":
        return False
    scanned = state.scanDelims(state.pos, marker == "*")
    can_open, can_close = scanned.can_open, scanned.can_close
    if marker == "*":
        before = state.src[state.pos - 1] if state.pos > 0 else " "
        end = state.pos + scanned.length
        after = state.src[end] if end < state.posMax else " "
        if _is_punctuation(before) and _is_hangul(after):
            can_close = True
        if _is_punctuation(after) and _is_hangul(before):
            can_open = True
        if before.isdigit() and after.isdigit():  # 2*3*4 is a product
            can_open = can_close = False
    for _ in range(scanned.length):
        token = state.push("text", "", 0)
        token.content = marker
        state.delimiters.append(
            Delimiter(
                marker=ord(marker),
                length=scanned.length,
                token=len(state.tokens) - 1,
                end=-1,
                open=can_open,
                close=can_close,
            )
        )
    state.pos += scanned.length
    return True


def _is_punctuation(char: str) -> bool:
    return not isWhiteSpace(ord(char)) and (isMdAsciiPunct(ord(char)) or isPunctChar(char))


# -- Mending before parsing: line by line, so that a line keeps its number --------------------------------------------

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_DATE_AT_START = re.compile(r"^(\s*(?:[-*+]\s+)?)(\d{4}|\d{1,2}(?=\. ?\d{1,2}\.))\.(?=\s|$)")
_ORDERED_ITEM = re.compile(r"(\s*)(\d{1,3}[.)]\s+)\S")
_NESTED = re.compile(r"( +)(?:[-*+]\s|\d{1,3}[.)]\s|```|~~~)")
_TABLE_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$")
_CODE_SPAN = re.compile(r"(?<!`)(`{1,8})(?!`)(.{1,500}?)(?<!`)\1(?!`)")


def _mend(markdown: str) -> str:
    """Return the text with the same lines, where what Korean records mean is what CommonMark reads."""
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fence = ""
    shift_from = shift_by = 0
    item_indent = content_indent = -1
    for index, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        # Lines two deep under `1. ` belong to it, though CommonMark asks for three.
        if shift_by and line.strip():
            if indent >= shift_from:
                line = " " * shift_by + line
            else:
                shift_by = 0
        elif not fence and item_indent >= 0 and item_indent + 2 <= indent < content_indent and _NESTED.match(line):
            shift_from, shift_by = indent, content_indent - indent
            line = " " * shift_by + line
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence):
                fence = ""
            lines[index] = line
            continue
        if opened:
            fence = opened[1]
            lines[index] = line
            continue
        line = _DATE_AT_START.sub(r"\1\2\\.", line)
        item = _ORDERED_ITEM.match(line)
        if item and not shift_by:
            item_indent, content_indent = len(item[1]), len(item[1]) + len(item[2])
        elif line.strip() and indent <= item_indent and not item:
            item_indent = content_indent = -1
        lines[index] = line
    return "\n".join(_with_pipes_in_code(lines))


def _with_pipes_in_code(lines: list[str]) -> list[str]:
    """Escape the pipes inside code in tables, as GFM wants them and as nobody writes them."""
    in_table = False
    for index, line in enumerate(lines):
        if in_table:
            in_table = "|" in line
        elif "|" in line and index + 1 < len(lines):
            rule = lines[index + 1].strip()
            in_table = "|" in rule and _TABLE_RULE.match(rule) is not None
        if in_table:
            lines[index] = _CODE_SPAN.sub(lambda code: re.sub(r"(?<!\\)\|", r"\\|", code[0]), line)
    return lines


# -- Statements -------------------------------------------------------------------------------------------------------


def _blocks(markdown: str) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Yield (is a paragraph, its statements' source) for each block of the text."""
    markdown = _UNPRINTABLE.sub("", markdown)
    if len(markdown) > MAX_LENGTH:
        yield True, (markdown,)
        return
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    env: MutableMapping[str, object] = {}
    try:
        tokens = _parser().parse(_mend(markdown), env)
    except Exception:
        logger.exception("Markdown could not be split")
        yield True, (markdown,)
        return
    for token in tokens:
        if token.level != 0 or token.nesting < 0 or token.map is None:
            continue
        source = "\n".join(lines[token.map[0] : token.map[1]]).strip("\n")
        if token.type == "paragraph_open":
            sentences = split_sentences(source.strip())
            if sentences:
                yield True, sentences
        elif source.strip() and token.type != "hr":
            yield False, (source,)


_ABBREVIATIONS = {
    *("e.g", "i.e", "vs", "etc", "cf", "al", "inc", "ltd", "corp", "co", "llc", "dr", "mr", "mrs", "ms", "st", "no"),
    *("vol", "fig", "approx", "est", "dept", "sr", "jr", "u.s", "u.k", "a.m", "p.m"),
}
_TERMINATOR = re.compile(r"[.!?](?![.!?])[”’\"')\]」』*_]*(?:\s+|(?<=[다요]\.)(?=[가-힣])|$)")
_PARTICLE_NEXT = re.compile(r"(?:은|는|가|을|를|와|과|의|에|에서|로|으로|도|만|부터|까지|이라는|라는)(?=[\s,.]|$)")
# Spans inside which a sentence doesn't end: code, links, bold, quotations, brackets. Bounded, so that a text of nothing
# but opening quotation marks takes no longer than any other.
_SPANS = re.compile(
    r"(`{1,8})(?!`).{1,2000}?(?<!`)\1(?!`)"
    r"|!?\[[^\[\]\n]{0,500}\]\([^()\s]{0,1000}\)|<[^<>\s]{1,500}>"
    r"|\*\*(?!\s)[^*]{1,1000}\*\*"
    r"|“[^“”]{0,1000}”|‘[^‘’]{0,1000}’|「[^「」]{0,1000}」|『[^『』]{0,1000}』|\"[^\"\n]{1,300}\""
    r"|\((?:[^()]|\([^()]{0,300}\)){0,1000}\)|\[[^\[\]]{0,1000}\]",
    flags=re.DOTALL,
)
_HIDDEN = "\x00"


def split_sentences(paragraph: str) -> tuple[str, ...]:
    """Return the sentences of one paragraph as source text, in order, none empty, no word lost.

    A full stop ends a sentence only before white space or the end (or `다.` right before Hangul), and not in a number
    (`v1.2.3`), a date (`2024. 3. 2.`), an abbreviation, code, a link, a quotation or a bracket.
    """
    masked = _SPANS.sub(_mask, paragraph)
    sentences: list[str] = []
    start = 0
    for end in _TERMINATOR.finditer(masked):
        if end.start() >= start and _is_sentence_end(masked, start, end):
            sentences.append(paragraph[start : end.end()].strip())
            start = end.end()
    sentences.append(paragraph[start:].strip())
    return tuple(sentence for sentence in sentences if sentence)


def _mask(span: re.Match[str]) -> str:
    text = span[0]
    # “(… 다.)” standing as a sentence of its own keeps its end visible.
    if text.startswith("(") and text.endswith(".)") and re.search(r"(?:^|[.!?]\s+)$", span.string[: span.start()]):
        return _HIDDEN * (len(text) - 2) + ".)"
    return _HIDDEN * len(text)


def _is_sentence_end(masked: str, start: int, end: re.Match[str]) -> bool:
    if end.end() == len(masked):
        return True
    before, after = masked[start : end.start()], masked[end.end() :]
    if masked[end.start()] in "!?":  # but `Yahoo! 가` goes on
        return _is_hangul(before[-1:] or " ") or not _PARTICLE_NEXT.match(after)
    word = before.split()[-1].lstrip("(“‘\"'") if before.split() else ""
    if not word:
        return False
    last = word[-1]
    if _is_hangul(last) or last == _HIDDEN:
        return last != _HIDDEN or not _PARTICLE_NEXT.match(after)
    if last.isdigit():
        in_date = re.fullmatch(r"\d{1,4}", word) and (
            re.match(r"\d{1,2}\.|\d{1,2}월", after) or re.search(r"\d{1,4}\.\s*\d{1,2}$", before)
        )
        return not (in_date or _PARTICLE_NEXT.match(after) or not before.strip(" 0123456789."))
    if word.lower() in _ABBREVIATIONS or re.fullmatch(r"[A-Z]", word):
        return False
    return not _PARTICLE_NEXT.match(after)
