"""The links of released sites, checked by html5lib and the rules of URLs (`urljoin`) beside our own check."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import html5lib
import pytest

from pressroom.apps.docs.uploads.link_check import check_links
from pressroom.store.artifacts.artifacts import ArtifactFile
from tests.apps.docs.judges import released_sites
from tests.apps.docs.judges.released_sites import ReleasedSite

type Reached = Callable[..., Any]

ROOT = "http://site.example/a/b/c/"  # with folders above it, to which links may lead
LINKS = {"a": "href", "area": "href", "link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src"}


@pytest.mark.deep
@pytest.mark.parametrize("name", [package.name for package in released_sites.PACKAGES])
async def test_the_links_of_a_released_site_are_judged_as_another_parser_judges_them(name: str, reached: Reached) -> None:
    package = released_sites.package(name)
    site: ReleasedSite = reached(released_sites.released_site, package, list(package.releases)[-1])

    async def read(file: ArtifactFile) -> bytes:
        return (site.folder / file.path).read_bytes()

    report = await check_links(list_files(site.folder), read)
    ours = {(found["page"], found["link"]) for found in report.problems}
    theirs = set(broken_links(site.folder))
    print(f"{name} {site.version}: {report.pages} pages, {report.broken} broken links")

    assert report.unchecked == ""
    assert report.broken == len(report.problems)
    assert ours == theirs


def list_files(folder: Path) -> list[ArtifactFile]:
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return [ArtifactFile(path=path, sha256="", generation=0, size=1, media_type="") for path in paths]


def broken_links(folder: Path) -> Iterator[tuple[str, str]]:
    """Page and link as it is written."""

    @cache
    def parsed(page: Path) -> Any:
        return html5lib.parse(page.read_bytes(), namespaceHTMLElements=False)

    @cache
    def anchors(page: Path) -> frozenset[str]:
        names = {element.get("id") for element in parsed(page).iter()} | {one.get("name") for one in parsed(page).iter("a")}
        return frozenset(name for name in names if name)

    for page in sorted(path for path in folder.rglob("*.html")):
        address = ROOT + str(page.relative_to(folder))
        for element in parsed(page).iter():
            link = element.get(LINKS.get(str(element.tag), ""), None)
            if link is None:
                continue
            target = urljoin(address, link)
            if link.startswith("/") or not target.startswith(ROOT):
                continue
            file = folder / unquote(urlsplit(target).path.removeprefix(urlsplit(ROOT).path))
            file = file / "index.html" if file.is_dir() else file
            fragment = urlsplit(target).fragment
            is_followed = element.tag in ("a", "area") and file.suffix == ".html" and fragment not in ("", "top")
            if not file.is_file() or (is_followed and not {fragment, unquote(fragment)} & anchors(file)):
                yield str(page.relative_to(folder)), link
