"""The morphological analyser behind one function: mecab-ko with its dictionary and the library's user dictionary."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from incidents.errors import SearchUnavailable

if TYPE_CHECKING:
    from mecab import MeCab

Kind = Literal["noun", "stem", "prefix", "suffix", "become", "becoming", "function"]

_NOUNS = frozenset("NNG NNP NNB NNBC NR NP XR SN SL SH UNKNOWN UNA NA MM MAG MAJ IC".split())
_STEMS = frozenset(["VV", "VA", "VCN"])
_NAMES_IN_GI = frozenset("크기 보기 세기 굵기 밝기 소음 믿음 묶음 발전기 변압기 차단기 냉각기".split())
_DROPPED_SUFFIXES = frozenset(["들"])
_FOLLOWING = " 사람"
_lock = threading.Lock()
_mecab: MeCab | None = None
_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Morpheme:
    """A piece of a Hangul word. become: 지다 after a stem; becoming: both in one. `parts`: of a compound noun its nouns; of a stem its dictionary forms (멈추다)."""

    surface: str
    kind: Kind
    parts: tuple[str, ...] = ()


def user_words() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the shipped user dictionary: (word, its parts or nothing), as `data/user_dictionary.txt` lists it."""
    text = (resources.files("incidents.search") / "data" / "user_dictionary.txt").read_text("utf-8")
    out: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        for entry in line.partition("#")[0].split():
            parts = tuple(entry.split("+"))
            out["".join(parts)] = parts if len(parts) > 1 else out.get(entry, ())
            for part in parts:
                if len(parts) > 1 and len(part) > 1:
                    out.setdefault(part, ())
    return tuple(out.items())


@lru_cache(maxsize=1)
def word_forms() -> Mapping[str, str]:
    """Return {written form: dictionary form} of `data/word_forms.txt`; a dictionary form is its own."""
    text = (resources.files("incidents.search") / "data" / "word_forms.txt").read_text("utf-8")
    out: dict[str, str] = {}
    for line in text.splitlines():
        base, _, forms = line.partition("#")[0].partition("=")
        out.update((form, base.strip()) for form in (base.strip(), *forms.split()) if form)
    return out


@lru_cache(maxsize=1)
def listed_compounds() -> frozenset[str]:
    """Return the user dictionary's compounds: each of their parts is a word, also one of a single syllable."""
    return frozenset(word for word, parts in user_words() if parts)


@lru_cache(maxsize=1)
def dictionary_version() -> str:
    """Return a short hash of the shipped dictionaries, part of every token cache key."""
    return sha256(repr((user_words(), sorted(word_forms().items()))).encode()).hexdigest()[:12]


def morphemes(word: str) -> tuple[Morpheme, ...]:
    """Return the morphemes of one Hangul word in order; loads the analyser at the first call (about 0.1 s, 40 MB).

    A word alone is read too readily as a name (지운, 고객의 = 고 + 객의). With a plain noun after it the analyser sees a
    word in the middle of a sentence: on the library's sentences the words that come out otherwise than in their own
    sentence fall from 8 % to 4 %.
    """
    out = _parse("", word, _FOLLOWING)
    if len(word) == 2 and len(out) == 1 and out[0].kind == "noun" and word[1] in "이은는을를":
        other = _parse("한 ", word, " 매우")  # 망이, 망은: taken for names, and for a noun with its particle here
        if len(other) == 2 and other[0].kind == "noun" and other[1].kind == "function":
            return other
    return out


def _parse(before: str, word: str, after: str) -> tuple[Morpheme, ...]:
    """Return the morphemes of a word between others."""
    out: list[Morpheme] = []
    for item in _load().parse(before + word + after):
        if item.span.start < len(before):
            continue
        if item.span.start >= len(before) + len(word):
            break
        feature = item.feature
        out.extend(convert(item.surface, feature.pos, feature.type, feature.expression))
    return tuple(out)


