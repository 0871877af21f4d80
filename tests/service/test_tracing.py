"""Traces: from the caller's span to the request, to the submit, to the job's row, to every attempt, over a restart too."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pressroom import JobCancelled, JobFailed, Pressroom, Request, kind, tracing
from tests.service.access_stage import on_stage

ROOT = Path(__file__).parents[2]
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CALLER = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
DOORS: dict[str, tuple[str, str, Any]] = {
    "jobs": ("POST", "/jobs", {"kind": "shout", "payload": "hi"}),
    "jobs once": ("POST", "/jobs", {"kind": "shout", "payload": "hi"}),
    "renders": ("POST", "/jobs", {"kind": "render", "payload": {"language": "dot", "output": "svg", "source": "graph {}"}}),
    "diagrams": ("POST", "/render", {"source": "graph {}", "format": "dot"}),
    "named diagrams": ("PUT", "/diagrams/map", {"source": "graph {}", "format": "dot"}),
}

# Opens the database in a process of its own, carries out what waits there, and tells its spans.
LATER = """
import asyncio, json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pressroom import Pressroom
from tests.service.access_stage import shout

spans = InMemorySpanExporter()
trace.set_tracer_provider(TracerProvider())
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(spans))

async def main():
    async with Pressroom(sys.argv[1], kinds=[shout], workers=1) as press:
        await press.wait(sys.argv[2], timeout=60)

