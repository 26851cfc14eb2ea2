"""The vocabulary of headings and labels: which words of a foreign post-mortem mean which field of ours.

The words are data (`headings.yaml`); this module compares with them. Pure text.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml

TEXT_FIELDS: Final = ("symptom", "trigger", "cause", "detection", "lesson")
LIST_FIELDS: Final = ("contributing_factors", "actions", "follow_ups")
# In the order of a record.
FIELDS: Final = ("symptom", "trigger", "cause", "contributing_factors", "detection", "actions", "follow_ups", "lesson")
FIELD_LABELS: Final[Mapping[str, str]] = {
    "symptom": "증상",
    "trigger": "촉발",
    "cause": "원인",
    "contributing_factors": "기여 요인",
    "detection": "감지",
    "actions": "조치",
    "follow_ups": "후속 조치",
    "lesson": "교훈",
}
TIME_ROLES: Final = frozenset({"started_at", "detected_at", "mitigated_at", "resolved_at", "period", "date", "when"})
DROPPED_ROLES: Final[Mapping[str, str]] = {"people": "사람", "admin": "문서 관리", "tools": "도구 명령과 대화방"}

_VALUE_ROLES: Final = TIME_ROLES | DROPPED_ROLES.keys() | {"measure"}

Place = Literal["heading", "label"]

# From here on a heading or label means what it says; below, only where nothing around it says otherwise.
SURE: Final = 78
# A heading longer than this is a sentence, in which a phrase proves nothing.
_LONGEST_HEADING: Final = 90
_EXACT: Final = 100
_PATTERN: Final = 90
_MISSPELT: Final = 80
_PARTIAL: Final = 40
_WHOLE: Final = 2  # what a form of the whole heading costs at most; parts of it cost more
_LEAST_SHARE: Final = 0.4

_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\U0001fb00-\U0001fbff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\u25a0-\u25ff\u2190-\u21ff"
    "\U000e0020-\U000e007f\ufe0e\ufe0f\u200d\u20e3\u203b]+|:[a-z][a-z0-9_+-]{1,30}:"
)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\](?:\([^()\n]*\)|\[[^\[\]\n]*\])")
_MARKS = re.compile(r"\*\*|__|~~|[*_`]")
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^}\n]*\}\s*$")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_NUMBER = re.compile(
    r"^\s*(?:제\s*\d+\s*[장절항]|\d{1,2}(?:\.\d{1,2})+\.?(?=\s|\D)|\d{1,2}[.):](?!\d)|\(\d{1,2}\)|[가-하][.)](?=\s|\S)|\([가-하]\)"
    r"|[ivxIVX]{1,4}[.)]|[A-Za-z][.)](?=\s)|[\u2460-\u2473\u2776-\u277f]|[\u2160-\u217b][.)]?|D\d\s*[:.-])\s*"
)
_BULLET = re.compile(r"^\s*(?:[-*+•·∙◦○●▪■□▶▷◆◇►‣※❏❖☞➤→>#=|【\[<《「『]\s*)+")
_TAIL = re.compile(r"[\s】\]>》」』:：=#|·.\-–—]+$")
_PARENS = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")
_JOINED = re.compile(r"(?<=[가-힣])\s+(?=[가-힣])")
_NO_WORD = re.compile(r"[^0-9a-z가-힣]+")
_PARTS = re.compile(r"\s*[/|·∙]\s*|\s+[-–—]\s+|\s*[:：]\s+|\s*[–—]\s*|\s+(?:및|와|과)\s+")
_PREPOSITION = re.compile(r"^(?:of|on|to|for|from|in|at|by|during|after|with)\b")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of `headings.yaml`; `role` is a field of ours or a role of its own."""

    role: str
    keep_label: bool = False
    otherwise: str | None = None
    first_to: str | None = None
    labels_only: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """What a heading or label means, how sure that is (100 = the very words) and the words it rests on."""

    entry: Entry
    score: int
    phrase: str

    @property
    def role(self) -> str:
        return self.entry.role

    @property
    def is_exact(self) -> bool:
        return self.score >= _PATTERN


