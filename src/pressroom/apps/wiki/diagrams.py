"""Diagrams in an article: each is a render of its own, through the queue and its cache.

What was drawn before is not drawn again, in whichever article it stands. The article's job releases its
slot while it waits. If no worker claims the diagram's job in time, the article's job draws the diagram itself.
"""

from typing import Any

import msgspec

from pressroom.errors import JobCancelled, JobFailed, PressroomError, Refused, SourceInvalid, Unavailable, WaitTimeout
from pressroom.kinds.rendering import Rendering, RenderResult
from pressroom.model import Answer, Status, Submitted, Tier
from pressroom.queue import Queue
from pressroom.renderers import Notice, Rendered
from pressroom.renderers.documents import RenderRequest, render_directly

CLAIM_TIMEOUT = 2.0  # seconds for a worker to claim a diagram's job, which has the interactive tier


class DiagramFailed(PressroomError):
    """A diagram's job has failed; `code` and words are its own."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(str(error.get("message", "it could not be drawn")))
        self.code = str(error.get("code", "error"))  # type: ignore[misc]


async def draw_diagram(queue: Queue, rendering: Rendering, job: Any, request: RenderRequest) -> Rendered:
    """Draw one diagram of the article that `job` renders."""
    try:
        drawn = await rendering.submit(queue, request, tier=Tier.INTERACTIVE, org_id=job.org_id, parent=job.uid)
    except (Refused, Unavailable):  # a full queue, or a source that cannot be kept in one: the engine says what is wrong
        return await render_directly(rendering.engine_pools_for(job), request)
    try:
        result = await _wait_for_result(queue, job, drawn)
    except JobCancelled:
        result = None
    picture = None if result is None else await _read_picture(rendering, result)
    return picture or await render_directly(rendering.engine_pools_for(job), request)


async def _wait_for_result(queue: Queue, job: Any, drawn: Submitted) -> RenderResult | None:
    """None if no worker has claimed it. Raises what was wrong with the source."""
    if drawn.answer is Answer.HIT:
        return msgspec.convert((await queue.get(drawn.uid)).result, RenderResult)
    with job.release_slot():
        while True:
            try:
                return msgspec.convert(await queue.wait(drawn, timeout=CLAIM_TIMEOUT), RenderResult)
            except WaitTimeout:
                if (await queue.get(drawn.uid)).status is Status.QUEUED:
                    return None
            except JobFailed as failed:
                raise _job_error(failed) from None


async def _read_picture(rendering: Rendering, result: RenderResult) -> Rendered | None:
    """None if it has expired meanwhile."""
    try:
        data = await rendering.read_all(await rendering.artifact(result.artifact))
    except Refused:
        return None
    warnings = [msgspec.convert(warning, Notice) for warning in result.warnings]
    return Rendered(data, result.media_type, warnings, result.details)


def _job_error(failed: JobFailed) -> PressroomError:
    error = failed.error
    if error.get("code") == SourceInvalid.code:
        return SourceInvalid(str(error.get("message")), line=error.get("line"), column=error.get("column"))
    return DiagramFailed(error)
