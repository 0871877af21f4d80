"""A dashboard template: its texts, and the styles, scripts and pictures that it inlines."""

import re
import secrets
from functools import cache
from importlib import resources

import msgspec

from pressroom.apps.docs.dashboards.metadata import SWITCHER_KINDS
from pressroom.errors import TooLarge

MOST_OUTPUT = 20_000_000  # bytes of a page with what is inlined


class Assets(msgspec.Struct, frozen=True, kw_only=True):
    """`css` and `js` are texts; `images` are markup (SVG) or data addresses, by the name under which a template has them."""

    css: str = ""
    js: str = ""
    images: dict[str, str] = {}


class PageTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """`name` is its path, for messages."""

    name: str
    source: str
    assets: Assets = Assets()


class DashboardTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """`included` are the templates that a page may include, extend or import, by their paths."""

    dashboard: PageTemplate
    error_404: PageTemplate
    switcher_kinds: list[str] = msgspec.field(default_factory=lambda: [str(kind) for kind in SWITCHER_KINDS])
    included: dict[str, str] = {}


@cache
def built_in_template() -> DashboardTemplate:
    assets = Assets(css=_built_in("style.css"))
    return DashboardTemplate(
        dashboard=PageTemplate(name="dashboard.html", source=_built_in("dashboard.html"), assets=assets),
        error_404=PageTemplate(name="error_404.html", source=_built_in("error_404.html"), assets=assets),
    )


def _built_in(name: str) -> str:
    return resources.files(__package__).joinpath("builtin", name).read_text(encoding="utf-8")


class InlinedAssets:
    """Assets are markup, which a template would escape. It is given marks, and the assets take their place in its page."""

    def __init__(self, assets: Assets) -> None:
        mark = f"asset-{secrets.token_hex(8)}-"
        self._texts = {
            f"{mark}{number}-": text for number, text in enumerate((assets.css, assets.js, *assets.images.values())) if text
        }
        marks = {text: name for name, text in self._texts.items()}
        named = {"css": assets.css, "js": assets.js, **assets.images}
        self.data: dict[str, str] = {name: marks[text] if text else "" for name, text in named.items()}
        self._pattern = re.compile(rf"{mark}\d+-")

    def inline(self, page: str) -> str:
        """Raises TooLarge: a template may print an asset many times."""
        used = self._pattern.findall(page)
        size = len(page) + sum(len(self._texts.get(mark, "")) for mark in used)
        if size > MOST_OUTPUT:
            raise TooLarge(f"the page with its assets has {size:,} characters; at most {MOST_OUTPUT:,}")
        return self._pattern.sub(lambda mark: self._texts.get(mark[0], ""), page)
