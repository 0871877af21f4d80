"""Diagrams (designs 001 and 003) as an app: the render endpoint, named diagrams, Kroki's interface and the playground."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from pressroom.app import App, Core, RunningApp
from pressroom.apps.diagrams.settings import DiagramsSettings
from pressroom.model import Work

if TYPE_CHECKING:
    from pressroom.api.routes import Route
    from pressroom.api.service import Service
    from pressroom.api.views import JobFormatter
    from pressroom.store.operators.lookup import LookupResult, Viewer
    from pressroom.web.navigation import AppSection
    from pressroom.web.site import Site


class DiagramsApp(RunningApp):
    def __init__(self, core: Core) -> None:
        from pressroom.apps.diagrams.renders import Diagrams

        self._core = core
        self.diagrams = Diagrams(core.rendering, core.app_settings)
        self.kinds = (self.diagrams.kind,)

    async def open(self) -> None:
        """Encrypts what an older version has stored as it is. See sealing.py."""
        from pressroom.apps.diagrams.named import embed_keys

        database, keyring = self._core.database, self._core.keyring
        if keyring.can_seal and await database.read(embed_keys.any_unsealed_embed_key):
            await database.run(partial(embed_keys.seal_embed_keys, keyring), name="version")

    def job_formatters(self) -> Mapping[str, "JobFormatter"]:
        kind = self.diagrams.kind.name
        return {kind: partial(self.diagrams.format_job, self._core.settings.base_url)}

    def routes(self, service: "Service") -> Iterable["Route"]:
        from pressroom.apps.diagrams import routes
        from pressroom.apps.diagrams.kroki import routes as kroki

        return [*routes.router(service, self.diagrams), *kroki.router(service, self.diagrams)]

    def pages(self, site: "Site") -> "AppSection":
        from pressroom.apps.diagrams.playground import compare, named_pages
        from pressroom.apps.diagrams.playground import routes as playground
        from pressroom.web.navigation import AppSection, NavItem

        named = named_pages.router(site, self.diagrams)
        routes = [*playground.router(site, self.diagrams), *named, *compare.router(site)]
        items = (NavItem("Playground", "/playground"), NavItem("Named diagrams", "/playground/names"))
        return AppSection("Diagrams", "/playground", routes, items)

    def find(self, text: str, viewer: "Viewer") -> Work[list["LookupResult"]]:
        from pressroom.apps.diagrams.search_box import find_diagrams

        return (yield from find_diagrams(text, viewer))


APP = App(name="diagrams", package="pressroom.apps.diagrams", make=DiagramsApp, settings=DiagramsSettings)
