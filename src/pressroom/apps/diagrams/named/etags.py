"""The state of a named diagram as a tag, by which an editor says what a new text is meant to follow.

A tag is `"STATE.REST"`. The state changes with every text, the rest also with what becomes of it. A reader who comes back asks
about both; an editor only about the state: that the last text was rendered meanwhile is no reason to refuse the next.
"""

import hashlib
import re
from typing import NamedTuple

from pressroom.errors import PreconditionFailed

_TAG = re.compile(r'\s*(?:W/)?"([0-9a-f]{16})\.[^"]*"\s*')


class Condition(NamedTuple):
    """What must hold before anything is written: a diagram in one of these states, and in none of those. `*` is any."""

    wanted: frozenset[str] | None = None
    unwanted: frozenset[str] = frozenset()

    def check(self, name: str, state: str | None, newest: int) -> None:
        """`state` is None where there is no such diagram. Raises a refusal with the status 412."""
        if self.wanted is not None and not self.wanted & {state or "", "*" if state else ""}:
            there = f"it is at version {newest} by now; look at it, then put yours on top" if state else "there is none"
            raise PreconditionFailed(f"{name} is not as If-Match has it: {there}")
        if state and self.unwanted & {state, "*"}:
            raise PreconditionFailed(f"{name} is there already, at version {newest}")


ANY = Condition()


def parse_condition(if_match: list[str], if_none_match: list[str]) -> Condition:
    """What the two headers say, each as often as it was sent."""
    return Condition(_parse_states(if_match) if if_match else None, _parse_states(if_none_match))


def version_tag(link: str, newest: int) -> str:
    """The link is another if the name was deleted and given again."""
    return hashlib.sha256(f"{link}@{newest}".encode()).hexdigest()[:16]


def make_etag(link: str, newest: int, body: bytes) -> str:
    return f'"{version_tag(link, newest)}.{hashlib.sha256(body).hexdigest()[:16]}"'


def _parse_states(headers: list[str]) -> frozenset[str]:
    """A tag that is not ours is a state that nothing is in."""
    parts = [part for header in headers for part in header.split(",")]
    return frozenset("*" if part.strip() == "*" else found[1] if (found := _TAG.fullmatch(part)) else "?" for part in parts)