asyncio.run(main())
for span in spans.get_finished_spans():
    print(json.dumps([span.name, f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}"]))
"""

ALONE = """
import asyncio, sys
sys.modules["opentelemetry"] = None
from pressroom import Pressroom, kind

@kind("shout")
def shout(job, payload):
    return payload

async def main():
    async with Pressroom(sys.argv[1], kinds=[shout], workers=1) as press:
        print(await press.wait(await press.submit("shout", "hi"), timeout=60))

asyncio.run(main())
"""


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """An SDK that is set up for one test; the global one could be set only once."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield exporter
    provider.shutdown()


async def test_a_request_is_a_span_of_its_callers_trace(file: str, spans: InMemorySpanExporter) -> None:
    async with on_stage(file, works=False) as stage, stage.client(await stage.token()) as client:
        await client.get("/jobs/job_01KA4ZC5Q6T9E0V8W2M7N3P1RS", headers=CALLER)

    span = one(spans, "GET /jobs/{id}")
    assert span.kind is trace.SpanKind.SERVER
    assert (trace_of(span), parent_of(span)) == (TRACE, SPAN)
    assert attributes(span)["http.response.status_code"] == 404
    assert span.status.is_unset, "a refusal is the caller's error and not ours"


async def test_a_request_without_a_trace_begins_one(file: str, spans: InMemorySpanExporter) -> None:
    async with on_stage(file, works=False) as stage, stage.client(await stage.token()) as client:
        await client.get("/jobs")
        await client.get("/nowhere")

    assert one(spans, "GET /jobs").parent is None
    assert one(spans, "GET").parent is None, "a path that leads nowhere gives no name: there are too many of them"


@pytest.mark.parametrize("door", DOORS)
async def test_through_every_door_the_row_carries_the_span_that_submitted(
    door: str, database: str, spans: InMemorySpanExporter
) -> None:
    method, path, body = DOORS[door]
    headers = CALLER | ({"Idempotency-Key": "one"} if door == "jobs once" else {})
    async with on_stage(database, works=False) as stage, stage.client(await stage.token()) as client:
        answer = await client.request(method, path, json=body, headers=headers)
        assert answer.status_code == 202, answer.text
        (job,) = (await stage.press.list()).jobs

    asked = one(spans, f"{method} {'/diagrams/{name}' if door == 'named diagrams' else path}")
    sent = one(spans, f"send {job.kind}")
    assert sent.kind is trace.SpanKind.PRODUCER
    assert (trace_of(sent), parent_of(sent)) == (TRACE, id_of(asked))
    assert attributes(sent)["messaging.operation.type"] == "send"
    assert job.trace == {"request_id": answer.headers["x-request-id"], "traceparent": f"00-{TRACE}-{id_of(sent)}-01"}


async def test_many_submits_are_one_span_that_each_row_carries(file: str, spans: InMemorySpanExporter) -> None:
    @kind("one")
    async def first(job: Any, payload: Any) -> None: ...

    @kind("two")
    async def second(job: Any, payload: Any) -> None: ...

    async with Pressroom(file, kinds=[first, second], workers=None) as press:
        many = await press.submit_many([Request("two"), Request("one", trace={"request_id": "mine"}), Request("two")])
        kept = [(await press.get(job)).trace for job in many]

    sent = one(spans, "send one, two")
    assert [row["traceparent"].split("-")[2] for row in kept if row is not None] == [id_of(sent)] * 3
    assert kept[1]["request_id"] == "mine"


async def test_every_attempt_is_a_child_of_the_span_that_submitted(database: str, spans: InMemorySpanExporter) -> None:
    tries = iter([ValueError("not yet"), None])

    @kind("second_time_lucky", max_attempts=2)
    async def handler(job: Any, payload: Any) -> str:
        if error := next(tries):
            raise error
        return f"{trace.get_current_span().get_span_context().span_id:016x}"

    async with Pressroom(database, kinds=[handler], workers=1) as press:
        with trace.get_tracer("caller").start_as_current_span("mine"):
            job = await press.submit("second_time_lucky")
        seen = await press.wait(job, timeout=60)

    sent = one(spans, "send second_time_lucky")
    failed, worked = named(spans, "process second_time_lucky")
    assert parent_of(sent) == id_of(one(spans, "mine"))
    assert {parent_of(failed), parent_of(worked)} == {id_of(sent)}
    assert {trace_of(failed), trace_of(worked)} == {trace_of(sent)}
    assert failed.kind is trace.SpanKind.CONSUMER
    assert [attributes(span)["pressroom.attempt"] for span in (failed, worked)] == [1, 2]
    assert attributes(worked)["messaging.message.id"] == str(job)
    assert (failed.status.status_code, worked.status.status_code) == (trace.StatusCode.ERROR, trace.StatusCode.UNSET)
    assert (failed.events[0].attributes or {})["exception.message"] == "not yet"
    assert seen == id_of(worked), "what the handler does belongs to the attempt"


async def test_the_parent_survives_a_restart(database: str, spans: InMemorySpanExporter) -> None:
    async with on_stage(database, works=False) as stage, stage.client(await stage.token()) as client:
        job = (await client.post("/jobs", json=DOORS["jobs"][2], headers=CALLER)).json()["id"]

    later = await in_another_process(LATER, database, job)

    assert json.loads(later) == ["process shout", TRACE, id_of(one(spans, "send shout"))]


async def test_an_attempt_that_was_stopped_is_marked(database: str, spans: InMemorySpanExporter) -> None:
    started = asyncio.Event()

    @kind("endless")
    async def endless(job: Any, payload: Any) -> None:
        started.set()
        await asyncio.Event().wait()

    async with Pressroom(database, kinds=[endless], workers=1) as press:
        job = await press.submit("endless")
        await started.wait()
        await press.cancel(job)
        with pytest.raises(JobCancelled):
            await press.wait(job, timeout=60)

    assert one(spans, "process endless").status.status_code is trace.StatusCode.ERROR


async def test_an_error_of_ours_marks_the_request(
    file: str, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_stage(file, works=False) as stage, stage.client(await stage.token()) as client:

        async def broken() -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(stage.service.queue, "stats", broken)
        assert (await client.get("/health")).status_code == 500

    span = one(spans, "GET /health")
    assert (span.status.status_code, attributes(span)["http.response.status_code"]) == (trace.StatusCode.ERROR, 500)


async def test_a_state_too_long_for_a_row_is_left_out_and_the_job_accepted(database: str, spans: InMemorySpanExporter) -> None:
    long = ",".join(f"vendor{number}={'x' * 250}" for number in range(30))
    async with on_stage(database, works=False) as stage, stage.client(await stage.token()) as client:
        short = await client.post("/jobs", json=DOORS["jobs"][2], headers=CALLER | {"tracestate": "vendor=x"})
        much = await client.post("/jobs", json=DOORS["jobs"][2], headers=CALLER | {"tracestate": long, "baggage": long})
        kept = [(await stage.press.get(answer.json()["id"])).trace or {} for answer in (short, much)]

    assert [one.get("tracestate") for one in kept] == ["vendor=x", None]
    assert all(TRACE in one["traceparent"] for one in kept)
    assert "baggage" not in kept[1], "what a caller tells its own services is not ours to keep"


async def test_without_an_sdk_a_callers_trace_is_passed_on_and_nothing_else_is_done(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_stage(file) as stage, stage.client(await stage.token()) as client:
        passed = (await client.post("/jobs", json=DOORS["jobs"][2], headers=CALLER)).json()["id"]
        await stage.press.wait(passed, timeout=60)
        monkeypatch.setattr(tracing, "_tracer", None)  # asking it for a span would fail
        plain = (await client.post("/jobs", json=DOORS["jobs"][2])).json()["id"]
        await stage.press.wait(plain, timeout=60)

        assert ((await stage.press.get(passed)).trace or {})["traceparent"] == CALLER["traceparent"]
        assert list((await stage.press.get(plain)).trace or {}) == ["request_id"]


async def test_without_the_api_nothing_is_missing(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "trace", None)
    async with on_stage(file) as stage, stage.client(await stage.token()) as client:
        job = (await client.post("/jobs", json=DOORS["jobs"][2], headers=CALLER)).json()["id"]
        assert await stage.press.wait(job, timeout=60) == "hi"
        failing = await stage.press.submit("shout", "fail", max_attempts=1)
        with pytest.raises(JobFailed):
            await stage.press.wait(failing, timeout=60)

    assert await in_another_process(ALONE, file) == "hi\n"


async def in_another_process(script: str, *arguments: str) -> str:
    command = [sys.executable, "-c", script, *arguments]
    done = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def named(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in spans.get_finished_spans() if span.name == name]


def one(spans: InMemorySpanExporter, name: str) -> ReadableSpan:
    found = named(spans, name)
    assert len(found) == 1, [span.name for span in spans.get_finished_spans()]
    return found[0]


def trace_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.trace_id:032x}"


def id_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.span_id:016x}"


def parent_of(span: ReadableSpan) -> str:
    assert span.parent is not None
    return f"{span.parent.span_id:016x}"


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})
