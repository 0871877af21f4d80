"""`press.bytes`: the bytes of an artifact, by what the result of its job carries."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from pressroom import NotFound, Pressroom
from tests.servers import S3Server


@pytest.fixture(params=["disk", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    if request.param == "disk":
        return {"artifacts": str(tmp_path / "artifacts")}
    server: S3Server = request.getfixturevalue("s3_server")
    return {
        "s3_endpoint": server.endpoint,
        "s3_bucket": server.bucket,
        "s3_access_key": server.access_key,
        "s3_secret_key": server.secret_key,
        "s3_prefix": f"test/{uuid4().hex}",
    }


async def test_bytes_are_read_by_the_link_or_the_uid_of_a_result(file: str, place: dict[str, Any]) -> None:
    async with Pressroom(file, workers=1, **place) as press:
        result = await press.wait(await press.render("markdown", "# Hello\n", "html"), timeout=120)

        page = await press.bytes(result["short_link"])

        assert b"Hello" in page
        assert len(page) == result["size"]
        assert await press.bytes(result["artifact"]) == page
        with pytest.raises(NotFound):
            await press.bytes("nosuchlink")
