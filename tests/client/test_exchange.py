"""The core of the clients without a network: a script plays the server, and time is a number."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pressroom import errors
from pressroom.client import RetryPolicy, Unreachable, operations, problem_of
from pressroom.client.address import resolve_address
from pressroom.client.calls import get_job, retry_job, submit_job
from pressroom.client.errors import error_from_answer, retry_after
from pressroom.client.event_stream import EventStreamParser, ServerSentEvent
from pressroom.client.exchange import ConnectionLost, EmitValue, Exchange, HttpAnswer, HttpCall, ReadChunk, ReadClock, Sleep
from pressroom.client.retries import send_with_retries

STEADY = RetryPolicy(random=lambda: 1.0)
NEVER_ARRIVED, CUT = ConnectionLost("refused", sent=False), ConnectionLost("reset", sent=True)


class Script:
    """Plays the server: one reply for each call or piece asked for. Keeps what was asked, and how long it paused."""

    def __init__(self, *replies: HttpAnswer | bytes | ConnectionLost) -> None:
        self._replies = list(replies)
        self.calls: list[HttpCall] = []
        self.pauses: list[float] = []
        self.given: list[Any] = []
        self.clock = 0.0

    def play[T](self, talk: Exchange[Any, T]) -> T:
        reply: Any = None
        while True:
            try:
                step = talk.throw(reply) if isinstance(reply, ConnectionLost) else talk.send(reply)
            except StopIteration as end:
                value: T = end.value
                return value
            reply = self._reply(step)

    def _reply(self, step: Any) -> Any:
        match step:
            case ReadClock():
                return self.clock
            case Sleep(seconds):
                self.clock += seconds
                self.pauses.append(seconds)
                return None
            case EmitValue(value):
                self.given.append(value)
                return None
            case HttpCall():
                self.calls.append(step)
                self.clock += 0.001
        assert isinstance(step, HttpCall | ReadChunk)
        return self._replies.pop(0)


def ok(body: Any = None, status: int = 200, **headers: str) -> HttpAnswer:
    return HttpAnswer(status, {name.replace("_", "-"): value for name, value in headers.items()}, msgspec.json.encode(body))


def problem(status: int, code: str, detail: str = "no", headers: dict[str, str] | None = None, **more: Any) -> HttpAnswer:
    body = msgspec.json.encode({"code": code, "detail": detail, "status": status} | more)
    return HttpAnswer(status, {"content-type": "application/problem+json"} | (headers or {}), body)


def a_job(status: str, **more: Any) -> dict[str, Any]:
    return {"id": "job_1", "kind": "x", "status": status, "tier": "background", "date_created": "2026-01-01T00:00:00Z"} | more


# ---- what is sent again


def test_a_full_queue_is_asked_again_when_it_says_and_not_before() -> None:
    script = Script(problem(503, "queue_full", headers={"retry-after": "7"}), ok())

    script.play(send_with_retries(get_job("1"), STEADY))

    assert len(script.calls) == 2
    assert 7 <= script.pauses[0] < 7.2


def test_a_submit_that_is_sent_again_names_the_same_key() -> None:
    script = Script(CUT, problem(429, "rate_limited", headers={"retry-after": "1"}), ok(status=202))

    script.play(send_with_retries(submit_job({"kind": "x"}, "k"), STEADY))

    assert {call.headers["Idempotency-Key"] for call in script.calls} == {'"k"'}
    assert len(script.calls) == 3


def test_pauses_grow_up_to_a_cap_and_then_it_gives_up() -> None:
    script = Script(*[NEVER_ARRIVED] * 6)

    with pytest.raises(Unreachable, match="refused"):
        script.play(send_with_retries(get_job("1"), RetryPolicy(retries=5, base=1, cap=4, random=lambda: 1.0)))

    assert script.pauses == [1, 2, 4, 4, 4]


def test_what_would_happen_twice_is_sent_again_only_if_it_never_arrived() -> None:
    once = retry_job("1", "k")
    arrived = Script(NEVER_ARRIVED, ok())
    arrived.play(send_with_retries(once, STEADY))
    assert len(arrived.calls) == 2

    with pytest.raises(Unreachable):
        Script(CUT).play(send_with_retries(once, STEADY))


@pytest.mark.parametrize("status", [400, 401, 404, 409, 422, 500, 501, 504])
def test_a_refusal_is_not_asked_about_again(status: int) -> None:
    with pytest.raises(errors.PressroomError):
        Script(problem(status, "whatever")).play(send_with_retries(get_job("1"), STEADY))


def test_a_proxy_without_its_server_is_asked_again() -> None:
    Script(HttpAnswer(502, {"content-type": "text/html"}, b"<h1>Bad Gateway"), ok()).play(
        send_with_retries(get_job("1"), STEADY)
    )


def test_a_time_that_nobody_wants_to_wait_is_the_callers_to_know() -> None:
    with pytest.raises(errors.QueueFull) as full:
        Script(problem(503, "queue_full", "full", headers={"retry-after": "3600"})).play(
            send_with_retries(get_job("1"), STEADY)
        )
    assert full.value.retry_after == 3600


def test_retry_after_may_be_a_date() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    said = HttpAnswer(503, {"retry-after": "Thu, 01 Jan 2026 00:00:09 GMT"})
    assert retry_after(said, now) == 9
    assert retry_after(HttpAnswer(503, {"retry-after": "soon"})) is None


# ---- waiting


def test_waiting_goes_on_while_the_server_is_away() -> None:
    away = [NEVER_ARRIVED] * 12
    script = Script(ok(a_job("queued")), CUT, *away, ok(a_job("in_progress")), ok(a_job("completed", result=42)))

    assert script.play(operations.wait_for_value("job_1", STEADY, None, 10)) == 42


def test_waiting_gives_up_on_a_server_that_stays_away() -> None:
    script = Script(*[NEVER_ARRIVED] * 100)

    with pytest.raises(Unreachable):
        script.play(operations.wait_for_value("job_1", STEADY, None, 10))

    assert 60 <= script.clock < 70


def test_waiting_ends_on_time_although_nobody_answers() -> None:
    nobody, closing = NEVER_ARRIVED, problem(503, "queue_closed", headers={"retry-after": "5"})
    for reply in (nobody, closing):
        script = Script(*[reply] * 100)
        with pytest.raises(errors.WaitTimeout):
            script.play(operations.wait_for_value("job_1", STEADY, 3, 10))
        assert 3 <= script.clock < 3.1


def test_a_server_that_answers_at_once_is_not_asked_in_a_hot_loop() -> None:
    script = Script(*[ok(a_job("queued"))] * 3, ok(a_job("completed")))
    script.play(operations.wait_until_ended("job_1", STEADY, None, 10))
    assert script.pauses == [0.2] * 3


def test_waiting_follows_a_job_to_the_one_that_took_its_place() -> None:
    script = Script(ok(a_job("cancelled", superseded_by="job_2")), ok(a_job("completed", id="job_2", result="new")))
    assert script.play(operations.wait_for_value("job_1", STEADY, None, 10)) == "new"
    assert script.calls[1].path == "/jobs/job_2"


def test_a_job_in_the_words_of_its_app_is_understood() -> None:
    told = {"jobId": "job_1", "status": "rendering", "job": a_job("in_progress")}
    assert Script(ok(told)).play(operations.request_job(get_job("1"), STEADY)).status == "in_progress"


def test_an_answer_of_something_else_is_told_as_such() -> None:
    with pytest.raises(errors.PressroomError, match="is this Pressroom"):
        Script(ok({"hello": "world"})).play(operations.request_job(get_job("1"), STEADY))


# ---- events


def frame(number: int, type: str = "progress") -> bytes:
    data = msgspec.json.encode({"job": "job_1", "type": type, "at": "2026-01-01T00:00:00Z", "data": {"n": number}})
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, type.encode(), data)


def test_a_stream_is_resumed_after_the_last_whole_event() -> None:
    script = Script(
        *(ok(), frame(1) + frame(2), frame(3)[:20], CUT, ok(a_job("in_progress"))),
        *(ok(), frame(2) + frame(3), b"", ok(a_job("in_progress"))),  # ends without an ending: the server was stopped
        *(NEVER_ARRIVED, ok(), frame(4, "completed")),
    )

    script.play(operations.stream_events("job_1", 0, STEADY))

    assert [event.id for event in script.given] == [1, 2, 3, 4]
    asked_after = [call.headers.get("Last-Event-ID") for call in script.calls if call.path.endswith("/events")]
    assert asked_after == [None, "2", "3", "3"]


def test_a_stream_after_the_ending_is_over() -> None:
    script = Script(HttpAnswer(204, {}))
    script.play(operations.stream_events("job_1", 9, STEADY))
    assert script.given == []


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 400), max_size=8))
def test_frames_do_not_depend_on_how_the_bytes_come(cuts: Sequence[int]) -> None:
    text = b"retry: 2000\n\n: still here\n\n" + frame(1) + b"data: two\r\ndata: lines\r\n\r\n" + frame(2) + b"id: 3\n"
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    frames = EventStreamParser()

    made = [one for begin, end in pairwise(places) for one in frames.feed(text[begin:end])]

    assert [(one.id, one.type) for one in made] == [("1", "progress"), ("1", "message"), ("2", "progress")]
    assert made[1] == ServerSentEvent("1", "message", "two\nlines")


# ---- bytes


def test_other_bytes_than_the_name_says_are_refused() -> None:
    script = Script(HttpAnswer(200, {"etag": f'"sha256-{"0" * 64}"', "content-length": "3"}), b"abc", b"")
    with pytest.raises(errors.PressroomError, match="other bytes"):
        script.play(operations.download_artifact("uid", STEADY))


def test_a_download_asks_only_for_what_is_missing() -> None:
    size = {"etag": '"x"', "content-length": "6"}
    script = Script(HttpAnswer(200, size), b"abc", CUT, HttpAnswer(206, {}), b"def", b"")

    script.play(operations.download_artifact("uid", STEADY))

    assert b"".join(script.given) == b"abcdef"
    assert (script.calls[1].headers["Range"], script.calls[1].headers["If-Range"]) == ("bytes=3-", '"x"')


def test_a_download_that_comes_further_each_time_may_break_however_often() -> None:
    begun = HttpAnswer(200, {"etag": '"x"', "content-length": "8"})
    continued = [reply for _ in range(7) for reply in (CUT, HttpAnswer(206, {}), b"a")]
    script = Script(begun, b"a", *continued, b"")

    script.play(operations.download_artifact("uid", STEADY))

    assert b"".join(script.given) == b"a" * 8


def test_a_download_of_what_has_changed_is_not_patched_together() -> None:
    size = {"etag": '"x"', "content-length": "6"}
    with pytest.raises(errors.PressroomError, match="not what it was"):
        Script(HttpAnswer(200, size), b"abc", CUT, HttpAnswer(200, size)).play(operations.download_artifact("uid", STEADY))


# ---- errors


@pytest.mark.parametrize(
    "kind", [one for one in vars(errors).values() if isinstance(one, type)], ids=lambda kind: kind.__name__
)
def test_every_code_of_the_library_becomes_its_class(kind: type[Any]) -> None:
    if not issubclass(kind, errors.PressroomError) or issubclass(kind, errors.Cancelled):
        return
    made = error_from_answer(problem(kind.status, kind.code, "the words", line=3, column=7, excerpt="x", job_id="job_1"))

    assert type(made) is next(one for one in [kind, *kind.__mro__] if "code" in vars(one))
    assert (made.code, made.status, str(made)) == (kind.code, kind.status, "the words")
    assert repr(made)
    assert problem_of(made)["line"] == 3


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, errors.Refused),
        (404, errors.NotFound),
        (429, errors.Unavailable),
        (502, errors.Unavailable),
        (500, errors.PressroomError),
    ],
)
def test_an_unknown_code_says_by_its_status_what_can_be_done(status: int, kind: type[errors.PressroomError]) -> None:
    made = error_from_answer(problem(status, "brand_new"))
    assert type(made) is kind
    assert (made.code, made.status) == ("brand_new", status)
    assert kind.code != "brand_new"  # the class is as it was


def test_an_answer_without_a_problem_is_still_an_error() -> None:
    made = error_from_answer(HttpAnswer(500, {"content-type": "text/html"}, b"<h1>Oops"))
    assert (made.code, str(made)) == ("http_500", "the server answered 500")


# ---- addresses


def test_the_environment_names_the_service_and_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_URL", "https://press.example/base/")
    monkeypatch.setenv("PRESSROOM_TOKEN", "pr_x")
    assert (resolve_address(None, None).url, resolve_address(None, None).token) == ("https://press.example/base", "pr_x")
    assert resolve_address("http://other", "pr_y").headers["Authorization"] == "Bearer pr_y"
    assert "pr_x" not in repr(resolve_address(None, None))


@pytest.mark.parametrize("url", ["press.example", "ftp://x", "http://", "http://x:99999", "http://x/?a=b"])
def test_what_is_not_an_address_is_refused(url: str) -> None:
    with pytest.raises(errors.InvalidArgument, match="looks like"):
        resolve_address(url, None)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1", True),
        ("http://[::1]:1", True),
        ("http://localhost", True),
        ("http://10.0.0.1", False),
        ("http://x", False),
    ],
)
def test_this_machine_is_known_by_its_address(url: str, local: bool) -> None:
    assert resolve_address(url, None).is_loopback is local


def test_a_token_with_a_line_break_is_refused() -> None:
    with pytest.raises(errors.InvalidArgument, match="token"):
        resolve_address("http://x", "pr_x\n")
