"""Temporary credentials of a real S3 server: their session token goes with every request and every link.

They come by way of the fakes in tests/fake_aws.py, because the real endpoints exist only inside of AWS.
"""

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from pressroom import Kind, Pressroom, backends
from pressroom.artifacts.aws_credentials import find_credentials
from pressroom.artifacts.credentials import Credentials, RenewedCredentials
from pressroom.artifacts.presign import max_lifetime
from pressroom.artifacts.s3 import PART, S3, Bucket
from pressroom.base.dependencies import DependencyFailed
from pressroom.clock import SystemClock
from pressroom.config import Settings
from pressroom.errors import S3CredentialsExpired
from pressroom.testing import ManualClock
from tests.contract.conftest import _fetch
from tests.fake_aws import WEB_TOKEN, FakeAws, fake_aws, session_credentials
from tests.servers import S3Server


@pytest.fixture
def aws(s3_server: S3Server) -> Iterator[FakeAws]:
    with fake_aws(session_credentials(s3_server)) as fake:
        yield fake


@pytest.fixture
def environ(aws: FakeAws) -> dict[str, str]:
    return {"AWS_EC2_METADATA_SERVICE_ENDPOINT": aws.address}


def s3_with(server: S3Server, environ: dict[str, str], clock: Any) -> S3:
    credentials = RenewedCredentials(partial(find_credentials, environ, "us-east-1"), clock)
    return S3(Bucket(server.endpoint, server.bucket, prefix="test/session"), clock, credentials=credentials)


async def test_every_request_and_link_is_signed_with_the_session_token(s3_server: S3Server, environ: dict[str, str]) -> None:
    s3 = s3_with(s3_server, environ, SystemClock())

    assert await s3.probe(write=True) == (
        f"the bucket artifacts at {s3_server.endpoint}, with credentials from the role press-role of this instance"
    )
    small, large = await s3.put(b"<svg/>"), await s3.put(b"x" * (PART + 1))
    assert await s3.verify(small.key)
    assert await s3.verify(large.key)
    assert {one.key for one in [one async for one in s3.list_blobs()]} >= {small.key, large.key}
    answer = await asyncio.to_thread(_fetch, await s3.url(small.key, media_type="image/svg+xml", filename="a b.svg"))
    assert (answer.status, answer.body, answer.media_type) == (200, b"<svg/>", "image/svg+xml")
    await s3.delete([small.key, large.key])


async def test_without_its_token_a_temporary_key_is_refused(s3_server: S3Server, aws: FakeAws) -> None:
    """So that the test above says something."""
    keys = {"AWS_ACCESS_KEY_ID": aws.keys["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": aws.keys["SecretAccessKey"]}
    with pytest.raises(DependencyFailed) as failed:
        await s3_with(s3_server, keys, SystemClock()).probe(write=False)
    assert failed.value.problem == "s3_access_key_unknown"

    with_token = keys | {"AWS_SESSION_TOKEN": aws.keys["Token"]}
    assert "(AWS_ACCESS_KEY_ID)" in await s3_with(s3_server, with_token, SystemClock()).probe(write=False)


async def test_a_token_in_the_environment_is_not_added_to_the_keys_of_the_settings(
    s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"AWS_SESSION_TOKEN": "of-somebody-else", "AWS_SKIP_SIGNATURE": "true"}.items():
        monkeypatch.setenv(name, value)
    bucket = Bucket(s3_server.endpoint, s3_server.bucket, s3_server.access_key, s3_server.secret_key, prefix="test/session")
    assert (await S3(bucket, SystemClock()).put(b"hello")).size == 5


async def test_a_link_lives_no_longer_than_its_credentials(s3_server: S3Server, environ: dict[str, str], aws: FakeAws) -> None:
    clock = ManualClock(time.time_ns() // 1_000_000)
    s3 = s3_with(s3_server, environ, clock)
    assert max_lifetime(await s3.url("0" * 64)) == 600
    assert 800 < (max_lifetime(await s3.url("0" * 64, seconds=86_400)) or 0) <= 900

    aws.is_failing = True
    clock.advance(minutes=12)
    url = await s3.url("0" * 64)
    assert 100 < (max_lifetime(url) or 0) <= 180
    assert parse_qs(urlsplit(url).query)["X-Amz-Security-Token"] == [aws.keys["Token"]]

    clock.advance(minutes=3)
    with pytest.raises(S3CredentialsExpired):
        await s3.url("0" * 64)


async def test_new_credentials_are_used_as_soon_as_they_are_there(s3_server: S3Server, aws: FakeAws) -> None:
    """Obstore keeps none of its own: the old ones may have been revoked."""
    now = time.time()
    wrong = Credentials("a-key-that-was-revoked", "a-secret", "a-token", now + 3600, "a test")
    right = Credentials(aws.keys["AccessKeyId"], aws.keys["SecretAccessKey"], aws.keys["Token"], now + 7200, "a test")
    answers, clock = iter([wrong, right]), ManualClock(time.time_ns() // 1_000_000)
    credentials = RenewedCredentials(lambda: next(answers), clock)
    s3 = S3(Bucket(s3_server.endpoint, s3_server.bucket, prefix="test/session"), clock, credentials=credentials, retries=0)

    with pytest.raises(DependencyFailed):
        await s3.probe(write=False)
    clock.advance(hours=1)
    assert (await s3.put(b"hello")).size == 5


async def test_jobs_wait_until_there_are_credentials_again(
    s3_server: S3Server, aws: FakeAws, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    token = tmp_path / "token"
    for name, value in {
        "AWS_WEB_IDENTITY_TOKEN_FILE": str(token),
        "AWS_ROLE_ARN": "arn:aws:iam::1:role/press",
        "AWS_ENDPOINT_URL_STS": aws.address,
        "HOME": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.delenv(name, raising=False)
    settings = Settings(
        database=file,
        s3_endpoint=s3_server.endpoint,
        s3_bucket=s3_server.bucket,
        s3_prefix=f"test/{tmp_path.name}",
        poll_interval=0.02,
    )

    async def keep(job: Any, payload: Any) -> Any:
        return (await press.rendering.blobs.put(payload.encode())).size

    async with Pressroom(settings=settings, kinds=[Kind("keep", keep)], workers=2) as press:
        (broken,) = [one for one in await backends.examine_dependencies(settings, write=True) if not one.well]
        assert (broken.what, broken.code) == ("artifacts", "s3_credentials_failed")
        job = await press.submit("keep", "hello")
        await eventually(lambda: _was_postponed(press, job.uid))

        token.write_text(WEB_TOKEN)
        assert await press.wait(job, timeout=120) == 5
        (finding,) = [one for one in await backends.examine_dependencies(settings, write=True) if one.what == "artifacts"]
        assert finding.well
        assert "the role arn:aws:iam::1:role/press, by web identity" in finding.detail
        assert aws.keys["SecretAccessKey"] not in finding.detail


async def _was_postponed(press: Pressroom, uid: str) -> bool:
    job = await press.get(uid)
    return job.status == "queued" and job.waits_for == "time"
