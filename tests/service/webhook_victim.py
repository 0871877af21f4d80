"""A worker that is killed: `python webhook_victim.py DATABASE ALLOW FAILPOINTS`.

The handler arms the failpoints, so that what is hit is the end of its own job and not a turn before it.
"""

import asyncio
import sys
from typing import Any

from pressroom import Pressroom, failpoints, kind
from pressroom.app import BUILT_IN


@kind("shout")
async def shout(job: Any, payload: Any) -> Any:
    failpoints.arm(sys.argv[3])
    return payload


async def main() -> None:
    options = {"poll_interval": 0.01, "webhook_allow": (sys.argv[2],)}
    async with Pressroom(sys.argv[1], kinds=[shout], apps=BUILT_IN, workers=2, **options) as press:
        await press.submit("shout", "hi", org_id="acme")
        await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main())
