"""Packs (design 002) as an app: sets of documents made from one body of data."""

from itertools import chain
from typing import TYPE_CHECKING

from pressroom.app import AddCommand, App, Core, RunningApp
from pressroom.apps.packs.settings import PacksSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pressroom.api.routes import Route
    from pressroom.api.service import Service
    from pressroom.api.views import JobFormatter
    from pressroom.model import Work
    from pressroom.store.operators.lookup import LookupResult, Viewer
    from pressroom.web.navigation import AppSection
    from pressroom.web.site import Site


class PacksApp(RunningApp):
    def __init__(self, core: Core) -> None:
        from pressroom.apps.packs import purging
        from pressroom.apps.packs.batches.batches import PackBatches
        from pressroom.apps.packs.bundles.rendering import BundleRendering
        from pressroom.apps.packs.bundles.requests import Bundles
        from pressroom.apps.packs.packs import Packs
        from pressroom.apps.packs.renders import DocumentRendering
        from pressroom.apps.packs.sections import SectionRenders

        self._core = core
        self.queue, self.rendering = core.queue, core.rendering
        self.settings: PacksSettings = core.app_settings
        self._renders = DocumentRendering(core.rendering, self.settings, timeout=core.settings.render_timeout + 30)
        self.purging = purging.DeletedPacks(core.queue, core.rendering, self.settings)
        self.packs = Packs(core.queue, core.rendering, self.settings, self.purging.submit_if_due)
        self.sections = SectionRenders(core.queue, self.packs, self.settings)
        self.batches = PackBatches(core.queue, core.rendering, self.packs, self.settings)
        self.bundles = Bundles(core.queue, self.packs, self.settings)
        self._bundle_rendering = BundleRendering(core.rendering)
        self.kinds = (self._renders.kind, self._bundle_rendering.kind, self.batches.kind, self.purging.kind)

    async def open(self) -> None:
        from pressroom.apps.packs.config.configuration import Configuration
        from pressroom.apps.packs.config.dry_run import DryRuns

        self.configuration = Configuration(self._core.database, self.packs.compositions)
        self.dry_runs = DryRuns(self._core.database, self.rendering, self.packs.compositions)

    async def on_leading(self) -> None:
        await self.packs.index_for_search()
        await self.purging.submit_if_due()

    def job_formatters(self) -> "Mapping[str, JobFormatter]":
        from pressroom.apps.packs.views import format_job

        return {kind.name: format_job for kind in (self._renders.kind, self._bundle_rendering.kind)}

    def routes(self, service: "Service") -> "Iterable[Route]":
        from pressroom.apps.packs import routes, sections_routes
        from pressroom.apps.packs.admin import routes as admin_routes
        from pressroom.apps.packs.batches import routes as batch_routes

        routers = (batch_routes, routes, admin_routes, sections_routes)
        return chain.from_iterable(router.router(service, self) for router in routers)

    def pages(self, site: "Site") -> "AppSection":
        from pressroom.api.access import Scope
        from pressroom.apps.packs.admin import pages
        from pressroom.apps.packs.library import routes
        from pressroom.web.navigation import AppSection, NavItem

        items = (
            NavItem("Packs", "/library"),
            NavItem("Batches", "/library/batches"),
            NavItem("Renders", "/library/renders", Scope.OPERATOR),
            NavItem("Deleted", "/library/deleted", Scope.OPERATOR),
            NavItem("Settings", "/library/settings", Scope.OPERATOR),
        )
        return AppSection("Library", "/library", (*pages.router(site, self), *routes.router(site, self)), items)

    def find(self, text: str, viewer: "Viewer") -> "Work[list[LookupResult]]":
        from pressroom.apps.packs.search_box import find_packs

        return (yield from find_packs(text, viewer))


async def _fill_demo(app: RunningApp) -> None:
    from pressroom.apps.packs.demo import fill_demo

    assert isinstance(app, PacksApp)
    await fill_demo(app)


def _add_commands(add: AddCommand) -> None:
    from pressroom.apps.packs import commands

    commands.add_commands(add)


APP = App(
    name="packs",
    package="pressroom.apps.packs",
    make=PacksApp,
    settings=PacksSettings,
    commands=_add_commands,
    about="documents made from data: packs, their templates and batches",
    demo=_fill_demo,
)
