"""How a worker hears that work waits. Delivery may repeat itself and may forget: the store decides."""

from collections.abc import Sequence
from typing import Protocol

from pressroom.model import Submitted


class Delivery(Protocol):
    def announce(self, jobs: Sequence[Submitted]) -> None:
        """Say that these jobs wait. Called after they were committed; must not block and must not raise."""
        ...

    async def arrival(self, timeout: float) -> bool:
        """Wait until work may have come: True when it was announced, False when `timeout` seconds passed without news."""
        ...
