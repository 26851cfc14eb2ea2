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
    "components": {"title": 3.0, "cause": 2.0, "symptom": 2.0, "trigger": 1.5, "actions": 1.0, "contributing_factors": 0.5, "follow_ups": 0.5},
    "factors": {"contributing_factors": 3.0, "cause": 1.5, "lesson": 1.5, "detection": 1.0, "trigger": 0.5},
}  # fmt: skip
LEAST_SCORE: Final = 1.5
_WEAK: Final = 0.5
UNKNOWN: Final = "unknown"

_SPLIT_LABEL = re.compile(r"[·/]|\(|\)")
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+|(?<=다)\.\s*")
_CLAUSE = re.compile(r"[;,—–]|\bbut\b|\balthough\b|\bwhile\b|지만|으나", re.IGNORECASE)
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
        after = _CLAUSE.split(sentence[found.end() :])[0]
        if not any_match(rules().negation, f"{before[-40:]}{found.group()}{after[:24]}"):
            return True
    return False


def _searchable(text: str) -> tuple[str, str]:
    """The text for Latin terms (lower case) and for Hangul ones (without spaces: 이름 풀이 = 이름풀이)."""
    lowered = text.casefold()
    return lowered, "".join(lowered.split())


def _scored(kind: Kind, term: TermLike, texts: Mapping[str, tuple[str, str]]) -> Suggestion | None:
    score = 0.0
    words: dict[str, None] = {}
    for name, weight in WEIGHTS[kind].items():
        if name not in texts:
            continue
        for word in _words(term.label, tuple(term.aliases)):
            if _finder(word)(texts[name]):
                score += weight * (_WEAK if word.casefold() in rules().weak_terms else 1.0)
                words.setdefault(word)
    if score < LEAST_SCORE:
        return None
    return Suggestion(kind, term.slug, term.label, round(score, 2), tuple(words))


@lru_cache(maxsize=2_000)
def _words(label: str, aliases: tuple[str, ...]) -> tuple[str, ...]:
    """The words that stand for a term: its label, the parts of it (`과부하·연쇄 장애`), its aliases."""
    parts = [part.strip() for part in _SPLIT_LABEL.split(label)]
    return tuple(dict.fromkeys(word for word in (*parts, *aliases) if len(word) >= 2))


@lru_cache(maxsize=5_000)
def _finder(word: str) -> Callable[[tuple[str, str]], bool]:
    """Whether a word stands in a text: whole for Latin (with a plural s), anywhere in a compound for Hangul."""
    folded = word.casefold()
    if _HANGUL.search(folded):
        joined = "".join(folded.split())
        return lambda texts: joined in texts[1]
    spelled = r"[\s-]?".join(map(re.escape, folded.split()))
    pattern = re.compile(rf"(?<![0-9a-z]){spelled}(?:s|es)?(?![0-9a-z])")
    return lambda texts: pattern.search(texts[0]) is not None


def labels(suggestions: Iterable[Suggestion]) -> str:
    """Suggestions as an editor reads them: label, slug and the words they rest on."""
    return "; ".join(f"{found.label} ({found.slug}: {', '.join(found.words)})" for found in suggestions)
