"""What is sent again, when, and for how long."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from pressroom.client.talk import Answer, Call, Lost, Pause, Talk, now, send
from pressroom.client.trouble import Unreachable, error_of, is_problem, retry_after
from pressroom.errors import PressroomError

_TRY_AGAIN = (429, 503)
_A_PROXY_SAYS = (502, 504)  # with a problem they are the service's own last word


@dataclass(frozen=True)
class Patience:
    """`retries` of one request, the first after `base` seconds, then twice as long each time up to `cap`.

    A server that names a time is given it, unless it is more than `longest`: then the error is raised, with its
    `retry_after`. Whoever waits for a job goes on for `away` seconds although nobody answers: a restart takes a while.
    """

    retries: int = 4
    base: float = 0.2
    cap: float = 5.0
    longest: float = 60.0
    away: float = 60.0
    luck: Callable[[], float] = random.random

    def pause(self, failures: int) -> float:
        """After so many failures in a row. Spread, so that those who failed together do not come back together."""
        plain = min(self.cap, self.base * 2.0 ** min(failures - 1, 60))
        return plain * (0.5 + self.luck() / 2)

    def pause_after(self, answer: Answer, failures: int) -> float | None:
        """None if it would be told the same again, or is told to come back later than anybody wants to wait."""
        again = answer.status in _TRY_AGAIN or (answer.status in _A_PROXY_SAYS and not is_problem(answer))
        named = retry_after(answer)
        if not again or (named is not None and named > self.longest):
            return None
        return self.pause(failures) if named is None else named + self.pause(failures) / 4


def asked[G](call: Call, patience: Patience, *, away: float = 0.0, until: float | None = None) -> Talk[G, Answer]:
    """Send it, and again while that may help: for as many times as `patience` says, and at least for `away` seconds.

    Returns an answer below 400, and raises what any other tells. Raises Unreachable if there is none. `until` is the
    moment at which it no longer matters.
    """
    began = yield from now()
    for failures in count(1):
        try:
            answer: Answer = yield from send(call)
        except Lost as lost:
            error: PressroomError = Unreachable(f"no answer: {lost}")
            pause = patience.pause(failures) if call.repeatable or not lost.sent else None
        else:
            if answer.status < 400:
                return answer
            error, pause = error_of(answer), patience.pause_after(answer, failures)
        if pause is None:
            raise error
        at = yield from now()
        tired = at - began >= away and failures > patience.retries
        if tired or (until is not None and at >= until):
            raise error
        yield Pause(pause if until is None else min(pause, until - at))
    raise AssertionError("not reached")
