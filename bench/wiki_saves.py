"""Somebody saves short articles at a steady pace, each of them new, and waits for the HTML.

What is measured begins when a save was due, not when there was time for it: a save that waits for the one before it counts too.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import batched, count
from pathlib import Path

from bench import wiki_press
from bench.figure import say
from bench.wiki_files import Files
from pressroom import Pressroom
from pressroom.apps.wiki import store
from pressroom.apps.wiki.model import ArticleDraft, RenderStatus, make_draft
from pressroom.apps.wiki.rerender_requests import RerenderRequest

APART = 0.1  # seconds between two saves
TAKEN_AT_ONCE = 500
TEXT = """# Note {number}

A *short* text, number {number}, with a [link](https://example.org/{number}) and a list:

- one thing
- and `another`
"""


async def beside_files(path: Path, files: Files, saves: int, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of each save while nothing goes on, and while all files are rendered again and again."""
    idle, busy = [], []
    async with wiki_press.opened(path) as press:
        await wiki_press.import_files(press, files)
        numbers = count()
        for _ in range(rounds):
            idle += await _steadily(press, numbers, saves)
            async with _rendering_again(press):
                busy += await _steadily(press, numbers, saves)
    return idle, busy


async def beside_many(path: Path, articles: int, saves: int) -> tuple[list[float], list[float]]:
    """The same with one re-render, which need not come to its end."""
    async with wiki_press.opened(path) as press:
        started = time.monotonic()
        for some in batched(_small(articles), TAKEN_AT_ONCE):  # past the service, which would have them rendered
            await press._database.run(partial(store.save_articles, "", some), name="article")
        say(f"  {articles:,} articles were made in {time.monotonic() - started:.0f} s")
        numbers = count()
        idle = await _steadily(press, numbers, saves)
        await press.app("wiki").articles.rerender_all(None, RerenderRequest("all"))
        busy = await _steadily(press, numbers, saves)
    return idle, busy


@asynccontextmanager
async def _rendering_again(press: Pressroom) -> AsyncIterator[None]:
    """Over and over while somebody looks, and to its end afterwards."""
    wanted = True

    async def render() -> None:
        while wanted:
            batch = await press.app("wiki").articles.rerender_all(None, RerenderRequest("all"))
            await press.wait_until_ended(batch)
            while (await press.app("wiki").articles.batch(batch.uid)).waiting:  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    rendering = asyncio.create_task(render())
    try:
        yield
    finally:
        wanted = False
        await rendering


async def _steadily(press: Pressroom, numbers: Iterator[int], saves: int) -> list[float]:
    started = time.monotonic()
    tasks = []
    for turn in range(saves):
        due = started + turn * APART
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        tasks.append(asyncio.create_task(_save(press, next(numbers), due)))
    return await asyncio.gather(*tasks)


async def _save(press: Pressroom, number: int, due: float) -> float:
    posted = await press.app("wiki").articles.post(None, _draft(f"Note_{number}", number), wait=30)
    assert posted.revision.render_status is RenderStatus.RENDERED
    return time.monotonic() - due


def _small(articles: int) -> Iterator[ArticleDraft]:
    return (_draft(f"Small/{number}", number) for number in range(articles))


def _draft(url: str, number: int) -> ArticleDraft:
    return make_draft(url, TEXT.format(number=number), author="bench", previous=0)
