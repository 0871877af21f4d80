"""What a node fetches, in which order, and what it tells oban of each job (design 5)."""

import asyncio
import json
from typing import Any

import pytest
from oban._producer import Producer

from pressroom import Kind, Request, Status, Tier, Transient
from pressroom.delivery.oban.node import Node, queue_names_of
from pressroom.errors import StopTimeout
from tests.delivery.oban.conftest import Eventually, Open, in_both_schemas
from tests.delivery.oban.stage import PERFORM, Tables, node_of, pause, reconciler_of, serving
from tests.journeys.stage import Gate


async def echo(job: Any, payload: Any) -> Any:
    return payload


async def test_a_full_node_fetches_nothing_so_that_another_gets_it(
    open_press: Open, tables: Tables, eventually: Eventually
) -> None:
    gate = Gate()
    kind = Kind("hold", lambda job, payload: gate.hold(), tier=Tier.INTERACTIVE)
    async with open_press(kind, workers=2) as full:
        held = await full.submit_many([Request("hold") for _ in range(2)])
        await eventually(lambda: len(gate.came) == 2)
        waiting = await full.submit_many([Request("hold") for _ in range(2)])
        async with open_press(kind, workers=2) as free:
            await eventually(lambda: len(gate.came) == 4, within=60)
            ran_by = {tables.of(one.uid)["attempted_by"][0] for one in waiting}
            assert free.worker is not None
            assert ran_by == {free.worker.name}
            gate.open()
            for job in (*held, *waiting):
                await free.wait(job, timeout=60)


async def test_queues_that_are_fetched_from_at_once_do_not_share_a_slot(
    open_press: Open, tables: Tables, eventually: Eventually
) -> None:
    """Each queue has a producer of its own. If all of them ask while one slot is free, one job comes."""
    gate = Gate()
    kinds = [Kind(f"kind{n}", lambda job, payload: gate.hold(), tier=Tier.INTERACTIVE) for n in range(6)]
    async with open_press(*kinds, workers=1) as press:
        await serving(press)
        press.worker._worker_slots.average_seconds = 1.0  # type: ignore[union-attr]  # no offers ahead of their slots
        await press.submit_many([Request(kind.name) for kind in kinds])
        await eventually(lambda: gate.came)
        await eventually(lambda: "executing" in tables.states())
        assert tables.states().count("executing") == 1
        gate.open()


async def test_a_job_that_has_ended_or_runs_elsewhere_is_completed_in_oban(
    open_press: Open, tables: Tables, eventually: Eventually
) -> None:
    """And whatever was announced twice runs once."""
    gate = Gate()
    async with open_press(Kind("hold", lambda job, payload: gate.hold(), tier=Tier.INTERACTIVE), workers=4) as press:
        gone = await press.submit("hold", delay=3600)
        await press.cancel(gone)
        job = await press.submit("hold")
        await eventually(lambda: gate.came)
        for uid in (gone.uid, job.uid, "00000000-0000-7000-8000-000000000000"):
            _insert(tables, uid)
        await eventually(lambda: [row["state"] for row in tables.jobs()[2:]] == ["completed"] * 3)
        assert len(gate.came) == 1
        gate.open()
        await press.wait(job, timeout=60)


async def test_jobs_in_our_queues_that_are_not_ours_leave_no_room_taken(
    open_press: Open, tables: Tables, eventually: Eventually
) -> None:
    """Whether they have no uid or a worker that nobody knows: each was expected, and none ever came."""
    async with open_press(Kind("echo", echo, tier=Tier.INTERACTIVE), workers=2) as press:
        node = node_of(await serving(press))
        for _ in range(10):
            _insert(tables, "x", worker="nobody.knows.Me")
            tables.do("UPDATE public.oban_jobs SET args = '{}' WHERE id = (SELECT max(id) FROM public.oban_jobs)")
            _insert(tables, "x", args={})
        await eventually(lambda: not {"available", "executing"} & set(tables.states()))
        assert sorted(set(tables.states())) == ["cancelled", "retryable"]
        await eventually(lambda: node._expected == [0, 0])
        assert await press.wait(await press.submit("echo", "still here"), timeout=60) == "still here"


