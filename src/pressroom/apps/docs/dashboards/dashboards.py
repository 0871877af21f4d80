"""Render a project's dashboard once its editions are where they are (Q23), and keep the last good one."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

import msgspec
from cachetools import LRUCache

from pressroom import artifact_lifecycle
from pressroom.app import Core
from pressroom.apps.docs.dashboards.context import RenderingService, dashboard_context
from pressroom.apps.docs.dashboards.metadata import metadata_files
from pressroom.apps.docs.dashboards.page import render_page
from pressroom.apps.docs.dashboards.sample import sample_facts
from pressroom.apps.docs.dashboards.template import DashboardTemplate, built_in_template
from pressroom.apps.docs.errors import TemplateFailed
from pressroom.apps.docs.model import Org
from pressroom.apps.docs.store import dashboards as store
from pressroom.apps.docs.store.dashboards import DashboardFacts
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.errors import BlobGone
from pressroom.model import VERSION
from pressroom.store.artifacts.artifacts import ArtifactFile

DASHBOARD = "__dashboard.html"
ERROR_404 = "__404.html"
RENDERS = 3  # while the editions keep moving
FILES_AT_ONCE = 16
REMEMBERED = 64  # dashboards and templates whose bytes are not read again


class Dashboards:
    def __init__(self, core: Core) -> None:
        self._core = core
        self._urls = PublishedUrls(core.app_settings)
        self._templates: LRUCache[str, DashboardTemplate] = LRUCache(REMEMBERED)
        self._read: LRUCache[str, dict[str, bytes]] = LRUCache(REMEMBERED)

    async def render(self, project: str) -> int:
        """Render and keep the files of a project (its id), from its template or the built-in one, for the `editions_version`
        that it has now; again, three times at most, if that grows meanwhile. Returns the version that is kept now.

        A version that is kept already is not rendered. A template that fails leaves the last good files and raises
        TemplateFailed; where there are none yet, those of the built-in template are kept first. Raises ProjectNotFound."""
        for _ in range(RENDERS):
            facts = await self._core.database.read(partial(store.read_facts, project))
            found = facts.project
            if _is_kept(facts) or found.date_deleted is not None:
                return found.dashboard_version
            try:
                await self._render_and_keep(facts, await self._template_of(facts))
            except TemplateFailed:
                if found.dashboard is None:
                    await self._render_and_keep(facts, built_in_template())
                raise
        facts = await self._core.database.read(partial(store.read_facts, project))
        return facts.project.dashboard_version

    async def read(self, project: str) -> dict[str, bytes]:
        """The files by name: `__dashboard.html`, `__404.html`, `__switcher.json`, `__editions/{slug}.json`. Empty before
        the first render, and for a project that is deleted."""
        artifact = await self._core.database.read(partial(store.find_dashboard, project))
        if artifact is not None and artifact not in self._read:
            artifact, files = await self._core.database.read(partial(store.read_dashboard, project))
            if artifact is not None:
                self._read[artifact] = dict(await _gather(self._read_file, files))
        return {} if artifact is None else self._read[artifact]

    async def make_pages(self, facts: DashboardFacts, template: DashboardTemplate) -> dict[str, bytes]:
        """The dashboard and the 404 page. Raises TemplateFailed."""
        service = RenderingService(self._core.settings.base_url, VERSION)
        context = await asyncio.to_thread(dashboard_context, facts, self._urls, service, self._core.clock.now_ms())
        rendering = self._core.rendering
        return {
            DASHBOARD: await render_page(rendering, template.dashboard, template.included, context),
            ERROR_404: await render_page(rendering, template.error_404, template.included, context),
        }

    async def try_template(self, template: DashboardTemplate, org: Org) -> None:
        """Render it for a project that there is not. Raises TemplateFailed."""
        await self.make_pages(sample_facts(org), template)

    async def _template_of(self, facts: DashboardFacts) -> DashboardTemplate:
        if facts.template is None:
            return built_in_template()
        template = self._templates.get(facts.template)
        if template is None:
            kept = await self._core.rendering.artifact(facts.template)
            template = msgspec.json.decode(await self._core.rendering.read_all(kept), type=DashboardTemplate)
            self._templates[facts.template] = template
        return template

    async def _render_and_keep(self, facts: DashboardFacts, template: DashboardTemplate) -> None:
        metadata = await asyncio.to_thread(metadata_files, facts, self._urls, template.switcher_kinds)
        contents = await self.make_pages(facts, template) | metadata
        _, kept = await self._core.database.read(partial(store.read_dashboard, facts.project.id))
        try:
            await self._keep(facts, contents, kept)
        except BlobGone:  # another render has replaced the dashboard whose files were to be used again
            await self._keep(facts, contents, [])

    async def _keep(self, facts: DashboardFacts, contents: Mapping[str, bytes], kept: Iterable[ArtifactFile]) -> None:
        known = {(file.path, file.sha256): file for file in kept}
        files = dict(await _gather(partial(self._put_file, known), contents.items()))
        draft = artifact_lifecycle.bundle_draft(
            [files[name] for name in sorted(files)], media_type="text/html", name="dashboard", with_link=False
        )
        save = partial(store.save_dashboard, facts.project, facts.project.editions_version, draft)
        await self._core.database.run(save, name="docs.dashboard")

    async def _put_file(
        self, known: Mapping[tuple[str, str], ArtifactFile], named: tuple[str, bytes]
    ) -> tuple[str, ArtifactFile]:
        """What has not changed is there already."""
        name, data = named
        file = known.get((name, hashlib.sha256(data).hexdigest()))
        if file is None:
            media_type = "text/html" if name.endswith(".html") else "application/json"
            rendering = self._core.rendering
            file = await artifact_lifecycle.store_file(rendering.blobs, rendering.database, name, data, media_type=media_type)
        return name, file

    async def _read_file(self, file: ArtifactFile) -> tuple[str, bytes]:
        chunks = await self._core.rendering.blobs.get(artifact_lifecycle.blob_key(file))
        return file.path, b"".join([chunk async for chunk in chunks])


def _is_kept(facts: DashboardFacts) -> bool:
    return facts.project.dashboard is not None and facts.project.dashboard_version >= facts.project.editions_version


async def _gather[T, R](work: Callable[[T], Awaitable[R]], items: Iterable[T]) -> list[R]:
    """A few at once."""
    room = asyncio.Semaphore(FILES_AT_ONCE)

    async def one(item: T) -> R:
        async with room:
            return await work(item)

    return await asyncio.gather(*map(one, items))
