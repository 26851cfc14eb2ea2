"""Run in an environment that has one analyser: words in on standard input as JSON, their morphemes and figures out.

python analyser_worker.py kiwi|lindera|mecab < {"words": […], "user": [[word, [part, …]], …]}
A morpheme is [surface, kind, parts], kinds as incidents.search.morphemes has them. Every analyser sees a word as the
library shows it to its own: with the same noun after it, and with the same user dictionary.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NOUNS = {"NNG", "NNP", "NNB", "NNBC", "NR", "NP", "XR", "SN", "SL", "SH", "MM", "MAG", "MAJ", "IC", "UN", "UNKNOWN"}
STEMS = {"VV", "VA", "VCN"}
FOLLOWING = " 사람"
User = list[tuple[str, list[str]]]
Analyse = Callable[[str], list[Any]]


def memory() -> float:
    """Return the resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def kiwi(user: User) -> Analyse:
    """Return a function word -> morphemes of kiwipiepy."""
    from kiwipiepy import Kiwi  # type: ignore[import-not-found]

    analyser = Kiwi(num_workers=1)
    for word, _ in user:
        analyser.add_user_word(word, "NNG", 0)
    parts = {word: pieces for word, pieces in user if pieces}

    def analyse(word: str) -> list[Any]:
        out: list[Any] = []
        done = 0
        for token in analyser.tokenize(word + FOLLOWING):
            if token.start >= len(word):
                break
            tag = token.tag.partition("-")[0]
            surface = word[max(done, token.start) : token.start + token.len]
            done = max(done, token.start + token.len)
            if tag in STEMS:
                out.append([surface, "stem", [token.form + "다"]])
            elif tag == "VX" and token.form == "지":
                out.append([surface, "become", []])
            elif tag in NOUNS:
                out.append([surface or token.form, "noun", parts.get(surface, [])])
            elif tag == "XPN":
                out.append([surface, "prefix", []])
            elif tag == "XSN" and surface != "들":
                out.append([surface, "suffix", []])
            else:
                out.append([surface, "function", []])
        return out

    return analyse


def mecab(user: User) -> Analyse:
    """Return a function word -> morphemes of the library's own analyser, to be measured in a process like the others."""
    from incidents.search.morphemes import morphemes

    return lambda word: [[m.surface, m.kind, list(m.parts)] for m in morphemes(word)]


def lindera(user: User) -> Analyse:
    """Return a function word -> morphemes of lindera with ko-dic, its features read as mecab's are."""
    from lindera import TokenizerBuilder  # type: ignore[import-not-found]

    listed = Path(tempfile.mkdtemp()) / "user.csv"
    listed.write_text("".join(f"{word},NNG,{word}\n" for word, _ in user))
    parts = {word: pieces for word, pieces in user if pieces}
    builder = TokenizerBuilder()
    builder.set_mode("normal")
    builder.set_dictionary("embedded://ko-dic")
    builder.set_user_dictionary(str(listed))
    analyser = builder.build()

    def analyse(word: str) -> list[Any]:
        out: list[Any] = []
        at = 0
        for token in analyser.tokenize(word + FOLLOWING):
            surface, details = token.surface, token.details
            if at >= len(word):
                break
            at += len(surface)
            if surface in parts:
                out.append([surface, "noun", parts[surface]])
                continue
            tag, kind = details[0], details[4] if len(details) > 4 else "*"
            out.append([surface, "mecab", [tag, kind, details[7] if len(details) > 7 else "*"]])
        return out

    return analyse


def main() -> None:
    """Analyse what is given."""
    given = json.load(sys.stdin)
    before, started = memory(), time.perf_counter()
    analyse = {"kiwi": kiwi, "lindera": lindera, "mecab": mecab}[sys.argv[1]](given["user"])
    analyse("서버가")
    loaded = time.perf_counter() - started
    started = time.process_time()
    found = {word: analyse(word) for word in given["words"]}
    seconds = time.process_time() - started
    figures = {"load_s": loaded, "memory_mb": memory() - before, "words_per_s": len(found) / seconds}
    json.dump({"figures": figures, "words": found}, sys.stdout, ensure_ascii=False)


if __name__ == "__main__":
    main()
