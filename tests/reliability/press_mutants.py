"""Sources that are almost right: seeded mutations of good ones, and what the engines make of them."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pressroom.errors import EngineCrashed, PressroomError
from pressroom.renderers import Engine, Rendered, catalogue
from pressroom.renderers.sandbox.engine_pools import EnginePools
from tests.reliability.press_sources import sources_of

AT_ONCE = 64
TWICE = 25  # every so many is drawn a second time
ENOUGH = 50  # sources, of which some are drawn
CRASHED = 0.02  # the share of mutants of which an engine may die; each is printed
SLOW = 0.02  # the share that may reach the time limit

HUGE = [
    b"0",
    b"-1",
    b"1e308",
    b"-1e309",
    b"99999999999999999999",
    b"2147483648",
    b"NaN",
    b"1e-320",
    b"0x7fffffff",
    b"4294967295",
]
ODD = [
    "\0",
    "\u202e",
    "\ufeff",
    "\u2028",
    "\ud7ff",
    "\U0010ffff",
    "e\u0301\u0301",
    "👩‍👩‍👧",
    "İ",
    "\x1b",
    "\r",
    "\t",
    "\x85",
    "\uffff",
]
BRACKETS = [b"(", b"[", b"{", b"<", b"<g>", b"> ", b"- ", b"((", b"{{", b'"', b"'", b"|", b"```", b"/*"]


@dataclass
class Toll:
    engine: str
    sources: int = 0
    made: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    crashed: list[bytes] = field(default_factory=list)
    slow: list[bytes] = field(default_factory=list)
    untyped: list[str] = field(default_factory=list)
    unsteady: list[bytes] = field(default_factory=list)

    def objections(self) -> list[str]:
        reasons = [f"{self.engine}: untyped: {what}" for what in self.untyped[:3]]
        reasons += [f"{self.engine}: not the same twice: {source[:300]!r}" for source in self.unsteady[:3]]
        for name, share in (("crashed", CRASHED), ("slow", SLOW)):
            victims: list[bytes] = getattr(self, name)
            if len(victims) > max(2, share * self.sources):
                reasons.append(f"{self.engine}: {name}: {len(victims)} of {self.sources}, such as {victims[0][:500]!r}")
        if self.made == 0 and self.sources >= ENOUGH:
            reasons.append(f"{self.engine}: too weak: none of {self.sources} was drawn")
        return reasons

    def figures(self) -> dict[str, object]:
        return {
            "sources": self.sources,
            "made": self.made,
            **dict(sorted(self.refused.items())),
            **{name: len(getattr(self, name)) for name in ("untyped", "unsteady")},
        }


async def try_mutants(name: str, count: int, seed: int, *, size: int = 2) -> Toll:
    """Engines have their users' time limits: a shorter one would be reached by healthy sources on a busy machine."""
    toll, engine = Toll(name), catalogue.get_engine(name)
    presses, gate = EnginePools(size), asyncio.Semaphore(AT_ONCE)
    try:
        await asyncio.gather(
            *[
                _try(presses, engine, source, gate, toll, again=number % TWICE == 0)
                for number, source in enumerate(mutants(sources_of(engine), count, seed))
            ]
        )
    finally:
        await presses.close()
    return toll


async def _try(
    presses: EnginePools, engine: type[Engine], source: bytes, gate: asyncio.Semaphore, toll: Toll, *, again: bool
) -> None:
    async with gate:
        first = await _outcome(presses, engine, source, toll)
        toll.sources += 1
        match first:
            case Rendered():
                toll.made += 1
            case PressroomError():
                toll.refused[first.code] += 1
                if isinstance(first, EngineCrashed):
                    toll.crashed.append(source)
                elif first.code == "timeout":
                    toll.slow.append(source)
        if again and isinstance(first, Rendered):
            second = await _outcome(presses, engine, source, toll)
            if isinstance(second, Rendered) and second.data != first.data and "not_repeatable" not in _codes(first):
                toll.unsteady.append(source)


async def _outcome(presses: EnginePools, engine: type[Engine], source: bytes, toll: Toll) -> Rendered | PressroomError | None:
    try:
        return await presses.render(engine, source, engine.makes[0])
    except PressroomError as error:
        if not str(error) or type(error) is PressroomError:
            toll.untyped.append(f"{error!r} for {source[:300]!r}")
        return error
    except Exception as bug:
        toll.untyped.append(f"{bug!r} for {source[:300]!r}")
        return None


def _codes(rendered: Rendered) -> set[str]:
    return {notice.code for notice in rendered.warnings}


def mutants(sources: Sequence[str], count: int, seed: int) -> Iterator[bytes]:
    """The same seed gives the same mutants."""
    chance = random.Random(seed)
    for _ in range(count):
        source = chance.choice(sources).encode()
        for _ in range(chance.choice((1, 1, 1, 2, 3, 5))):
            source = chance.choice(MUTATIONS)(source, chance)
        yield source[:100_000]


def _place(source: bytes, chance: random.Random) -> int:
    return chance.randrange(len(source) + 1)


def _span(source: bytes, chance: random.Random) -> tuple[int, int]:
    start = _place(source, chance)
    return start, min(len(source), start + chance.choice((1, 2, 5, 20, 100)))


def flip_a_bit(source: bytes, chance: random.Random) -> bytes:
    """Of the lower seven: the eighth would only make it no UTF-8, which is found at once."""
    if not source:
        return source
    at = chance.randrange(len(source))
    return source[:at] + bytes([source[at] ^ (1 << chance.randrange(7))]) + source[at + 1 :]


def delete(source: bytes, chance: random.Random) -> bytes:
    start, stop = _span(source, chance)
    return source[:start] + source[stop:]


def duplicate(source: bytes, chance: random.Random) -> bytes:
    start, stop = _span(source, chance)
    return source[:stop] + source[start:stop] * chance.choice((1, 2, 10, 100)) + source[stop:]


def splice(source: bytes, chance: random.Random) -> bytes:
    start, stop = _span(source, chance)
    at = _place(source, chance)
    return source[:at] + source[start:stop] + source[at:]


def truncate(source: bytes, chance: random.Random) -> bytes:
    return source[: _place(source, chance)]


def put_a_huge_number(source: bytes, chance: random.Random) -> bytes:
    digits = [at for at, byte in enumerate(source) if 48 <= byte <= 57]
    at = chance.choice(digits) if digits else _place(source, chance)
    return source[:at] + chance.choice(HUGE) + source[at + 1 :]


def nest(source: bytes, chance: random.Random) -> bytes:
    at = _place(source, chance)
    return source[:at] + chance.choice(BRACKETS) * chance.choice((1, 3, 30, 300)) + source[at:]


def put_an_odd_character(source: bytes, chance: random.Random) -> bytes:
    at = _place(source, chance)
    return source[:at] + chance.choice(ODD).encode() * chance.choice((1, 1, 50)) + source[at:]


def swap_lines(source: bytes, chance: random.Random) -> bytes:
    lines = source.split(b"\n")
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


MUTATIONS: Sequence[Callable[[bytes, random.Random], bytes]] = (
    flip_a_bit,
    delete,
    duplicate,
    splice,
    truncate,
    put_a_huge_number,
    nest,
    put_an_odd_character,
    swap_lines,
)
