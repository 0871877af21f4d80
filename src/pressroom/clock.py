"""Time, handed in from outside. Leases, delays and retention go by the database's clock, which is one of these."""

import os
import time
from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC."""
        ...


class SystemClock:
    """The machine's clock. `PRESSROOM_CLOCK_OFFSET` (seconds) shifts it, so that a test can give one process another time."""

    def __init__(self) -> None:
        self._offset = int(float(os.environ.get("PRESSROOM_CLOCK_OFFSET", "0")) * 1000)

    @property
    def is_shifted(self) -> bool:
        return self._offset != 0

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000 + self._offset


class ManualClock:
    """A clock that stands still until a test moves it."""

    def __init__(self, start_ms: int = 1_800_000_000_000) -> None:
        self._now = start_ms

    def now_ms(self) -> int:
        return self._now

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Move the clock; negative values move it back."""
        self._now += int((seconds + 60 * minutes + 3600 * hours + 86400 * days) * 1000)
