"""What is sent again, when, and for how long."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from pressroom.client.errors import Unreachable, error_from_answer, is_problem, retry_after
from pressroom.client.exchange import ConnectionLost, Exchange, HttpAnswer, HttpCall, Sleep, read_clock, send
from pressroom.errors import PressroomError

_RETRIED_STATUSES = (429, 503)
_PROXY_STATUSES = (502, 504)  # with a problem they are the service's own last word


@dataclass(frozen=True)
class RetryPolicy:
    """`retries` of one request, the first after `base` seconds, then twice as long each time up to `cap`.

    A server that names a time is given it, unless it is more than `max_retry_after`: then the error is raised, with its
    `retry_after`. A wait for a job goes on for `max_outage` seconds without an answer: a restart takes a while.
    """

    retries: int = 4
    base: float = 0.2
    cap: float = 5.0
    max_retry_after: float = 60.0
    max_outage: float = 60.0
    random: Callable[[], float] = random.random

    def pause(self, failures: int) -> float:
        """After so many failures in a row. Spread, so that those who failed together do not come back together."""
        plain = min(self.cap, self.base * 2.0 ** min(failures - 1, 60))
        return plain * (0.5 + self.random() / 2)

    def pause_after(self, answer: HttpAnswer, failures: int) -> float | None:
        """None if a retry would get the same answer, or if the server names a time later than `max_retry_after`."""
        is_retryable = answer.status in _RETRIED_STATUSES or (answer.status in _PROXY_STATUSES and not is_problem(answer))
        server_delay = retry_after(answer)
        if not is_retryable or (server_delay is not None and server_delay > self.max_retry_after):
            return None
        return self.pause(failures) if server_delay is None else server_delay + self.pause(failures) / 4


def send_with_retries[G](
    call: HttpCall, retry_policy: RetryPolicy, *, max_outage: float = 0.0, until: float | None = None
) -> Exchange[G, HttpAnswer]:
    """Send it, and again while that may help: for as many times as `retry_policy` says, and at least for `max_outage` seconds.

    Returns an answer below 400, and raises what any other tells. Raises Unreachable if there is none. `until` is the
    moment at which it no longer matters.
    """
    began = yield from read_clock()
    for failures in count(1):
        try:
            answer: HttpAnswer = yield from send(call)
        except ConnectionLost as lost:
            error: PressroomError = Unreachable(f"no answer: {lost}")
            pause = retry_policy.pause(failures) if call.repeatable or not lost.sent else None
        else:
            if answer.status < 400:
                return answer
            error, pause = error_from_answer(answer), retry_policy.pause_after(answer, failures)
        if pause is None:
            raise error
        at = yield from read_clock()
        is_exhausted = at - began >= max_outage and failures > retry_policy.retries
        if is_exhausted or (until is not None and at >= until):
            raise error
        yield Sleep(pause if until is None else min(pause, until - at))
    raise AssertionError("not reached")
