"""A tuning curve as SVG, by hand."""

from __future__ import annotations

import html
import math
from typing import Sequence

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 70, 46, 34, 16


def _unit(ns: float) -> tuple[str, float]:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return unit, size
    return "ns", 1.0


def svg(curve: Sequence[tuple[int, float]], title: str = "", naive_ns: float = 0.0) -> str:
    """Trials to the right, the best time upwards, its axis logarithmic.

    >>> text = svg([(1, 900.0), (8, 300.0), (16, 250.0)], "mm", 2700.0)
    >>> text.startswith("<svg ") and text.count("<text") >= 6
    True
    """
    points = [(n, ns) for n, ns in curve if n > 0 and ns > 0]
    if not points:
        raise ValueError("a curve without a point")
    most = max(n for n, _ in points)
    times = [ns for _, ns in points]
    low, high = math.log(min(times) * 0.9), math.log(max(times) * 1.1)
    unit, size = _unit(min(times))

    def x(n: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * n / most

    def y(ns: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - math.log(ns)) / (high - low)

    path, last = [], points[0][1]
    for n, ns in points:  # steps: a best holds until the next
        path.append(f"{x(n):.1f},{y(last):.1f} {x(n):.1f},{y(ns):.1f}")
        last = ns
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="20" font-size="14">{html.escape(title)}</text>']
    for k in range(5):
        ns = math.exp(low + (high - low) * k / 4)
        n = most * k / 4
        out += [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(ns):.1f}" y2="{y(ns):.1f}" '
                'stroke="#ddd"/>',
                f'<text x="{LEFT - 6}" y="{y(ns) + 4:.1f}" text-anchor="end">{ns / size:.4g} '
                f'{unit}</text>',
                f'<text x="{x(n):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{n:.0f}'
                '</text>']
    out += [f'<polyline points="{" ".join(path)}" fill="none" stroke="#1f77b4" '
            'stroke-width="2"/>',
            f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 8}" text-anchor="middle">trials</text>']
    if naive_ns > 0:
        out.append(f'<text x="{WIDTH - RIGHT}" y="20" text-anchor="end">'
                   f'{naive_ns / points[-1][1]:.1f}x the program as it is written</text>')
    return "\n".join([*out, "</svg>\n"])
