"""What only a server can do wrong."""

import asyncio
from dataclasses import replace

import obstore
import pytest
from obstore.exceptions import BaseError

from pressroom.artifacts.bucket_errors import as_dependency_failed
from pressroom.artifacts.s3 import S3, Bucket
from pressroom.base.dependencies import MENDS, DependencyFailed
from pressroom.clock import SystemClock
from pressroom.errors import StoreUnavailable
from tests.contract.conftest import bucket_on
from tests.servers import S3Server, free_ports

NOWHERE = Bucket(f"http://127.0.0.1:{free_ports(1)[0]}", "artifacts", "a-key", "a-secret")


def everything(s3: S3):
    async def listing():
        return [one async for one in s3.list_blobs()]

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


async def test_a_probe_writes_only_when_it_is_asked_to_and_leaves_nothing(s3_server: S3Server) -> None:
    s3 = S3(bucket_on(s3_server, "test/probe"), SystemClock(), timeout=30)

    for write in (False, True, True):
        assert await s3.probe(write=write) == f"the bucket artifacts at {s3_server.endpoint}"

    assert [page async for page in obstore.list(s3._store, "test/probe")] == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"endpoint": NOWHERE.endpoint}, "s3_unreachable"),
        ({"bucket": "another"}, "s3_bucket_missing"),
        ({"access_key": "another-key"}, "s3_access_key_unknown"),
        ({"secret_key": "not-the-secret"}, "s3_secret_wrong"),
    ],
)
@pytest.mark.parametrize("write", [False, True])
async def test_a_probe_tells_the_causes_apart(s3_server: S3Server, change: dict[str, str], problem: str, write: bool) -> None:
    bucket = replace(bucket_on(s3_server, "test/probe"), **change)

    with pytest.raises(DependencyFailed) as failed:
        await S3(bucket, SystemClock(), timeout=30, retries=0).probe(write=write)

    assert failed.value.problem == problem
    assert problem in MENDS
    assert not any(secret in str(failed.value) for secret in ("not-the-secret", s3_server.secret_key))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("status code: 403 Forbidden: <Error><Code>AccessDenied</Code></Error>", "s3_access_denied"),
        ("Server returned non-2xx status code: 403 Forbidden: ", "s3_access_denied"),
        ("Server returned non-2xx status code: 502 Bad Gateway: <html>", "s3_refused"),
        ("<Error><Code>RequestTimeTooSkewed</Code></Error>", "s3_clock_skewed"),
        ("<Error><Code>SlowDown</Code></Error>", "s3_refused"),
        ("HTTP error: error sending request", "s3_unreachable"),
    ],
)
def test_answers_that_our_server_does_not_give(answer: str, problem: str) -> None:
    failed = as_dependency_failed(BaseError(answer), "the bucket", "put objects")

    assert failed.problem == problem
    assert problem in MENDS
    assert "Forbidden" not in str(failed)
    assert "<" not in str(failed)


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
