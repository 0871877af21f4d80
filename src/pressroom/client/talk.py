"""What passes between the core and a transport.

A talk is a generator: it yields what is to be done and is sent what came of it. It does no I/O of its own, so the same text
runs over a blocking connection, over an asynchronous one, and step by step in a test.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Call:
    """A request. `timeout` is for each wait on the wire; None is the client's own."""

    method: str
    path: str
    params: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    timeout: float | None = None
    stream: bool = False  # the body of a good answer is asked for in pieces, with `More`
    repeatable: bool = True  # sent twice, it still happens once


@dataclass(frozen=True)
class Answer:
    """`headers` by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


class Lost(Exception):
    """The connection failed. `sent` is False if the request certainly did not arrive."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


@dataclass(frozen=True)
class More:
    """The next piece of the streamed answer; an empty one is its end. The next call closes it."""


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Now:
    """The time in seconds, on a clock that nobody sets."""


@dataclass(frozen=True)
class Give[T]:
    """A value for whoever iterates."""

    value: T


type Step[T] = Call | More | Pause | Now | Give[T]
type Reply = Answer | bytes | float | None
type Talk[Given, Returned] = Generator[Step[Given], Reply, Returned]


def send[G](call: Call) -> Talk[G, Answer]:
    """Raises Lost."""
    answer = yield call
    assert isinstance(answer, Answer)
    return answer


def more[G]() -> Talk[G, bytes]:
    """Raises Lost."""
    piece = yield More()
    assert isinstance(piece, bytes)
    return piece


def now[G]() -> Talk[G, float]:
    moment = yield Now()
    assert isinstance(moment, float)
    return moment
