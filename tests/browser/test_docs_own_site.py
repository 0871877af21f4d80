"""Pressroom's own documentation: built by MkDocs Material (`mkdocs.yml`), published by the docs app, and read in a browser."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import html5lib
import pytest
from playwright.sync_api import Page, expect

from pressroom.renderers.markdown.engine import Markdown, MarkdownOptions
from tests import looking
from tests.apps.docs.judges.judge_programs import run_judge
from tests.apps.docs.judges.uploaded_sites import ServedProject, database_of, served_project
from tests.browser.watched import Watched
from tests.conformance.registries import ROOT, OutOfReach
from tools.site_pages import PAGES

COUNTED = {"h1", "h2", "h3", "img", "li", "pre", "tr"}


@pytest.fixture(scope="module")
def own_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A link that leads nowhere would have ended the build."""
    folder = tmp_path_factory.mktemp("own") / "site"
    try:
        run_judge("-m", "mkdocs", "--quiet", "build", "--config-file", ROOT / "mkdocs.yml", "--site-dir", folder)
    except OutOfReach as reason:
        pytest.skip(f"out of reach: {reason}")
    return folder


@pytest.fixture(scope="module")
def own(own_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedProject]:
    with served_project(tmp_path_factory.mktemp("home"), "pressroom", {"main": own_site}) as served:
        yield served


@pytest.mark.deep
def test_our_documentation_is_read_and_searched(watched: Watched, own: ServedProject, own_site: Path) -> None:
    page, asked = watched.page, []
    page.on("request", lambda request: asked.append(request.url))
    page.on("response", lambda response: asked.append("failed") if response.status >= 400 else None)

    for path in sorted(own_site.glob("*/index.html")):
        page.goto(f"{own.url}{path.parent.name}/")
        expect(page.locator("article h1").first).to_be_visible()
    page.goto(own.url)
    for picture in page.locator("article img").all():
        assert picture.evaluate("async (one) => { await one.decode(); return one.naturalWidth }") > 0
    find(page, own.url, "purgatory")

    assert [one for one in asked if not one.startswith((own.url, "data:", "blob:"))] == []
    assert looking.rows(database_of(own.home), "SELECT broken_links FROM docs_build") == [(0,)]


def find(page: Page, root: str, word: str) -> None:
    page.goto(f"{root}?q={word}")
    result = page.locator(".md-search-result__item a").first
    expect(result).to_be_visible()
    with page.expect_navigation():
        result.click()
    expect(page.locator("article")).to_contain_text(word, ignore_case=True)


@pytest.mark.deep
def test_mkdocs_reads_our_markdown_as_we_do(own_site: Path) -> None:
    """Lists, tables, code and pictures: Python-Markdown and CommonMark differ in what needs an empty line before it."""
    sources = {path.stem: path for path in (ROOT / "docs").glob("*.md")}
    sources |= {page.removesuffix(".md"): ROOT / name for name, page in PAGES.items()}

    for name, source in sources.items():
        ours = Markdown().to_html(source.read_text(), MarkdownOptions(highlight=False))
        theirs = (own_site / ("" if name == "index" else name) / "index.html").read_text()
        assert counted(theirs, "article") == counted(ours, "body"), name


def counted(html: str, part: str) -> Counter[str]:
    tree = html5lib.parse(html, treebuilder="etree", namespaceHTMLElements=False)
    found = next(tree.iter(part))
    return Counter(element.tag for element in found.iter() if element.tag in COUNTED)
