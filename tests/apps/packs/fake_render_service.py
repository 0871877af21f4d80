"""A fake of the render service: a server on the loopback that answers what a test tells it to, one answer for each call."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.render_service.stage import pretended_service, response

PDF = b"%PDF-1.7\n% a page of the fake render service\n%%EOF\n"
PRINTED = response("200 OK", PDF, Content_Type="application/pdf", Pressroom_Pages="1")


@dataclass
class FakeRenderService:
    """`answers` are given in turn, and `always` once there are none left."""

    always: bytes = PRINTED
    answers: list[bytes] = field(default_factory=list)
    calls: int = 0
    url: str = ""

    async def __call__(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.calls += 1
        writer.write(self.answers.pop(0) if self.answers else self.always)
        await writer.drain()


@asynccontextmanager
async def fake_render_service(*answers: bytes, always: bytes = PRINTED) -> AsyncIterator[FakeRenderService]:
    fake = FakeRenderService(always, list(answers))
    async with pretended_service(fake) as fake.url:
        yield fake
