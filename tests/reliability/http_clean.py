"""A press that nobody torments: what each source gives is what everybody should have been served."""

import asyncio
import hashlib
from collections.abc import Mapping
from pathlib import Path

from pressroom.renderers import documents
from pressroom.renderers.sandbox.engine_pools import EnginePools
from tests.reliability import http_wants, journal
from tests.reliability.journal import Journal


async def run(notes: Journal, stopping: asyncio.Event) -> None:
    """Render once more whatever was asked for and made, and tell the journal what it should look like."""
    presses = EnginePools(1)
    try:
        for nonce, language in _made(notes.path).items():
            rendered = await documents.render(presses, documents.make_plan(http_wants.asked(nonce, language)))
            notes.write("info", "clean", nonce=nonce, sha256=hashlib.sha256(rendered.data).hexdigest())
    finally:
        await presses.close()


def _made(path: Path) -> Mapping[str, str]:
    lines = [line for line in journal.load(path) if line.do == "submit"]
    answered = {line.data["nonce"] for line in lines if line.type == "ok"}
    return {
        line.data["nonce"]: line.data["language"]
        for line in lines
        if line.type == "invoke" and line.data["language"] is not None and line.data["nonce"] in answered
    }
