"""`POST /render` in all its modes: a hit at once, a job to come back to, or the picture after a wait."""

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Caller
from pressroom.api.problems import HttpError, request_id_of
from pressroom.api.service import Service
from pressroom.api.waiting import Patience, patience_of, settled
from pressroom.apps.diagrams import asking
from pressroom.apps.diagrams import error_images as trouble
from pressroom.apps.diagrams.answers import Desk, RenderFailed, note_of, note_of_hit
from pressroom.apps.diagrams.hits import Found
from pressroom.apps.diagrams.renders import NAME, Diagrams, word_for
from pressroom.errors import Backpressure, QueueClosed, WaitTimeout
from pressroom.fair_slots import RETRY_AFTER, no_room
from pressroom.model import Answer, Job, Status, Submitted
from pressroom.renderers.documents import Asked
from pressroom.store import Transaction


class Front:
    def __init__(self, service: Service, diagrams: Diagrams) -> None:
        self._service = service
        self._diagrams = diagrams
        self._desk = Desk(service.base_url)

    async def render(self, request: Request, caller: Caller, body: bytes, _: Transaction | None) -> Response:
        asked = asking.read(request, body)
        patience = patience_of(request)
        found = await self._diagrams.find(self._service.queue, asked, caller.org_id, waits=patience.sync)
        if found.hit is not None:
            return self._hit(request, found, patience)
        job: Job | None
        if patience.sync:
            submitted, job = await self._waited(request, caller, asked, found, patience.seconds)
        else:
            submitted = await self._submit(request, caller, asked)
            job = await self._ended_by(submitted, patience)
        if job is None:
            return self._desk.pending(submitted.uid, "pending", *note_of(submitted), patience)
        if job.result is None:
            raise RenderFailed(job)
        return self._seen(request, job.result["short_link"]) or self._desk.made(job, submitted, patience)

    async def artifact(self, request: Request, caller: Caller, asked: Asked, seconds: float) -> tuple[str, str]:
        """The uid of what a render makes, for those who go on with it, and what the cache had to do with it."""
        found = await self._diagrams.find(self._service.queue, asked, caller.org_id, waits=True)
        if found.hit is not None:
            self._service.metrics.cache.labels("hit").inc()
            return found.hit.artifact, note_of_hit(found.hit)[1]
        submitted, job = await self._waited(request, caller, asked, found, seconds)
        if job.result is None:
            raise RenderFailed(job)
        return str(job.result["artifact"]), note_of(submitted)[1]

    async def _waited(
        self, request: Request, caller: Caller, asked: Asked, found: Found, seconds: float
    ) -> tuple[Submitted, Job]:
        """Wait in line, if there is room to wait. Past the time it is an error, and the job goes on."""
        try:
            if found.is_full:
                raise no_room(found.in_line)
            with self._diagrams.door.place(found.fingerprint, caller.org_id):
                submitted = await self._submit(request, caller, asked)
                return submitted, await settled(self._service, submitted, seconds)
        except Backpressure as full:
            raise HttpError(429, full.code, str(full), {"Retry-After": str(RETRY_AFTER)}) from None
        except WaitTimeout as late:
            where = f"{self._service.base_url}/jobs/job_{late.uid}"
            raise HttpError(504, late.code, str(late), {"Location": where}) from None

    async def _submit(self, request: Request, caller: Caller, asked: Asked) -> Submitted:
        submitted = await self._diagrams.submit(
            self._service.queue, asked, org_id=caller.org_id, trace={"request_id": request_id_of(request)}
        )
        self._service.metrics.submitted.labels(NAME, submitted.answer.value).inc()
        self._service.metrics.cache.labels(_outcome(submitted.answer)).inc()
        return submitted

    async def _ended_by(self, submitted: Submitted, patience: Patience) -> Job | None:
        """The job, if it has ended by the time the caller wants to wait. A hit has."""
        if submitted.answer is not Answer.HIT and not patience.seconds:
            return None
        try:
            return await settled(self._service, submitted, patience.seconds)
        except (WaitTimeout, QueueClosed):
            return None

    def _hit(self, request: Request, found: Found, patience: Patience) -> Response:
        assert found.hit is not None
        self._service.metrics.cache.labels("hit").inc()
        if patience.applied == "respond-async":
            return self._desk.pending(found.hit.job, word_for(Status.COMPLETED), *note_of_hit(found.hit), patience)
        return self._seen(request, found.hit.link) or self._desk.hit(found.hit, patience)

    def _seen(self, request: Request, link: str) -> Response | None:
        """For whoever wants a picture and not JSON: where it is."""
        if not trouble.wants_picture(request):
            return None
        return Response(status_code=303, headers={"Location": self._desk.where(link), "Vary": "Prefer, Accept"})


def _outcome(answer: Answer) -> str:
    return {Answer.HIT: "hit", Answer.JOINED: "joined"}.get(answer, "miss")