def convert(surface: str, pos: str, type_: str | None, expression: str | None) -> list[Morpheme]:
    """Return what one token of a ko-dic dictionary stands for: its tag, type and expression as the dictionary has them."""
    first = pos.partition("+")[0]
    if first == "VX" and (expression or surface).partition("/")[0] == "지":
        return [Morpheme(surface, "become")]
    if type_ == "Compound" and expression and first in _NOUNS:
        parts = tuple(piece.split("/")[0] for piece in expression.split("+"))
        if parts[-1] in ("기", "음") and surface not in _NAMES_IN_GI:
            base = "".join(parts[:-1]) + "다"  # 지우기, 죽음: verbs, listed as nouns; 생성기 is none
            if [item.feature.pos for item in _load().parse(base + _FOLLOWING)][:1] in (["VV"], ["VA"]):
                return [Morpheme(surface, "stem", (base,))]
        if "".join(parts) == surface and len(parts) > 1:
            return [Morpheme(surface, "noun", parts)]
        return [Morpheme(surface, "noun")]
    if "+" in pos and expression:
        if "+지/VX" in expression and stem_then_become(surface, expression):
            return [Morpheme(surface, "becoming", stem_then_become(surface, expression))]
        stems = []
        for piece in expression.split("+"):
            form, _, rest = piece.partition("/")
            tag = rest.partition("/")[0]
            if tag in _STEMS:
                stems.append(form + "다")
            elif tag in _NOUNS and form:
                stems.append(form)
        if stems:
            return [Morpheme(surface, "stem", tuple(stems))]
        return [Morpheme(surface, "function")]
    if first in _STEMS:
        return [Morpheme(surface, "stem", (surface + "다",))]
    if first in _NOUNS:
        return [Morpheme(surface, "noun")]
    if first == "XPN":
        return [Morpheme(surface, "prefix")]
    if first == "XSN" and surface not in _DROPPED_SUFFIXES:
        return [Morpheme(surface, "suffix")]
    return [Morpheme(surface, "function")]


def stem_then_become(surface: str, expression: str) -> tuple[str, ...]:
    """Return (느려지다, 느리다) for 느려졌 = 느리/VA + 어/EC + 지/VX + 었/EP, nothing where it is built otherwise."""
    base, _, rest = expression.partition("/")
    is_stem = rest.partition("/")[0] in _STEMS
    last = (ord(surface[-1]) - 0xAC00) // 588
    if not is_stem or len(surface) < 2 or last != 12:  # 12: an initial ㅈ
        return ()
    return surface[:-1] + "지다", base + "다"


def _load() -> MeCab:
    global _mecab
    if _mecab is None:
        with _lock:
            if _mecab is None:
                from mecab import MeCab  # imported late: pages that never search needn't pay for the dictionary

                try:
                    path = compiled_dictionary()
                except (OSError, subprocess.CalledProcessError) as error:
                    raise SearchUnavailable from error
                _mecab = MeCab(user_dictionary_path=path if path else None)
    return _mecab


def use_folder(folder: Path) -> None:
    """Keep the compiled user dictionary in a folder of the library instead of one temporary folder a process."""
    global _folder
    _folder = folder


def compiled_dictionary() -> Path | None:
    """Return the user dictionary in the analyser's binary form, compiled once per content (about 0.1 s).

    Costs are low enough that a listed word wins over any split of it, and grow with its length, so that longer words win.
    The compiler writes to standard output, so it runs as a process of its own.
    """
    global _folder
    listed = user_words()
    if not listed:
        return None
    if _folder is None:
        _folder = Path(tempfile.mkdtemp(prefix="analyser-"))
    name = f"user-{dictionary_version()}.dic"
    if (_folder / name).exists():
        return _folder / name
    try:
        return _compile(listed, _folder, name)
    except OSError:  # a folder that may only be read is no reason not to search
        _folder = Path(tempfile.mkdtemp(prefix="analyser-"))
        return _compile(listed, _folder, name)


def _compile(listed: Sequence[tuple[str, tuple[str, ...]]], folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / name
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        source = Path(scratch) / "user.csv"
        source.write_text("".join(_csv_line(word, parts) for word, parts in listed), "utf-8")
        built = Path(scratch) / "user.dic"
        command = [
            sys.executable,
            "-m",
            "mecab",
            "dict-index",
            "-u",
            str(built),
            "-f",
            "utf-8",
            "-t",
            "utf-8",
            str(source),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603  # no part of it is input
        built.replace(target)
    return target


def _csv_line(word: str, parts: tuple[str, ...]) -> str:
    final = (ord(word[-1]) - 0xAC00) % 28 > 0
    right = 3534 if final else 3533  # NNG with and without a final consonant, in mecab-ko-dic 2.1.1
    cost = -500 * len(word)
    kind, expression = ("Compound", "+".join(f"{part}/NNG/*" for part in parts)) if parts else ("*", "*")
    return f"{word},1780,{right},{cost},NNG,*,{'T' if final else 'F'},{word},{kind},*,*,{expression}\n"
