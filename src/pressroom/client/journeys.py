"""What takes more than one request: to wait through a restart, to turn pages, to follow events, to fetch bytes."""

import hashlib
from collections.abc import Sequence
from urllib.parse import urlsplit

from pressroom.client import answers, calls, trouble
from pressroom.client.answers import Accepted, Event, Job, Listed
from pressroom.client.frames import Frames
from pressroom.client.patience import Patience, asked
from pressroom.client.talk import Answer, Call, Give, Lost, Pause, Talk, more, now
from pressroom.client.trouble import Garbled, Unreachable
from pressroom.errors import Unavailable, WaitTimeout
from pressroom.model import Status

LONG_POLL = 20.0  # less than proxies allow a silent connection
EARLY = 0.5  # seconds; a server that answers a long poll sooner than this, with nothing new, is closing


def job[G](call: Call, patience: Patience) -> Talk[G, Job]:
    return answers.job((yield from asked(call, patience)))


def accepted[G](call: Call, patience: Patience) -> Talk[G, Accepted]:
    return answers.read((yield from asked(call, patience)), Accepted)


def pages(filters: Sequence[tuple[str, str]], patience: Patience) -> Talk[Job, None]:
    cursor: str | None = None
    while True:
        listed = answers.read((yield from asked(calls.page(filters, cursor), patience)), Listed)
        for one in listed.items:
            yield Give(one)
        cursor = listed.next_cursor
        if cursor is None:
            return


def settled[G](id: str, patience: Patience, timeout: float | None, usual: float) -> Talk[G, Job]:
    """The job once it has ended, whichever way; the one that took its place, if one did. Raises WaitTimeout."""
    deadline = None if timeout is None else (yield from now()) + timeout
    while True:
        began = yield from now()
        left = LONG_POLL if deadline is None else max(0.0, deadline - began)
        wait = min(LONG_POLL, left)
        try:
            poll = calls.get(id, wait=wait, timeout=wait + usual)
            answer: Answer = yield from asked(poll, patience, away=patience.away, until=deadline)
        except Unavailable:
            if deadline is not None and (yield from now()) >= deadline:
                raise WaitTimeout(id.removeprefix("job_"), timeout or 0.0) from None
            raise
        job = answers.job(answer)
        if job.status.ended and job.superseded_by is None:
            return job
        id = job.superseded_by or id
        at = yield from now()
        if deadline is not None and at >= deadline:
            raise WaitTimeout(id.removeprefix("job_"), timeout or 0.0)
        if job.superseded_by is None and at - began < min(EARLY, wait):
            yield Pause(patience.pause(1))


def value[G](id: str, patience: Patience, timeout: float | None, usual: float) -> Talk[G, object]:
    """What the job returned. Raises JobFailed and JobCancelled, as the library's `wait` does."""
    job = yield from settled(id, patience, timeout, usual)
    if job.status in (Status.COMPLETED, Status.COMPLETED_WITH_ERRORS):
        return job.result
    cancelled = {"code": "cancelled", "message": job.last_error or "cancelled"}
    last = job.errors[-1] if job.errors else None
    raise trouble.ended(job.id, job.status, cancelled if job.status is Status.CANCELLED else last)


def events(id: str, after: int, patience: Patience) -> Talk[Event, None]:
    """A job's events, each once and in order, over as many connections as it takes."""
    last, over, silences = after, False, 0
    while True:
        answer: Answer = yield from asked(calls.events(id, last), patience, away=patience.away)
        if answer.status == 204:
            return  # there will be no more
        frames, before = Frames(), last
        try:
            while piece := (yield from more()):
                for frame in frames.feed(piece):
                    if not frame.id.isdigit() or int(frame.id) <= last:
                        continue
                    event = answers.event(frame)
                    last = event.id
                    yield Give(event)
                    if event.ends:
                        return
            cut = False
        except Lost:
            cut = True
        silences = silences + 1 if last == before else 0
        # An end without an ending: the server closes, or it was asked for what comes after the ending. One that was told
        # so twice by a server that knows the job to be over believes it.
        if over and not cut and silences > 1:
            return
        yield Pause(patience.pause(min(silences + 1, 3)))
        job = answers.job((yield from asked(calls.get(id), patience, away=patience.away)))
        over = job.status.ended


def result(id: str, patience: Patience) -> Talk[bytes, None]:
    """The bytes of an ended job's artifact, or its value as JSON."""
    answer = yield from asked(calls.result(id), patience)
    match answer.status:
        case 303:
            yield from artifact(_artifact_in(answer.headers.get("location", "")), patience)
        case 200:
            yield Give(answer.body)
        case _:
            raise Garbled(f"{id} has ended, and its result is answered with {answer.status}")


def artifact(uid: str, patience: Patience) -> Talk[bytes, None]:
    """An artifact's bytes in pieces. Where a connection breaks, the next goes on; the whole is checked by its hash."""
    got, tag, size, failures = 0, None, None, 0
    digest = hashlib.sha256()
    while True:
        answer: Answer = yield from asked(calls.artifact(uid, start=got, tag=tag), patience)
        if got and answer.status != 206:
            raise Garbled(f"the artifact {uid} is not what it was when the download began")
        if not got:
            tag = answer.headers.get("etag")
            size = _size(answer)
        reason = "it ended early"
        try:
            while piece := (yield from more()):
                digest.update(piece)
                got += len(piece)
                failures = 0
                yield Give(piece)
        except Lost as lost:
            reason = str(lost)
        if size is None or got >= size:
            break
        failures += 1
        if failures > patience.retries:
            raise Unreachable(f"the download of {uid} broke off after {got:,} of {size:,} bytes: {reason}")
        yield Pause(patience.pause(failures))
    if tag is not None and tag.startswith('"sha256-') and tag != f'"sha256-{digest.hexdigest()}"':
        raise Garbled(f"the artifact {uid} came with other bytes than its name says")


def _size(answer: Answer) -> int | None:
    length = answer.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else None


def _artifact_in(location: str) -> str:
    """Its uid. The rest of the address is not followed: behind a proxy it is another than the one we were given."""
    parent, _, uid = urlsplit(location).path.rpartition("/")
    if not parent.endswith("/artifacts") or not uid:
        raise Garbled(f"the result lies at {location!r}, which is not an artifact")
    return uid
