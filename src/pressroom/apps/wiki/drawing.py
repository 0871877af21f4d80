"""Diagrams in an article: each is a render of its own, through the queue and its cache.

What was drawn before is not drawn again, in whichever article it stands. The article's job releases its slot while it waits.
Where nobody takes the diagram's job, the article's job draws it itself: it must not wait for what may never come.
"""

from typing import Any

import msgspec

from pressroom.errors import JobCancelled, JobFailed, PressroomError, Refused, SourceInvalid, Unavailable, WaitTimeout
from pressroom.model import Answer, Status, Submitted, Tier
from pressroom.queue import Queue
from pressroom.renderers import Notice, Rendered
from pressroom.renderers.documents import Asked, Draw, directly
from pressroom.rendering import Rendering, RenderResult

TAKEN_WITHIN = 2.0  # seconds in which somebody should have taken a diagram's job: somebody waits, so it is the first in line


class Undrawn(PressroomError):
    """A diagram's job has failed; `code` and words are its own."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(str(error.get("message", "it could not be drawn")))
        self.code = str(error.get("code", "error"))  # type: ignore[misc]


def through(queue: Queue, rendering: Rendering, job: Any) -> Draw:
    """How the diagrams of this job's article are drawn."""

    async def draw(asked: Asked) -> Rendered:
        try:
            drawn = await rendering.submit(queue, asked, tier=Tier.INTERACTIVE, org_id=job.org_id, parent=job.uid)
        except (Refused, Unavailable):  # a full queue, or a source that cannot be kept in one: the engine says what is wrong
            return await directly(rendering.presses_for(job), asked)
        try:
            result = await _result_of(queue, job, drawn)
        except JobCancelled:
            result = None
        picture = None if result is None else await _picture(rendering, result)
        return picture or await directly(rendering.presses_for(job), asked)

    return draw


async def _result_of(queue: Queue, job: Any, drawn: Submitted) -> RenderResult | None:
    """None if nobody has taken it. Raises what was wrong with the source."""
    if drawn.answer is Answer.HIT:
        return msgspec.convert((await queue.get(drawn.uid)).result, RenderResult)
    with job.release_slot():
        while True:
            try:
                return msgspec.convert(await queue.wait(drawn, timeout=TAKEN_WITHIN), RenderResult)
            except WaitTimeout:
                if (await queue.get(drawn.uid)).status is Status.QUEUED:
                    return None
            except JobFailed as failed:
                raise _reason(failed) from None


async def _picture(rendering: Rendering, result: RenderResult) -> Rendered | None:
    """None if it has expired meanwhile."""
    try:
        data = await rendering.whole(await rendering.artifact(result.artifact))
    except Refused:
        return None
    warnings = [msgspec.convert(warning, Notice) for warning in result.warnings]
    return Rendered(data, result.media_type, warnings, result.details)


def _reason(failed: JobFailed) -> PressroomError:
    error = failed.error
    if error.get("code") == SourceInvalid.code:
        return SourceInvalid(str(error.get("message")), line=error.get("line"), column=error.get("column"))
    return Undrawn(error)
