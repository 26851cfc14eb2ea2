"""Suggested terms of the taxonomy for a draft, each with the words it rests on. Pure text.

The score is a sum that can be said in a sentence: each label or alias of a term that stands in a field counts once per
field, by the field's weight, and half when the word is too common to prove anything (`signals.yaml`). An editor
confirms; nothing here is a decision.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, Protocol

from incidents.documents.rules import rules
from incidents.documents.vocabulary import any_match

Kind = Literal["causes", "components", "factors"]

# As many as a record may hold (FORMAT: 1–3 causes, 1–5 components, 0–6 factors).
MOST: Final[Mapping[Kind, int]] = {"causes": 3, "components": 5, "factors": 6}
# How much a field says about a kind of term. The title names what failed; a lesson speaks of much that didn't.
WEIGHTS: Final[Mapping[Kind, Mapping[str, float]]] = {
    "causes": {"title": 2.0, "cause": 3.0, "trigger": 2.0, "symptom": 1.0, "contributing_factors": 0.5},
    "components": {
        "title": 3.0, "cause": 2.0, "symptom": 2.0, "trigger": 1.5, "actions": 1.0,
        "contributing_factors": 0.5, "follow_ups": 0.5,
    },
    "factors": {"contributing_factors": 3.0, "cause": 1.5, "lesson": 1.5, "detection": 1.0, "trigger": 0.5},
}  # fmt: skip
LEAST_SCORE: Final = 1.5
LEAST_WEAK_SCORE: Final = 2.5  # where every word is a common one
_WEAK: Final = 0.5
UNKNOWN: Final = "unknown"

_SPLIT_LABEL = re.compile(r"[·/]|\(|\)")
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+|(?<=다)\.\s*")
_CLAUSE = re.compile(r"[;,—–]|\bbut\b|\balthough\b|\bwhile\b|지만|으나", re.IGNORECASE)
_LATIN = re.compile(r"[A-Za-z'\u2019]+")
_HANGUL = re.compile("[가-힣]")


class TermLike(Protocol):
    """A term of the taxonomy: its stable slug, what a reader sees, and other words for it."""

    @property
    def slug(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def aliases(self) -> Sequence[str]: ...


class TaxonomyLike(Protocol):
    """The vocabularies from which a draft may take slugs, and no others."""

    @property
    def causes(self) -> Sequence[TermLike]: ...
    @property
    def components(self) -> Sequence[TermLike]: ...
    @property
    def factors(self) -> Sequence[TermLike]: ...
    @property
    def detection_methods(self) -> Sequence[TermLike]: ...


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A term that the text speaks of: where (field → words), and the sum of their weights."""

    kind: str
    slug: str
    label: str
    score: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DetectionSuggestion:
    """A proposed way of detection with the statement it rests on; `unknown` rests on nothing."""

    slug: str
    basis: str = ""


def suggest_terms(texts: Mapping[str, str], taxonomy: TaxonomyLike) -> tuple[Suggestion, ...]:
    """Suggested causes, components and factors, the best first within each kind.

    `texts` holds the draft's title and fields by name, as plain or Markdown text.
    """
    folded = {name: _searchable(text) for name, text in texts.items() if text}
    found: list[Suggestion] = []
    kinds: tuple[tuple[Kind, Sequence[TermLike]], ...] = (
        ("causes", taxonomy.causes),
        ("components", taxonomy.components),
        ("factors", taxonomy.factors),
    )
    for kind, terms in kinds:
        scored = [suggestion for term in terms if (suggestion := _scored(kind, term, folded)) is not None]
        scored.sort(key=lambda suggestion: (-suggestion.score, suggestion.slug))
        found.extend(scored[: MOST[kind]])
    return tuple(found)


def suggest_detection(texts: Sequence[str], taxonomy: TaxonomyLike) -> DetectionSuggestion:
    """The way of detection that the first of `texts` speaks of that speaks of any; `unknown` when none does.

    Later texts are weaker evidence (a timeline after the section on detection).
    """
    allowed = {term.slug for term in taxonomy.detection_methods}
    for text in texts:
        scores: dict[str, int] = {}
        basis: dict[str, str] = {}
        for sentence in _SENTENCE.split(text[:20_000]):
            for slug, patterns in rules().detection.items():
                if slug in allowed and any(_affirmed(sentence[:600], pattern) for pattern in patterns):
                    scores[slug] = scores.get(slug, 0) + 1
                    basis.setdefault(slug, " ".join(sentence.split())[:160])
        if scores:
            # On a tie the one said first: people begin with how it was found, and go on to what should have found it.
            best = max(scores, key=lambda slug: (scores[slug], -text.find(basis[slug][:20])))
            return DetectionSuggestion(best, basis[best])
    return DetectionSuggestion(UNKNOWN)


