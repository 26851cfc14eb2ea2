"""python -m bench: this library beside its peers, on the same generated records and queries, in one run.

    python -m bench [--sizes 1000,10000,100000] [--only ours,postgres,floor,datasette,haystack,tantivy]

Prints a table, writes results.json and pages.svg beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.candidates import Figures, datasette, floor, haystack, machine, ours, postgres, tantivy
from bench.environment import set_up
from bench.plot import draw
from bench.side_by_side import side_by_side
from bench.table import ratios, table

CANDIDATES: dict[str, Callable[[int], Figures]] = {
    "ours": ours,
    "postgres": postgres,
    "floor": floor,
    "datasette": datasette,
    "haystack": haystack,
    "tantivy": tantivy,
}
HAYSTACK_LIMIT = 10_000  # building its index takes an hour beyond
HERE = Path(__file__).resolve().parent


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description="Measure this library beside its peers.")
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of records, separated by commas")
    parser.add_argument("--only", default=",".join(CANDIDATES), help="candidates, separated by commas")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    chosen = given.only.split(",")
    set_up()
    results: dict[str, dict[str, Figures]] = {}
    for size in sizes:
        for name in chosen:
            if name == "haystack" and size > HAYSTACK_LIMIT:
                continue
            started = time.perf_counter()
            print(f"{name}, {size:,} records …", file=sys.stderr, flush=True)
            try:
                results.setdefault(str(size), {})[name] = CANDIDATES[name](size)
            except (RuntimeError, OSError) as error:  # a peer that fails is told of, and the others are measured
                print(f"{name}: {error}", file=sys.stderr)
                results.setdefault(str(size), {})[name] = {"failed": str(error)[-300:]}
            print(f"  {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
        if {"ours", "floor"} <= set(chosen):
            print(f"all in turn, {size:,} records …", file=sys.stderr, flush=True)
            for name, kinds in side_by_side(size).items():
                if name in results[str(size)]:
                    results[str(size)][name]["side"] = {kind: found.p50 for kind, found in kinds.items()}
    whole = {
        "measured_at": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "python": platform.python_version(),
        "load": [round(value, 1) for value in os.getloadavg()],
        "results": results,
        "ratios": ratios(results),
    }
    print(table(results))
    print("\n".join(f"{ratio:10.4g}  {name}" for name, ratio in ratios(results).items()))
    (HERE / "results.json").write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", "utf-8")
    (HERE / "pages.svg").write_text(draw(results), "utf-8")


if __name__ == "__main__":
    main()
