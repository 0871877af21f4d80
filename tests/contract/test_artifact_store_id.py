"""Which artifact store a database uses: recorded at the first use, and another one is refused."""

import asyncio
import shutil
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from pressroom import Pressroom
from pressroom.artifact_lifecycle.checked_store import CheckedStore
from pressroom.artifacts import ArtifactStore
from pressroom.artifacts.disk import Disk
from pressroom.artifacts.s3 import S3
from pressroom.cli.main import main
from pressroom.clock import SystemClock
from pressroom.errors import ArtifactStoreMismatch
from pressroom.worker import judge
from tests import looking
from tests.contract.conftest import Shelf, bucket_on
from tests.servers import S3Server

SOURCE = "digraph { source -> press }"
RECORDED = "SELECT id, location FROM artifact_store"


async def render(database: str, **settings: Any) -> bytes:
    async with Pressroom(database, workers=1, **settings) as press:
        job = await press.render("dot", SOURCE, "svg")
        artifact = await press.artifact((await press.wait(job, timeout=120))["artifact"])
        return b"".join([chunk async for chunk in await press.read(artifact)])


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["pressroom", *arguments])
    return main()


async def test_a_store_has_one_id_whichever_process_makes_it(shelf: Shelf) -> None:
    again = S3(shelf.bucket, shelf.clock) if shelf.bucket else Disk(shelf.folder or "", shelf.clock)
    store: ArtifactStore = shelf.blobs  # type: ignore[assignment]
    assert await store.read_id() is None

    made = await asyncio.gather(*(one.create_id() for one in (store, again) * 4))

    assert len(set(made)) == 1
    assert await store.read_id() == made[0]
    assert [one async for one in store.list_blobs()] == [], "it is no blob, so that nothing collects it"
    assert await store.delete_temporary_files(0) == 0


async def test_a_queue_that_renders_nothing_records_nothing(database: str, tmp_path: Path) -> None:
    async with Pressroom(database, workers=1, artifacts=str(tmp_path / "a")):
        pass

    assert looking.rows(database, RECORDED) == []
    assert not (tmp_path / "a").exists()


