"""The source that a render job was given, wherever it is kept."""

import msgspec

from pressroom.api.service import Service
from pressroom.errors import NotFound, StoreUnavailable
from pressroom.kinds.rendering import RenderJobPayload
from pressroom.model import Job


async def source_of(service: Service, job: Job, most: int | None = None) -> bytes | None:
    """All of it, or the first `most` bytes. None if it has none, or if it is not there any more.

    The payload of another kind is the application's own: what it calls a source may be anything, and is not followed.
    """
    if job.kind not in service.rendering.kinds:
        return None
    try:
        payload = msgspec.convert(job.payload, RenderJobPayload)
    except msgspec.ValidationError:
        return None
    if payload.source is not None:
        return payload.source.encode(errors="replace")[:most]
    if payload.source_artifact is None:
        return None
    try:
        kept = await service.rendering.artifact(payload.source_artifact)
        if kept.org_id != job.org_id:
            return None
        chunks = await service.rendering.read(kept, 0, kept.size if most is None else min(most, kept.size))
        return b"".join([chunk async for chunk in chunks])
    except (NotFound, StoreUnavailable):
        return None
