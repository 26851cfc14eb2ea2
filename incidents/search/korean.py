"""Text to terms: folding, script borders, identifiers in parts, Hangul by morphemes. Pure; no Django, no engine.

Every Hangul word (a run of syllables between spaces and signs) is analysed on its own, never in its sentence: the same
word then gives the same terms in a record and in a query, whatever stands beside it, and one cache serves both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from incidents.search.morphemes import Morpheme, listed_compounds, morphemes, word_forms

ANALYSIS_VERSION = 1  # part of every token cache key and of the index's schema: raise it with any change of terms

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d\ufe63"), "-")
_INVISIBLE = dict.fromkeys([0x00AD, 0x115F, 0x1160, 0x3164, 0xFFA0, *range(0x200B, 0x2010), *range(0x202A, 0x202F),
                            *range(0x2060, 0x2065), 0xFEFF, *range(0xFE00, 0xFE10), *range(0xD800, 0xE000)])  # fmt: skip
_TRANSLATE = {**_DASHES, **_INVISIBLE, 0: " ", 0x318D: "·", 0x2019: "'", 0x201C: '"', 0x201D: '"'}
_SIMPLE = re.compile(r"[\x01-\x7f가-힣·…—'\"“”]*\Z")

HANGUL = "가-힣"
_JAMO = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\ud7b0-\ud7ff"
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_SYMBOLS = "\u2190-\u21ff\u2600-\u27bf\U0001f000-\U0001faff"
_LETTER = rf"[^\W_{HANGUL}{_JAMO}{_CJK}]"
_IDENTIFIER = rf"{_LETTER}(?:(?:{_LETTER}|[_\u0300-\u036f])|[-./:@+~%#&=\\](?=[_]*{_LETTER}))*(?:\+\+|\#)?"
_CHUNK = re.compile(
    rf"(?P<hangul>[{HANGUL}]+)|(?P<identifier>{_IDENTIFIER})|(?P<cjk>[{_CJK}])|(?P<jamo>[{_JAMO}]+)|(?P<symbol>[{_SYMBOLS}])"
)
HANGUL_WORD = re.compile(f"[{HANGUL}]+")
_SEPARATORS = re.compile(r"[^\w]|_")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ALNUM = re.compile(r"\d+|[^\W\d_]+")

# Josa that the house style (`etcd 를`) or any writer puts after a Latin word or a number. Longest first by the regex.
PARTICLES = frozenset(
    "가 과 까지 께서 나 는 도 든 든지 들 들도 들은 들을 들이 들의 라 라고 라는 라도 란 랑 로 로는 로도 로만 로부터 로서 로써 를 마다 마저 만 만이 만은 만을"
    " 밖에 보다 뿐 뿐만 아 야 에 에게 에게서 에는 에도 에만 에서 에서는 에서도 에서만 에서의 에서부터 에의 와 와는 와도 와의 으로 으로는 으로도 으로만 으로부터 으로서"
    " 으로써 은 을 의 이 이고 이나 이다 이라 이라고 이라는 이란 이며 인 인데 였다 이었다 조차 처럼 커녕 하고 하며 한테 과의 과는 과도 부터 까지는 까지도 에까지"
    " 였고 이었고 이어서 이자 라서 이라서 로의 으로의 만으로 마다의 씩 짜리 쪽 간의".split()
)  # fmt: skip

_VERBAL_TAILS = frozenset("하해한할함했되돼된될됨됐인일임였다고며면서자지게나든도록")

# Light words carry little alone: where others stand in the query they are weighed but not required.
LIGHT = frozenset(
    "하다 되다 있다 이다 아니다 않다 못하다 없다 같다 보다 주다 나다 오다 가다 지다 말다 싶다 위하다 대하다 통하다 의하다 따르다 관하다 인하다 것 거 수 등 때 중 데 바"
    " 뿐 줄 점 채 번 개 년 월 일 시 분 초 곳 안 못 더 또 및 그 이 저 좀 잘 다 왜 어떻게 무엇 뭐 언제 어디 누가 어떤 어느 무슨 적 경우 사례 후 뒤 전 동안 사이"
    " 나 너 우리 저희 것들 여기 거기 매우 아주 너무 자꾸 갑자기 점점 이미 아직 다시 바로 먼저 그냥 거의 회사 아예 전부 모두 계속 오히려 같이 함께 스스로 까닭 이유 방법 관련 알다 들다 두다 놓다 버리다 만들다 어떻다 이렇다 그렇다 어떡하다 나서 때문 정도 문제 the a an of to in on"
    " at is are was were be by for and or not no it with how what why when".split()
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A term at a position. `width` positions are taken by it; parts of a compound stand inside its width."""

    term: str
    position: int
    width: int = 1


