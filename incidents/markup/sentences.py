"""One paragraph → its sentences. Pure: changes when Korean or English sentences turn out to end elsewhere."""

import re

from incidents.markup.inline import spans

_ABBREVIATIONS = frozenset(
    {"e.g", "i.e", "vs", "etc", "cf", "al", "inc", "ltd", "corp", "co", "llc", "dr", "mr", "mrs", "ms", "st", "no"}
    | {"vol", "fig", "approx", "est", "dept", "sr", "jr", "u.s", "u.k", "a.m", "p.m"}
)
_TERMINATOR = re.compile(r"[.!?](?![.!?])[”’\"')\]」』*_]*(?:\s+|(?<=[다요]\.)(?=[가-힣])|$)")
_PARTICLE_NEXT = re.compile(r"(?:은|는|가|을|를|와|과|의|에|에서|로|으로|도|만|부터|까지|이라는|라는)(?=[\s,.]|$)")
_DATE_NEXT = re.compile(r"\d{1,2}\.|\d{1,2}월")
_DATE_BEFORE = re.compile(r"\d{1,4}\.\s*\d{1,2}$")
_ONLY_NUMBERS = re.compile(r"[\s0-9.]*$")
_SENTENCE_BEFORE = re.compile(r"[.!?]\s+$")
_WINDOW = 60  # characters before a full stop that tell what it ends, so that a text of full stops takes no longer

# Where a sentence doesn't end, beside code, links and emphasis: quotations, brackets, `<host>`. Bounded, so that a text
# of nothing but opening quotation marks takes no longer than any other.
_ENCLOSED = re.compile(
    r"<[^<>\s]{1,500}>"
    r"|“[^“”]{0,1000}”|‘[^‘’]{0,1000}’|「[^「」]{0,1000}」|『[^『』]{0,1000}』|\"[^\"\n]{1,300}\""
    r"|\((?:[^()]|\([^()]{0,300}\)){0,1000}\)|\[[^\[\]]{0,1000}\]"
)
_HIDDEN = "\x00"
_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")


def split_sentences(paragraph: str) -> tuple[str, ...]:
    """Return the sentences of one paragraph as source text, in order, none empty, no word lost.

    A full stop ends a sentence only before white space or the end (or `다.` right before Hangul), and not in a number
    (`v1.2.3`), a date (`2024. 3. 2.`), an abbreviation, code, a link, emphasis, a quotation or a bracket.
    """
    masked = _masked(paragraph)
    sentences: list[str] = []
    start = 0
    for end in _TERMINATOR.finditer(masked):
        if _is_sentence_end(masked, start, end):
            sentences.append(paragraph[start : end.end()].strip())
            start = end.end()
    sentences.append(paragraph[start:].strip())
    return tuple(sentence for sentence in sentences if sentence)


def _masked(paragraph: str) -> str:
    """Return a text of the same length in which no sentence seems to end where none does."""
    pieces: list[str] = []
    position = 0
    for start, end in spans(paragraph):
        pieces += [paragraph[position:start], _HIDDEN * (end - max(start, position))]
        position = end
    return _ENCLOSED.sub(_hide, "".join([*pieces, paragraph[position:]]))


def _hide(enclosed: re.Match[str]) -> str:
    text = enclosed[0]
    start = enclosed.start()
    # “(… 다.)” standing as a sentence of its own keeps its end visible.
    stands_alone = start == 0 or _SENTENCE_BEFORE.search(enclosed.string[max(0, start - _WINDOW) : start])
    if stands_alone and text.startswith("(") and text.endswith(".)"):
        return _HIDDEN * (len(text) - 2) + ".)"
    return _HIDDEN * len(text)


def _is_sentence_end(masked: str, start: int, end: re.Match[str]) -> bool:
    stop, following = end.start(), end.end()
    if following == len(masked):
        return True
    has_particle_next = _PARTICLE_NEXT.match(masked, following) is not None
    if masked[stop] in "!?":  # but `Yahoo! 가` goes on
        return not has_particle_next or (stop > start and _HANGUL.match(masked, stop - 1) is not None)
    before = masked[max(start, stop - _WINDOW) : stop]
    words = before.split()
    word = words[-1].lstrip("(“‘\"'") if words else ""
    if not word:
        return False
    if _HANGUL.match(word[-1]):
        return True
    if word[-1].isdigit():
        is_date = word.isdigit() and len(word) <= 4
        is_date = is_date and bool(_DATE_NEXT.match(masked, following) or _DATE_BEFORE.search(before))
        is_number_of_item = stop - start <= _WINDOW and _ONLY_NUMBERS.match(before) is not None
        return not (is_date or has_particle_next or is_number_of_item)
    if word.lower() in _ABBREVIATIONS or re.fullmatch(r"[A-Z]", word):
        return False
    return not has_particle_next
