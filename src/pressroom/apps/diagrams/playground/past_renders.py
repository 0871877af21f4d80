"""An earlier render, found by its job or by the short link of its picture, with the form that it was submitted with."""

from datetime import datetime

import msgspec

from pressroom.apps.diagrams.playground.form import PlaygroundForm, form_of_payload
from pressroom.errors import InvalidArgument, NotFound
from pressroom.kinds.rendering import RenderJobPayload
from pressroom.model import Job
from pressroom.store.artifacts.artifacts import Artifact
from pressroom.web.site import PageRequest


class PastRender(msgspec.Struct, frozen=True):
    """`link` is where the picture lies, and `until` when that expires. Without a link it made nothing, or that has expired."""

    form: PlaygroundForm
    job: str
    link: str | None = None
    until: datetime | None = None
    sha256: str | None = None
    media_type: str = ""


async def past_render_of_job(request: PageRequest, uid: str) -> PastRender:
    """Raises NotFound for a job that does not exist, belongs to another organisation, or renders nothing."""
    try:
        job = await request.site.service.queue.get(uid)
    except (NotFound, InvalidArgument):
        raise _no_job(uid) from None
    if not request.caller.owns(job.org_id) or job.kind not in request.site.service.rendering.kinds:
        raise _no_job(uid)
    return await _past_render(request, job)


async def past_render_of_link(request: PageRequest, link: str) -> PastRender:
    """The link shows the picture to all callers; its source is for the organisation that owns the job."""
    try:
        artifact, _ = await request.site.service.rendering.find_by_link(link)
        made = await past_render_of_job(request, artifact.job_uid or "")
    except NotFound:
        raise NotFound(f"what /d/{link[:40]} was made from is not known here, or no longer") from None
    what = {"link": link, "until": artifact.expires_at, "sha256": artifact.sha256, "media_type": artifact.media_type}
    return msgspec.structs.replace(made, **what)


async def _past_render(request: PageRequest, job: Job) -> PastRender:
    payload = msgspec.convert(job.payload, RenderJobPayload)
    made = job.result or {}
    form = form_of_payload(payload, await _load_source(request, payload))
    expiry = await request.site.service.rendering.expiry_of(made["artifact"]) if "artifact" in made else None
    if expiry is None or expiry.is_over:
        return PastRender(form, job.uid, until=None if expiry is None else expiry.at)
    return PastRender(form, job.uid, made.get("short_link"), expiry.at, made.get("sha256"), made.get("media_type", ""))


async def _load_source(request: PageRequest, payload: RenderJobPayload) -> str:
    if payload.source is not None:
        return payload.source
    rendering = request.site.service.rendering
    kept: Artifact = await rendering.artifact(payload.source_artifact or "")
    return (await rendering.read_all(kept)).decode(errors="replace")


def _no_job(uid: str) -> NotFound:
    return NotFound(
        f"there is no job {uid[:40]!r} that renders something; the id is wrong, or it was deleted after its retention"
    )
