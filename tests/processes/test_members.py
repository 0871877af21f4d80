"""Who works on a database, wherever they run: `Pressroom.members`, `pressroom workers`, `GET /workers`."""

import asyncio
import json
import os
import socket
import sys
from contextlib import contextmanager
from functools import partial

import httpx
import pytest

from pressroom import Request
from pressroom.api.access import Scope
from pressroom.cli.main import main
from pressroom.model import VERSION
from pressroom.store.jobs import worker_records
from pressroom.testing import ManualClock
from pressroom.worker.process import process_identity
from tests.processes.stage import Start, here, pids, starting
from tests.service.access_stage import on_stage


async def test_a_worker_tells_who_and_where_it_is(database):
    async with here(database, workers=3, only=["stamp"]) as press:
        (member,) = await press.members()

        assert (member.id, member.host, member.pid) == (press.worker.name, socket.gethostname(), os.getpid())
        assert (member.version, member.delivery) == (VERSION, "embedded")
        assert (member.slots, member.running, member.kinds) == (3, 0, ["stamp"])
        assert (member.state, member.alive, member.leader) == ("working", True, True)
        assert member.date_started <= member.date_seen
        ((card, started, seen),) = await press.workers()
        assert (card.uid, card.process) == (member.id, process_identity())
        assert started <= seen


async def test_a_worker_that_was_not_seen_for_its_lease_is_silent(database):
    clock = ManualClock()
    async with here(database, clock=clock) as press:
        for uid, lease in (("short", 5_000), ("long", 60_000)):
            card = worker_records.WorkerRecord(uid, "elsewhere/1/2/3/4", ["stamp"], 1, 0, host="elsewhere", pid=3, lease=lease)
            await press._database.run(lambda card=card: worker_records.save_worker(card), name="heartbeat")
        clock.advance(seconds=6)

        assert {member.id: member.alive for member in await press.members()} == {"short": False, "long": True}


async def test_a_worker_is_paused_when_all_of_its_kinds_are(database):
    async with here(database, workers=1, only=["stamp", "press"]) as press:
        await press.pause("stamp")
        (one_left,) = await press.members()
        await press.pause("press")
        (none_left,) = await press.members()

        assert (one_left.state, none_left.state) == ("working", "paused")


async def test_a_worker_that_finishes_its_jobs_before_it_stops_says_so(database, start, log, gate, eventually):
    worker = start("work", "--slots", "1", "--kinds", "press", PRESSROOM_LEASE="10")
    async with here(database) as press:
        job = await press.submit("press", {"log": str(log), "until": str(gate)})
        await eventually(lambda: log.read_text())
        worker.ask_to_stop()

        async def stopping():
            return [member for member in await press.members() if (member.state, member.running) == ("stopping", 1)]

        await eventually(stopping)
        gate.touch()
        await press.wait_until_ended(job, timeout=60)

        async def gone():
            return not await press.members()

        await eventually(gone)


