"""Traces by OpenTelemetry, where its API is installed; nothing happens where it is not.

What asked for a job and what carries it out may be hours and a restart apart. Submitting is a span, the job's row carries it
(`traceparent`), and it is the parent of every attempt. The names are those of OpenTelemetry's conventions for messaging.

Without an SDK nothing is recorded, but a caller's trace is passed on all the same: to the row, and from there to the handler.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any

try:
    from opentelemetry import propagate, trace
except ImportError:  # the library alone does not bring it
    trace = None  # type: ignore[assignment]

NAME = "pressroom"
STATE_LIMIT = 512  # characters; W3C Trace Context requires no more to be passed on, and a row has room for no more


@contextmanager
def request_span(scope: MutableMapping[str, Any], headers: Mapping[str, str]) -> Iterator[None]:
    """The span of an HTTP request, within its caller's trace."""
    if trace is None or (_is_off() and "traceparent" not in headers):
        yield
        return
    attributes = {"http.request.method": scope["method"], "url.path": scope["path"]}
    with _tracer().start_as_current_span(
        scope["method"], context=propagate.extract(headers), kind=trace.SpanKind.SERVER, attributes=attributes
    ) as span:
        try:
            yield
        finally:
            if (route := getattr(scope.get("route"), "path", None)) is not None:  # known only now
                span.update_name(f"{scope['method']} {route}")
                span.set_attribute("http.route", route)
            if (status := scope.get("state", {}).get("status")) is not None:
                span.set_attribute("http.response.status_code", status)
                if status >= 500:  # only what went wrong here is an error: a refusal is the caller's
                    span.set_status(trace.StatusCode.ERROR)


@contextmanager
def submit_span(kind: str, trace_fields: Mapping[str, str] | None) -> Iterator[Mapping[str, str] | None]:
    """The span of handing a job to the queue. Yields what the row is to keep: `trace_fields`, and this span."""
    if trace is None or (_is_off() and not trace.get_current_span().get_span_context().is_valid):
        yield trace_fields
        return
    with _tracer().start_as_current_span(
        f"send {kind}", kind=trace.SpanKind.PRODUCER, attributes=_span_attributes("send", kind)
    ):
        yield {**(trace_fields or {}), **_current_trace_fields()} or None


@contextmanager
def attempt_span(kind: str, uid: str, attempt: int, trace_fields: Mapping[str, str] | None) -> Iterator[None]:
    """The span of one attempt. Its parent is the one that asked for it, wherever and whenever that was."""
    if trace is None or (_is_off() and "traceparent" not in (trace_fields or {})):
        yield
        return
    attributes = _span_attributes("process", kind) | {"messaging.message.id": f"job_{uid}", "pressroom.attempt": attempt}
    with _tracer().start_as_current_span(
        f"process {kind}",
        context=propagate.extract(trace_fields or {}, trace.set_span_in_context(trace.INVALID_SPAN)),
        kind=trace.SpanKind.CONSUMER,
        attributes=attributes,
    ) as span:
        try:
            yield
        except Exception:
            raise  # recorded as it passes the span
        except BaseException as stopped:  # a timeout, a cancellation, a restart: the span would not take it for an error
            span.set_status(trace.StatusCode.ERROR, type(stopped).__name__)
            raise


def _current_trace_fields() -> dict[str, str]:
    """The current trace, as a job's row keeps it."""
    fields: dict[str, str] = {}
    propagate.inject(fields)
    return {name: text for name, text in fields.items() if name == "traceparent" or len(text) <= STATE_LIMIT}


def _span_attributes(operation: str, kind: str) -> dict[str, str | int]:
    return {
        "messaging.system": NAME,
        "messaging.operation.name": operation,
        "messaging.operation.type": operation,
        "messaging.destination.name": kind,
    }


def _tracer() -> Any:
    return trace.get_tracer(NAME)


def _is_off() -> bool:
    """Whether no SDK is set up. One may be at any time, so it is asked every time."""
    return isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
