"""What takes more than one request: to upload a site, to turn pages, to wait for a job."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pressroom.client import responses
from pressroom.client.docs import calls
from pressroom.client.docs.calls import Archive
from pressroom.client.docs.responses import QueueReference, RemoteAnnouncedBuild, RemoteBuild, RemoteQueueJob
from pressroom.client.exchange import EmitValue, Exchange, HttpAnswer, HttpCall, Sleep, read_clock
from pressroom.client.retries import RetryPolicy, send_with_retries
from pressroom.errors import WaitTimeout

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 3.0  # between two looks at a job
_NEXT = re.compile(r'<([^>]+)>; rel="next"')


def request[G, T](call: HttpCall, kind: type[T], retry_policy: RetryPolicy) -> Exchange[G, T]:
    return responses.decode_response((yield from send_with_retries(call, retry_policy)), kind)


def list_all[T](path: str, params: Mapping[str, str], kind: type[T], retry_policy: RetryPolicy) -> Exchange[T, None]:
    """The items of a collection. Its pages are asked for as they are needed."""
    following: Mapping[str, str] | None = params
    while following is not None:
        answer: HttpAnswer = yield from send_with_retries(calls.get(path, following), retry_policy)
        for item in responses.decode_response(answer, list[kind]):  # type: ignore[valid-type]
            yield EmitValue(item)
        found = _NEXT.search(answer.headers.get("link", ""))
        following = None if found is None else dict(parse_qsl(urlsplit(found[1]).query))


def upload[G](path: str, draft: Mapping[str, Any], archive: Archive, retry_policy: RetryPolicy) -> Exchange[G, RemoteBuild]:
    """Announce a build, send its archive, and tell that it is there. `path` is that of the project's builds."""
    announced = yield from request(calls.send("POST", path, draft), RemoteAnnouncedBuild, retry_policy)
    if announced.upload_url is None:
        return announced
    yield from send_with_retries(calls.put_archive(announced.upload_url, archive), retry_policy)
    started = calls.send("PATCH", f"{path}/{announced.id}", {"status": "uploaded"})
    return (yield from request(started, RemoteBuild, retry_policy))


def submit[G](call: HttpCall, retry_policy: RetryPolicy) -> Exchange[G, RemoteQueueJob]:
    """A request that becomes a job: the job."""
    reference = yield from request(call, QueueReference, retry_policy)
    return (yield from request(calls.get_queue_job(calls.id_of_job(reference.queue_url)), RemoteQueueJob, retry_policy))


def wait_until_ended[G](id: str, retry_policy: RetryPolicy, timeout: float | None) -> Exchange[G, RemoteQueueJob]:
    """The job once it has ended, whichever way. A restart of the service is waited for. Raises WaitTimeout."""
    began, pause = (yield from read_clock()), FIRST_PAUSE
    deadline = None if timeout is None else began + timeout
    while True:
        call = calls.get_queue_job(id)
        answer: HttpAnswer = yield from send_with_retries(call, retry_policy, max_outage=retry_policy.max_outage)
        job = responses.decode_response(answer, RemoteQueueJob)
        if job.status.ended:
            return job
        if deadline is not None and (yield from read_clock()) + pause > deadline:
            raise WaitTimeout(job.id, timeout or 0.0)
        yield Sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 1.5)
