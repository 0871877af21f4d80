"""What an organisation publishes before its packs are made: two short documents."""

import asyncio
import json
from pathlib import Path
from typing import Any

from pressroom import Pressroom

CONFIG = {
    "template:note": "<p>{{ name }}</p>",
    "documents_registry": json.dumps([{"doc_id": one, "title": one, "template": "note"} for one in ("note", "receipt")]),
}


async def run(database: Path, _: asyncio.Event) -> None:
    async with Pressroom(f"sqlite:///{database}", apps=["packs"], workers=None, home=str(database.parent)) as press:
        app: Any = press.app("packs")
        for key, body in CONFIG.items():
            await app.configuration.put(None, key, body, author="the lab")
