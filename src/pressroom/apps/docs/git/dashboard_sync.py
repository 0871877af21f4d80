"""Fetch a dashboard template and render the projects that use it (Q27, Q28); without a template, render projects again."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from pressroom import artifact_lifecycle
from pressroom.app import Core
from pressroom.apps.docs.dashboards.dashboards import Dashboards
from pressroom.apps.docs.errors import TemplateFailed
from pressroom.apps.docs.git.remote import UNKNOWN, FetchedTree, GitRemote, KnownTree
from pressroom.apps.docs.git.sync_jobs import KIND, SyncOrder
from pressroom.apps.docs.git.template_files import read_template
from pressroom.apps.docs.processing.edition_publishing import EditionPublishing, find_place
from pressroom.apps.docs.store import dashboards as dashboard_rows
from pressroom.apps.docs.store import templates as store
from pressroom.apps.docs.store.orgs import get_org
from pressroom.apps.docs.store.templates import StaleDashboard, SyncedTree, TemplateBinding
from pressroom.definitions import Backoff, Kind
from pressroom.errors import NotFound
from pressroom.model import Ending, Status, Work
from pressroom.store.artifacts.artifacts import ArtifactDraft
from pressroom.worker.context import RunningJob

AT_ONCE = 8  # projects


class DashboardSync:
    def __init__(self, core: Core, dashboards: Dashboards, publishing: EditionPublishing, remote: GitRemote) -> None:
        self._core = core
        self._dashboards = dashboards
        self._publishing = publishing
        self._remote = remote
        self.kind = Kind(
            KIND,
            self._run,
            max_attempts=3,
            backoff=Backoff(base=5, cap=300),
            timeout=1800,
            retention=timedelta(seconds=core.app_settings.job_retention),
            settling=_settle,
            pool="outbound",
        )

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        order = msgspec.convert(payload, SyncOrder)
        binding: TemplateBinding | None = None
        if order.template is not None:
            await job.phase("syncing")
            try:
                binding = await job.write(partial(store.start_sync, order.template, job.uid))
            except NotFound:
                return {"message": "the template was unbound meanwhile"}
            await self._sync(job, binding)
            concerned = await self._list_stale(binding.org, binding.project)
        elif order.org is not None:
            concerned = await self._list_stale(order.org, order.scope)
        else:
            ids = [order.project] if order.project else []
            concerned = await job.write(partial(dashboard_rows.make_stale, ids))
        await self._render_all(job, concerned)
        return {"projects": len(concerned), "commit": None if binding is None else await self._commit_of(binding)}

    async def _sync(self, job: RunningJob, binding: TemplateBinding) -> None:
        """What is in use stays unless all of this succeeds."""
        await job.message(f"Reading {binding.git_ref} of {binding.git_url}")
        is_known = binding.artifact is not None and binding.tree_sha is not None
        known = KnownTree(binding.commit_sha or "", binding.tree_sha or "") if is_known else UNKNOWN
        fetched = await self._remote.fetch(binding.git_url, binding.git_ref, binding.root_path, known)
        draft = await self._keep(binding, fetched)
        saved = await job.write(partial(store.save_synced, binding, SyncedTree(fetched.commit, fetched.tree), draft))
        if not saved:
            await job.message("The template was bound to another place meanwhile")

    async def _keep(self, binding: TemplateBinding, fetched: FetchedTree) -> ArtifactDraft | None:
        """None for a tree that is known: there is nothing to do (Q28). Raises TemplateFailed."""
        if fetched.files is None:
            return None
        template = await asyncio.to_thread(read_template, fetched.files)
        await self._dashboards.try_template(template, await self._core.database.read(partial(get_org, binding.org)))
        rendering = self._core.rendering
        return await artifact_lifecycle.store_artifact(
            rendering.blobs,
            rendering.database,
            msgspec.json.encode(template),
            media_type="application/json",
            name="template",
            with_link=False,
        )

    async def _list_stale(self, org: str, project: str | None) -> list[StaleDashboard]:
        """Also what an attempt before this one left undone."""
        return await self._core.database.read(partial(store.list_stale_dashboards, org, project))

    async def _render_all(self, job: RunningJob, concerned: Sequence[StaleDashboard]) -> None:
        """One that fails leaves the others alone. If all fail, and not by their template, the attempt has failed."""
        if not concerned:
            return
        await job.items("projects", [one.slug for one in concerned], phase="dashboard")
        room = asyncio.Semaphore(AT_ONCE)

        async def render(one: StaleDashboard) -> None:
            async with room, job.item(one.slug):
                await self._publishing.render_dashboard(await self._core.database.read(partial(find_place, one.project)))

        ended = await asyncio.gather(*map(render, concerned), return_exceptions=True)
        failed = [error for error in ended if error is not None]
        if cancelled := next((error for error in failed if not isinstance(error, Exception)), None):
            raise cancelled
        passing = [error for error in failed if not isinstance(error, TemplateFailed)]
        if len(passing) == len(concerned):
            raise passing[0]

    async def _commit_of(self, binding: TemplateBinding) -> str | None:
        try:
            return (await self._core.database.read(partial(store.get_binding_by_id, binding.id))).commit_sha
        except NotFound:
            return None


def _settle(ending: Ending) -> Work[None]:
    """A sync that failed says why, however its job ended. The template that was there stays."""
    if ending.status not in (Status.FAILED, Status.CANCELLED):
        return
    try:
        order = msgspec.convert(ending.payload, SyncOrder)
    except msgspec.ValidationError:
        return
    if order.template is not None:
        message = str((ending.error or {}).get("message") or ending.status.value)
        yield from store.fail_sync(order.template, ending.uid, message)
