"""News from other processes is found however the looks fall."""

import asyncio

from pressroom.notify.inside import Switchboard
from pressroom.notify.tail import Tail


async def test_what_happened_before_the_first_look_is_not_missed() -> None:
    """A waiter looked, the job ended elsewhere, and only then did the tail take its bearings: past the ending."""
    switchboard = Switchboard()

    async def newest() -> int:
        return 7  # the ending that the waiter did not see is event 7

    async def news_after(last: int) -> tuple[int, list[int]]:
        return last, []

    async def changed() -> bool:
        return False

    with switchboard.listen(1) as news:
        tail = asyncio.create_task(Tail(switchboard, changed, news_after, newest, interval=0.001).run())

        async with asyncio.timeout(60):
            await news.wait()

        tail.cancel()
        await asyncio.gather(tail, return_exceptions=True)
