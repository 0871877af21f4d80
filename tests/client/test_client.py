"""`Client` and `AsyncClient` against a real service."""

import inspect
import os
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from pressroom import errors
from pressroom.client import (
    AsyncClient,
    AsyncHandle,
    Client,
    Handle,
    RetryPolicy,
    Unreachable,
    async_client,
    problem_of,
    sync_client,
)
from pressroom.model import Answer, Status, Tier
from tests.client.stage import Served, proxy_to, until
from tests.servers import free_ports

QUICK = RetryPolicy(base=0.01, cap=0.1)


# ---- render and fetch


def test_a_source_becomes_bytes(client: Client) -> None:
    job = client.render("dot", "digraph { first }", "svg")

    assert b">first<" in job.result(timeout=60)
    assert job.get().status is Status.COMPLETED


def test_what_was_rendered_before_is_the_answer_at_once(client: Client) -> None:
    first = client.render("dot", "digraph { twice }", "svg")
    first.wait(timeout=60)

    again = client.render("dot", "digraph { twice }", "svg")

    assert (again.id, again.answer) == (first.id, Answer.HIT)


def test_options_engine_and_file_name_arrive(client: Client) -> None:
    told = client.render("markdown", "# x", "html", options={"page": True}, filename="x.html").wait(timeout=60)

    assert told["filename"] == "x.html"
    assert client.artifact(told["artifact"]).startswith(b"<!DOCTYPE html>")


async def test_the_asynchronous_client_does_the_same(served: Served, tmp_path: Path) -> None:
    async with AsyncClient(served.url) as client:
        job = await client.render("dot", "digraph { elsewhere }", "svg")
        told = await job.wait(timeout=60)

        assert b">elsewhere<" in await job.result()
        assert await client.download(told["artifact"], tmp_path / "x.svg") == told["size"]
        assert [event.type async for event in job.events()][-1] == "completed"
        assert (await job.get()).result == told
        assert [one.id async for one in client.list(kind="render", page_size=1)].count(job.id) == 1

    assert b">elsewhere<" in (tmp_path / "x.svg").read_bytes()


def test_a_job_of_another_kind_returns_its_value(client: Client) -> None:
    job = client.submit("shout", {"text": "hi"}, subject="a greeting", tier=Tier.INTERACTIVE)

    assert job.wait(timeout=60) == "HI"
    assert job.result() == b'"HI"'
    assert (job.get().subject, job.get().tier) == ("a greeting", "interactive")


def test_a_job_can_be_cancelled_and_tried_again(client: Client, tmp_path: Path) -> None:
    job = client.submit("gated", {"gate": str(tmp_path / "gate")})
    job.cancel()
    with pytest.raises(errors.JobCancelled):
        job.wait(timeout=60)
    with pytest.raises(errors.JobCancelled):
        job.result()

    again = job.retry()

    assert again.get().retry_of == job.id
    (tmp_path / "gate").touch()
    assert again.wait(timeout=60) == "through"


def test_jobs_are_listed_over_pages(client: Client) -> None:
    made = [client.submit("shout", {"text": str(number)}, subject="a page").id for number in range(7)]

    assert [job.id for job in client.list(subject="a page", page_size=3)] == made[::-1]
    assert [job.id for job in client.list(subject="a page", status=[Status.CANCELLED, "failed"])] == []


# ---- events


def test_events_come_in_order_and_end_with_the_ending(client: Client) -> None:
    job = client.submit("shout", {"text": "hi"})

    events = list(job.events())

    assert [event.id for event in events] == sorted({event.id for event in events})
    assert (events[-1].type, events[-1].ends, events[-1].job) == ("completed", True, job.id)


def test_events_can_be_resumed_and_nothing_follows_the_ending(client: Client) -> None:
    job = client.submit("shout", {"text": "hi"})
    events = list(job.events())

    assert list(job.events(after=events[1].id)) == events[2:]
    assert list(job.events(after=events[-1].id)) == []


def test_a_stream_that_breaks_is_resumed_without_a_gap_or_repeat(served: Served, client: Client) -> None:
    with proxy_to(served.port) as proxy, Client(proxy.url, retry_policy=QUICK, timeout=120) as through:
        job = client.submit("counting", {"to": 60, "pause": 0.02})
        proxy.cuts = [100, 400, 700, 900, 1500, 1501, 1502]  # in a header, in a frame, between two

        seen = list(through.events(job))

        assert not proxy.cuts
        assert seen == list(client.events(job))