def _affirmed(sentence: str, pattern: re.Pattern[str]) -> bool:
    """Whether the pattern stands in a clause that isn't negated ("not monitoring", "경보는 울리지 않았다")."""
    for found in pattern.finditer(sentence):
        before = _CLAUSE.split(sentence[: found.start()])[-1]
        # Korean negates behind the verb, English before it ("noticed that no train had moved" is no negation).
        after = _LATIN.sub("", _CLAUSE.split(sentence[found.end() :])[0][:24])
        if not any_match(rules().negation, f"{before[-40:]}{found.group()}{after}"):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Text:
    """A field as terms are looked for in it: as written, in lower case, and without spaces (이름 풀이 = 이름풀이)."""

    written: str
    lowered: str
    joined: str


def _searchable(text: str) -> _Text:
    lowered = text.casefold()
    return _Text(text, lowered, "".join(lowered.split()))


def _scored(kind: Kind, term: TermLike, texts: Mapping[str, _Text]) -> Suggestion | None:
    score = 0.0
    words: dict[str, None] = {}
    for name, weight in WEIGHTS[kind].items():
        if name not in texts:
            continue
        for word in (*_words(term.label, tuple(term.aliases)), *rules().cues.get(term.slug, ())):
            if not _finder(word)(texts[name]):
                continue
            score += weight * (_WEAK if word.casefold() in rules().weak_terms else 1.0)
            words.setdefault(word)
    is_weak = all(word.casefold() in rules().weak_terms for word in words)
    if score < (LEAST_WEAK_SCORE if is_weak else LEAST_SCORE):
        return None
    return Suggestion(kind, term.slug, term.label, round(score, 2), tuple(words))


@lru_cache(maxsize=2_000)
def _words(label: str, aliases: tuple[str, ...]) -> tuple[str, ...]:
    """The words that stand for a term: its label, the parts of it (`과부하·연쇄 장애`), its aliases."""
    parts = [part.strip() for part in _SPLIT_LABEL.split(label)]
    return tuple(dict.fromkeys(word for word in (*parts, *aliases) if len(word) >= 2))


@lru_cache(maxsize=5_000)
def _finder(word: str) -> Callable[[_Text], bool]:
    """Whether a word stands in a text: whole for Latin (with a plural s), anywhere in a compound for Hangul.

    A short word in capitals is a name and must be written so (`WAS`, not "was"); two Latin words may change places
    ("disk full", "full disk").
    """
    folded = word.casefold()
    if _HANGUL.search(folded):
        joined = "".join(folded.split())
        if len(joined) <= 2:
            # 인증 is no word in 인증서: a short word ends where it ends, or before a particle.
            short = re.compile(
                rf"(?<![가-힣]){re.escape(joined)}(?:[을를이가은는에의로와과도만]|으로|에서|까지)?(?![가-힣])"
            )
            return lambda text: joined in text.lowered and short.search(text.lowered) is not None
        return lambda text: joined in text.joined
    parts = [re.escape(part) for part in folded.split()]
    if word.isupper() and len(word) <= 4:
        written = re.compile(rf"(?<![0-9A-Za-z]){re.escape(word)}s?(?![0-9A-Za-z])")
        return lambda text: word in text.written and written.search(text.written) is not None
    forms = [r"[\s-]?".join(parts)]
    if len(parts) == 2:
        forms.append(rf"{parts[1]}[\s-]+{parts[0]}")
    pattern = re.compile(rf"(?<![0-9a-z])(?:{'|'.join(forms)})(?:s|es)?(?![0-9a-z])")
    # Most words stand in no text: a plain look for the first part is much cheaper than the expression.
    first = folded.split()[0]
    return lambda text: first in text.lowered and pattern.search(text.lowered) is not None


def labels(suggestions: Iterable[Suggestion]) -> str:
    """Suggestions as an editor reads them: label, slug and the words they rest on."""
    return "; ".join(f"{found.label} ({found.slug}: {', '.join(found.words)})" for found in suggestions)
