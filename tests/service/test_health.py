"""`/health` and `/readyz` on what the service depends on beside its database."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom.api import dependencies, readiness
from pressroom.api.dependencies import Dependencies
from pressroom.config import Settings
from pressroom.store.jobs.worker_records import WorkerRecord, save_worker
from tests import looking
from tests.servers import free_ports
from tests.service.access_stage import on_stage
from tests.service.queue_stage import LEASE, floor
from tests.service.test_readiness import GOOD


def s3_at(endpoint: str) -> dict[str, Any]:
    return {"s3_bucket": "artifacts", "s3_endpoint": endpoint, "s3_access_key": "a-key", "s3_secret_key": "a-s3cret"}


async def health(client: httpx.AsyncClient) -> tuple[int, str, dict[str, tuple[str, str | None]]]:
    answer = await client.get("/health")
    told = answer.json()
    return answer.status_code, told["status"], {one["name"]: (one["status"], one["code"]) for one in told["dependencies"]}


async def test_all_is_well(file: str) -> None:
    async with on_stage(file, works=False) as stage, stage.client() as client:
        assert await health(client) == (200, "pass", {"database": ("pass", None), "artifacts": ("pass", None)})
        assert (await client.get("/readyz")).json() == {"status": "pass"}


async def test_jobs_are_accepted_while_s3_and_redis_are_down_and_both_are_named(on_server: str) -> None:
    nowhere = f"127.0.0.1:{free_ports(1)[0]}"
    down = s3_at(f"http://{nowhere}") | {"delivery": "redis", "redis_url": f"redis://:s3cret@{nowhere}/0"}
    async with on_stage(on_server, works=False, **down) as stage, stage.client(await stage.token()) as client:
        assert await health(client) == (
            *(200, "warn"),
            {
                "database": ("pass", None),
                "artifacts": ("fail", "s3_unreachable"),
                "delivery": ("warn", "redis_unreachable"),
            },
        )
        ready = await client.get("/readyz")
        assert (ready.status_code, ready.json()) == (
            *(200,),
            {"status": "warn", "degraded": {"artifacts": "s3_unreachable", "delivery": "redis_unreachable"}},
        )
        assert (await client.post("/jobs", json=GOOD)).status_code == 202
        assert "s3cret" not in ready.text + (await client.get("/health")).text


async def test_dropped_oban_tables_are_named_and_submits_fail(on_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "FRESH", 0.0)
    monkeypatch.setattr(dependencies, "FRESH", 0.0)
    async with on_stage(on_server, works=False, delivery="oban") as stage, stage.client(await stage.token()) as client:
        assert (await health(client))[:2] == (200, "pass")
        looking.change(on_server, "DROP TABLE public.oban_jobs")
        assert (await health(client))[2]["delivery"] == ("fail", "oban_tables_missing")
        assert (await client.post("/jobs", json=GOOD)).status_code == 500
        assert (await client.get("/readyz")).status_code == 503


async def test_many_requests_make_one_probe_and_ready_does_not_wait_for_it(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    probed, may_end = 0, asyncio.Event()

    async def probe() -> str:
        nonlocal probed
        probed += 1
        await may_end.wait()
        return "well"

    monkeypatch.setattr(dependencies.backends, "dependency_probes", lambda *_, **__: {"artifacts": probe})
    async with on_stage(file, works=False) as stage, stage.client() as client:
        for _ in range(3):
            assert (await client.get("/readyz")).json() == {"status": "pass"}
        asked = [asyncio.create_task(health(client)) for _ in range(20)]
        await asyncio.sleep(0)
        may_end.set()
        assert all(status == 200 for status, *_ in await asyncio.gather(*asked))
        assert probed == 1


async def test_a_result_is_renewed_when_it_is_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "artifacts"
    watched = Dependencies(Settings(database=f"sqlite:///{tmp_path}/press.db", artifacts=str(folder)))
    assert [one.code for one in await watched.current()] == [None]
    folder.write_text("a file where a folder should be")
    assert [one.code for one in await watched.current()] == [None]
    monkeypatch.setattr(dependencies, "FRESH", 0.0)
    assert [one.code for one in await watched.current()] == ["store_unavailable"]


async def test_a_kind_that_no_worker_takes_is_a_warning_and_no_failure(database: str) -> None:
    async with floor(database, allowed_hosts=("pressroom",)) as here:
        token = await here.token(everywhere=True)
        async with here.client(token) as viewer, here.client() as anybody:
            await here.press.submit("build")
            here.clock.advance(seconds=61)
            without_any = (await viewer.get("/health")).json()
            await here.run(save_worker(WorkerRecord("one", "p", ["page"], 1, 0, lease=LEASE)))
            without_one = await viewer.get("/health")
            told_to_anybody = (await anybody.get("/health")).json()
            figures = (await viewer.get("/metrics")).text
            await here.run(save_worker(WorkerRecord("two", "p", ["build"], 1, 0, lease=LEASE)))
            covered = (await viewer.get("/health")).json()

    assert without_any["warnings"] == [{"code": "no_worker", "kinds": ["build"]}]
    assert (without_one.status_code, without_one.json()["status"]) == (200, "warn")
    assert without_one.json()["warnings"] == [{"code": "kind_without_worker", "kinds": ["build"]}]
    assert told_to_anybody["warnings"] == [{"code": "kind_without_worker", "kinds": None}]
    assert 'pressroom_jobs_without_worker{queue="build"} 1.0' in figures
    assert "pressroom_workers 1.0" in figures
    assert (covered["status"], covered["warnings"]) == ("pass", [])