async def test_a_kind_that_pressroom_paused_is_not_fetched(open_press: Open, tables: Tables, eventually: Eventually) -> None:
    async with open_press(Kind("echo", echo), Kind("other", echo)) as press:
        await pause(press, "echo")
        job = await press.submit("echo")
        assert await press.wait(await press.submit("other", 1), timeout=60) == 1
        known = tables.of(job.uid)
        assert (known["state"], known["attempt"]) == ("available", 0)
        await press.resume("echo")
        await press.wait(job, timeout=60)


@in_both_schemas
async def test_a_graceful_stop_leaves_nothing_executing(open_press: Open, tables: Tables, eventually: Eventually) -> None:
    """Gotcha 6: oban leaves what it has to cut off in `executing`. What we give back has an answer before oban stops."""
    gate = Gate()
    press = open_press(Kind("hold", lambda job, payload: gate.hold(), tier=Tier.INTERACTIVE), workers=4)
    await press.start()
    answers = await press.submit_many([Request("hold") for _ in range(10)])
    await eventually(lambda: len(gate.came) == 4)
    with pytest.raises(StopTimeout):
        await press.stop(grace=0.05)
    assert not {"executing"} & set(tables.states())
    assert {tables.of(one.uid)["state"] for one in answers} <= {"available", "scheduled"}
    assert tables.do("SELECT 1 FROM public.oban_producers") == []
    assert tables.do("SELECT 1 FROM public.oban_leaders") == []


async def test_an_ack_that_the_database_did_not_take_is_tried_again(
    open_press: Open, tables: Tables, eventually: Eventually
) -> None:
    """Oban tries again when something comes into the same queue. A retry whose snooze waits for that would never come."""
    failures = 3

    async def flaky(job: Any, payload: Any) -> str:
        if job.attempt == 1:
            raise Transient("not yet")
        return "done"

    async with open_press(Kind("flaky", flaky), workers=1) as press:
        instance = await serving(press)
        producer = instance._producers["pressroom-flaky-background"]
        usual = producer._query.ack_jobs

        class Query:
            def __getattr__(self, name: str) -> Any:
                return getattr(instance._query, name)

            async def ack_jobs(self, acks: Any) -> list[int]:
                nonlocal failures
                if acks and failures:
                    failures -= 1
                    raise OSError("the database is away")
                return await usual(acks)

        producer._query = Query()
        job = await press.submit("flaky")
        assert await press.wait(job, timeout=60) == "done"
    assert failures == 0


async def test_a_serving_that_failed_begins_anew_and_leaves_nothing_running(
    open_press: Open, tables: Tables, eventually: Eventually, monkeypatch: Any
) -> None:
    """The worker asks to be served again. What had begun before one part failed has to end: it would fetch beside the new."""
    started: list[Producer] = []
    usual = Producer.start

    async def start(self: Producer) -> None:
        started.append(self)
        if len(started) == 4:
            raise OSError("the database went away")
        await usual(self)

    monkeypatch.setattr(Producer, "start", start)
    monkeypatch.setattr("pressroom.worker.loop.DELIVERY_RETRY_DELAY", 0.01)
    async with open_press(Kind("echo", echo), Kind("another", echo)) as press:  # a producer for each tier of each
        await serving(press)
        assert await press.wait(await press.submit("echo", 1), timeout=60) == 1
        assert all(one._loop_task.done() for one in started[:3])
        running = [task for task in asyncio.all_tasks() if task.get_name() == "oban-stager"]
        assert len(running) == 1


