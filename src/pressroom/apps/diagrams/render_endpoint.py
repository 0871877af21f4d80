"""`POST /render` in all its modes: a cache hit at once, a job to ask for later, or the picture after a wait."""

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Caller
from pressroom.api.problems import HttpError
from pressroom.api.service import Service
from pressroom.api.waiting import WaitPreference, parse_wait_preference, wait_until_ended
from pressroom.apps.diagrams import error_images, requests
from pressroom.apps.diagrams.cache_lookup import CacheLookup
from pressroom.apps.diagrams.renders import NAME, Diagrams, status_word
from pressroom.apps.diagrams.responses import RenderFailed, RenderResponses, cache_note, cache_note_of_hit
from pressroom.errors import Backpressure, QueueClosed, WaitTimeout
from pressroom.model import Answer, Job, Status, Submitted
from pressroom.renderers.documents import PreparedRender
from pressroom.store import Transaction
from pressroom.store.artifacts.render_cache import Hit
from pressroom.submission.fair_slots import RETRY_AFTER, slots_taken_error

_CACHE_OUTCOMES = {Answer.HIT: "hit", Answer.JOINED: "joined"}


class RenderEndpoint:
    def __init__(self, service: Service, diagrams: Diagrams) -> None:
        self._service = service
        self._diagrams = diagrams
        self._responses = RenderResponses(service.base_url)

    async def render(self, request: Request, caller: Caller, body: bytes, _: Transaction | None) -> Response:
        prepared = requests.read_render_request(request, body)
        preference = parse_wait_preference(request)
        lookup = await self._diagrams.look_up(prepared, caller.org_id, in_flight=preference.sync)
        if lookup.hit is not None:
            return self._respond_with_hit(request, lookup.hit, preference)
        job: Job | None
        if preference.sync:
            submitted, job = await self._submit_and_wait(request, caller, prepared, lookup, preference.seconds)
        else:
            submitted = await self._submit(request, caller, prepared, lookup)
            job = await self._wait_for_end(submitted, preference)
        if job is None:
            return self._responses.pending_response(submitted.uid, "pending", *cache_note(submitted), preference)
        if job.result is None:
            raise RenderFailed(job)
        return self._redirect(request, job.result["short_link"]) or self._responses.job_response(job, submitted, preference)

    async def render_to_link(
        self, request: Request, caller: Caller, prepared: PreparedRender, seconds: float
    ) -> tuple[str, str]:
        """The uid of the artifact that a render makes, and its Cache-Status header."""
        lookup = await self._diagrams.look_up(prepared, caller.org_id, in_flight=True)
        if lookup.hit is not None:
            self._service.metrics.cache.labels("hit").inc()
            return lookup.hit.artifact, cache_note_of_hit(lookup.hit)[1]
        submitted, job = await self._submit_and_wait(request, caller, prepared, lookup, seconds)
        if job.result is None:
            raise RenderFailed(job)
        return str(job.result["artifact"]), cache_note(submitted)[1]

    async def _submit_and_wait(
        self, request: Request, caller: Caller, prepared: PreparedRender, lookup: CacheLookup, seconds: float
    ) -> tuple[Submitted, Job]:
        """Raises HttpError 429 where there is no room to wait, and 504 past the time; then the job goes on."""
        try:
            if lookup.is_full:
                raise slots_taken_error(lookup.active_jobs)
            with self._diagrams.render_waiters.reserve_place(lookup.fingerprint.digest, caller.org_id):
                submitted = await self._submit(request, caller, prepared, lookup)
                return submitted, await wait_until_ended(self._service, submitted, seconds)
        except Backpressure as full:
            raise HttpError(429, full.code, str(full), {"Retry-After": str(RETRY_AFTER)}) from None
        except WaitTimeout as late:
            job_url = f"{self._service.base_url}/jobs/job_{late.uid}"
            raise HttpError(504, late.code, str(late), {"Location": job_url}) from None

    async def _submit(self, request: Request, caller: Caller, prepared: PreparedRender, lookup: CacheLookup) -> Submitted:
        submitted = await self._service.rendering.submit_prepared(
            self._service.queue,
            prepared,
            kind=NAME,
            fingerprint=lookup.fingerprint,
            org_id=caller.org_id,
            trace={"request_id": request.state.request_id},
        )
        self._service.metrics.submitted.labels(NAME, submitted.answer.value).inc()
        self._service.metrics.cache.labels(_CACHE_OUTCOMES.get(submitted.answer, "miss")).inc()
        return submitted

    async def _wait_for_end(self, submitted: Submitted, preference: WaitPreference) -> Job | None:
        """The job, if it has ended by the time the caller wants to wait. A hit has."""
        if submitted.answer is not Answer.HIT and not preference.seconds:
            return None
        try:
            return await wait_until_ended(self._service, submitted, preference.seconds)
        except (WaitTimeout, QueueClosed):
            return None

    def _respond_with_hit(self, request: Request, hit: Hit, preference: WaitPreference) -> Response:
        self._service.metrics.cache.labels("hit").inc()
        if preference.applied == "respond-async":
            return self._responses.pending_response(hit.job, status_word(Status.COMPLETED), *cache_note_of_hit(hit), preference)
        return self._redirect(request, hit.link) or self._responses.hit_response(hit, preference)

    def _redirect(self, request: Request, link: str) -> Response | None:
        """To the picture, for a caller that accepts pictures and no JSON."""
        if not error_images.wants_picture(request):
            return None
        return Response(status_code=303, headers={"Location": self._responses.picture_url(link), "Vary": "Prefer, Accept"})
