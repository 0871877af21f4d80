"""A page that is watched: what goes wrong in it without anybody saying so fails the test that opened it."""

from typing import Any, Self

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}


class Watched:
    """Collects errors of the console, of scripts and of the content security policy; `forgive` names what was meant."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.troubles: list[str] = []
        page.on("console", lambda said: self._note(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self._note(f"script: {error}"))

    def _note(self, text: str) -> None:
        self.troubles.append(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            assert self.troubles == []


def assert_accessible(page: Page) -> None:
    found: Any = Axe().run(page, options=_RULES).response
    words = [
        f"{one['id']}: {one['help']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
    assert words == []


def assert_fits(page: Page) -> None:
    """Nothing makes the page itself scroll sideways."""
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{wide} px too wide"
