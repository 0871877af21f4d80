"""News from other processes is found however the looks fall."""

import asyncio

from pressroom.notify.event_poller import EventPoller
from pressroom.notify.listeners import JobListeners


async def test_what_happened_before_the_first_look_is_not_missed() -> None:
    """A waiter looked, the job ended elsewhere, and only then did the tail take its bearings: past the ending."""
    listeners = JobListeners()

    async def newest() -> int:
        return 7  # the ending that the waiter did not see is event 7

    async def news_after(last: int) -> tuple[int, list[int]]:
        return last, []

    async def changed() -> bool:
        return False

    with listeners.listen(1) as news:
        tail = asyncio.create_task(EventPoller(listeners, changed, news_after, newest, interval=0.001).run())

        async with asyncio.timeout(60):
            await news.wait()

        tail.cancel()
        await asyncio.gather(tail, return_exceptions=True)


async def test_news_of_many_jobs_is_told_to_the_last_page_though_nothing_changes_any_more() -> None:
    """A burst fills more than one page, and after it all is quiet: what is left must not wait for the next change."""
    listeners = JobListeners()
    pages = {0: (2, [1]), 2: (4, [2]), 4: (5, [3])}
    changes = iter([True])

    async def newest() -> int:
        return 0

    async def news_after(last: int) -> tuple[int, list[int]]:
        return pages.get(last, (last, []))

    async def changed() -> bool:
        return next(changes, False)

    with listeners.listen(1) as first, listeners.listen(3) as last:
        tail = asyncio.create_task(EventPoller(listeners, changed, news_after, newest, interval=0.001).run())
        async with asyncio.timeout(60):
            for news in (first, last):  # the first look wakes everybody
                await news.wait()
                news.clear()
            for news in (first, last):
                await news.wait()

        tail.cancel()
        await asyncio.gather(tail, return_exceptions=True)


async def test_a_look_that_fails_is_not_the_last() -> None:
    listeners = JobListeners()
    looks = iter([ConnectionError("away"), 7])

    async def newest() -> int:
        found = next(looks, 7)
        if isinstance(found, Exception):
            raise found
        return found

    async def news_after(last: int) -> tuple[int, list[int]]:
        return last, []

    async def changed() -> bool:
        return False

    with listeners.listen(1) as news:
        tail = asyncio.create_task(EventPoller(listeners, changed, news_after, newest, interval=0.001).run())

        async with asyncio.timeout(60):
            await news.wait()

        tail.cancel()
        await asyncio.gather(tail, return_exceptions=True)


async def test_all_news_is_read_however_many_pages_it_has() -> None:
    """Nothing else may change for a long time, so the rest must not wait for the next change."""
    listeners = JobListeners()
    pages = {0: (2, [1]), 2: (4, [2]), 4: (5, [3])}  # up to which event, and of which jobs
    changes: list[bool] = []

    async def newest() -> int:
        return 0

    async def news_after(last: int) -> tuple[int, list[int]]:
        return pages.get(last, (last, []))

    async def changed() -> bool:
        return bool(changes and changes.pop())

    with listeners.listen(3) as news, listeners.listen(1) as first:
        tail = asyncio.create_task(EventPoller(listeners, changed, news_after, newest, interval=0.001).run())
        async with asyncio.timeout(60):
            await news.wait()
            news.clear()
            first.clear()
            changes.append(True)

            await first.wait()
            await news.wait()

        tail.cancel()
        await asyncio.gather(tail, return_exceptions=True)


def test_who_no_longer_listens_leaves_nothing_behind() -> None:
    """While somebody listens, the database is looked at again and again."""
    listeners = JobListeners()
    with listeners.listen(7) as one, listeners.listen(7) as other:
        listeners.notify([8])
        assert not one.is_set()
        listeners.notify([7])
        assert one.is_set()
        assert other.is_set()
    assert not listeners.has_listeners.is_set()

    with listeners.listen(None) as everything:
        with listeners.listen(7):
            pass
        assert listeners.has_listeners.is_set()
        listeners.notify([8])
        assert everything.is_set()
    assert not listeners.has_listeners.is_set()
