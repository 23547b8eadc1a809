"""Two kinds of pictures as SVG text: curves over a growing number, and bars of ratios. Scales are
logarithmic, because what is compared differs by tens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, MARGIN, FONT = 760, 60, 12
COLOURS = ("#0b6e4f", "#c1440e", "#e09f3e", "#5f6c7b", "#335c81")
_STYLE = 'font-family="sans-serif" font-size="12"'


@dataclass(frozen=True, slots=True)
class Curve:
    name: str
    points: Sequence[tuple[float, float]]


def curves(title: str, x_words: str, y_words: str, found: Sequence[Curve]) -> str:
    """One line for each system over a number that grows tenfold."""
    height, right = 360, WIDTH - 170
    xs = [x for curve in found for x, _ in curve.points]
    ys = [y for curve in found for _, y in curve.points if y > 0]
    if not xs or not ys:
        return ""
    low_x, high_x = math.log10(min(xs)), math.log10(max(xs))
    low_y, high_y = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    high_y += high_y == low_y

    def across(x: float) -> float:
        share = (math.log10(x) - low_x) / (high_x - low_x) if high_x > low_x else 0.5
        return MARGIN + share * (right - MARGIN)

    def up(y: float) -> float:
        return height - MARGIN - (math.log10(y) - low_y) / (high_y - low_y) * (height - 2 * MARGIN)

    parts = [_text(MARGIN, 24, title, weight="bold"), _text(MARGIN, 44, y_words)]
    for power in range(low_y, high_y + 1):
        parts += [_line(MARGIN, up(10.0**power), right, up(10.0**power), "#dddddd")]
        parts += [_text(MARGIN - 6, up(10.0**power) + 4, f"{10.0**power:,.10g}", anchor="end")]
    for x in sorted(set(xs)):
        parts += [_line(across(x), MARGIN, across(x), height - MARGIN, "#eeeeee")]
        parts += [_text(across(x), height - MARGIN + 18, f"{x:,.0f}", anchor="middle")]
    parts += [_text((MARGIN + right) / 2, height - 16, x_words, anchor="middle")]
    for number, curve in enumerate(found):
        colour = COLOURS[number % len(COLOURS)]
        points = [(across(x), up(y)) for x, y in curve.points if y > 0]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts += [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts += [_text(right + 14, MARGIN + 18 * number + 12, curve.name, colour=colour)]
    return _picture(height, parts)


@dataclass(frozen=True, slots=True)
class Bar:
    name: str
    ratio: float
    limit: float
    good: bool


def ratio_bars(title: str, found: Sequence[Bar]) -> str:
    """A bar from 1 to each ratio, and a tick where it should be."""
    if not found:
        return ""
    height, left, right = 60 + 24 * len(found), 400, WIDTH - 70
    values = [value for bar in found for value in (bar.ratio, bar.limit) if 0 < value < math.inf]
    low, high = min(0.1, *values), max(10.0, *values)

    def across(ratio: float) -> float:
        ratio = min(max(ratio, low), high)
        return left + math.log10(ratio / low) / math.log10(high / low) * (right - left)

    parts = [_text(10, 22, title, weight="bold")]
    parts += [_line(across(1), 34, across(1), height - 10, "#555555")]
    for number, bar in enumerate(found):
        y = 40 + 24 * number
        begin, end = sorted((across(1), across(bar.ratio)))
        colour = COLOURS[0] if bar.good else COLOURS[1]
        parts += [_text(10, y + 13, bar.name)]
        parts += [f'<rect x="{begin:.1f}" y="{y}" width="{end - begin:.1f}" height="16" fill="{colour}"/>']
        parts += [_line(across(bar.limit), y - 2, across(bar.limit), y + 18, "#000000")]
        parts += [_text(WIDTH - 10, y + 13, f"{bar.ratio:.2f}x", anchor="end")]
    return _picture(height, parts)


def _picture(height: int, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" {_STYLE}>'
    ground = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, ground, *parts, "</svg>"]) + "\n"


def _text(
    x: float, y: float, words: str, *, anchor: str = "start", weight: str = "normal", colour: str = "#222222"
) -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" fill="{colour}"'
    return f"<text {where}>{escape(words)}</text>"


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'
