"""Every kind of artifact store, each with what a test must know to look behind it."""

import asyncio
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from uuid import uuid4

import pytest

from pressroom.artifacts import Blobs
from pressroom.artifacts.disk import Disk
from pressroom.artifacts.disposition import content_disposition
from pressroom.artifacts.s3 import S3, Bucket
from pressroom.clock import SystemClock
from pressroom.errors import NotFound, StoreUnavailable
from pressroom.testing import ManualClock
from tests.patience import be_patient
from tests.servers import S3Server, seaweedfs


class Answer(NamedTuple):
    status: int
    body: bytes
    media_type: str
    disposition: str


@dataclass
class Shelf:
    """An empty artifact store of some kind, on a clock that a test may move, and a browser that follows its links."""

    kind: str
    blobs: Blobs
    clock: ManualClock
    fetch: Callable[[str], Answer]
    bucket: Bucket | None = None
    folder: Path | None = None


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture(scope="package")
def s3_server() -> Iterator[S3Server]:
    # Not in pytest's folder, which keeps what the last three runs wrote.
    with TemporaryDirectory(prefix="seaweedfs-") as folder, seaweedfs(Path(folder), _can_be_put_to) as server:
        yield server


def _can_be_put_to(server: S3Server) -> bool:
    try:
        asyncio.run(S3(bucket_on(server, "ready"), SystemClock(), timeout=10.0).put(b"ready"))
    except StoreUnavailable:
        return False
    return True


def bucket_on(server: S3Server, prefix: str) -> Bucket:
    return Bucket(
        endpoint=server.endpoint,
        bucket=server.bucket,
        access_key=server.access_key,
        secret_key=server.secret_key,
        prefix=prefix,
    )


@pytest.fixture(params=["disk", "s3"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    if request.param == "s3":
        bucket = bucket_on(request.getfixturevalue("s3_server"), f"test/{uuid4().hex}")
    clock = ManualClock(time.time_ns() // 1_000_000)  # after the server's start, which may take a minute
    if request.param == "s3":
        return Shelf("s3", S3(bucket, clock), clock, _fetch, bucket=bucket)
    disk = Disk(tmp_path / "artifacts", clock)
    return Shelf("disk", disk, clock, lambda url: _serve(disk, url), folder=tmp_path / "artifacts")


def _fetch(url: str) -> Answer:
    try:
        with urllib.request.urlopen(url) as answer:
            headers = answer.headers
            return Answer(answer.status, answer.read(), headers["Content-Type"], headers["Content-Disposition"])
    except urllib.error.HTTPError as refused:
        with refused:
            return Answer(refused.code, b"", "", "")


def _serve(disk: Disk, url: str) -> Answer:
    """What the service does with a link of ours."""
    try:
        allowed = disk.check_link(url)
        body = asyncio.run(_read(disk, allowed.key))
    except NotFound:
        return Answer(404, b"", "", "")
    return Answer(200, body, allowed.media_type, content_disposition(allowed.filename))


async def _read(blobs: Blobs, key: str) -> bytes:
    return b"".join([chunk async for chunk in await blobs.get(key)])
