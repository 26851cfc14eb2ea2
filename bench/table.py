"""Figures as a table to read, and the ratios that hold on any machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Results = Mapping[str, Mapping[str, Mapping[str, Any]]]
COLUMNS = (
    ("cold p50", "cold", "p50"),
    ("p95", "cold", "p95"),
    ("warm p50", "warm", "p50"),
    ("p99", "warm", "p99"),
    ("req/s", "warm_rps", ""),
    ("304 p50", "not_modified", "p50"),
    ("import s", "import_s", ""),
    ("index s", "index_s", ""),
    ("update ms", "update_ms", ""),
    ("index MB", "index_mb", ""),
    ("memory MB", "memory_mb", ""),
)


def table(results: Results) -> str:
    """Return all figures, one line a candidate and size; milliseconds for one client, requests a second for eight."""
    lines = [["records", "", *(name for name, _, _ in COLUMNS)]]
    for size, candidates in results.items():
        for name, figures in candidates.items():
            if "failed" in figures:
                lines.append([f"{int(size):,}", name, "failed", *[""] * (len(COLUMNS) - 1)])
                continue
            engine = figures.get("engine_p50_ms")
            cells = [_cell(figures, key, part) for _, key, part in COLUMNS]
            if engine is not None:
                cells[0] = f"({engine:.2f})"
            lines.append([f"{int(size):,}", name, *cells])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


def _cell(figures: Mapping[str, Any], key: str, part: str) -> str:
    value = figures.get(key)
    if part and isinstance(value, Mapping):
        value = value.get(part)
    if value is None or isinstance(value, Mapping):
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratios(results: Results) -> dict[str, float]:
    """Return what this library promises of itself, each as measured ÷ compared; smaller is better but for requests."""
    found: dict[str, float] = {}

    def put(name: str, over: float | None, under: float | None) -> None:
        if over is not None and under:
            found[name] = round(over / under, 4)

    for size, candidates in results.items():
        own, ground = candidates.get("ours", {}), candidates.get("floor", {})
        put(f"{size}: warm page / floor, p50", _side(own, "warm"), _side(ground, "warm"))
        put(f"{size}: 304 / floor's 304, p50", _side(own, "not_modified"), _side(ground, "not_modified"))
        put(f"{size}: requests / floor's, 8 clients", own.get("warm_rps"), ground.get("warm_rps"))
        for peer in ("datasette", "haystack"):
            other = candidates.get(peer, {})
            put(f"{size}: page never asked before / {peer}, p50", _side(own, "cold"), _side(other, "cold"))
            put(f"{size}: new page of a known query / {peer}, p50", _side(own, "known"), _side(other, "known"))
        put(f"{size}: postgres page never asked before, p50 ms", _of(candidates.get("postgres", {}), "cold"), 1)
    sizes = sorted(results, key=int)
    if len(sizes) > 1:
        small, large = results[sizes[0]].get("ours", {}), results[sizes[-1]].get("ours", {})
        grown = f"{sizes[-1]} / {sizes[0]}"
        for name, key in (("cold page", "cold"), ("listing page", "listing_cold"), ("record page", "record_cold")):
            put(f"{grown}: {name}, p50", _of(large, key), _of(small, key))
        for name, told in (("ours", "memory of a worker"), ("postgres", "memory of a postgres worker")):
            few, many = results[sizes[0]].get(name, {}), results[sizes[-1]].get(name, {})
            if "worker_mb" in few and "worker_mb" in many:
                found[f"{grown}: {told}, MB more"] = many["worker_mb"] - few["worker_mb"]
    return found


def _side(figures: Mapping[str, Any], kind: str) -> float | None:
    """Return what was measured while all servers were asked in turn."""
    value = figures.get("side", {}).get(kind)
    return float(value) if value else None


def _of(figures: Mapping[str, Any], key: str) -> float | None:
    value = figures.get(key)
    return float(value["p50"]) if isinstance(value, Mapping) else None