# P4
async def test_services_without_workers_and_workers_of_some_kinds_share_one_server(on_server, tmp_path, eventually):
    """Two of each on one PostgreSQL: both services submit and wait, and each kind runs where its worker is."""
    logs = {name: tmp_path / name for name in ("press", "stamp")}
    gate = tmp_path / "go on"
    gate.touch()
    with starting(on_server, tmp_path) as start:
        begin = partial(start, wait=False)
        workers = {name: begin("work", "--kinds", name, "--slots", slots) for name, slots in (("press", "2"), ("stamp", "3"))}
        services = [begin("serve", "--no-workers", "--listen", "127.0.0.1:0") for _ in range(2)]
        for process in (*workers.values(), *services):
            process.ready()
        clients = [httpx.AsyncClient(base_url=service.told["listening"], timeout=120) for service in services]

        jobs = []
        for number in range(8):
            kind = ("press", "stamp")[number // 2 % 2]
            payload = {"log": str(logs[kind]), "until": str(gate)}
            made = await clients[number % 2].post("/jobs", json={"kind": kind, "payload": payload})
            assert made.status_code == 202, made.text
            jobs.append(made.json()["id"])
        for number, job in enumerate(jobs):
            ended = (await clients[(number + 1) % 2].get(f"/jobs/{job}?wait=60")).json()
            assert ended["status"] == "completed", ended

        shown = [(await client.get("/workers")).json()["items"] for client in clients]
        for client in clients:
            await client.aclose()

    assert [service.told["workers"] for service in services] == [False, False]
    for name, worker in workers.items():
        assert pids(logs[name]) == {worker.pid}
    for items in shown:
        known = {item["pid"]: (item["kinds"], item["slots"], item["alive"]) for item in items}
        assert known == {workers["press"].pid: (["press"], 2, True), workers["stamp"].pid: (["stamp"], 3, True)}
        assert sum(item["leader"] for item in items) == 1


async def test_pause_resume_and_scale_over_http_reach_the_workers(database, start: Start, log, gate, eventually):
    start("work", "--slots", "4", wait=False)
    start("work", "--slots", "4", wait=False)
    service = start("serve", "--no-workers", "--listen", "127.0.0.1:0")
    payload = {"log": str(log), "until": str(gate)}
    async with httpx.AsyncClient(base_url=service.told["listening"], timeout=120) as client, here(database) as press:
        assert (await client.post("/queue/press/pause")).json() == {"kind": "press", "paused": True}
        assert (await client.post("/queue/press/scale", json={"slots": 2})).json() == {"kind": "press", "slots": 2}
        held = await press.submit_many([Request("press", payload) for _ in range(6)])
        stamps = await press.submit_many([Request("stamp", {"log": str(log.with_name("stamps"))}) for _ in range(20)])
        await asyncio.gather(*(press.wait_until_ended(job, timeout=60) for job in stamps))
        assert log.read_text() == ""

        await client.post("/queue/press/resume")
        await eventually(lambda: log.read_text().count("+") == 2)
        assert (await client.post("/queue/press/scale", json={"slots": None})).json() == {"kind": "press", "slots": None}
        await eventually(lambda: log.read_text().count("+") == 6)
        gate.touch()
        await asyncio.gather(*(press.wait_until_ended(job, timeout=60) for job in held))


@pytest.mark.parametrize(
    ("who", "status"),
    [
        ({"scope": Scope.VIEWER, "everywhere": True}, 403),
        ({"scope": Scope.SUBMITTER, "everywhere": True}, 403),
        ({"scope": Scope.ADMIN, "org": "ours"}, 403),
        ({"scope": Scope.OPERATOR, "everywhere": True}, 200),
    ],
)
async def test_workers_and_limits_are_for_the_operator_of_the_whole_place(database, who, status):
    async with on_stage(database) as stage, stage.client(await stage.token(**who)) as client:
        looked = await client.get("/workers")
        scaled = await client.post("/queue/shout/scale", json={"slots": 2})

        assert (looked.status_code, scaled.status_code) == (status, status)
        assert (await stage.press.stats()).limits == ({"shout": 2} if status == 200 else {})


@pytest.mark.parametrize("body", [{"slots": 0}, {"slots": 1.5}, {"slots": "2"}, {}, {"slots": 2, "more": 1}])
async def test_a_limit_that_makes_no_sense_is_refused(file, body):
    async with on_stage(file) as stage, stage.client(await stage.token(everywhere=True)) as client:
        assert (await client.post("/queue/shout/scale", json=body)).status_code == 422
        assert (await client.post("/queue/shuot/scale", json={"slots": 1})).status_code == 404


@contextmanager
def arguments(monkeypatch, *words):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["pressroom", *words])
        yield


async def test_the_command_line_shows_workers_and_scales_kinds(database, monkeypatch, capsys):
    async def run(*words):
        with arguments(monkeypatch, *words, "--database", database):
            code = await asyncio.to_thread(main)
        return code, capsys.readouterr()

    async with here(database, workers=2, only=["stamp"]) as press:
        code, printed = await run("workers", "--json")
        (shown,) = json.loads(printed.out)
        assert (code, shown["id"], shown["leader"], shown["alive"]) == (0, press.worker.name, True, True)

        code, printed = await run("workers")
        header, line = printed.out.splitlines()
        assert header.split()[:3] == ["WORKER", "HOST", "PID"]
        assert press.worker.name in line
        assert "working, leads" in line
        assert "0/2" in line

        assert (await run("queue", "scale", "stamp", "2"))[1].out.startswith("stamp is limited to 2 at once")
        assert "limited: stamp to 2 at once" in (await run("queue", "stats"))[1].out
        assert json.loads((await run("queue", "stats", "--json"))[1].out)["limits"] == {"stamp": 2}
        scaled = (await run("queue", "scale", "stamp", "--no-limit", "--json"))[1].out
        assert json.loads(scaled) == {"kind": "stamp", "slots": None}
        assert (await press.stats()).limits == {}
        assert (await run("queue", "scale", "stamp", "0"))[0] == 2
        assert (await run("queue", "scale", "stmap", "1"))[0] == 6
