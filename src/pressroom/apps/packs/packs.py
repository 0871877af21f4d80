"""The service of packs: routes, pages and commands make, render and list packs through it."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pressroom import artifact_lifecycle
from pressroom.apps.packs import search, store
from pressroom.apps.packs.actor import Actor
from pressroom.apps.packs.bundles.model import PackBundle
from pressroom.apps.packs.bundles.store import find_bundle_of_file
from pressroom.apps.packs.composition import Composition, Compositions, Published
from pressroom.apps.packs.config.registry import RegistryEntry
from pressroom.apps.packs.errors import (
    AlreadyInProgress,
    AnotherUsersPack,
    NeedsInput,
    TemplateUnusable,
)
from pressroom.apps.packs.input_check import find_missing
from pressroom.apps.packs.model import LANGUAGE, Pack, PackDraft, PackRender, parse_id, to_uuid
from pressroom.apps.packs.planning import (
    ListedDocument,
    PackPlan,
    RenderAnswer,
    RequestedDocument,
    SkippedDocument,
    choose_documents,
    confirm_plan,
    key_prefix,
    list_documents,
    make_request,
    make_target,
    read_configuration,
    require_available,
)
from pressroom.apps.packs.settings import PacksSettings
from pressroom.apps.packs.store import DocumentRenders, NewPack, NewPackRender, PackFilter, PackSummary, StateCounts, UserFile
from pressroom.artifacts import Blobs
from pressroom.base import json_text
from pressroom.errors import InvalidArgument, StoreUnavailable
from pressroom.kinds.rendering import Rendering
from pressroom.model import Event, Tier, Work
from pressroom.queue import Queue
from pressroom.store import Database, Transaction
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import Artifact, ArtifactDraft, link_digest, new_link

SNAPSHOT = "config_snapshot"
DEEPEST = 64
INDEXED_AT_ONCE = 50
COUNTED = 1_000  # packs, for the counts by state
TRIES = 5  # if the configuration or the data changes between planning and submitting


class Packs:
    """`submit_purge` is called where packs are deleted and batches made: it submits the deletion of what is due."""

    def __init__(
        self, queue: Queue, rendering: Rendering, settings: PacksSettings, submit_purge: Callable[[], Awaitable[None]]
    ) -> None:
        self._queue = queue
        self.submit_purge = submit_purge
        self._rendering = rendering
        self._settings = settings
        self.compositions = Compositions(rendering)

    @property
    def blobs(self) -> Blobs:
        return self._rendering.blobs

    @property
    def database(self) -> Database:
        return self._rendering.database

    async def create(self, org_id: str | None, draft: PackDraft, author: str) -> Pack:
        """Raises InvalidArgument, InvalidPayload and PayloadTooLarge."""
        return await self.insert(org_id, await asyncio.to_thread(self.check, draft, author))

    async def insert(self, org_id: str | None, new: NewPack, *, within: Transaction | None = None) -> Pack:
        unit = partial(store.insert_pack, org_id or "", new)
        return await (self.database if within is None else within).run(unit, name="packs")

    def check(self, draft: PackDraft, author: str) -> NewPack:
        """For a thread: the data may be long. Raises InvalidArgument, InvalidPayload and PayloadTooLarge."""
        for name in ("title", "session_id", "user", "lang"):
            check_text(name, getattr(draft, name))
        if draft.lang and not LANGUAGE.fullmatch(draft.lang):
            raise InvalidArgument("lang is a language tag, such as de or de-AT")
        return NewPack(
            session_id=draft.session_id,
            user_id=draft.user,
            title=draft.title,
            lang=draft.lang,
            data=self._encode(draft.data),
            data_words=search.data_words(draft.data),
            author=author,
        )

    def _encode(self, data: dict[str, Any]) -> str:
        if _depth(data) > DEEPEST:
            raise InvalidArgument(f"the data is nested more than {DEEPEST} deep")
        return json_text.encode(data, limit=self._settings.max_data, what="the data")

    async def get(self, org_id: str | None, pack_id: str, *, user: str | None = None) -> Pack:
        """Raises PackNotFound, and AnotherUsersPack if `user` is given and is not the pack's."""
        pack = await self.database.read(partial(store.get_pack, org_id or "", parse_id(pack_id)))
        if user is not None and pack.user_id and pack.user_id != user:
            raise AnotherUsersPack
        return pack

    async def save_data(
        self, org_id: str | None, pack_id: str, data: dict[str, Any], author: str, *, expected: int | None = None
    ) -> Pack:
        text, words = await asyncio.to_thread(lambda: (self._encode(data), search.data_words(data)))  # they may be long
        return await self.database.run(
            partial(store.save_data, org_id or "", parse_id(pack_id), text, words, author, expected), name="packs"
        )

    async def delete(self, org_id: str | None, pack_id: str) -> None:
        await self.database.run(partial(store.delete_pack, org_id or "", parse_id(pack_id)), name="packs")
        await self.submit_purge()

    async def restore(self, org_id: str | None, pack_id: str) -> Pack:
        return await self.database.run(partial(store.restore_pack, org_id or "", parse_id(pack_id)), name="packs")

    async def make_link(self, org_id: str | None, pack_id: str, *, seconds: float | None = None) -> tuple[Pack, str]:
        """A new link to the pack, shown this once; the one before stops working. Only its hash is kept."""
        link = new_link()
        lasts = self._settings.link_ttl if seconds is None else seconds
        expires_at = int((time.time() + lasts) * 1000)
        unit = partial(store.set_link, org_id or "", parse_id(pack_id), link_digest(link), expires_at)
        return await self.database.run(unit, name="packs"), link

    async def withdraw_link(self, org_id: str | None, pack_id: str) -> Pack:
        return await self.database.run(partial(store.set_link, org_id or "", parse_id(pack_id), None, None), name="packs")

    async def get_by_link(self, link: str) -> Pack:
        return await self.database.read(partial(store.get_pack_by_link, link_digest(artifacts.parse_link(link))))

    async def list(
        self, org_id: str | None, wanted: PackFilter, *, cursor: str = "", limit: int = 50
    ) -> tuple[Sequence[PackSummary], str | None]:
        """Packs, newest first, and the cursor of the next page."""
        before = parse_id(cursor) if cursor else ""
        unit = partial(store.list_packs, org_id or "", wanted, before=before, limit=limit + 1)
        found = await self.database.read(unit)
        return found[:limit], found[limit - 1].pack.id if len(found) > limit else None

    async def count_by_state(self, org_id: str | None) -> StateCounts:
        """How many of the newest packs have a document in each state."""
        return await self.database.read(partial(store.count_packs_by_state, org_id or "", COUNTED))

    async def list_deleted(self, org_id: str | None, limit: int = 200) -> Sequence[Pack]:
        """Packs that can be restored, deleted last first."""
        return await self.database.read(partial(store.list_deleted_packs, org_id or "", limit))

    async def files_of_user(self, org_id: str | None, user_id: str) -> Sequence[UserFile]:
        """The newest ready file of each document of a user's packs."""
        return await self.database.read(partial(store.list_files_of_user, org_id or "", user_id))

    async def documents(self, pack: Pack, *, for_holder: bool = False) -> Sequence[ListedDocument]:
        """R35 to R37: the registry with its overlays, and the renders of each document. Without those that are hidden from
        holders of the pack's link, for one of them."""
        listed = await self.database.read(partial(list_documents, pack, self._settings))
        return [one for one in listed if not (for_holder and one.document.is_hidden)]

    async def renders(self, pack: Pack, doc_id: str, *, before: int = store.BEYOND, limit: int = 100) -> Sequence[PackRender]:
        """Of one document, newest first."""
        return await self.database.read(partial(store.list_renders, pack.id, doc_id, before=before, limit=limit))

    async def find_render(self, pack: Pack, doc_id: str, number: int) -> PackRender | None:
        return await self.database.read(partial(store.find_render, pack.id, doc_id, number))

    async def kept_versions(self, pack: Pack, doc_id: str) -> frozenset[int]:
        """Numbers of the versions of a document whose files are still kept."""
        return await self.database.read(partial(store.list_kept_versions, pack.id, doc_id))

    async def index_for_search(self) -> None:
        """Add packs of older databases to the search index, some at a time."""
        while await self.database.run(partial(search.index_packs, INDEXED_AT_ONCE), name="packs"):
            pass

    def events(self, pack: Pack, after: int) -> AsyncGenerator[Event]:
        """The events of the pack's jobs, after one of them."""
        return self._queue.events(after=after, org_id=pack.org_id, key_prefix=f"{key_prefix(pack.id)}/")

    async def find_file(self, org_id: str | None, file_id: str) -> tuple[PackRender | PackBundle, Artifact]:
        """A render's or a bundle's file by the id that design 002 calls `file_id`. Raises PackNotFound."""
        id = parse_id(file_id)
        return await self.database.read(partial(_find_file, org_id or "", id))

    async def render_all(
        self,
        org_id: str | None,
        pack_id: str,
        *,
        requested_by: str,
        force: bool = False,
        outdated: bool = False,
        user: str | None = None,
        **submit_options: Any,
    ) -> RenderAnswer:
        """R2, R7 to R11: a job for each available document that has no active one. `force` takes the active ones too,
        `outdated` those that are ready and were made from other data or versions."""
        pack = await self.get(org_id, pack_id, user=user)
        options = {"tier": Tier.BACKGROUND, **submit_options}

        def choose(plan: PackPlan, renders: Mapping[str, DocumentRenders]) -> tuple[list[str], list[SkippedDocument]]:
            return choose_documents(plan, renders, force=force, outdated=outdated)

        return await self._render(pack, None, choose, requested_by, options)

    async def render_one(
        self,
        org_id: str | None,
        pack_id: str,
        doc_id: str,
        *,
        requested_by: str,
        user: str | None = None,
        **submit_options: Any,
    ) -> RenderAnswer:
        """R3, R12 to R14: always made anew, also beside one that is ready. While one is queued, it is that one's job."""
        pack = await self.get(org_id, pack_id, user=user)
        options = {"tier": Tier.INTERACTIVE, **submit_options}

        def choose(plan: PackPlan, _: Mapping[str, DocumentRenders]) -> tuple[list[str], list[SkippedDocument]]:
            require_available(plan, doc_id)
            return [doc_id], []

        return await self._render(pack, doc_id, choose, requested_by, options)

    async def render_again(
        self, pack: Pack, failed: PackRender, *, requested_by: str, actor: Actor, **submit_options: Any
    ) -> RenderAnswer:
        """A document whose render failed, with the versions of now. The new render names the old one.

        Raises AlreadyInProgress if the document is queued or rendering, and what says why it cannot be made.
        """

        def choose(plan: PackPlan, renders: Mapping[str, DocumentRenders]) -> tuple[list[str], list[SkippedDocument]]:
            if renders[failed.doc_id].latest.status in ("queued", "rendering"):
                raise AlreadyInProgress(failed.doc_id)
            require_available(plan, failed.doc_id)
            return [failed.doc_id], []

        options = {"tier": Tier.BACKGROUND, **submit_options}
        return await self._render(pack, failed.doc_id, choose, requested_by, options, (failed, actor))

    async def _render(
        self,
        pack: Pack,
        doc_id: str | None,
        choose: Any,
        requested_by: str,
        options: dict[str, Any],
        requeue: tuple[PackRender, Actor] | None = None,
    ) -> RenderAnswer:
        for _ in range(TRIES):
            plan = await self._plan(pack, doc_id)
            snapshot = await self._put_snapshot(plan)
            async with self._queue.transaction() as tx:
                renders = await tx.run(partial(confirm_plan, plan, self._settings), name="packs")
                if renders is not None:
                    return await self._submit(tx, plan, renders, choose, snapshot, requested_by, options, requeue)
            pack = await self.get(pack.org_id, pack.id)
        raise StoreUnavailable("the configuration or the data of the pack keeps changing; try again")

    async def _plan(self, pack: Pack, doc_id: str | None) -> PackPlan:
        """Everything that takes long, before the transaction that submits. Raises RegistryEmpty."""
        published, documents, data = await self.database.read(partial(read_configuration, pack, self._settings))
        plan = PackPlan(pack, published, documents, data, {}, {})
        for document in documents:
            if not document.is_available or (doc_id is not None and document.doc_id != doc_id):
                continue
            try:
                composition = await self._compose(pack, document.entry, published)
            except TemplateUnusable as refusal:
                plan.refusals[document.doc_id] = refusal
                continue
            if missing := await asyncio.to_thread(find_missing, composition.analysis.fields, document.entry.required, data):
                plan.refusals[document.doc_id] = NeedsInput(document.doc_id, missing)
            plan.compositions[document.doc_id] = composition
        return plan

    async def _compose(self, pack: Pack, entry: RegistryEntry, published: Published) -> Composition:
        return await self.compositions.find(self.database, pack.org_id, entry, published, pack.lang)

    async def _put_snapshot(self, plan: PackPlan) -> ArtifactDraft:
        """R11: which versions the documents of a call are made with, and their hashes."""
        keys = sorted({key for one in plan.compositions.values() for key, number in one.config.items() if number})
        content = {
            "source": "db",
            "pack_id": plan.pack.id,
            "data_version": plan.pack.data_version,
            "active_versions": {key: plan.published[key].number for key in keys},
            "hashes": {key: plan.published[key].sha256 for key in keys},
        }
        return await artifact_lifecycle.store_artifact(
            self._rendering.blobs,
            self.database,
            json.dumps(content, indent=2, sort_keys=True).encode(),
            media_type="application/json",
            filename="config_snapshot.json",
            name=SNAPSHOT,
            with_link=False,
        )

    async def _submit(
        self,
        tx: Transaction,
        plan: PackPlan,
        renders: Mapping[str, DocumentRenders],
        choose: Any,
        snapshot: ArtifactDraft,
        requested_by: str,
        options: dict[str, Any],
        requeue: tuple[PackRender, Actor] | None,
    ) -> RenderAnswer:
        chosen, skipped = choose(plan, renders)
        if not chosen:
            return RenderAnswer(plan.pack, [], skipped, None)
        targets = [make_target(plan, doc_id, renders) for doc_id in chosen]
        requests = [make_request(plan.pack, target, options) for target in targets]
        submitted = await self._queue.submit_many(requests, within=tx)
        entries = {document.doc_id: document.entry for document in plan.documents}
        rows = [
            NewPackRender(
                target=target,
                job_uid=job.uid,
                entry_sha256=entries[target.doc_id].sha256,
                snapshot=snapshot.uid,
                requested_by=requested_by,
                max_attempts=options.get("max_attempts") or self._settings.max_attempts,
                retry_of=requeue[0].job_id if requeue else None,
            )
            for target, job in zip(targets, submitted, strict=True)
        ]
        await tx.run(partial(_record, plan.pack, rows, snapshot), name="packs")
        if requeue:
            await tx.run(partial(_record_requeue, rows[0], *requeue), name="audit")
        jobs = [RequestedDocument(row.target.doc_id, row.job_uid, row.target.render_request.number) for row in rows]
        return RenderAnswer(plan.pack, jobs, skipped, snapshot.uid)


