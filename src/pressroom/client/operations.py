"""What takes more than one request: to wait through a restart, to turn pages, to follow events, to fetch bytes."""

import hashlib
from collections.abc import Sequence
from urllib.parse import urlsplit

from pressroom.client import calls, errors, responses
from pressroom.client.errors import InvalidAnswer, Unreachable
from pressroom.client.event_stream import EventStreamParser
from pressroom.client.exchange import ConnectionLost, EmitValue, Exchange, HttpAnswer, HttpCall, Sleep, read_chunk, read_clock
from pressroom.client.responses import JobPage, RemoteEvent, RemoteJob, SubmittedJob
from pressroom.client.retries import RetryPolicy, send_with_retries
from pressroom.errors import Unavailable, WaitTimeout
from pressroom.model import Status

LONG_POLL = 20.0  # less than proxies allow a silent connection
ANSWER_MARGIN = 0.5  # seconds; a server that answers a long poll sooner than this, with nothing new, is closing


def request_job[G](call: HttpCall, retry_policy: RetryPolicy) -> Exchange[G, RemoteJob]:
    return responses.parse_job((yield from send_with_retries(call, retry_policy)))


def submit_job[G](call: HttpCall, retry_policy: RetryPolicy) -> Exchange[G, SubmittedJob]:
    return responses.decode_response((yield from send_with_retries(call, retry_policy)), SubmittedJob)


def list_jobs(filters: Sequence[tuple[str, str]], retry_policy: RetryPolicy) -> Exchange[RemoteJob, None]:
    cursor: str | None = None
    while True:
        listed = responses.decode_response(
            (yield from send_with_retries(calls.list_jobs(filters, cursor), retry_policy)), JobPage
        )
        for one in listed.items:
            yield EmitValue(one)
        cursor = listed.next_cursor
        if cursor is None:
            return


def wait_until_ended[G](
    id: str, retry_policy: RetryPolicy, timeout: float | None, request_timeout: float
) -> Exchange[G, RemoteJob]:
    """The job once it has ended, whichever way; the one that took its place, if one did. Raises WaitTimeout."""
    deadline = None if timeout is None else (yield from read_clock()) + timeout
    while True:
        began = yield from read_clock()
        left = LONG_POLL if deadline is None else max(0.0, deadline - began)
        wait = min(LONG_POLL, left)
        try:
            poll = calls.get_job(id, wait=wait, timeout=wait + request_timeout)
            answer: HttpAnswer = yield from send_with_retries(
                poll, retry_policy, max_outage=retry_policy.max_outage, until=deadline
            )
        except Unavailable:
            if deadline is not None and (yield from read_clock()) >= deadline:
                raise WaitTimeout(id.removeprefix("job_"), timeout or 0.0) from None
            raise
        job = responses.parse_job(answer)
        if job.status.ended and job.superseded_by is None:
            return job
        id = job.superseded_by or id
        at = yield from read_clock()
        if deadline is not None and at >= deadline:
            raise WaitTimeout(id.removeprefix("job_"), timeout or 0.0)
        if job.superseded_by is None and at - began < min(ANSWER_MARGIN, wait):
            yield Sleep(retry_policy.pause(1))


def wait_for_value[G](id: str, retry_policy: RetryPolicy, timeout: float | None, request_timeout: float) -> Exchange[G, object]:
    """What the job returned. Raises JobFailed and JobCancelled, as the library's `wait` does."""
    job = yield from wait_until_ended(id, retry_policy, timeout, request_timeout)
    if job.status in (Status.COMPLETED, Status.COMPLETED_WITH_ERRORS):
        return job.result
    cancelled = {"code": "cancelled", "message": job.last_error or "cancelled"}
    last = job.errors[-1] if job.errors else None
    raise errors.ended_error(job.id, job.status, cancelled if job.status is Status.CANCELLED else last)


def stream_events(id: str, after: int, retry_policy: RetryPolicy) -> Exchange[RemoteEvent, None]:
    """A job's events, each once and in order, over as many connections as it takes."""
    last, has_ended, silences = after, False, 0
    while True:
        answer: HttpAnswer = yield from send_with_retries(
            calls.stream_events(id, last), retry_policy, max_outage=retry_policy.max_outage
        )
        if answer.status == 204:
            return  # there will be no more
        parser, before = EventStreamParser(), last
        try:
            while chunk := (yield from read_chunk()):
                for message in parser.feed(chunk):
                    if not message.id.isdigit() or int(message.id) <= last:
                        continue
                    event = responses.parse_event(message)
                    last = event.id
                    yield EmitValue(event)
                    if event.ends:
                        return
            cut = False
        except ConnectionLost:
            cut = True
        silences = silences + 1 if last == before else 0
        # An end without an ending: the server closes, or it was asked for what comes after the ending. One that was told
        # so twice by a server that knows the job to be over believes it.
        if has_ended and not cut and silences > 1:
            return
        yield Sleep(retry_policy.pause(min(silences + 1, 3)))
        job = responses.parse_job(
            (yield from send_with_retries(calls.get_job(id), retry_policy, max_outage=retry_policy.max_outage))
        )
        has_ended = job.status.ended


def download_result(id: str, retry_policy: RetryPolicy) -> Exchange[bytes, None]:
    """The bytes of an ended job's artifact, or its value as JSON."""
    answer = yield from send_with_retries(calls.get_result(id), retry_policy)
    match answer.status:
        case 303:
            yield from download_artifact(_artifact_uid(answer.headers.get("location", "")), retry_policy)
        case 200:
            yield EmitValue(answer.body)
        case _:
            raise InvalidAnswer(f"{id} has ended, and its result is answered with {answer.status}")


def download_artifact(uid: str, retry_policy: RetryPolicy) -> Exchange[bytes, None]:
    """An artifact's bytes in pieces. Where a connection breaks, the next goes on; the whole is checked by its hash."""
    received, tag, size, failures = 0, None, None, 0
    digest = hashlib.sha256()
    while True:
        answer: HttpAnswer = yield from send_with_retries(calls.get_artifact(uid, start=received, tag=tag), retry_policy)
        if received and answer.status != 206:
            raise InvalidAnswer(f"the artifact {uid} is not what it was when the download began")
        if not received:
            tag = answer.headers.get("etag")
            size = _content_length(answer)
        reason = "it ended early"
        try:
            while chunk := (yield from read_chunk()):
                digest.update(chunk)
                received += len(chunk)
                failures = 0
                yield EmitValue(chunk)
        except ConnectionLost as lost:
            reason = str(lost)
        if size is None or received >= size:
            break
        failures += 1
        if failures > retry_policy.retries:
            raise Unreachable(f"the download of {uid} broke off after {received:,} of {size:,} bytes: {reason}")
        yield Sleep(retry_policy.pause(failures))
    if tag is not None and tag.startswith('"sha256-') and tag != f'"sha256-{digest.hexdigest()}"':
        raise InvalidAnswer(f"the artifact {uid} came with other bytes than its name says")


def _content_length(answer: HttpAnswer) -> int | None:
    length = answer.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else None


def _artifact_uid(location: str) -> str:
    """Its uid. The rest of the address is not followed: behind a proxy it is another than the one we were given."""
    parent, _, uid = urlsplit(location).path.rpartition("/")
    if not parent.endswith("/artifacts") or not uid:
        raise InvalidAnswer(f"the result lies at {location!r}, which is not an artifact")
    return uid
