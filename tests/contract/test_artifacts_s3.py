"""What only a server can do wrong."""

import asyncio
from dataclasses import replace

import pytest

from pressroom.artifacts.s3 import S3, Bucket
from pressroom.clock import SystemClock
from pressroom.errors import StoreUnavailable
from tests.contract.conftest import bucket_on
from tests.servers import S3Server, free_ports

NOWHERE = Bucket(f"http://127.0.0.1:{free_ports(1)[0]}", "artifacts", "a-key", "a-secret")


def everything(s3: S3):
    async def listing():
        return [one async for one in s3.listing()]

    return [s3.put(b"hello"), s3.get("0" * 64), s3.size("0" * 64), s3.delete(["0" * 64]), listing()]


async def test_a_server_that_is_down_is_unavailable_and_not_empty() -> None:
    """Nothing found and nobody there are two answers: fsck and the collector act on the first."""
    answers = await asyncio.gather(*everything(S3(NOWHERE, SystemClock(), timeout=0.5)), return_exceptions=True)

    assert {type(answer) for answer in answers} == {StoreUnavailable}


async def test_a_wrong_secret_is_told_without_the_secret(s3_server: S3Server) -> None:
    wrong = replace(bucket_on(s3_server, "test/wrong"), secret_key="not-the-secret")

    with pytest.raises(StoreUnavailable) as refused:
        await S3(wrong, SystemClock(), timeout=5).put(b"hello")

    assert "not-the-secret" not in f"{refused.value} {refused.value.__cause__} {wrong!r}"


@pytest.mark.parametrize(
    ("endpoint", "use_ssl", "address"),
    [
        ("minio:9000", False, "http://minio:9000"),
        ("minio:9000", True, "https://minio:9000"),
        ("https://s3.example.org/", False, "https://s3.example.org"),
    ],
)
def test_an_endpoint_may_come_without_a_scheme(endpoint: str, use_ssl: bool, address: str) -> None:
    bucket = replace(NOWHERE, endpoint=endpoint, use_ssl=use_ssl)

    assert bucket.address() == bucket.public_address() == address
