"""The whole way of a build by every way to deliver, with artifacts in a folder and in a bucket, and through crashes."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from pressroom.apps.docs.model import BuildStatus, PublishStatus
from pressroom.artifact_lifecycle.fsck import fsck
from pressroom.model import Status
from tests import looking
from tests.apps.docs.flow_stage import SITE, archive_of, docs_flow, put_in_bucket
from tests.contract.conftest import s3_server
from tests.delivery.conftest import how, lists, redis_server
from tests.patience import be_patient
from tests.servers import S3Server

__all__ = ["how", "lists", "redis_server", "s3_server"]

POINTS = (
    *("blob.temp_written", "blob.renamed", "inventory.recorded", "write.unit_done", "write.after_commit", "tracking.done"),
    *("edition.moved", "edition.published"),
)
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


async def test_a_build_is_processed_by_every_delivery(how: dict[str, Any]) -> None:
    """Q1: the delivery only delivers."""
    async with docs_flow(**how) as flow:
        first, job = await flow.process(SITE, "v1.0.0")
        assert job.status is Status.COMPLETED, job.errors
        second, job = await flow.process(SITE | {"new.html": b"new"}, "v1.1.0")
        assert job.status is Status.COMPLETED, job.errors
        assert (await flow.edition("1")).build == second.uid
        assert await flow.history("1") == [second.uid, first.uid]
        assert job.delivery_ref is not None or how.get("delivery") != "oban"


async def test_a_build_in_a_bucket(database: str, s3_server: S3Server) -> None:
    """Uploaded by a presigned address, without this service, and kept in the bucket."""
    settings = {
        "s3_endpoint": s3_server.endpoint,
        "s3_bucket": s3_server.bucket,
        "s3_access_key": s3_server.access_key,
        "s3_secret_key": s3_server.secret_key,
        "s3_prefix": f"docs/{uuid4().hex}",
    }
    async with docs_flow(database, **settings) as flow:
        archive = archive_of(SITE)
        announced = await flow.announce(archive)
        assert announced.upload_url is not None
        assert f"/{settings['s3_prefix']}/__staging/{announced.build.uid}.tar.gz?" in announced.upload_url
        await asyncio.to_thread(put_in_bucket, announced.upload_url, archive)
        build, job = await flow.ended(await flow.start(announced.build))
        assert job.status is Status.COMPLETED, job.errors
        assert await flow.read(build, "index.html") == SITE["index.html"]
        assert await flow.app.staging.size(build.uid) is None
        again, job = await flow.process(SITE | {"new.html": b"new"})
        assert job.status is Status.COMPLETED, job.errors
        assert await flow.read(again, "new.html") == b"new"
        assert await fsck(flow.app.core.rendering.blobs, flow.app.core.database) == []


async def doomed(how: dict[str, Any], spec: str) -> None:
    """A process that is killed at a failpoint (see `flow_doomed.py`)."""
    command = [sys.executable, "-m", "tests.apps.docs.flow_doomed", json.dumps(how), spec]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)})
    try:
        assert await asyncio.wait_for(process.wait(), 120) == -signal.SIGKILL
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.deep
@pytest.mark.parametrize("point", POINTS)
async def test_a_build_survives_the_death_of_its_worker(how: dict[str, Any], point: str) -> None:
    """Killed anywhere, the next worker ends it: one artifact that is whole, one move, one entry in the history."""
    async with docs_flow(workers=None, **how) as flow:
        build = await flow.submit(SITE)
        await doomed(how | {"lease": 60.0}, f"{point}=kill@1")
    looking.change(how["database"], "UPDATE job SET lease_until = 1 WHERE status = 'in_progress'")
    async with docs_flow(**how) as flow:
        build, job = await flow.ended(build)
        assert job.status is Status.COMPLETED, job.errors
        assert build.status is BuildStatus.COMPLETED
        edition = await flow.edition()
        assert (edition.build, edition.publish_seq, edition.publish_status) == (build.uid, 1, PublishStatus.PUBLISHED)
        assert await flow.history() == [build.uid]
        assert await flow.read(build, "index.html") == SITE["index.html"]
        problems = await fsck(flow.app.core.rendering.blobs, flow.app.core.database)
        assert [problem for problem in problems if problem.kind != "unexpected"] == []


@pytest.mark.deep
async def test_a_build_whose_worker_dies_too_often_has_failed(file: str, tmp_path: Path) -> None:
    """D29: what was being published follows the job that nobody settled."""
    how = {"database": file, "home": str(tmp_path)}
    async with docs_flow(workers=None, **how) as flow:
        build = await flow.submit(SITE)
    for _ in range(3):
        await doomed(how, "edition.moved=kill@1")
        looking.change(file, "UPDATE job SET lease_until = 1, run_at = 1 WHERE status IN ('in_progress', 'queued')")
    async with docs_flow(**how) as flow:
        build, job = await flow.ended(build)
        assert job.status is Status.FAILED
        assert build.status is BuildStatus.FAILED
        assert (await flow.edition()).publish_status is PublishStatus.FAILED
