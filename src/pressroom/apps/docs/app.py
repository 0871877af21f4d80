"""Documentation (design 004) as an app: builds come in, editions are published."""

from functools import partial
from typing import TYPE_CHECKING

from pressroom.app import AddCommand, App, Core, RunningApp
from pressroom.apps.docs.settings import DocsSettings
from pressroom.definitions import Schedule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pressroom.api.routes import Route
    from pressroom.api.service import Service
    from pressroom.api.views import JobFormatter
    from pressroom.app import Listener
    from pressroom.model import Job, Work
    from pressroom.store.operators.lookup import LookupResult, Viewer
    from pressroom.web.navigation import AppSection
    from pressroom.web.site import Site

SCHEDULES = tuple(
    Schedule(kind, cron, kind, key=kind, on_demand=True)
    for kind, cron in (
        ("docs.lifecycle_eval", "7 * * * *"),
        ("docs.git_ref_audit", "17 5 * * *"),
        ("docs.purgatory_cleanup", "47 3 * * *"),
        ("docs.credential_rewrap", "27 4 * * *"),
        ("docs.reconcile", "*/5 * * * *"),
    )
)


class DocsApp(RunningApp):
    """Its schedules begin with the first organisation (`store.orgs.insert_org`), so that an installation without documentation
    has none of them."""

    schedules = SCHEDULES

    def __init__(self, core: Core) -> None:
        from pressroom.apps.docs.credentials.rewrap import CredentialRewrap
        from pressroom.apps.docs.dashboards.dashboards import Dashboards
        from pressroom.apps.docs.git.dashboard_sync import DashboardSync
        from pressroom.apps.docs.git.ref_audit import GitRefAudit
        from pressroom.apps.docs.git.remote import GitRemote
        from pressroom.apps.docs.operations.builds import Builds
        from pressroom.apps.docs.operations.credentials import OrgCredentials, OrgServices
        from pressroom.apps.docs.operations.editions import Editions
        from pressroom.apps.docs.operations.hooks import Hooks
        from pressroom.apps.docs.operations.importing import FolderImport
        from pressroom.apps.docs.operations.orgs import Orgs
        from pressroom.apps.docs.operations.projects import Projects
        from pressroom.apps.docs.operations.purgatory import Purgatory
        from pressroom.apps.docs.operations.templates import Templates
        from pressroom.apps.docs.periodic.lifecycle_eval import LifecycleEval
        from pressroom.apps.docs.periodic.purgatory_cleanup import PurgatoryCleanup
        from pressroom.apps.docs.processing.build_processing import BuildProcessing
        from pressroom.apps.docs.processing.edition_publishing import EditionPublishing
        from pressroom.apps.docs.processing.edition_update import EditionUpdate
        from pressroom.apps.docs.publishing.publishers import Publishers
        from pressroom.apps.docs.publishing.reconcile import Reconcile
        from pressroom.apps.docs.search.search import Search
        from pressroom.apps.docs.uploads.staging import Staging

        self.core = core
        self.settings: DocsSettings = core.app_settings
        self.staging = Staging(core)
        self.search = Search(core)
        self.credentials = OrgCredentials(core)
        self.services = OrgServices(core)
        self.publishers = Publishers(core, self.credentials)
        self.dashboards = Dashboards(core)
        self.publishing = EditionPublishing(self.publishers, self.dashboards)
        self.build_processing = BuildProcessing(core, self.staging, self.publishing, self.search)
        self.edition_update = EditionUpdate(core, self.publishing, self.search)
        self.git_remote = GitRemote(core.app_settings)
        self.dashboard_sync = DashboardSync(core, self.dashboards, self.publishing, self.git_remote)
        self.git_ref_audit = GitRefAudit(core, self.publishing, self.git_remote)
        self.reconcile = Reconcile(core, self.publishers, self.dashboards, self.search)
        self.lifecycle_eval = LifecycleEval(core, self.reconcile)
        self.purgatory_cleanup = PurgatoryCleanup(core, self.staging, self.publishers)
        self.credential_rewrap = CredentialRewrap(core, self.credentials)
        self.orgs = Orgs(core, SCHEDULES)
        self.projects = Projects(core)
        self.builds = Builds(core, self.staging)
        self.editions = Editions(core)
        self.importing = FolderImport(core, self.builds, self.editions, self.staging)
        self.purgatory = Purgatory(core)
        self.templates = Templates(core)
        self.hooks = Hooks(core)
        self.kinds = (
            self.build_processing.kind,
            self.edition_update.kind,
            self.dashboard_sync.kind,
            self.lifecycle_eval.kind,
            self.git_ref_audit.kind,
            self.purgatory_cleanup.kind,
            self.credential_rewrap.kind,
            self.reconcile.kind,
        )

    async def on_leading(self) -> None:
        from pressroom.apps.docs.store.orgs import save_schedules_if_used

        await self.core.database.run(partial(save_schedules_if_used, SCHEDULES), name="schedule")

    async def stop(self) -> None:
        await self.publishers.close()
        await self.credentials.close()

    def listeners(self, service: "Service") -> "Iterable[Listener]":  # noqa: ARG002
        from pressroom.apps.docs.edge.listening import edge_listeners

        return edge_listeners(self)

    def job_formatters(self) -> "Mapping[str, JobFormatter]":
        return {}

    def routes(self, service: "Service") -> "Iterable[Route]":
        from pressroom.apps.docs.http import routes

        return routes.router(service, self)

    def pages(self, site: "Site") -> "AppSection":
        from pressroom.apps.docs.pages import routes
        from pressroom.web.navigation import AppSection

        return AppSection("Docs", "/sites", routes.router(site, self))

    def find(self, text: str, viewer: "Viewer") -> "Work[list[LookupResult]]":
        from pressroom.apps.docs.search_box import find_sites

        return (yield from find_sites(text, viewer))

    def find_job_subjects(self, job: "Job") -> "Work[list[LookupResult]]":
        from pressroom.apps.docs.job_subjects import find_subjects

        return (yield from find_subjects(job))


def _add_commands(add: AddCommand) -> None:
    from pressroom.apps.docs.commands import add_commands

    add_commands(add)


async def _fill_demo(app: RunningApp) -> None:
    from pressroom.apps.docs.demo import fill_demo

    assert isinstance(app, DocsApp)
    await fill_demo(app)


APP = App(
    name="docs",
    package="pressroom.apps.docs",
    make=DocsApp,
    settings=DocsSettings,
    commands=_add_commands,
    about="documentation sites: builds, editions, and their history",
    demo=_fill_demo,
)