@dataclass(frozen=True, slots=True)
class Word:
    """One analysed chunk: its leaves in order, one a position, and further terms that span several leaves.

    `leaves` may hold "" for a position without a term of its own (one syllable inside a compound).
    `atoms` are the (offset, width) of the words that a dictionary would list, of which a solid compound has several.
    `is_doubtful` marks a noun with a last syllable that is no particle (인증셔): a form of a verb, or mistyped.
    `stem` is a Hangul chunk without the particles at its end, "" where that is nothing new.
    kind: hangul, ending (Hangul of particles and endings only), particle (after an identifier), identifier, cjk, jamo, symbol.
    `surface` is the folded chunk; `marked` is the same with "+" where two content words meet in a Hangul word.
    """

    surface: str
    kind: str
    leaves: tuple[str, ...]
    spans: tuple[tuple[str, int, int], ...] = ()
    atoms: tuple[tuple[int, int], ...] = ()
    marked: str = ""
    stem: str = ""
    is_doubtful: bool = False

    @property
    def width(self) -> int:
        """Return the number of positions that the word takes; 0 for particles."""
        return len(self.leaves)


def fold(text: str) -> str:
    """Return the text in NFKC without invisible signs, its case kept (camel case is still to be split).

    Compatibility jamo stay as they are: NFKC would turn `ㅋㅂ` into conjoining letters that nobody types.
    """
    if _SIMPLE.match(text):
        return text
    text = unicodedata.normalize("NFC", text)
    if not unicodedata.is_normalized("NFKC", text):
        text = "".join(c if "\u3131" <= c <= "\u318e" else unicodedata.normalize("NFKC", c) for c in text)
        text = unicodedata.normalize("NFC", text)
    return text.translate(_TRANSLATE)


