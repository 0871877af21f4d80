"""The limits: the engine that the wiki uses, asked as the wiki asks it, without a queue or a database."""

import asyncio
from collections.abc import Sequence

import msgspec

from bench.wiki_press import Spent, measured
from pressroom.apps.wiki import renderers
from pressroom.renderers.markdown import highlight
from pressroom.renderers.markdown.engine import Markdown
from pressroom.renderers.sandbox.engine_pools import EnginePools

CALLERS = 32  # so that no press ever waits for the next source


def in_a_loop(sources: Sequence[bytes]) -> Spent:
    engine, options = Markdown(), msgspec.convert(renderers.OPTIONS, Markdown.Options)
    engine.render(Markdown.sample, "html", options)
    highlight.highlight_code.cache_clear()  # presses begin without what an earlier round has coloured
    with measured(len(sources)) as spent:
        for source in sources:
            engine.render(source.decode(), "html", options)
    return spent


async def through_presses(sources: Sequence[bytes]) -> Spent:
    presses = EnginePools(2)
    try:
        sample = Markdown.sample.encode()
        await asyncio.gather(*(presses.render(Markdown, sample, "html", renderers.OPTIONS) for _ in range(CALLERS)))
        left = iter(sources)

        async def call() -> None:
            for source in left:
                await presses.render(Markdown, source, "html", renderers.OPTIONS)

        with measured(len(sources), presses) as spent:
            await asyncio.gather(*(call() for _ in range(CALLERS)))
    finally:
        await presses.close()
    return spent
