"""Traces by OpenTelemetry, where its API is installed; nothing happens where it is not.

What asked for a job and what carries it out may be hours and a restart apart. The job's row carries the trace (`traceparent`),
and the span of the work is linked to the one that asked.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

try:
    from opentelemetry import propagate, trace
except ImportError:  # the library alone does not bring it
    trace = None  # type: ignore[assignment]

NAME = "pressroom"


def carried() -> dict[str, str]:
    """The current trace, as a job's row keeps it. Empty outside of any."""
    fields: dict[str, str] = {}
    if trace is not None:
        propagate.inject(fields)
    return fields


@contextmanager
def request(method: str, route: str, headers: Mapping[str, str]) -> Iterator[Any]:
    """The span of an HTTP request, within its caller's trace."""
    if trace is None:
        yield None
        return
    parent = propagate.extract(headers)
    kind = trace.SpanKind.SERVER
    with trace.get_tracer(NAME).start_as_current_span(f"{method} {route}", context=parent, kind=kind) as span:
        yield span


def submission(kind: str) -> Any:
    """The span of handing a job to the queue."""
    if trace is None:
        return nullcontext()
    attributes = {"messaging.system": NAME, "messaging.destination.name": kind, "messaging.operation.type": "send"}
    return trace.get_tracer(NAME).start_as_current_span(f"send {kind}", kind=trace.SpanKind.PRODUCER, attributes=attributes)


@contextmanager
def work(kind: str, uid: str, attempt: int, asked: Mapping[str, str] | None) -> Iterator[None]:
    """The span of one attempt, linked to what asked for it."""
    if trace is None:
        yield
        return
    origin = trace.get_current_span(propagate.extract(asked or {})).get_span_context()
    attributes: dict[str, str | int] = {
        "messaging.system": NAME,
        "messaging.destination.name": kind,
        "messaging.operation.type": "process",
        "messaging.message.id": f"job_{uid}",
        "pressroom.attempt": attempt,
    }
    links = [trace.Link(origin)] if origin.is_valid else []
    tracer = trace.get_tracer(NAME)
    with tracer.start_as_current_span(f"process {kind}", kind=trace.SpanKind.CONSUMER, links=links, attributes=attributes):
        yield
