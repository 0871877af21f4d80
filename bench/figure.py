"""One measured comparison, and how a run of them is shown."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True)
class Figure:
    """`ratio` is ours over the other. `aim` is what we would like it to be; nothing fails when it is not."""

    name: str
    ours: float
    other: float
    unit: str
    against: str
    aim: str = ""

    @property
    def ratio(self) -> float:
        return self.ours / self.other


def quantile(values: Sequence[float], part: float) -> float:
    """The smallest value that at least `part` of them do not exceed."""
    return sorted(values)[max(0, ceil(part * len(values)) - 1)]


def as_json(figures: Sequence[Figure]) -> str:
    return json.dumps(
        [
            {
                "name": figure.name,
                "ours": _rounded(figure.ours),
                "other": _rounded(figure.other),
                "ratio": _rounded(figure.ratio),
                "unit": figure.unit,
                "against": figure.against,
            }
            for figure in figures
        ],
        indent=2,
    )


def as_table(figures: Sequence[Figure]) -> str:
    rows = [("", "ours", "other", "unit", "ratio", "aim", "against")]
    for one in figures:
        rows.append((one.name, _shown(one.ours), _shown(one.other), one.unit, f"{one.ratio:.2f}", one.aim, one.against))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = {1, 2, 4}  # columns that stand on the right
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def say(text: str) -> None:
    """What is going on, for whoever waits. Never on stdout: that is for the figures."""
    print(text, file=sys.stderr, flush=True)


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
