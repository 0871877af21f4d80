"""A process that renders without end with the engines it is told, until somebody kills it. Says `busy` when all are at work."""

import asyncio
import sys

from pressroom.renderers import Engine, catalogue
from pressroom.renderers.sandbox.engine_pools import EnginePools


async def main(names: list[str]) -> None:
    presses = EnginePools(1)
    for name in names:
        await _render(presses, catalogue.get_engine(name))
    work = [asyncio.create_task(_go_on(presses, catalogue.get_engine(name))) for name in names]
    await asyncio.sleep(0.1)
    print("busy", flush=True)
    await asyncio.gather(*work)


async def _render(presses: EnginePools, engine: type[Engine]) -> None:
    await presses.render(engine, engine.sample.encode(), engine.makes[0])


async def _go_on(presses: EnginePools, engine: type[Engine]) -> None:
    while True:
        await _render(presses, engine)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
