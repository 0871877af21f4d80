"""A process of the docs app that is killed at a failpoint: `python -m tests.apps.docs.flow_doomed SETTINGS FAILPOINTS`."""

import asyncio
import json
import sys
from typing import Any

from pressroom import Pressroom, failpoints


async def live(settings: dict[str, Any], spec: str) -> None:
    failpoints.arm(spec)
    async with Pressroom(workers=1, apps=["docs"], **settings):
        await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(live(json.loads(sys.argv[1]), sys.argv[2]))
