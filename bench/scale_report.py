"""What `./dev bench scale` prints: every row as it was measured, then ours over the others beside what we aim for."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench import figure
from bench.figure import Figure
from bench.scale_measure import Measured
from bench.scale_rows import BARE_OBAN, EMBEDDED, LIMIT, OBAN, POSTGRES_ONLY, REDIS, ROWS

PEERS = {row.name for row in ROWS if row.peer}
COLUMNS: dict[str, Callable[[Measured], float | None]] = {
    "drain/s": lambda row: row.rate("drain"),
    "submit/s": lambda row: row.rate("single"),
    "bulk/s": lambda row: row.rate("bulk"),
    "idle p50 ms": lambda row: row.wait(0.5),
    "idle p99 ms": lambda row: row.wait(0.99),
    "client us": lambda row: row.cost("client"),
    "server us": lambda row: row.cost("server"),
}


def as_text(rows: Sequence[Measured]) -> str:
    table = [("", *COLUMNS, "store")]
    for row in rows:
        values = [_shown(value(row)) for value in COLUMNS.values()]
        table.append((row.name, *values, f"not available: {row.missing}" if row.missing else row.store))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    last = len(widths) - 1
    lines = (
        "  ".join(
            cell.ljust(width) if place in (0, last) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    )
    found = list(figures(rows))
    return "\n".join([*lines, *(["", figure.as_table(found)] if found else [])])


def as_json(rows: Sequence[Measured]) -> str:
    return json.dumps({"rows": [_as_values(row) for row in rows], "figures": _with_aims(list(figures(rows)))}, indent=2)


def figures(rows: Sequence[Measured]) -> Iterator[Figure]:
    by_name = {row.name: row for row in rows}
    yield from _against_the_best(by_name)
    yield from _ratio("drain", by_name, EMBEDDED, LIMIT, "the raw limit: claim and settle in a bare loop", "≥ 0.5")
    yield from _ratio("drain by Redis", by_name, REDIS, EMBEDDED, "embedded delivery", "≥ 0.8")
    yield from _ratio("drain by oban", by_name, OBAN, BARE_OBAN, "oban-py alone", "≥ 3")
    yield from _pick_up(by_name)
    yield from _processes(rows)
    for other in rows:
        if EMBEDDED in by_name and (other.name in PEERS or other.name == LIMIT):
            yield from _one_by_one(by_name[EMBEDDED], other)


def _one_by_one(ours: Measured, other: Measured) -> Iterator[Figure]:
    compared = {
        "drain": (ours.rate("drain"), other.rate("drain"), "jobs/s"),
        "  its CPU, client and server": (_cpu(ours), _cpu(other), "us a job"),
        "  submit": (ours.rate("single"), other.rate("single"), "jobs/s"),
        "  submit_many": (ours.rate("bulk"), other.rate("bulk"), "jobs/s"),
        "  idle pick-up p50": (ours.wait(0.5), other.wait(0.5), "ms"),
    }
    for what, (our, their, unit) in compared.items():
        if our and their:
            yield Figure(what, our, their, unit, f"{other.name}, {other.store}")


def _cpu(row: Measured) -> float:
    return sum(row.cost(whose) or 0.0 for whose in ("client", "server"))


def _against_the_best(by_name: dict[str, Measured]) -> Iterator[Figure]:
    drained = {name: rate for name, row in by_name.items() if name in PEERS and (rate := row.rate("drain"))}
    if drained:
        best = max(drained, key=drained.__getitem__)
        yield from _ratio("drain", by_name, EMBEDDED, best, f"the best peer: {best}", "≥ 1.3")


def _pick_up(by_name: dict[str, Measured]) -> Iterator[Figure]:
    ours = by_name[EMBEDDED].wait(0.5) if EMBEDDED in by_name else None
    waits = {
        name: wait
        for name, row in by_name.items()
        if name in PEERS and row.store == POSTGRES_ONLY and (wait := row.wait(0.5)) is not None
    }
    if ours is not None and waits:
        best = min(waits, key=waits.__getitem__)
        yield Figure("idle pick-up p50", ours, waits[best], "ms", f"the quickest peer on PostgreSQL: {best}", "< 1")


def _processes(rows: Sequence[Measured]) -> Iterator[Figure]:
    curve = [row for row in rows if "worker process" in row.name]
    for row in curve[1:]:
        ours, other = row.rate("drain"), curve[0].rate("drain")
        if ours and other:
            cores = f"one, on {os.cpu_count()} cores that the server needs too"
            yield Figure(f"drain by {row.name}", ours, other, "jobs/s", cores, "≥ 1.6" if row.name.startswith("2") else "")


def _ratio(what: str, by_name: dict[str, Measured], ours: str, other: str, against: str, aim: str = "") -> Iterator[Figure]:
    our, their = (by_name[name].rate("drain") if name in by_name else None for name in (ours, other))
    if our and their:
        yield Figure(what, our, their, "jobs/s", against, aim)


def _as_values(row: Measured) -> dict[str, Any]:
    values = {name: None if (found := value(row)) is None else float(f"{found:.4g}") for name, value in COLUMNS.items()}
    return {"name": row.name, "store": row.store, **values} | ({"missing": row.missing} if row.missing else {})


def _with_aims(found: Sequence[Figure]) -> list[dict[str, Any]]:
    plain: list[dict[str, Any]] = json.loads(figure.as_json(found))
    return [values | {"aim": one.aim} for values, one in zip(plain, found, strict=True)]


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