def _record(pack: Pack, rows: Sequence[NewPackRender], snapshot: ArtifactDraft) -> Work[None]:
    yield from store.insert_renders(rows)
    yield from artifacts.record(snapshot, org_id=pack.org_id or None, holder=store.snapshot_holder(pack.id))


def _record_requeue(row: NewPackRender, failed: PackRender, actor: Actor) -> Work[None]:
    before = {"job_id": failed.job_id, "version": failed.number, "status": failed.outcome}
    after = {"job_id": to_uuid(row.job_uid), "version": row.target.render_request.number}
    yield from actor.record("render.requeue", f"{failed.pack}/{failed.doc_id}", before=before, after=after)


def _find_file(org_id: str, file_id: str) -> Work[tuple[PackRender | PackBundle, Artifact]]:
    render = yield from store.find_render_of_file(file_id)
    source = render or (yield from find_bundle_of_file(file_id))
    yield from store.get_pack(org_id, source.pack if source else "")
    assert source is not None
    assert source.artifact is not None
    return source, (yield from artifacts.get(source.artifact))


def check_text(name: str, text: str) -> None:
    """Of a title, a user, a session. Raises InvalidArgument."""
    if len(text) > 200 or "\0" in text:
        raise InvalidArgument(f"{name} is text of at most 200 characters")


def _depth(value: Any) -> int:
    """How deeply lists and objects are nested. Without recursion: the value is a caller's."""
    deepest, level = 0, [value]
    while level:
        containers = [one for one in level if isinstance(one, dict | list)]
        level = [inner for one in containers for inner in _items_of(one)]
        deepest += bool(containers)
        if deepest > DEEPEST:
            break
    return deepest


def _items_of(container: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container
