"""The wiki beside its own engine: how much of a bare loop's rate is left when every page is durable, and who notices.

The files are those of `tests/conformance/documentation.py`, written by others. All sides of a round have the same ones, and the
rounds of all sides are taken in turns.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import place, wiki_bare, wiki_files, wiki_press, wiki_saves
from bench.figure import Figure, quantile, say
from bench.wiki_press import Spent
from tests.conformance.registries import OutOfReach

BARE = "the engine in a loop, one process"
LIMIT = "two presses, nothing kept"
IDLE = "while nothing else goes on"


@dataclass(frozen=True)
class WikiSizes:
    files: int  # at most
    rounds: int
    saves: int  # in one round, idle and again during a re-render
    articles: int  # what "many" is
    many_saves: int


FULL = WikiSizes(files=10_000, rounds=3, saves=150, articles=100_000, many_saves=600)
QUICK = WikiSizes(files=400, rounds=3, saves=30, articles=5_000, many_saves=100)


def rates(folder: Path, sizes: WikiSizes) -> Iterator[Figure]:
    """Files in a second, and milliseconds of a core for each: the second is what a busy machine disturbs least."""
    try:
        files = wiki_files.laid_out(folder / "pages", sizes.files)
    except OutOfReach as reason:
        say(f"  {reason}; the rates are left out")
        return
    say(f"  {files.count:,} files, {files.size / 1e6:.1f} MB")
    sides: dict[str, list[Spent]] = defaultdict(list)
    for _ in range(sizes.rounds):
        sides[BARE].append(wiki_bare.in_a_loop(files.sources))
        sides[LIMIT].append(asyncio.run(wiki_bare.through_presses(files.sources)))
        imported, rendered = asyncio.run(wiki_press.both_ways(folder / "wiki.db", files))
        sides["import"].append(imported)
        sides["re-render of all"].append(rendered)
        place.remove(folder / "wiki.db")
    yield from _compared(sides)


def _compared(sides: dict[str, list[Spent]]) -> Iterator[Figure]:
    rate = {name: median(one.rate for one in rounds) for name, rounds in sides.items()}
    core = {name: median(one.core for one in rounds) for name, rounds in sides.items()}
    for name in [name for name in sides if name not in (BARE, LIMIT)]:
        yield Figure(f"wiki, {name}", rate[name], rate[BARE], "files/s", f"{BARE}; {_spread(sides, name, BARE)}", "≥ 0.6")
        yield Figure(f"wiki, {name}", rate[name], rate[LIMIT], "files/s", f"{LIMIT}; {_spread(sides, name, LIMIT)}")
        yield Figure(f"  core time of a file, {name}", core[name], core[BARE], "ms", BARE)
    yield Figure("two presses, nothing kept", rate[LIMIT], rate[BARE], "files/s", f"{BARE}; {_spread(sides, LIMIT, BARE)}")


def _spread(sides: dict[str, list[Spent]], ours: str, other: str) -> str:
    ratios = [one.rate / two.rate for one, two in zip(sides[ours], sides[other], strict=True)]
    return f"rounds {min(ratios):.2f} to {max(ratios):.2f}"


def saves(folder: Path, sizes: WikiSizes) -> Iterator[Figure]:
    """What somebody who saves notices of all pages being rendered again."""
    try:
        files = wiki_files.laid_out(folder / "pages", sizes.files)
    except OutOfReach as reason:
        say(f"  {reason}; the saves are left out")
        return
    idle, busy = asyncio.run(wiki_saves.beside_files(folder / "saves.db", files, sizes.saves, sizes.rounds))
    place.remove(folder / "saves.db")
    yield from _waits(f"while {files.count:,} files are rendered again", idle, busy)


def many(folder: Path, sizes: WikiSizes) -> Iterator[Figure]:
    """The same with so many small articles that the re-render goes on for longer than anybody measures."""
    idle, busy = asyncio.run(wiki_saves.beside_many(folder / "many.db", sizes.articles, sizes.many_saves))
    place.remove(folder / "many.db")
    yield from _waits(f"while {sizes.articles:,} articles are", idle, busy)


def _waits(when: str, idle: list[float], busy: list[float]) -> Iterator[Figure]:
    for part, aim in ((0.5, ""), (0.99, "≤ 2")):
        ours, other = quantile(busy, part) * 1000, quantile(idle, part) * 1000
        yield Figure(f"save to HTML p{part * 100:.0f} {when}", ours, other, "ms", IDLE, aim)
