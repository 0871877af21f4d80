"""The kind `render`: a source becomes an artifact, through the queue, the cache and an engine process.

Bytes first: the engine process makes them, the artifact store keeps them under their hash. Then one transaction, the one that
ends the job, writes the artifact, its short link, the cache entry and the outcome.
"""

import logging
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from functools import cached_property, partial
from typing import Any

import msgspec
from cachetools import LRUCache

from pressroom import artifact_lifecycle
from pressroom.artifacts import Blobs
from pressroom.artifacts.recent_blobs import RecentBlobs
from pressroom.base import json_text
from pressroom.base.fingerprint import Fingerprint
from pressroom.clock import Clock
from pressroom.definitions import Backoff, Handler, Kind
from pressroom.errors import InvalidArgument, NotFound, PayloadTooLarge, PressroomError, StoreUnavailable
from pressroom.ids import new_uid
from pressroom.model import Answer, Ending, Submitted, Tier, Work, to_ms
from pressroom.queue import Queue
from pressroom.render_client import DocumentRenderer
from pressroom.render_client.local import EnginePoolsForJob, LocalRenderer
from pressroom.renderers import Rendered, documents
from pressroom.renderers.documents import PreparedRender, RenderRequest
from pressroom.renderers.sandbox.engine_pools import CallerEnginePools, EnginePools
from pressroom.renderers.sandbox.fair_queue import RenderCaller
from pressroom.store import Database
from pressroom.store.artifacts import artifacts, render_cache
from pressroom.store.artifacts.artifacts import Artifact, ArtifactDraft

log = logging.getLogger("pressroom.rendering")

NAME = "render"
INLINE = 512 * 1024  # bytes of source that travel in the payload; a longer one is kept as an artifact
SOURCE_KEPT = 14 * 24 * 3600 * 1000  # milliseconds; longer than a job, so that one tried again on its last day finds it
RECENT = 32 * 1024 * 1024  # bytes of artifacts that are remembered
FRESH = 1_000  # milliseconds for which a link is not looked up again
LINKS = 4_096  # that are remembered at most
SEEN_FOR = 60_000  # milliseconds for which bytes that were there are not looked for again
DETAILS_LIMIT = 128 * 1024
EXTENSIONS = {"html": "html", "pdf": "pdf", "png": "png", "svg": "svg", "json": "json", "txt": "txt"}


