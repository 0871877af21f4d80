"""Places where a test may make the program fail, on purpose and at an exact moment.

`PRESSROOM_FAILPOINTS="settle.before_commit=kill@3;claim.after_commit=sleep:0.5@p0.1"` arms them. An action is
`kill`, `exit`, `raise`, `sleep:SECONDS` or `wait:FILE` (pause until the file exists); a trigger is the n-th hit (`@3`),
a range (`@2-5`), a chance (`@p0.1`), or nothing for every hit. Unarmed, a failpoint costs one look at an empty dictionary.
"""

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# What a job passes on its way, what its bytes pass on theirs, what an answer over HTTP passes before it is sent, and a leader
# its terms.
JOB_POINTS = frozenset(
    f"{unit}.{moment}"
    for unit in ("submit", "turn", "progress", "heartbeat", "cancel", "rescue", "prune", "schedule", "migrate")
    for moment in ("before_commit", "after_commit")
) | {"submit.validated", "claim.selected", "handler.started", "handler.returned", "transaction.held"}
WRITE_POINTS = frozenset({"write.unit_done", "write.before_commit", "write.after_commit"})  # of `job.write`
BLOB_POINTS = frozenset({"upload.written", "blob.temp_written", "blob.renamed", "blob.condemned", "blob.deleted"})
DOCS_POINTS = frozenset({"inventory.recorded", "tracking.done", "edition.moved", "edition.published"})
HTTP_POINTS = frozenset({"reply.before_send"})
LEADER_POINTS = frozenset({"leader.elected", "leader.renewed", "leader.resigned"})
PROMOTE_POINTS = frozenset(
    f"promote.{moment}"
    for moment in ("prepared", "before_batch", "after_batch", "blob_copied", "verified", "marked", "finished")
)
POINTS = JOB_POINTS | WRITE_POINTS | BLOB_POINTS | DOCS_POINTS | HTTP_POINTS | LEADER_POINTS | PROMOTE_POINTS


class FailpointHit(Exception):
    """What the `raise` action raises."""


@dataclass
class _Armed:
    act: Callable[[], None]
    fires: Callable[[int], bool]
    hits: int = 0


@dataclass
class _Registry:
    armed: dict[str, _Armed] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)


_registry = _Registry()


def hit(name: str) -> None:
    if not _registry.armed:
        return
    _registry.seen.add(name)
    point = _registry.armed.get(name)
    if point is None:
        return
    point.hits += 1
    if point.fires(point.hits):
        point.act()


def arm(spec: str) -> None:
    """Arm the failpoints of a specification. An unknown name is refused: a typo would test nothing."""
    for part in filter(None, (piece.strip() for piece in spec.split(";"))):
        name, _, rest = part.partition("=")
        if name not in POINTS:
            raise ValueError(f"there is no failpoint {name!r}")
        action, _, trigger = rest.partition("@")
        _registry.armed[name] = _Armed(_parse_action(name, action), _parse_trigger(trigger))


def disarm() -> None:
    _registry.armed.clear()


def _parse_action(name: str, text: str) -> Callable[[], None]:
    verb, _, argument = text.partition(":")
    match verb:
        case "kill":
            return lambda: os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            return lambda: os._exit(70)
        case "raise":
            return lambda: _raise_hit(name)
        case "sleep":
            return lambda: time.sleep(float(argument))
        case "wait":
            return lambda: _wait_for(Path(argument))
        case _:
            raise ValueError(f"failpoint {name}: unknown action {text!r}")


def _raise_hit(name: str) -> None:
    raise FailpointHit(name)


def _wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.002)


def _parse_trigger(text: str) -> Callable[[int], bool]:
    if not text:
        return lambda _: True
    if text.startswith("p"):
        chance = float(text[1:])
        dice = random.Random(os.environ.get("PRESSROOM_FAILPOINT_SEED"))
        return lambda _: dice.random() < chance
    low, _, high = text.partition("-")
    first, last = int(low), int(high or low)
    return lambda hits: first <= hits <= last


if "PRESSROOM_FAILPOINTS" in os.environ:
    arm(os.environ["PRESSROOM_FAILPOINTS"])
