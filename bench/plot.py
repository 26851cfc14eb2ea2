"""The plot for the README: a cold search page's median by number of records, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Mapping
from math import log10
from typing import Any

NAMES = {
    "ours": "this library",
    "datasette": "Datasette",
    "haystack": "haystack + Whoosh",
    "floor": "ready page (floor)",
}
STROKES = {"ours": "#0b6b57", "datasette": "#8a5a00", "haystack": "#9a2f2f", "floor": "#6b6b6b"}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 64, 170, 24, 48


def draw(results: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Return an SVG that reads on light and dark ground."""
    points = {
        name: [
            (int(size), float(candidates[name]["warm" if name == "floor" else "cold"]["p50"]))
            for size, candidates in sorted(results.items(), key=lambda item: int(item[0]))
            if "cold" in candidates.get(name, {})
        ]
        for name in NAMES
    }
    sizes = sorted({size for line in points.values() for size, _ in line}) or [1000]
    low, high = -1, 4  # 0.1 ms to 10 s

    def x(size: int) -> float:
        span = log10(sizes[-1] / sizes[0]) or 1
        return LEFT + (WIDTH - LEFT - RIGHT) * (log10(size / sizes[0]) / span if len(sizes) > 1 else 0.5)

    def y(milliseconds: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (log10(max(milliseconds, 0.1)) - low) / (high - low)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif" font-size="13" fill="#808080">',
        "<title>Search page never asked before: median milliseconds by number of records</title>",
    ]
    for power in range(low, high + 1):
        label = f"{10**power:g} ms" if power < 3 else f"{10 ** (power - 3):g} s"
        out.append(f'<path d="M{LEFT} {y(10**power):.1f}H{WIDTH - RIGHT}" stroke="#808080" stroke-opacity=".3"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(10**power) + 4:.1f}" text-anchor="end">{label}</text>')
    for size in sizes:
        out.append(f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size:,}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">records</text>')
    ends: list[float] = []
    for name, line in sorted(points.items(), key=lambda item: -item[1][-1][1] if item[1] else 0):
        if not line:
            continue
        path = "L".join(f"{x(size):.1f} {y(value):.1f}" for size, value in line)
        out.append(f'<path d="M{path}" fill="none" stroke="{STROKES[name]}" stroke-width="2.5"/>')
        out += [
            f'<circle cx="{x(size):.1f}" cy="{y(value):.1f}" r="4" fill="{STROKES[name]}"/>' for size, value in line
        ]
        size, value = line[-1]
        at = y(value) + 4
        while any(abs(at - other) < 15 for other in ends):
            at += 15
        ends.append(at)
        out.append(f'<text x="{x(size) + 10:.1f}" y="{at:.1f}">{NAMES[name]} {value:.3g} ms</text>')
    return "\n".join([*out, "</svg>", ""])