def chunks(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Yield (kind, chunk, start, end) for each chunk of a folded text; kinds as Word has them, Hangul not yet told apart.

    A Hangul chunk that is a particle counts as one only after an identifier or a closing backtick or quote, glued or
    set off by one space, since `이` and `가` are nouns elsewhere.
    """
    after_identifier = -1
    for match in _CHUNK.finditer(text):
        kind, chunk = str(match.lastgroup), match[0]
        start, end = match.span()
        if (
            after_identifier >= 0
            and kind == "hangul"
            and chunk in PARTICLES
            and text[after_identifier:start].strip("`'\")]}*”’") in ("", " ")
        ):
            kind = "particle"
        after_identifier = end if kind == "identifier" else -1
        yield kind, chunk, start, end


def words(text: str) -> Iterator[tuple[Word, int, int]]:
    """Yield (word, start, end) for each chunk of a folded text, particles among them with width 0."""
    for kind, chunk, start, end in chunks(text):
        yield word_of(kind, chunk), start, end


def word_of(kind: str, chunk: str) -> Word:
    """Return the word that a chunk is."""
    if kind == "hangul":
        return hangul_word(chunk)
    if kind == "identifier":
        return identifier_word(chunk)
    if kind == "particle":
        return Word(chunk, kind, ())
    return Word(chunk, kind, (chunk,), (), ((0, 1),))


def tokens(text: str) -> list[Token]:
    """Return every term of a text with its position, for records; text needs no preparation."""
    out: list[Token] = []
    position = 0
    for word, _, _ in words(fold(text)):
        out.extend(word_tokens(word, position))
        position += word.width
    return out


def word_tokens(word: Word, position: int) -> Iterator[Token]:
    """Yield the terms of one word that begins at a position."""
    for term, offset, width in placed_terms(word):
        yield Token(term, position + offset, width)


def placed_terms(word: Word) -> Iterator[tuple[str, int, int]]:
    """Yield (term, offset, width) of one word."""
    for offset, leaf in enumerate(word.leaves):
        if leaf:
            yield leaf, offset, 1
    yield from word.spans


@lru_cache(maxsize=20_000)
def identifier_word(chunk: str) -> Word:
    """Return an identifier with its parts: `kube-proxy` = kube + proxy, `OutOfMemoryError`, `v1.28.3` = 1.28.3."""
    whole = chunk.casefold()
    pieces = [p for p in _SEPARATORS.split(chunk) if p]
    leaves: list[str] = []
    spans: list[tuple[str, int, int]] = []
    for piece in pieces:
        first = len(leaves)
        parts = [part for camel in _CAMEL.split(piece) for part in _split_digits(camel)]
        leaves.extend(part.casefold() for part in parts)
        if len(parts) > 1:
            spans.append((piece.casefold(), first, len(parts)))
    if len(pieces) > 1:
        spans.append((whole, 0, len(leaves)))
        joined = "".join(pieces).casefold()
        if len(pieces) <= 3 and joined.isalpha():
            spans.append((joined, 0, len(leaves)))
    elif len(leaves) == 1 and whole != leaves[0]:
        spans.append((whole, 0, 1))
    if re.fullmatch(r"v\d+(?:\.\d+)+", whole):
        spans.append((whole[1:], 1, len(leaves) - 1))
    return Word(whole, "identifier", tuple(leaves), tuple(dict.fromkeys(spans)), ((0, len(leaves)),))


def _split_digits(piece: str) -> list[str]:
    """Split letters from digits (`rank17`, `v1`), but leave short names such as `k8s`, `s3`, `5xx` whole."""
    parts = _ALNUM.findall(piece)
    if (
        len(parts) == 2
        and (len(parts[0]) >= 3 or parts[0] in ("v", "V"))
        and parts[1].isdigit()
        and not parts[0].isdigit()
    ):
        return parts
    return [piece]


@lru_cache(maxsize=60_000)
def hangul_word(chunk: str) -> Word:
    """Return a Hangul word's content morphemes: nouns whole and in parts, verbs and adjectives as stem + 다.

    Endings and particles have no position. A word of nothing else is kept as its own term, so that no word is lost.
    One syllable inside a compound is no term of its own (`서` of 인증서), but keeps its position.
    """
    stem = _without_particle(chunk)
    for form in (chunk, stem):
        if form in word_forms():
            return Word(chunk, "hangul", (word_forms()[form],), (), ((0, 1),), chunk, stem)
    leaves: list[str] = []
    spans: list[tuple[str, int, int]] = []
    atoms: list[tuple[int, int]] = []
    marked: list[str] = []
    run: list[str] = []  # the pieces of the current run of nouns
    run_start = 0
    run_is_broken = False  # it holds a piece of one syllable: perhaps a word that the dictionary doesn't know
    prefix = ""
    after_content = False

    def close_run() -> None:
        nonlocal run_is_broken
        joined = "".join(run)
        if len(run) > 1 and run_is_broken and len(joined) <= 12:
            spans.append((joined, run_start, len(run)))
        run.clear()
        run_is_broken = False

    previous = ""
    for morpheme in morphemes(chunk):
        surface = morpheme.surface
        if surface == "짐" and previous == "stem":  # 느려짐: the analyser takes the nominal ending for a noun
            morpheme = Morpheme(surface, "become")
        if morpheme.kind == "become" and previous == "stem":  # 느려지다 is also 느리다, but not the other way round
            spans.append((leaves[-1], len(leaves) - 1, 1))
            leaves[-1] = marked[-1] + "지다"
            marked.append(surface)
            continue
        previous = morpheme.kind
        if morpheme.kind == "noun":
            if not run:
                run_start = len(leaves)
            parts = morpheme.parts or (surface,)
            if after_content and not prefix:
                marked.append("+")
            marked.append("+".join(parts) if all(len(part) > 1 for part in parts) else surface)
            start = len(leaves)
            if len(parts) > 1:
                spans.append((surface, start, len(parts)))
                leaves.extend(part if len(part) > 1 or surface in listed_compounds() else "" for part in parts)
            else:
                leaves.append(surface)
                run_is_broken = run_is_broken or len(surface) == 1
            run.extend(parts)
            if prefix:
                spans.append((prefix + surface, start - 1, len(parts) + 1))
                atoms.append((start - 1, len(parts) + 1))
            else:
                atoms.append((start, len(parts)))
            prefix = ""
            after_content = True
        elif morpheme.kind == "prefix":
            if after_content:
                marked.append("+")
            if not run:
                run_start = len(leaves)
            marked.append(surface)
            run.append(surface)
            leaves.append("")
            prefix = surface
        elif morpheme.kind == "suffix" and atoms and run:
            start, width = atoms.pop()
            base = "".join(run)[-sum(len(piece) for piece in run[start - run_start :]) :]
            spans.append((base + surface, start, width + 1))
            atoms.append((start, width + 1))
            marked.append(surface)
            run.append(surface)
            leaves.append("")
        else:
            close_run()
            if morpheme.kind == "becoming":
                if after_content:
                    marked.append("+")
                atoms.append((len(leaves), 1))
                spans.append((morpheme.parts[1], len(leaves), 1))
                leaves.append(morpheme.parts[0])
            if morpheme.kind == "stem":
                if after_content:
                    marked.append("+")
                for part in morpheme.parts:
                    atoms.append((len(leaves), 1))
                    leaves.append(part)
            marked.append(surface)
            after_content = False
            prefix = ""
    close_run()
    text = "".join(marked)
    tail = marked[-1] if marked and not after_content and previous == "function" else ""
    is_doubtful = len(tail) == 1 and len(chunk) > 2 and tail not in PARTICLES and tail not in _VERBAL_TAILS
    if not any(leaves) and not spans:
        return Word(chunk, "ending", (chunk,), (), ((0, 1),), text, stem)
    if not atoms:
        atoms.append((0, len(leaves)))
    return Word(chunk, "hangul", tuple(leaves), tuple(dict.fromkeys(spans)), tuple(atoms), text, stem, is_doubtful)


def _without_particle(chunk: str) -> str:
    """Return a Hangul chunk without its longest particle, "" if it has none or fewer than two syllables would be left."""
    for size in range(min(4, len(chunk) - 2), 0, -1):
        if chunk[-size:] in PARTICLES:
            return chunk[:-size]
    return ""


def cover(word: Word) -> tuple[tuple[str, int], ...]:
    """Return the (term, offset) that stand for a word: of each atom its leaves, or its span where a leaf is missing."""
    out: list[tuple[str, int]] = []
    for start, width in word.atoms:
        leaves = word.leaves[start : start + width]
        if all(leaves):
            out.extend((leaf, start + offset) for offset, leaf in enumerate(leaves))
            continue
        whole = next((term for term, at, wide in word.spans if (at, wide) == (start, width)), None)
        if whole is not None:
            out.append((whole, start))
        else:
            out.extend((leaf, start + offset) for offset, leaf in enumerate(leaves) if leaf)
    return tuple(out)


def placed_leaves(text: str) -> tuple[tuple[str, int], ...]:
    """Return (term, position) of a text in order, the terms being those that `cover` each word."""
    out: list[tuple[str, int]] = []
    position = 0
    for word, _, _ in words(fold(text)):
        out.extend((term, position + offset) for term, offset in cover(word))
        position += word.width
    return tuple(out)


def leaves_of(text: str) -> tuple[str, ...]:
    """Return the terms of a text in order, those that `cover` each word."""
    return tuple(term for term, _ in placed_leaves(text))


def surfaces(text: str) -> Iterator[tuple[str, int]]:
    """Yield (whole word, its ordinal) of a text, for finding parts of words: Hangul with "+" marks, identifiers."""
    for ordinal, (word, _, _) in enumerate(words(fold(text))):
        yield surface_of(word), ordinal


def surface_of(word: Word) -> str:
    """Return the whole word as written, Hangul with "+" marks."""
    return word.marked or word.surface


__all__ = ["ANALYSIS_VERSION", "HANGUL_WORD", "LIGHT", "PARTICLES", "Token", "Word", "chunks", "cover", "fold", "hangul_word",
           "identifier_word", "leaves_of", "placed_leaves", "placed_terms", "surface_of", "surfaces", "tokens", "word_of", "word_tokens", "words"]  # fmt: skip
