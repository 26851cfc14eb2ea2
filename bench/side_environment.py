"""Environments for what only benchmarks need, made at run time beside the library's data, never in its own environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path


def environment(name: str, packages: list[str]) -> Path | None:
    """Return the Python of an environment that has packages; made once per list, None where none can be had."""
    root = Path(os.environ.get("KB_BENCH_DIR") or Path(tempfile.gettempdir()) / "incident-library-bench")
    folder = root / f"{name}-{sha256(' '.join(packages).encode()).hexdigest()[:10]}"
    python = folder / "bin" / "python"
    done = folder / ".installed"
    if done.exists():
        return python
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        subprocess.run(install, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no environment for {name}: {error}", file=sys.stderr)
        return None
    done.touch()
    return python


def run_in(
    python: Path, script: Path, given: str, *, arguments: Sequence[str] = (), timeout: float = 1800
) -> str | None:
    """Return what a script writes in another environment, given text on standard input; None if it fails."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    done = subprocess.run(
        [str(python), str(script), *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env=env,
    )
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return None
    return done.stdout
