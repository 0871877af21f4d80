"""Two thousand Markdown files that others wrote, taken in through the wiki.

Covered: that every file becomes a page or says where it is wrong, that a file which cannot be an article says why, and that no
page holds anything that runs or is fetched, but for pictures: those may lie at http and https addresses, and the policy of the
desk lets a browser fetch only its own. Every page is read by `html.parser`; some of those whose source has HTML in it are also
built into a tree, as a browser would build it. Not covered: how they look, and pages made to do harm (tests/security).
"""

import asyncio
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pressroom import Pressroom, Status
from pressroom.apps.wiki.folders import Folders, ImportReport
from pressroom.apps.wiki.model import RenderStatus, Revision
from tests.conformance import documentation
from tests.conformance.registries import OutOfReach
from tests.security.markup import ADDRESSES, ANY_PICTURE, HTML_ELEMENTS, INVISIBLE, offences_in_html

pytestmark = pytest.mark.deep

ONE_IN = 8  # of those with HTML in their source: building a tree takes ten times as long as reading
ENOUGH = 2_000
RUNS = frozenset({"style", "srcset", "srcdoc", "is", "http-equiv"})
RAW_HTML = re.compile(r"<[a-zA-Z/!?]")
SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)


@dataclass(frozen=True)
class Imported:
    taken: ImportReport
    heads: dict[str, Revision]

    @property
    def pages(self) -> list[tuple[str, str]]:
        return [(url, head.html) for url, head in self.heads.items() if head.html is not None]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    try:
        found = documentation.markdown_files()
    except OutOfReach as reason:
        pytest.skip(f"the corpus is out of reach: {reason}")
    place = tmp_path_factory.mktemp("real-markdown")
    for path in found[:ENOUGH]:
        copy = place / "files" / documentation.place_of(path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return asyncio.run(_import(f"sqlite:///{place / 'press.db'}", place / "files"))


async def _import(database: str, folder: Path) -> Imported:
    async with Pressroom(database, workers=8) as press:
        taken = await Folders(press.app("wiki").articles).import_folder(
            folder, org_id=None, author="ada", comment="", on_progress=lambda what, done, total: None
        )
        while (await press.list(status=[Status.QUEUED, Status.IN_PROGRESS], limit=1)).jobs:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        heads, after = {}, 0
        while some := await press.app("wiki").articles.list_after(None, after, 500):
            for article in some:
                heads[article.url] = (await press.app("wiki").articles.read(None, article.url)).head
            after = some[-1].id
    return Imported(taken, heads)


def test_every_file_becomes_a_page_or_says_where_it_is_wrong(imported: Imported) -> None:
    assert imported.taken.files == ENOUGH
    assert imported.taken.created == len(imported.heads) == imported.taken.files - len(imported.taken.problems)
    for name, reason in imported.taken.problems.items():
        assert "it would be the article" in reason, name
    for url, head in imported.heads.items():
        if head.render_status is not RenderStatus.RENDERED:
            assert head.render_status is RenderStatus.FAILED, url
            assert head.error is not None, url
            assert head.error["code"] == "source_invalid", (url, head.error)
            assert head.error["line"] >= 1, (url, head.error)
    assert len(imported.pages) >= 0.99 * len(imported.heads)


def test_nothing_in_a_page_runs_or_is_fetched_but_pictures(imported: Imported) -> None:
    offences = {url: found for url, html in imported.pages if (found := _read(html))}

    assert offences == {}


def test_the_tree_that_a_browser_builds_has_nothing_of_it_either(imported: Imported) -> None:
    with_html = [(url, html) for url, html in imported.pages if RAW_HTML.search(imported.heads[url].source)]
    assert len(with_html) >= 1_000

    offences = {url: found for url, html in with_html[::ONE_IN] if (found := offences_in_html(html))}

    assert offences == {}


def _read(html: str) -> list[str]:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.offences


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.offences: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in HTML_ELEMENTS or (tag == "input" and ("type", "checkbox") not in attrs):
            self.offences.append(f"<{tag}>")
        for name, value in attrs:
            self.offences += _in_attribute(tag, name, value or "")

    def handle_comment(self, data: str) -> None:
        self.offences.append(f"a comment {data[:40]!r}")

    def handle_decl(self, decl: str) -> None:
        self.offences.append(f"a declaration {decl[:40]!r}")

    def handle_pi(self, data: str) -> None:
        self.offences.append(f"an instruction {data[:40]!r}")

    def unknown_decl(self, data: str) -> None:
        self.offences.append(f"a declaration {data[:40]!r}")


def _in_attribute(tag: str, name: str, value: str) -> Iterator[str]:
    if name.startswith("on") or name in RUNS:
        yield f"<{tag} {name}>"
    if name not in ADDRESSES:
        return
    bare = INVISIBLE.sub("", value)
    scheme = SCHEME.match(bare)
    if (tag, name) == ("img", "src"):
        harmless = ANY_PICTURE.match(bare) or not scheme or scheme[1].lower() in ("http", "https")
    else:
        harmless = name in ("href", "cite") and (not scheme or scheme[1].lower() in ("http", "https", "mailto", "tel"))
    if not harmless:
        yield f"<{tag} {name}={value[:60]!r}>"
