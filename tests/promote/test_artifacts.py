"""The bytes of artifacts go to the bucket: each once, verified, a few at a time, and on after a kill."""

import asyncio
import signal
from pathlib import Path
from uuid import uuid4

import apsw
import pytest

from pressroom import Pressroom
from pressroom.artifact_lifecycle.fsck import fsck
from pressroom.artifacts import Blobs
from pressroom.artifacts.disk import Disk
from pressroom.artifacts.s3 import S3
from pressroom.clock import SystemClock
from tests import looking
from tests.contract.conftest import bucket_on
from tests.promote.conftest import Promote, promote_elsewhere
from tests.promote.house import UID
from tests.promote.same import assert_same
from tests.servers import S3Server


@pytest.fixture
def prefix(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A place of its own in the bucket, set as an operator would."""
    prefix = f"promote/{uuid4().hex}"
    for name, value in settings_for(s3_server, prefix).items():
        monkeypatch.setenv(name.upper(), str(value))
    return prefix


def settings_for(server: S3Server, prefix: str) -> dict[str, str]:
    return {
        "s3_endpoint": server.endpoint,
        "s3_bucket": server.bucket,
        "s3_access_key": server.access_key,
        "s3_secret_key": server.secret_key,
        "s3_prefix": prefix,
    }


@pytest.fixture
def bucket(s3_server: S3Server, prefix: str) -> Blobs:
    return S3(bucket_on(s3_server, prefix), SystemClock())


@pytest.fixture
def many(home: Path, source: str) -> list[str]:
    """A dozen blobs more, one of them of its third generation, one longer than a part of an upload."""

    async def put() -> list[str]:
        disk = Disk(home / "press.artifacts", SystemClock())
        keys = [(await disk.put(f"page {n}".encode())).key for n in range(10)]
        keys.append((await disk.put(b"x" * 9_000_000)).key)
        keys.append((await disk.put(b"again", reserve=_third)).key)
        return keys

    keys = asyncio.run(put())
    with apsw.Connection(source.removeprefix("sqlite:///")) as connection:
        connection.execute(
            "INSERT INTO artifact (uid, name, files, size, media_type, date_created) VALUES (?, 'site', ?, 0, 'text/html', 1)",
            (UID, len(keys)),
        )
        for key in keys:
            size = (home / "press.artifacts" / "blobs" / key[:2] / key).stat().st_size
            connection.execute("INSERT INTO blob VALUES (?, ?, ?, 'marked', 1, 1)", (key[:64], int(key[65:] or 0), size))
            connection.execute("UPDATE blob SET state = 'live' WHERE sha256 = ?", (key[:64],))
            connection.execute("INSERT INTO artifact_file VALUES (?, ?, ?, ?, 'text/html')", (UID, key, key[:64], size))
    return keys


async def _third(sha256: str, size: int) -> int:
    return 3


async def keys_in(bucket: Blobs) -> set[str]:
    return {listed.key async for listed in bucket.list_blobs()}


async def check_artifacts(on_server: str, bucket: Blobs, s3: dict[str, str]) -> None:
    async with Pressroom(on_server, workers=None, **s3) as press:
        assert await fsck(bucket, press.rendering.database) == []
        ((uid,),) = looking.rows(on_server, "SELECT uid FROM artifact WHERE files = 0")
        artifact = await press.artifact(uid)
        assert b"<svg" in b"".join([chunk async for chunk in await press.read(artifact)])


def test_the_artifacts_are_read_from_the_bucket(
    promote: Promote, source: str, on_server: str, bucket: Blobs, many: list[str], s3_server: S3Server, prefix: str
) -> None:
    """I1: the rows and the bytes are whole, every hash is what it was, and second names are there (R23)."""
    named = "SELECT uid, sha256, generation, blob.size FROM artifact JOIN blob USING (sha256) WHERE files = 0"
    looking.change(
        source,
        "INSERT INTO blob_alias (path, artifact, sha256, generation, size, date_reserved) "
        f"SELECT 'renders/job/offer.pdf', uid, sha256, generation, size, 1 FROM ({named})",
    )
    rehearsed = promote("--artifacts-to", "s3", "--dry-run", "--json")
    assert asyncio.run(keys_in(bucket)) == set(), "a rehearsal sends nothing"

    ran = promote("--artifacts-to", "s3", "--json")

    assert ran.code == 0, ran.err
    assert ran.data["artifacts"] == {**rehearsed.data["artifacts"], "there_before": 0}
    assert asyncio.run(keys_in(bucket)) > set(many)
    assert asyncio.run(bucket.alias_size("renders/job/offer.pdf")) > 0
    asyncio.run(check_artifacts(on_server, bucket, settings_for(s3_server, prefix)))
    ((store_id, location),) = looking.rows(on_server, "SELECT id, location FROM artifact_store")
    assert store_id == asyncio.run(S3(bucket_on(s3_server, prefix), SystemClock()).read_id())
    assert prefix in location


def test_killed_between_two_blobs_it_sends_only_what_is_missing(
    promote: Promote, source: str, on_server: str, bucket: Blobs, many: list[str]
) -> None:
    process = promote_elsewhere(source, on_server, "promote.blob_copied=kill@5", "--artifacts-to", "s3")
    _, said = process.communicate(timeout=600)
    assert process.returncode == -signal.SIGKILL, said
    there = asyncio.run(keys_in(bucket))

    ran = promote("--artifacts-to", "s3", "--json")

    assert ran.code == 0, ran.err
    assert len(there) >= 5
    assert ran.data["artifacts"]["there_before"] >= len(there)  # what was on its way at the end may arrive after our look
    assert asyncio.run(keys_in(bucket)) > set(many)
    assert_same(source, on_server, but=("artifact_store",))


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_damaged_artifact_is_named_and_nothing_is_promoted(
    damage: str, promote: Promote, on_server: str, home: Path, bucket: Blobs, many: list[str]
) -> None:
    path = home / "press.artifacts" / "blobs" / many[3][:2] / many[3]
    before = path.read_bytes()
    path.unlink() if damage == "missing" else path.write_bytes(b"PAGE 3")

    ran = promote("--artifacts-to", "s3")

    assert (ran.code, "[artifacts_damaged]" in ran.err) == (1, True)
    assert many[3] in ran.err
    assert many[3] not in asyncio.run(keys_in(bucket))
    assert looking.rows(on_server, "SELECT count(*) FROM job") == [(0,)]

    path.write_bytes(before)
    assert promote("--artifacts-to", "s3").code == 0
