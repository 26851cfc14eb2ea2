"""Which morphological analyser: python-mecab-ko, kiwipiepy or lindera, each with the same user dictionary.

Everything around the analyser stays as it is: folding, identifiers, compounds, synonyms, ranking. Compared are recall
pairs, judged queries, time to load, memory of a process, and speed. `python -m bench.analysers`
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings

from bench.side_environment import environment, run_in

PACKAGES = {"kiwi": ["kiwipiepy==0.24.1"], "lindera": ["lindera-python-ko-dic==2.2.0"]}
WORKER = Path(__file__).parent / "analyser_worker.py"
PAIRS = Path(__file__).resolve().parent.parent / "tests" / "search" / "data" / "recall_pairs.yaml"


def main() -> int:
    """Print one line an analyser."""
    if not settings.configured:
        settings.configure(USE_I18N=False)
    from incidents.search import morphemes

    own = morphemes.morphemes
    asked: set[str] = set()

    def noting(word: str) -> Any:
        asked.add(word)
        return own(word)

    rows = {"mecab": _judge(noting)}
    listed = [[word, list(parts)] for word, parts in morphemes.user_words()]
    given = json.dumps({"words": sorted(asked), "user": listed}, ensure_ascii=False)
    for name in ("mecab", *PACKAGES):
        python = environment(name, PACKAGES[name]) if name in PACKAGES else Path(sys.executable)
        answer = run_in(python, WORKER, given, arguments=[name]) if python is not None else None
        if answer is None:
            continue
        result = json.loads(answer)
        if name in PACKAGES:
            known = {word: _morphemes(found) for word, found in result["words"].items()}
            rows[name] = _judge(_looked_up(known))
        rows[name] |= result["figures"]
    show(rows)
    return 0


def _looked_up(known: dict[str, Any]) -> Callable[[str], Any]:
    """Return a function that looks words up in what another process found."""
    return lambda word: known.get(word) or ()


def _judge(analyse: Callable[[str], Any]) -> dict[str, float]:
    """Return recall pairs and judged queries with an analyser in the place of the library's own."""
    from bench.judged import figures, judged_queries
    from bench.relevance import own_rankings
    from incidents.search import korean

    former = vars(korean)["morphemes"]
    vars(korean)["morphemes"] = analyse  # the one place that asks the analyser
    korean.hangul_word.cache_clear()
    try:
        pairs = yaml.safe_load(PAIRS.read_text("utf-8"))["pairs"]
        right = [
            all(term in {t.term for t in korean.tokens(pair["text"])} for term in korean.leaves_of(pair["query"]))
            is pair["match"]
            for pair in pairs
        ]
        queries = judged_queries()
        result = figures(queries, own_rankings([query.text for query in queries]))
    finally:
        korean.hangul_word.cache_clear()
        vars(korean)["morphemes"] = former
    true_pairs = [ok for ok, pair in zip(right, pairs, strict=True) if pair["match"]]
    false_pairs = [ok for ok, pair in zip(right, pairs, strict=True) if not pair["match"]]
    return {
        "true_pairs": sum(true_pairs) / len(true_pairs),
        "false_pairs": sum(false_pairs) / len(false_pairs),
        "ndcg": result.ndcg,
        "recall": result.recall,
    }


def _morphemes(found: list[list[Any]]) -> tuple[Any, ...]:
    from incidents.search.morphemes import Morpheme, convert

    out: list[Morpheme] = []
    for surface, kind, parts in found:
        if kind == "mecab":
            tag, type_, expression = parts
            out.extend(
                convert(surface, tag, None if type_ == "*" else type_, None if expression == "*" else expression)
            )
        else:
            out.append(Morpheme(surface, kind, tuple(parts)))
    return tuple(out)


def show(rows: dict[str, dict[str, float]]) -> None:
    """Print the table."""
    columns = ("true_pairs", "false_pairs", "ndcg", "recall", "load_s", "memory_mb", "words_per_s")
    print(f"{'':10}" + "".join(f"{column:>13}" for column in columns))
    for name, row in rows.items():
        print(f"{name:10}" + "".join(f"{row[column]:13,.3f}" for column in columns))


if __name__ == "__main__":
    sys.exit(main())
