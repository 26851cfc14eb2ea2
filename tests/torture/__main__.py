"""`make torture`: what breaks only after a while. Prints its figures; exit 1 where a promise was broken.

python -m tests.torture                    # everything, about a quarter of an hour on two quiet cores
python -m tests.torture kills --scale 0.1  # one of: kills, load, queries, imports, backup
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kb.settings")
os.environ["KB_DATA_DIR"] = tempfile.mkdtemp(prefix="torture-")

import django

django.setup()

from tests.torture.scenarios import SCENARIOS, Figures  # noqa: E402, needs the settings


def main() -> int:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*SCENARIOS, []], help="which; all without")
    parser.add_argument("--scale", type=float, default=1.0, help="of the counts and seconds")
    options = parser.parse_args()
    folder = Path(os.environ["KB_DATA_DIR"])
    results: list[Figures] = []
    for name in options.names or SCENARIOS:
        print(f"{name} …", flush=True)
        results.append(SCENARIOS[name](folder / name, options.scale))
        print(results[-1], flush=True)
    return 1 if any(figures.broken for figures in results) else 0


if __name__ == "__main__":
    sys.exit(main())
