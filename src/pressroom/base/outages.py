"""An operation that is retried until it succeeds: logged when it first fails, once a minute while it fails, and at its end."""

import logging
import time
from collections.abc import Callable

from pressroom.errors import PressroomError

TOLD_EVERY = 60.0  # seconds
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 2.0


class Outage:
    def __init__(self, what: str, log: logging.Logger, on_failure: Callable[[BaseException], None] | None = None) -> None:
        """`what` begins a sentence: "looking for work". `on_failure` is called for each try that fails."""
        self.reason: BaseException | None = None  # why the last try failed, or None if it succeeded
        self._what = what
        self._log = log
        self._on_failure = on_failure
        self._failures = 0
        self._began = self._told = 0.0
        self._pause = FIRST_PAUSE

    def record_failure(self, reason: BaseException) -> float:
        """Another try has failed. Returns the seconds to wait before the next, which grow."""
        now = time.monotonic()
        self._failures += 1
        self.reason = reason
        if self._on_failure is not None:
            self._on_failure(reason)
        if self._failures == 1:
            self._began = self._told = now
            self._pause = FIRST_PAUSE
            unknown = None if isinstance(reason, PressroomError) else reason  # what we worded ourselves needs no traceback
            self._log.error("%s failed, and is tried again: %s", self._what, _describe_error(reason), exc_info=unknown)
        elif now - self._told >= TOLD_EVERY:
            self._told = now
            lasted = now - self._began
            self._log.error("%s has failed %d times in %.0f s: %s", self._what, self._failures, lasted, _describe_error(reason))
        pause, self._pause = self._pause, min(LONGEST_PAUSE, 2 * self._pause)
        return pause

    def record_success(self) -> None:
        """A try has succeeded."""
        if self._failures:
            lasted = time.monotonic() - self._began
            self._log.warning("%s works again; it failed %d times in %.0f s", self._what, self._failures, lasted)
            self._failures = 0
            self.reason = None


def _describe_error(reason: BaseException) -> str:
    return f"{type(reason).__name__}: {reason}".partition("\n")[0][:500]
