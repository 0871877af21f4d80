"""A process of packs that is killed at a failpoint: `python -m tests.apps.packs.doomed SETTINGS FAILPOINTS [PACK]`.

With a pack it requests its document `note`; without one it works until it is killed.
"""

import asyncio
import json
import sys
from typing import Any

from pressroom import Pressroom, failpoints


async def live(settings: dict[str, Any], spec: str, pack: str | None) -> None:
    failpoints.arm(spec)
    async with Pressroom(workers=None if pack else 1, apps=["packs"], **settings) as press:
        if pack:
            app: Any = press.app("packs")
            await app.packs.render_one(None, pack, "note", requested_by="doomed")
        await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(live(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None))