def keep_streams(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
    """Nothing is closed by the garbage collector: the streams of this client are referred to until the test is over."""
    kept = []

    class Kept(getattr(module, name)):  # type: ignore[misc]
        def __init__(self, http: Any) -> None:
            super().__init__(http)
            kept.append(self)

    monkeypatch.setattr(module, name, Kept)


def test_leaving_a_stream_early_closes_it(
    served: Served, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = client.submit("gated", {"gate": str(tmp_path / "gate")})
    keep_streams(monkeypatch, sync_client, "_SyncStream")
    with proxy_to(served.port) as proxy, Client(proxy.url, retry_policy=QUICK) as through:
        for event in through.events(job):
            assert event.job == job.id
            assert len(proxy.connections) == 1
            break

        until(lambda: not proxy.connections, within=60)
        assert not through.get(job).status.ended, "the client can still be used"
    client.cancel(job)


async def test_leaving_a_stream_of_the_asynchronous_client_early_closes_it(
    served: Served, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    job = client.submit("gated", {"gate": str(tmp_path / "gate")})
    keep_streams(monkeypatch, async_client, "_AsyncStream")
    with proxy_to(served.port) as proxy:
        async with AsyncClient(proxy.url, retry_policy=QUICK) as through:
            async with aclosing(through.events(job.id)) as events:
                async for event in events:
                    assert event.job == job.id
                    assert len(proxy.connections) == 1
                    break

            await eventually(lambda: not proxy.connections, within=60)
            assert not (await through.get(job.id)).status.ended
    client.cancel(job)


# ---- errors


def test_a_wrong_source_is_told_with_its_place(client: Client) -> None:
    job = client.render("dot", "digraph {\n  a -> \n}", "svg")

    with pytest.raises(errors.SourceInvalid) as wrong:
        job.result(timeout=60)
    assert (wrong.value.line, wrong.value.column, wrong.value.excerpt) == (3, 1, "}")
    assert problem_of(wrong.value)["job_id"] == job.id

    with pytest.raises(errors.JobFailed) as failed:
        job.wait()
    assert failed.value.error["line"] == 3
    assert f"job_{failed.value.uid}" == job.id


@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        (lambda client: client.get("job_01JD0000000000000000000000"), errors.NotFound, "no job"),
        (lambda client: client.get("../livez"), errors.NotFound, "no"),
        (lambda client: client.artifact("nothing"), errors.NotFound, "no artifact"),
        (lambda client: client.submit("nothing"), errors.UnknownKind, "known kinds"),
        (lambda client: client.render("dot", "digraph {}", "docx"), errors.Refused, "docx"),
        (lambda client: client.render("dot", "digraph {}", "svg", options={"colour": 1}), errors.Refused, "colour"),
        (lambda client: client.render("dot", b"\xff", "svg"), errors.InvalidArgument, "UTF-8"),
        (lambda client: client.submit("shout", {"text": object()}), errors.InvalidPayload, "JSON"),
        (lambda client: client.submit("shout", delay=-1), errors.InvalidArgument, "delay"),
        (lambda client: list(client.list(status="lost")), errors.InvalidArgument, "status"),
        (lambda client: client.submit("shout", idempotency_key='"'), errors.InvalidArgument, "idempotency"),
    ],
)
def test_a_refusal_is_the_error_of_the_library(client: Client, act: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        act(client)


def test_an_error_of_the_server_is_told_without_its_secrets(client: Client) -> None:
    with pytest.raises(errors.JobFailed) as failed:
        client.submit("odd", {}).result(timeout=60)
    assert "hunter2" not in str(failed.value)


@pytest.mark.parametrize("served", ["file"], indirect=True)
def test_a_code_without_a_class_keeps_its_code_and_status(served: Served) -> None:
    with Client(served.url, token="pr_wrong") as client, pytest.raises(errors.PressroomError) as refused:
        client.get("job_01JD0000000000000000000000")
    assert (refused.value.code, refused.value.status) == ("unauthorized", 401)


# ---- time and trouble


def test_waiting_ends_when_its_time_is_over_and_the_job_goes_on(client: Client, tmp_path: Path) -> None:
    job = client.submit("gated", {"gate": str(tmp_path / "gate")})
    with pytest.raises(errors.WaitTimeout):
        job.wait(timeout=0.3)
    assert not job.get().status.ended

    (tmp_path / "gate").touch()
    assert job.wait(timeout=60) == "through"


def test_a_submit_whose_answer_was_lost_is_one_job(served: Served, client: Client) -> None:
    with proxy_to(served.port) as proxy, Client(proxy.url, retry_policy=QUICK, timeout=120) as through:
        proxy.cuts = [0, 100]

        job = through.submit("shout", {"text": "once"}, subject="lost twice")

        assert len(proxy.requests) >= 3
        assert [one.id for one in client.list(subject="lost twice")] == [job.id]


def test_the_same_idempotency_key_is_the_same_job(client: Client) -> None:
    first = client.submit("shout", {"text": "x"}, idempotency_key="run-42")

    assert client.submit("shout", {"text": "x"}, idempotency_key="run-42").id == first.id
    with pytest.raises(errors.PressroomError) as reused:
        client.submit("shout", {"text": "y"}, idempotency_key="run-42")
    assert reused.value.code == "idempotency_key_reused"


def test_a_download_that_breaks_goes_on_where_it_broke(served: Served, client: Client, tmp_path: Path) -> None:
    source = "# Heading\n\n" + "\n\n".join(f"Paragraph {number} with some words in it." for number in range(4000))
    told = client.render("markdown", source, "html").wait(timeout=60)
    whole = client.artifact(told["artifact"])

    with proxy_to(served.port) as proxy, Client(proxy.url, retry_policy=QUICK, timeout=120) as through:
        proxy.cuts = [60_000, 50_000, 0]
        size = through.download(told["artifact"], tmp_path / "page.html")

    assert (tmp_path / "page.html").read_bytes() == whole
    assert size == len(whole) == told["size"] > 120_000
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert any(b"range: bytes=" in request.lower() for request in proxy.requests)


async def test_a_download_that_cannot_be_finished_leaves_no_file(served: Served, client: Client, tmp_path: Path) -> None:
    source = "\n\n".join(f"Paragraph {number} with some words in it." for number in range(4000))
    told = client.render("markdown", source, "html").wait(timeout=60)
    once = RetryPolicy(retries=0)

    with proxy_to(served.port) as proxy:
        proxy.cuts = [60_000, 60_000]
        with Client(proxy.url, retry_policy=once) as through, pytest.raises(Unreachable, match="broke off"):
            through.download(told["artifact"], tmp_path / "page.html")
        async with AsyncClient(proxy.url, retry_policy=once) as through_too:
            with pytest.raises(Unreachable, match="broke off"):
                await through_too.download(told["artifact"], tmp_path / "page.html")

    assert not proxy.cuts
    assert os.listdir(tmp_path) == []


def test_nobody_there_is_told_as_such(tmp_path: Path) -> None:
    retry_policy = RetryPolicy(retries=1, base=0.01, max_outage=0.05)
    with Client(f"http://127.0.0.1:{free_ports(1)[0]}", retry_policy=retry_policy) as client:
        with pytest.raises(Unreachable, match="no answer"):
            client.get("job_01JD0000000000000000000000")
        with pytest.raises(Unreachable):
            client.wait("job_01JD0000000000000000000000")
        with pytest.raises(errors.WaitTimeout):
            client.wait("job_01JD0000000000000000000000", timeout=0.01)


@pytest.mark.parametrize("served", ["file"], indirect=True)
def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = f"http://127.0.0.1:{free_ports(1)[0]}"
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, nobody)
    with Client(served.url, retry_policy=RetryPolicy(retries=0), timeout=120) as client:
        assert client.submit("shout", {"text": "hi"}).wait(timeout=60) == "HI"


# ---- the two clients are one


def test_both_clients_have_the_same_methods_with_the_same_arguments() -> None:
    for one, twin in ((Client, AsyncClient), (Handle, AsyncHandle)):
        names = {name for name in vars(one) if not name.startswith("_")}
        assert names == {name for name in vars(twin) if not name.startswith("_")}
        for name in names - {"id", "answer", "url"}:
            ours, theirs = inspect.signature(getattr(one, name)), inspect.signature(getattr(twin, name))
            assert [(p.name, p.kind, p.default) for p in ours.parameters.values()] == [
                (p.name, p.kind, p.default) for p in theirs.parameters.values()
            ], name


def test_the_client_needs_neither_the_database_nor_an_engine() -> None:
    program = """
import sys
from pressroom.client import AsyncClient, Client
loaded = {name.split(".")[0] for name in sys.modules}
ours = {name for name in sys.modules if name.startswith("pressroom.")}
assert not loaded & {"apsw", "sqlite3", "fastapi", "starlette", "uvicorn", "comrak", "wasmtime", "cronsim"}, loaded
assert not {name for name in ours if name.split(".")[1] in ("store", "renderers", "queue", "pressroom", "api")}, ours
"""
    subprocess.run([sys.executable, "-c", program], check=True)
