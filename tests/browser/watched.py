"""A page that is watched: what goes wrong in it without anybody saying so fails the test that opened it."""

from typing import Any, Self

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Page

_RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}


class Watched:
    """Collects errors of the console, of scripts and of the content security policy."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.troubles: list[str] = []
        self._forgiven: list[str] = []
        page.on("console", lambda said: self._note(_with_address(said)) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self._note(f"script: {error}"))

    def forgive(self, words: str) -> None:
        """What the test itself brings about: a server that is gone, a page that is not there."""
        self._forgiven.append(words)

    def _note(self, text: str) -> None:
        self.troubles.append(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            troubles = [text for text in self.troubles if not any(words in text for words in self._forgiven)]
            assert not troubles, troubles


def _with_address(said: ConsoleMessage) -> str:
    """Of what could not be loaded, the console tells only the status."""
    return f"{said.text} {said.location['url']}".strip()


def assert_accessible(page: Page) -> None:
    found: Any = Axe().run(page, options=_RULES).response
    words = [
        f"{one['id']}: {one['help']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
    assert not words, words


def assert_fits(page: Page) -> None:
    """Nothing makes the page itself scroll sideways."""
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{wide} px too wide"
