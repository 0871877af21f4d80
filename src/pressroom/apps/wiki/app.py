"""The wiki (design 000) as an app."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pressroom.app import AddCommand, App, Core, RunningApp
from pressroom.model import Work

if TYPE_CHECKING:
    from pressroom.store.operators.lookup import LookupResult, Viewer
    from pressroom.web.navigation import AppSection
    from pressroom.web.site import Site


class Wiki(RunningApp):
    def __init__(self, core: Core) -> None:
        from pressroom.apps.wiki.batches import Batches
        from pressroom.apps.wiki.renders import ArticleRenders

        self._core = core
        self.queue = core.queue
        self._renders = ArticleRenders(core.rendering, urlsplit(core.settings.base_url or "").path.rstrip("/"))
        self._batches = Batches()
        self.kinds = (self._renders.kind, self._batches.kind)

    async def open(self) -> None:
        from pressroom.apps.wiki.articles import Articles

        database, queue = self._core.database, self._core.queue
        self._renders.open(database, queue)
        self.articles = Articles(queue, database, self._renders)
        self._batches.open(database, self.articles)

    async def on_leading(self) -> None:
        """The engines may be others than the last time."""
        await self._batches.mark_stale_articles()

    def pages(self, site: "Site") -> "AppSection":
        from pressroom.apps.wiki import pages
        from pressroom.web.navigation import AppSection, NavItem

        items = (NavItem("Home", "/wiki/Home"), NavItem("All pages", "/wiki/Special:AllPages"))
        return AppSection("Wiki", "/wiki", pages.router(site, self.articles), items)

    def find(self, text: str, viewer: "Viewer") -> Work[list["LookupResult"]]:
        from pressroom.apps.wiki.search_box import find_articles

        return (yield from find_articles(text, viewer))


def _add_commands(add: AddCommand) -> None:
    from pressroom.apps.wiki import commands

    commands.add_commands(add)


async def _fill_demo(wiki: RunningApp) -> None:
    from pressroom.apps.wiki.demo import fill_demo

    assert isinstance(wiki, Wiki)
    await fill_demo(wiki)


APP = App(
    name="wiki",
    package="pressroom.apps.wiki",
    make=Wiki,
    commands=_add_commands,
    about="import, export, rerender: articles by the folder",
    demo=_fill_demo,
)