async def test_what_a_failed_serving_held_is_given_back_by_the_next(
    open_press: Open, tables: Tables, eventually: Eventually
) -> None:
    """The answer to a fetch may be lost with its connection; the row says that this node has it, and it has not.

    Oban would wait until the attempt is older than any may be (gotchas 3 and 4).
    """
    async with open_press(Kind("echo", echo), workers=None) as front:
        job = await front.submit("echo", "after all")
        async with open_press(Kind("echo", echo), Kind("other", echo)) as press:
            await press.wait(job, timeout=60)
            await pause(press, "echo")
            lost = await front.submit("echo", "lost")
            instance = await serving(press)
            tables.do(
                "UPDATE public.oban_jobs SET state = 'executing', attempt = 1, attempted_by = ARRAY[%s, 'x'],"
                " attempted_at = timezone('UTC', now()) - interval '11 s' WHERE id = %s",
                instance._node,
                tables.of(lost.uid)["id"],
            )
            await press.resume("echo")
            reconciler = await reconciler_of(press)
            await reconciler.return_lost_jobs(instance._node, [])
            assert await press.wait(lost, timeout=60) == "lost"
            assert (await press.get(lost)).status is Status.COMPLETED


async def test_what_a_node_holds_is_not_given_back_however_long_it_takes(
    open_press: Open, tables: Tables, eventually: Eventually
) -> None:
    """Gotcha 3: oban rescues by age, so that a job longer than that never ends. A kind may have no limit at all."""
    gate = Gate()
    async with open_press(Kind("hold", lambda job, payload: gate.hold(), timeout=None)) as press:
        job = await press.submit("hold")
        await eventually(lambda: gate.came)
        instance = await serving(press)
        node = node_of(instance)
        # A month ago, as the row and the node know it: an ack names the moment.
        for producer in instance._producers.values():
            for held, _ in producer._running_jobs.values():
                (row,) = tables.do(
                    "UPDATE public.oban_jobs SET attempted_at = attempted_at - interval '30 days' WHERE id = %s"
                    " RETURNING timezone('UTC', attempted_at) AS at",
                    held.id,
                )
                held.attempted_at = row["at"]
        reconciler = await reconciler_of(press)
        await reconciler.return_lost_jobs(instance._node, node.held_job_ids)
        await reconciler.reconcile()
        assert tables.of(job.uid)["state"] == "executing"
        gate.open()
        await press.wait(job, timeout=60)
        await eventually(lambda: tables.of(job.uid)["state"] == "completed")
        assert len(gate.came) == 1


def _insert(tables: Tables, uid: str, *, worker: str = PERFORM, args: dict[str, Any] | None = None) -> None:
    tables.do(
        "INSERT INTO public.oban_jobs (queue, worker, args) VALUES ('pressroom-' || %s, %s, %s)",
        tables.do("SELECT name FROM pressroom.kind WHERE name IN ('hold', 'echo')")[0]["name"],
        worker,
        json.dumps({"uid": uid, "tier": 0} if args is None else args),
    )


class _OneSlot:
    """A worker with one slot, as a node sees it."""

    name, kinds, slots, free = "one-slot", ("render",), 1, 0

    def free_slots(self) -> tuple[int, int]:
        return self.free, self.free


async def test_background_work_does_not_take_the_slot_that_interactive_work_came_for_first() -> None:
    """Each queue looks when it is told to, and who is first is a matter of milliseconds; who is served first is not."""
    taker = _OneSlot()
    node = Node(taker, *[None] * 3)  # type: ignore[arg-type]  # it does nothing but count here
    interactive, background = queue_names_of("render")
    assert node.reserve_slots(interactive, 2) == 0
    assert node.reserve_slots(background, 2) == 0
    taker.free = 1
    assert node.reserve_slots(background, 2) == 0
    assert node.reserve_slots(interactive, 2) == 1
    node.note_fetched(interactive, 1, [])
    assert node.reserve_slots(background, 2) == 1