class RenderJobPayload(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a render job carries: the source itself, or where a long one is kept."""

    language: str
    output: str
    source: str | None = None
    source_artifact: str | None = None
    options: dict[str, Any] = {}
    engine: str | None = None
    filename: str | None = None


class RenderResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a render job returns."""

    artifact: str
    short_link: str
    sha256: str
    size: int
    media_type: str
    generation: int = 0
    filename: str | None = None
    warnings: list[dict[str, Any]] = []
    details: dict[str, Any] = {}
    engines: dict[str, str] = {}

    def draft(self) -> ArtifactDraft:
        return ArtifactDraft(
            uid=self.artifact,
            link=self.short_link,
            sha256=self.sha256,
            generation=self.generation,
            size=self.size,
            media_type=self.media_type,
            filename=self.filename,
        )


class Rendering:
    """Renders for the queue, or directly. `open` hands it the stores; what it renders with starts when it is needed."""

    def __init__(
        self,
        *,
        presses: int,
        cache_for: timedelta,
        clock: Clock,
        make_document_renderer: Callable[[EnginePoolsForJob], DocumentRenderer] = LocalRenderer,
    ) -> None:
        self._size = presses
        # Makes PDF files for jobs: here, or in the render service that `render_url` names.
        self.document_renderer = make_document_renderer(self.engine_pools_for)
        self._clock = clock
        self._links: LRUCache[str, tuple[int, Artifact]] = LRUCache(LINKS)
        self._seen: LRUCache[str, int] = LRUCache(LINKS)  # artifacts whose bytes were there, and when
        self.kinds: set[str] = set()
        self._recent = RecentBlobs(RECENT)
        self.presses = EnginePools(self._size or None)  # no process before its first use
        self.kind = self.make_kind(NAME, cache_for=cache_for)

    def make_kind(self, name: str, handler: Handler | None = None, **kind_options: Any) -> Kind:
        """A kind that renders. An app may have its own, with other promises, and a handler of its own around `handle`."""
        usual: dict[str, Any] = {
            "max_attempts": 2,
            "backoff": Backoff(base=1, cap=30),
            "timeout": 300,
            "submit_scope": "submitter",
            "pool": "render",
            "retry_timeouts": False,  # the same source takes as long again
        }
        self.kinds.add(name)
        return Kind(name, handler or self.handle, settling=_settle, **(usual | kind_options))

    def open(self, database: Database, make_store: Callable[[], Blobs]) -> None:
        self.database = database
        self._make_store = make_store
        vars(self).pop("blobs", None)  # of the last time that it was open
        self._seen.clear()
        self.presses = EnginePools(self._size or None)

    @cached_property
    def blobs(self) -> Blobs:
        """Made when it is first needed: a queue that renders nothing leaves no folder behind."""
        return self._make_store()

    @property
    def has_artifact_store(self) -> bool:
        return "blobs" in vars(self)

    async def close(self) -> None:
        await self.document_renderer.close()
        await self.presses.close()

    async def preview(self, prepared: PreparedRender) -> Rendered:
        """Render now, without a job: nothing is kept. The same limits hold."""
        return await documents.render(self.presses, prepared.plan)

    async def submit(self, queue: Queue, request: RenderRequest, *, kind: str = NAME, **submit_options: Any) -> Submitted:
        """Queue a render. The answer may be an earlier result, or a job that renders the same just now."""
        if kind == NAME and NAME not in queue.kinds:
            raise InvalidArgument("there are only kinds of the application's own here; Pressroom(kinds=…, apps=()) renders too")
        if kind == NAME and queue.kinds.get(NAME) is not self.kind:
            raise InvalidArgument(f"the application has its own kind {NAME!r}, which takes the place of ours")
        return await self.submit_prepared(queue, documents.prepare(request), kind=kind, **submit_options)

    async def submit_prepared(
        self,
        queue: Queue,
        prepared: PreparedRender,
        *,
        kind: str = NAME,
        fingerprint: Fingerprint | None = None,
        filename: str | None = None,
        **submit_options: Any,
    ) -> Submitted:
        """`fingerprint` is that of the prepared inputs, where the caller has looked for it in the cache before."""
        request = prepared.request
        source, text = source_for_payload(request.source)
        payload = RenderJobPayload(
            language=request.language,
            output=request.output,
            source=text,
            options=dict(request.options),
            engine=request.engine,
            filename=filename,
        )
        submit_options["fingerprint"] = fingerprint or prepared.inputs
        submit = partial(self._submit, queue, kind, payload, source, submit_options)
        submitted = await submit()
        # Within a transaction of the caller's nothing else can be written: there the bytes are believed in.
        if submitted.answer is Answer.HIT and submit_options.get("within") is None:
            result = (await queue.get(submitted)).result
            if not await self.has_cached_bytes(result["artifact"]):
                return await submit()
        return submitted

    async def _submit(
        self, queue: Queue, kind: str, payload: RenderJobPayload, source: bytes, submit_options: dict[str, Any]
    ) -> Submitted:
        if payload.source is not None:
            return await queue.submit(kind, msgspec.to_builtins(payload), **submit_options)
        return await self._submit_with_stored_source(queue, kind, payload, source, submit_options)

    async def has_cached_bytes(self, uid: str) -> bool:
        """Whether what a cache entry answers with is still there. If its bytes are gone the entry goes too, and the input is
        rendered again. The artifact store is asked once a minute for each; one that is out of reach proves nothing.
        """
        moment = self._clock.now_ms()
        if 0 <= moment - self._seen.get(uid, -SEEN_FOR) < SEEN_FOR:
            return True
        try:
            artifact = await self.database.read(partial(artifacts.get, uid))
            is_there = await self.blobs.size(artifact_lifecycle.blob_key(artifact)) == artifact.size
        except StoreUnavailable:
            return True
        except NotFound:
            is_there = False
        if not is_there:
            log.error("the bytes of artifact %s are gone from the artifact store; what it was made from is rendered again", uid)
            await self.database.run(partial(render_cache.delete_entry, uid), name="renew")
            return False
        self._seen[uid] = moment
        return True

    async def _submit_with_stored_source(
        self, queue: Queue, kind: str, payload: RenderJobPayload, source: bytes, submit_options: dict[str, Any]
    ) -> Submitted:
        """A long source is kept as an artifact of its job: as long as the job is there it can be tried again."""
        draft = await artifact_lifecycle.store_artifact(
            self.blobs,
            self.database,
            source,
            media_type="application/octet-stream",
            name=f"source {new_uid()}",
            with_link=False,
        )
        payload = msgspec.structs.replace(payload, source_artifact=draft.uid)
        async with queue.transaction() as tx:
            submitted = await queue.submit(kind, msgspec.to_builtins(payload), within=tx, **submit_options)
            if submitted.answer in (Answer.NEW, Answer.COALESCED):
                org_id = submit_options.get("org_id")
                record = partial(artifacts.record, draft, job=submitted.uid, org_id=org_id, keep_for=SOURCE_KEPT)
                await tx.run(record, name="record")
        return submitted

    async def artifact(self, name: str) -> Artifact:
        """By its uid or its short link."""
        lookup = artifacts.get if len(name) == 26 else artifacts.by_link
        return await self.database.read(partial(lookup, name))

    async def expiry_of(self, uid: str) -> artifacts.Expiry | None:
        """None for an artifact that is not there."""
        return await self.database.read(partial(artifacts.expiry_of, uid))

    async def find_by_link(self, link: str) -> tuple[Artifact, int | None]:
        """By its short link, and the milliseconds until that expires.

        Many ask for one picture at the same time. A link never leads elsewhere, so what was found is good for a moment.
        """
        moment = self._clock.now_ms()
        looked_up, artifact = self._links.get(link, (0, None))
        left = None if artifact is None or artifact.expires_at is None else to_ms(artifact.expires_at) - moment
        if artifact is not None and 0 <= moment - looked_up < FRESH and (left is None or left > 0):
            return artifact, left
        found, is_use_due = await self.database.read(partial(_find_link, link))
        if is_use_due:
            await self.database.run(partial(render_cache.record_use, found.uid), name="renew", durable=False)
            found = await self.database.read(partial(artifacts.by_link, link))
        self._links[link] = (moment, found)
        return found, None if found.expires_at is None else max(0, to_ms(found.expires_at) - moment)

    async def read(self, artifact: Artifact, start: int = 0, stop: int | None = None) -> AsyncIterator[bytes]:
        return await self.blobs.get(artifact_lifecycle.blob_key(artifact), start, stop)

    async def read_all(self, artifact: Artifact) -> bytes:
        """All bytes of a small artifact. What was asked for lately is remembered: under a hash it never changes."""
        key = artifact_lifecycle.blob_key(artifact)
        data = self._recent.get(key)
        if data is None:
            data = b"".join([chunk async for chunk in await self.read(artifact)])
            self._recent.put(key, data)
        return data

    def engine_pools_for(self, job: Any) -> EnginePools | CallerEnginePools:
        """The engine processes, with a job's tier and organisation. Waiting for one does not count against its time limit."""
        if job is None:
            return self.presses
        caller = RenderCaller(job.tier is Tier.BACKGROUND, job.org_id or "", job.pause_time_limit)
        return self.presses.for_caller(caller)

    async def handle(self, job: Any, payload: Any) -> Any:
        request, filename = await self._read_payload(msgspec.convert(payload, RenderJobPayload))
        plan = documents.make_plan(request)
        engines = documents.engines_of(plan)
        try:
            rendered = await documents.render(self.engine_pools_for(job), plan)
        except PressroomError as error:
            error.engines = engines
            raise
        draft = await artifact_lifecycle.store_artifact(
            self.blobs, self.database, rendered.data, media_type=rendered.media_type, filename=filename
        )
        assert draft.link is not None
        assert draft.sha256 is not None
        return msgspec.to_builtins(
            RenderResult(
                artifact=draft.uid,
                short_link=draft.link,
                sha256=draft.sha256,
                generation=draft.generation,
                size=draft.size,
                media_type=draft.media_type,
                filename=filename,
                warnings=[msgspec.to_builtins(warning) for warning in rendered.warnings[:100]],
                details=_drop_large_details(rendered.details),
                engines=engines,
            )
        )

    async def _read_payload(self, payload: RenderJobPayload) -> tuple[RenderRequest, str]:
        if payload.source is not None:
            source = payload.source.encode()
        elif payload.source_artifact is not None:
            kept = await self.artifact(payload.source_artifact)
            source = b"".join([chunk async for chunk in await self.read(kept)])
        else:
            raise InvalidArgument("a render needs a source")
        request = RenderRequest(payload.language, payload.output, source, payload.options, payload.engine)
        return request, payload.filename or f"{payload.language}.{EXTENSIONS.get(payload.output, payload.output)}"


def _find_link(link: str) -> Work[tuple[Artifact, bool]]:
    """The artifact of a link, and whether its use is to be noted."""
    artifact = yield from artifacts.by_link(link)
    return artifact, (yield from render_cache.is_use_record_due(artifact.uid))


def _settle(ending: Ending) -> Work[None]:
    if ending.result is not None:
        result = msgspec.convert(ending.result, RenderResult)
        yield from artifacts.record(result.draft(), job=ending.uid, org_id=ending.org_id)


def _drop_large_details(details: dict[str, Any]) -> dict[str, Any]:
    """Details that fit into a job's result: a book has too many headings for it."""
    try:
        json_text.encode(details, limit=DETAILS_LIMIT)
    except PayloadTooLarge:
        return {name: value for name, value in details.items() if isinstance(value, int | float) or name == "title"}
    return details


def source_for_payload(source: bytes | str) -> tuple[bytes, str | None]:
    """A source as bytes, and as text if it can travel with the job: it is short, and JSON can say it."""
    data = source.encode(errors="surrogatepass") if isinstance(source, str) else source
    if len(data) > INLINE or b"\0" in data:
        return data, None
    try:
        return data, data.decode()
    except UnicodeDecodeError:
        return data, None
