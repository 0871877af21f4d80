"""Sites of documentation that other projects have released, read and searched in a browser as their readers do."""

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Page, Response, Route, expect

from tests.apps.docs.judges import released_sites
from tests.apps.docs.judges.released_sites import DocumentedPackage, ReleasedSite
from tests.apps.docs.judges.uploaded_sites import ServedProject, served_project
from tests.browser.watched import Watched
from tests.conformance.registries import OutOfReach

PAGES = 10  # of each version
# The rest of the internet; what Sphinx says of results in furo, and what pydata-sphinx-theme says to its new readers.
ELSEWHERE = ("https://", "Anchored content block not found", "Got invalid theme mode")


class ReadSite:
    """Notes what of a site could not be loaded. What is elsewhere in the internet, such as badges, is left out, and so is what
    the site names but does not have."""

    def __init__(self, watched: Watched, served: ServedProject, sites: list[ReleasedSite]) -> None:
        self.page, self._watched = watched.page, watched
        self._root, self._folders = served.own_host_url, [site.folder for site in sites]
        self.failed: list[str] = []
        for words in ELSEWHERE:
            watched.forgive(words)
        self.page.route("**/*", self._keep_inside)
        self.page.on("response", self._note_response)
        self.page.on("requestfailed", lambda request: self._note_failure(request.url, request.failure))

    def _keep_inside(self, route: Route) -> None:
        route.continue_() if route.request.url.startswith((self._root, "data:", "blob:")) else route.abort()

    def _note_response(self, response: Response) -> None:
        if response.status >= 400:
            self._note_failure(response.url, str(response.status))

    def _note_failure(self, url: str, reason: str | None) -> None:
        if not url.startswith(self._root):
            return
        if not self._has(url):
            self._watched.forgive(re.split("[?#]", url)[0])
        elif reason != "net::ERR_ABORTED":  # the reader went on to another page
            self.failed.append(f"{reason} {url}")

    def _has(self, url: str) -> bool:
        path = unquote(urlsplit(url.removeprefix(self._root)).path)
        path = re.sub("^v/[^/]+/", "", path)
        return any((folder / path).is_file() or (folder / path / "index.html").is_file() for folder in self._folders)


type Released = tuple[ServedProject, list[ReleasedSite]]


@pytest.fixture(scope="module", params=[package.name for package in released_sites.PACKAGES])
def released(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Released]:
    package = released_sites.package(request.param)
    try:
        sites = list(released_sites.released_sites(package))
    except OutOfReach as reason:
        pytest.skip(f"the sites of {package.name} cannot be built: {reason}")
    versions = {f"v{site.version}": site.folder for site in sites} | {"main": sites[-1].folder}
    with served_project(tmp_path_factory.mktemp(package.name), package.name.replace("_", "-"), versions) as served:
        yield served, sites


def html_pages(site: ReleasedSite) -> list[str]:
    """Some of all parts of the site."""
    every = [str(path.relative_to(site.folder)) for path in site.folder.rglob("*.html")]
    pages = sorted(path for path in every if path != "404.html" and not path.startswith("_static/"))
    return pages[:: max(1, len(pages) // PAGES)]


@pytest.mark.deep
def test_a_released_site_is_read_and_searched(watched: Watched, released: Released) -> None:
    served, sites = released
    reading = ReadSite(watched, served, sites)

    for site in sites:
        for path in ["", *html_pages(site)]:
            reading.page.goto(f"{served.own_host_url}v/v{site.version}/{path}", wait_until="load")
    found = find_word(reading.page, served.own_host_url, sites[-1].package)

    assert reading.failed == []
    assert found.startswith(served.own_host_url)


def find_word(page: Page, root: str, package: DocumentedPackage) -> str:
    """The address of the page to which the site's own search leads."""
    if package.theme == "material":
        page.goto(f"{root}?q={package.word}")
        results = page.locator(".md-search-result__item a")
    else:
        page.goto(f"{root}search.html?q={package.word}")
        results = page.locator("#search-results .search li a")
    expect(results.first).to_be_visible()
    with page.expect_navigation():
        results.first.click()
    expect(page.locator("body")).to_contain_text(package.word, ignore_case=True)
    return page.url
