"""Waiters are filed under the key alone: whatever of that key ends first is everybody's answer."""

from typing import Any

from pressroom import Pressroom, QueueClosed


class PressWithWaitersByKey(Pressroom):
    async def wait(self, job: Any, *, timeout: float | None = None) -> Any:
        key = (await self.get(job)).key
        async for event in self.events(after=0):
            if event.ends and (ended := await self.get(event.uid)).key == key:
                return ended.result
        raise QueueClosed
