"""The two rows of navigation: the apps and the dashboard, and below them the pages of the one that is shown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pressroom.api.access import Scope
from pressroom.api.routes import Route


@dataclass(frozen=True)
class NavItem:
    """A page that the navigation names, for those who may see it."""

    title: str
    path: str
    needs: Scope = Scope.VIEWER

    def is_at(self, path: str) -> bool:
        return path == self.path or path.startswith(f"{self.path}/")


@dataclass(frozen=True)
class AppSection:
    """The pages of an app: its title and first page for the upper row, its routes, and its entries of the lower row.

    All of its addresses begin with `path`; a login may return to them.
    """

    title: str
    path: str
    routes: Iterable[Route]
    items: Sequence[NavItem] = ()
    needs: Scope = Scope.VIEWER

    def is_at(self, path: str) -> bool:
        return path == self.path or path.startswith(f"{self.path}/")

    def item_at(self, path: str) -> NavItem | None:
        """The entry of the lower row for a page: the one whose address is the longest beginning of the page's."""
        return max((item for item in self.items if item.is_at(path)), key=lambda item: len(item.path), default=None)


DASHBOARD = AppSection(
    "Dashboard",
    "/desk",
    (),
    (
        NavItem("Overview", "/desk"),
        NavItem("Jobs", "/desk/jobs"),
        NavItem("Alerts", "/desk/alerts"),
        NavItem("Failures", "/desk/failures"),
        NavItem("Queues", "/desk/queues"),
        NavItem("Workers", "/desk/workers"),
        NavItem("Schedules", "/desk/schedules"),
        NavItem("Webhooks", "/desk/webhooks", Scope.OPERATOR),
        NavItem("Tokens", "/desk/tokens", Scope.ADMIN),
        NavItem("Audit", "/desk/audit", Scope.OPERATOR),
    ),
)
