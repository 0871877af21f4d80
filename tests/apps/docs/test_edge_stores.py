"""The edge over the other stores: files in a bucket, rows on a server, readers who go away."""

import asyncio
from typing import Any

import pytest

from tests.apps.docs.edge_stage import edge_stage, page
from tests.contract.conftest import s3_server
from tests.servers import S3Server

__all__ = ["s3_server"]
LARGE = bytes(range(256)) * 4096


@pytest.mark.deep
async def test_files_in_a_bucket(on_server: str, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_server.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_server.secret_key)
    options: dict[str, Any] = {"s3_bucket": s3_server.bucket, "s3_endpoint": s3_server.endpoint}
    async with edge_stage(on_server, **options) as stage:
        await stage.add_project()
        await stage.publish({"index.html": page("home"), "large.bin": LARGE})
        small, large = await stage.get("/acme/guide/"), await stage.get("/acme/guide/large.bin")
        part = await stage.get("/acme/guide/large.bin", range="bytes=300000-300009")

    assert (small.content, large.content, part.content) == (page("home"), LARGE, LARGE[300_000:300_010])


async def test_a_reader_who_goes_away_leaves_nothing_behind(file: str, eventually: Any) -> None:
    """In the middle of a file that is larger than what a socket takes."""
    async with edge_stage(file) as stage:
        await stage.add_project()
        await stage.publish({"large.bin": LARGE * 16})
        before = len(asyncio.all_tasks())
        reader, writer = await asyncio.open_connection("127.0.0.1", stage.port)
        writer.write(b"GET /acme/guide/large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readexactly(1000)
        writer.close()
        await writer.wait_closed()

        await eventually(lambda: len(asyncio.all_tasks()) <= before)
        assert (await stage.get("/acme/guide/large.bin", range="bytes=0-3")).content == LARGE[:4]