@dataclass(frozen=True, eq=False)  # compared and hashed by identity, so that answers can be remembered
class HeadingVocabulary:
    """Phrases and patterns of `headings.yaml`, folded once; `columns` gives each kind of column its heads by rank."""

    phrases: Mapping[str, Entry]
    columns: Mapping[str, Mapping[str, int]]
    patterns: tuple[tuple[re.Pattern[str], Entry], ...]
    by_length: Mapping[int, tuple[str, ...]] = field(repr=False)

    def match(self, text: str, place: Place = "heading") -> Match | None:
        """What `text` means as a heading of a section or as a label of a value; None when it isn't known."""
        return _match(self, text, place)

    def kind_of_heading(self, text: str) -> Literal["", "field", "value"]:
        """Whether the whole of `text` is a known heading, of text or of a value: cheap, for lines that may be headings.

        "value" stands for those behind which only a value follows (a person, a day), `""` for what isn't known.
        """
        if len(text) > _LONGEST_HEADING:
            return ""
        for key, cost in _candidates(text):
            entry = self.phrases.get(key) if cost <= _WHOLE else None
            if entry is not None and not entry.labels_only:
                return "value" if entry.role in _VALUE_ROLES else "field"
        return ""


def display(text: str) -> str:
    """A heading as an editor reads it: NFC, without emoji, emphasis, link targets, numbering and trailing signs."""
    return " ".join(_BULLET.sub("", without_markup(text)).split()).rstrip(":：#= ").strip()


def unnumbered(text: str) -> str:
    """A heading as an editor reads it, without its number (`2. 원인`, `가. 직접 원인`)."""
    shown = display(text)
    return _NUMBER.sub("", shown, count=1).strip() or shown


def without_markup(text: str) -> str:
    """One line of text: NFC, without emoji, emphasis, tags and link targets."""
    shown = _LINK.sub(r"\1", unicodedata.normalize("NFC", text))
    shown = _EMOJI.sub(" ", _TAG.sub("", _ATTRIBUTES.sub("", shown)))
    # Taking out marks may bring a letter and its accent together.
    return unicodedata.normalize("NFC", " ".join(_MARKS.sub("", shown).split()))


def fold(text: str) -> str:
    """The form in which headings are compared: lower case, letters and digits only, Hangul words joined."""
    folded = unicodedata.normalize("NFC", text).casefold().replace("&", " and ")
    folded = folded.replace("'", "").replace("\u2019", "")
    folded = " ".join(_NO_WORD.sub(" ", folded).split())
    return _JOINED.sub("", folded)


@cache
def heading_vocabulary() -> HeadingVocabulary:
    """The vocabulary of `headings.yaml`."""
    source = Path(__file__).with_name("headings.yaml").read_text(encoding="utf-8")
    return build_vocabulary(yaml.load(source, Loader=yaml.BaseLoader))  # noqa: S506 (BaseLoader makes only text)


def build_vocabulary(data: Mapping[str, Any]) -> HeadingVocabulary:
    """A vocabulary from the mapping that stands in `headings.yaml` (strings, lists and mappings only, hence Any)."""
    phrases: dict[str, Entry] = {}
    patterns: list[tuple[re.Pattern[str], Entry]] = []
    for raw in data["roles"]:
        entry = Entry(
            role=raw["role"],
            keep_label=raw.get("label") == "true",
            otherwise=raw.get("otherwise"),
            first_to=raw.get("first_to"),
            labels_only=raw.get("only") == "labels",
        )
        for phrase in raw.get("phrases", ()):
            phrases.setdefault(fold(phrase), entry)
        patterns.extend((re.compile(pattern), entry) for pattern in raw.get("patterns", ()))
    by_length: dict[int, list[str]] = {}
    for phrase in phrases:
        by_length.setdefault(len(phrase), []).append(phrase)
    columns = {
        name: {fold(head): order for order, head in reversed(list(enumerate(heads)))}
        for name, heads in data.get("columns", {}).items()
    }
    return HeadingVocabulary(
        phrases, columns, tuple(patterns), {length: tuple(found) for length, found in by_length.items()}
    )


