"""The steps of an operation, which a transport performs (sans I/O).

An exchange is a generator: it yields a step and is sent its result. It does no I/O of its own, so the same code runs over a
blocking connection, over an asynchronous one, and step by step in a test.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class HttpCall:
    """A request. `timeout` is for each wait on the wire; None is the client's own. `path` may be a whole address, to which the
    client's token goes only `with_token`. A body that is a file is read while it is sent."""

    method: str
    path: str
    params: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Path | None = None
    timeout: float | None = None
    stream: bool = False  # the body of a good answer is read in chunks, with `ReadChunk`
    repeatable: bool = True  # sent twice, it still happens once
    with_token: bool = True


@dataclass(frozen=True)
class HttpAnswer:
    """`headers` by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


class ConnectionLost(Exception):
    """The connection failed. `sent` is False if the request certainly did not arrive."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


@dataclass(frozen=True)
class ReadChunk:
    """The next piece of the streamed answer; an empty one is its end. The next call closes it."""


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class ReadClock:
    """The time in seconds, on a monotonic clock."""


@dataclass(frozen=True)
class EmitValue[T]:
    """A value for the caller that iterates."""

    value: T


type Step[T] = HttpCall | ReadChunk | Sleep | ReadClock | EmitValue[T]
type Reply = HttpAnswer | bytes | float | None
type Exchange[Given, Returned] = Generator[Step[Given], Reply, Returned]


def send[G](call: HttpCall) -> Exchange[G, HttpAnswer]:
    """Raises ConnectionLost."""
    answer = yield call
    assert isinstance(answer, HttpAnswer)
    return answer


def read_chunk[G]() -> Exchange[G, bytes]:
    """Raises ConnectionLost."""
    piece = yield ReadChunk()
    assert isinstance(piece, bytes)
    return piece


def read_clock[G]() -> Exchange[G, float]:
    moment = yield ReadClock()
    assert isinstance(moment, float)
    return moment
