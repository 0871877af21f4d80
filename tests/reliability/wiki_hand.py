"""Somebody with a browser, who writes articles, reads them, and tells the journal what was asked and what was heard."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from urllib.parse import urlencode

from tests.reliability import wiki_page
from tests.reliability.http_exchange import Answer, Unheard, Unreachable, exchange
from tests.reliability.journal import Journal
from tests.reliability.wiki_page import Seen

FORM = "application/x-www-form-urlencoded"
NOBODY = 0  # instead of a status: nobody listened, so nothing was asked


class Outcome(Enum):
    KEPT = "kept"
    CONFLICT = "conflict"
    REFUSED = "refused"
    UNHEARD = "unheard"
    LEFT = "left"


@dataclass(frozen=True)
class Tab:
    """An editor as a page gave it."""

    article: str
    token: str
    previous: int


@dataclass(frozen=True)
class Text:
    nonce: str
    source: str


class Hand:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._cookie = ""

    async def open_editor(self, port: int, article: str) -> Tab | None:
        page = await self._page(port, f"/wiki/{article}?edit")
        return None if page is None else _tab(article, page)

    async def save(self, port: int, tab: Tab, text: Text, *, patience: float | None = None) -> tuple[Outcome, Tab]:
        """Press the button once. Whoever met a conflict has another editor before them, made from what is there now.

        With `patience` the tab is closed after so many seconds, whatever comes then.
        """
        told = {"article": tab.article, "nonce": text.nonce}
        self._journal.write("invoke", "save", **told, source=text.source, previous=tab.previous)
        fields = {"form_token": tab.token, "previous": tab.previous, "source": text.source, "action": "save"}
        try:
            async with asyncio.timeout(patience):
                answer = await self._post(port, tab.article, fields)
        except TimeoutError:
            self._journal.write("info", "left", **told)
            return Outcome.LEFT, tab
        except asyncio.CancelledError:
            self._journal.write("info", "left", **told)
            raise
        except Unreachable:
            self._journal.write("fail", "save", **told, http=NOBODY)
            return Outcome.UNHEARD, tab
        except Unheard as reason:
            self._journal.write("info", "unheard", **told, reason=str(reason))
            return Outcome.UNHEARD, tab
        if answer.status == 303:
            self._journal.write("ok", "save", **told, again="pressroom_notice" in answer.headers.get("set-cookie", ""))
            return Outcome.KEPT, tab
        self._journal.write("fail", "save", **told, http=answer.status)
        if answer.status == 409:
            return Outcome.CONFLICT, _tab(tab.article, answer.body.decode())
        return Outcome.REFUSED, tab

    async def read(self, port: int, article: str, revision: int | None = None, *, after: str | None = None) -> Seen | None:
        """`after` is the nonce of the text that whoever reads has just saved."""
        began = time.monotonic_ns()
        asked = "" if revision is None else f"?revision={revision}"
        answer = await self._get(port, f"/wiki/{article}{asked}")
        if answer is None:
            return None
        seen = wiki_page.seen_on(answer.body.decode()) if answer.status == 200 else None
        self._note_read(article, revision, began, answer, seen, after)
        return seen

    async def read_source(self, port: int, article: str, revision: int) -> None:
        began = time.monotonic_ns()
        answer = await self._get(port, f"/wiki/{article}.md?revision={revision}")
        if answer is not None:
            seen = wiki_page.seen_in_source(revision, answer.body.decode()) if answer.status == 200 else None
            self._note_read(article, revision, began, answer, seen)

    async def render_again(self, port: int, article: str) -> None:
        page = await self._page(port, f"/wiki/{article}?rerender")
        if page is None:
            return
        try:
            answer = await self._post(port, article, {"form_token": wiki_page.token_on(page), "action": "rerender"})
        except Unheard:
            return  # whoever does not hear may press the button again, or not
        self._journal.write("ok" if answer.status == 303 else "fail", "render_again", article=article, http=answer.status)

    def _note_read(
        self, article: str, revision: int | None, began: int, answer: Answer, seen: Seen | None, after: str | None = None
    ) -> None:
        told = {"article": article, "revision": revision, "began": began, "http": answer.status, "seen": seen, "after": after}
        self._journal.write("ok", "read", **told)

    async def _page(self, port: int, path: str) -> str | None:
        """None if nobody answers, or if what is asked for is not there yet, or not now."""
        answer = await self._get(port, path)
        if answer is None:
            return None
        if answer.status != 200:
            self._journal.write("fail", "page", article=path, http=answer.status)
            return None
        return answer.body.decode()

    async def _get(self, port: int, path: str) -> Answer | None:
        try:
            answer = await exchange(port, "GET", path, headers=self._headers())
        except Unheard:
            return None
        self._journal.write("info", "answered", port=port)
        return self._taken(answer)

    async def _post(self, port: int, article: str, fields: Mapping[str, object]) -> Answer:
        headers = self._headers() | {"Content-Type": FORM}
        return self._taken(await exchange(port, "POST", f"/wiki/{article}", urlencode(fields).encode(), headers))

    def _headers(self) -> dict[str, str]:
        return {"Cookie": self._cookie} if self._cookie else {}

    def _taken(self, answer: Answer) -> Answer:
        cookie = answer.headers.get("set-cookie", "").partition(";")[0]
        if cookie.startswith("pressroom="):
            self._cookie = cookie
        return answer


def _tab(article: str, page: str) -> Tab:
    return Tab(article, wiki_page.token_on(page), wiki_page.previous_on(page))