def _candidates(text: str) -> Iterator[tuple[str, int]]:
    """Folded forms of a heading with what each costs: whole, unnumbered, without brackets, its parts, the brackets."""
    shown = display(text)
    seen: set[str] = set()
    unnumbered = _NUMBER.sub("", shown, count=1)
    for raw, cost in (
        (shown, 0),
        (unnumbered, 0),
        (_TAIL.sub("", unnumbered), 0),
        (re.sub(r"^\d{1,2}\s+", "", shown), 1),
        (_PARENS.sub(" ", unnumbered), 2),
        *((part, 5) for part in _PARTS.split(_PARENS.sub(" ", unnumbered))),
        *((part, 12) for part in _PARENS.findall(unnumbered)),
    ):
        key = fold(raw)
        if key and key not in seen:
            seen.add(key)
            yield key, cost


@lru_cache(maxsize=20_000)
def _match(vocabulary: HeadingVocabulary, text: str, place: Place) -> Match | None:
    if len(text) > 4 * _LONGEST_HEADING:
        return None
    best: Match | None = None
    for key, cost in _candidates(text):
        for found in _compare(vocabulary, key, place):
            match = Match(found.entry, found.score - cost, found.phrase)
            if best is None or (match.score, len(match.phrase)) > (best.score, len(best.phrase)):
                best = match
    return best


def _compare(vocabulary: HeadingVocabulary, key: str, place: Place) -> Iterator[Match]:
    def allowed(entry: Entry) -> bool:
        return place == "label" or not entry.labels_only

    exact = vocabulary.phrases.get(key)
    if exact is not None and allowed(exact):
        yield Match(exact, _EXACT, key)
        return
    for pattern, entry in vocabulary.patterns:
        if allowed(entry) and (found := pattern.search(key)):
            yield Match(entry, _PATTERN, found.group())
    if len(key) > _LONGEST_HEADING:
        return
    for phrase in _near(vocabulary, key):
        if allowed(vocabulary.phrases[phrase]):
            yield Match(vocabulary.phrases[phrase], _MISSPELT, phrase)
    if place == "label":
        return  # a label that only holds a phrase proves nothing, and there are many of them
    for phrase, entry in vocabulary.phrases.items():
        # A word that is too short for a heading proves nothing as a part of one.
        if not entry.labels_only and (share := _share(phrase, key)):
            yield Match(entry, _PARTIAL + int(30 * share), phrase)


def _near(vocabulary: HeadingVocabulary, key: str) -> Iterator[str]:
    """Phrases that differ from a Latin `key` by a slip of the hand: one in six letters, two in twelve."""
    if len(key) < 6 or not key.isascii():
        return
    slips = 2 if len(key) >= 12 else 1
    for length in range(len(key) - slips, len(key) + slips + 1):
        for phrase in vocabulary.by_length.get(length, ()):
            if phrase.isascii() and phrase[0] == key[0] and _distance(phrase, key, slips) <= slips:
                yield phrase


def _distance(left: str, right: str, limit: int) -> int:
    """The edit distance with neighbours swapped as one slip (Damerau), or `limit` + 1 as soon as it must be larger."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        above, row = row, [i]
        for j, b in enumerate(right, 1):
            best = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and b == left[i - 2]:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        if min(row) > limit:
            return limit + 1
        before = above
    return row[-1]


def _share(phrase: str, key: str) -> float:
    """How much of `key` the phrase makes up, 0.0 when it doesn't stand where the main word of a heading stands."""
    at = key.find(phrase)
    if at < 0 or len(phrase) < 2 or phrase == key:
        return 0.0
    share = len(phrase) / len(key)
    before, after = key[:at], key[at + len(phrase) :]
    if phrase.isascii():
        if len(phrase) < 4 or (before and before[-1].isalnum()) or (after and after[0].isalnum()):
            return 0.0
        is_main = not after or (not before and bool(_PREPOSITION.match(after.strip()))) or share >= _LEAST_SHARE
        return share if is_main else 0.0
    # The last noun is the main one in Korean; a two-syllable one must stand there.
    if not after:
        return max(share, 0.3)
    return share if share >= _LEAST_SHARE and len(phrase) >= 4 else 0.0


def any_match(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    """Whether any of the patterns is found in `text`."""
    return any(pattern.search(text) for pattern in patterns)