async def test_another_folder_is_refused_at_the_start_and_is_not_made(database: str, tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    await render(database, artifacts=str(here))

    with pytest.raises(ArtifactStoreMismatch) as refused:
        await render(database, artifacts=str(elsewhere))

    assert all(text in str(refused.value) for text in (str(here), str(elsewhere), "promote", "--adopt-store"))
    assert not elsewhere.exists()
    assert looking.rows(database, "SELECT count(*) FROM worker") == [(0,)]


async def test_the_same_folder_under_another_name_is_the_same_store(database: str, tmp_path: Path) -> None:
    made = await render(database, artifacts=str(tmp_path / "here"))
    (tmp_path / "link").symlink_to(tmp_path / "here")
    shutil.copytree(tmp_path / "here", tmp_path / "restored")

    assert await render(database, artifacts=str(tmp_path / "link")) == made
    assert await render(database, artifacts=str(tmp_path / "restored")) == made


async def test_a_process_that_touches_no_artifacts_starts_with_other_settings(database: str, tmp_path: Path) -> None:
    await render(database, artifacts=str(tmp_path / "here"))

    async with Pressroom(database, workers=None, artifacts=str(tmp_path / "elsewhere")) as press:
        assert (await press.list()).jobs
        with pytest.raises(ArtifactStoreMismatch):
            await press.render("dot", SOURCE, "svg")  # it would be a hit


async def test_two_that_started_on_a_new_database_the_second_puts_nothing(database: str, tmp_path: Path) -> None:
    """Both were let in, since nothing was recorded. The first put decides."""
    first = Pressroom(database, workers=None, artifacts=str(tmp_path / "first"))
    second = Pressroom(database, workers=None, artifacts=str(tmp_path / "second"))
    async with first, second:
        await first.rendering.blobs.put(b"one")
        for data in (b"two", b"three"):  # each time, as a job that waits for the right settings tries
            with pytest.raises(ArtifactStoreMismatch) as refused:
                await second.rendering.blobs.put(data)

    assert not list((tmp_path / "second" / "blobs").iterdir())
    claim, kind = Any, first.rendering.kind
    assert type(judge.judge(claim, kind, refused.value, 0.5)).__name__ == "Postponed"  # type: ignore[arg-type]


async def test_a_database_of_before_records_the_store_at_the_next_use(database: str, tmp_path: Path) -> None:
    await render(database, artifacts=str(tmp_path / "here"))
    looking.change(database, "DELETE FROM artifact_store")
    (tmp_path / "here" / "pressroom-store-id").unlink()

    await render(database, artifacts=str(tmp_path / "here"))

    ((recorded, _),) = looking.rows(database, RECORDED)
    assert (tmp_path / "here" / "pressroom-store-id").read_text().strip() == recorded


async def test_the_check_costs_nothing_after_the_first_use(tmp_path: Path) -> None:
    async with Pressroom(f"sqlite:///{tmp_path / 'press.db'}", workers=None) as press:
        store = press.rendering.blobs
        assert isinstance(store, CheckedStore)
        await store.put(b"one")
        asked: list[object] = []
        press.rendering.database.read = press.rendering.database.run = asked.append  # type: ignore[method-assign,assignment]
        await store.put(b"two")
        assert asked == []
        del press.rendering.database.read, press.rendering.database.run


def test_commands_refuse_with_a_code_that_stops_restarts_until_the_store_is_adopted(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asyncio.run(render(database, artifacts="here"))
    moved = ("--database", database, "--config", str(tmp_path / "press.toml"))
    (tmp_path / "press.toml").write_text('artifacts = "elsewhere"\nlisten = "127.0.0.1:0"\n')

    for arguments in (("work",), ("serve",), ("serve", "--no-workers"), ("fsck", "--artifacts")):
        assert run(monkeypatch, *arguments, *moved) == 2, arguments
        assert "[artifact_store_mismatch]" in capsys.readouterr().err

    shutil.copytree("here/blobs", "elsewhere/blobs", dirs_exist_ok=True)
    assert run(monkeypatch, "fsck", "--artifacts", "--adopt-store", *moved) == 0
    assert run(monkeypatch, "fsck", "--artifacts", *moved) == 0


async def test_a_bucket_and_a_folder_are_not_mixed(s3_server: S3Server, tmp_path: Path) -> None:
    """The fault that this is for: a worker without S3_BUCKET completes jobs into a folder of its own."""
    database, prefix = f"sqlite:///{tmp_path / 'press.db'}", f"identity/{uuid4().hex}"
    bucket = bucket_on(s3_server, prefix)
    settings = {"s3_endpoint": bucket.endpoint, "s3_bucket": bucket.bucket, "s3_prefix": prefix}
    keys = {"s3_access_key": bucket.access_key, "s3_secret_key": bucket.secret_key}
    made = await render(database, **settings, **keys)

    with pytest.raises(ArtifactStoreMismatch, match="bucket artifacts"):
        await render(database)

    other_name = settings | {"s3_endpoint": bucket.endpoint.replace("127.0.0.1", "localhost")}
    assert await render(database, **other_name, **keys) == made
    assert len([one async for one in S3(bucket, SystemClock()).list_blobs()]) == 1


async def test_a_bucket_out_of_reach_lets_a_worker_start(database: str, tmp_path: Path, caplog: Any) -> None:
    await render(database, artifacts=str(tmp_path / "here"))
    nowhere = {"s3_endpoint": "http://127.0.0.1:9", "s3_bucket": "b", "s3_access_key": "k", "s3_secret_key": "s"}

    async with Pressroom(database, workers=1, **nowhere):
        assert "could not be checked" in caplog.text
