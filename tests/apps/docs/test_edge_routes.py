"""What the edge serves where: editions, builds, dashboards and pages that are not there."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import pytest

from pressroom.apps.docs.model import EditionKind
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store.projects import touch_editions
from tests.apps.docs.edge_stage import EdgeStage, an_org, edge_stage, page

type EdgeStaging = Callable[..., AbstractAsyncContextManager[EdgeStage]]
SITE = {
    "index.html": page("home"),
    "usage.html": page("usage"),
    "api/index.html": page("api"),
    "style.css": b"h1 { color: red }",
    "ünï cöde.html": page("unicode"),
}


@pytest.fixture
def staged(database: str) -> EdgeStaging:
    return partial(_with_site, database)


@asynccontextmanager
async def _with_site(database: str, **options: object) -> AsyncIterator[EdgeStage]:
    async with edge_stage(database, **options) as stage:  # type: ignore[arg-type]
        await stage.add_project()
        yield stage


async def test_everything_else_is_main(staged: EdgeStaging) -> None:
    async with staged() as stage:
        build = await stage.publish(SITE)
        home, usage, style = [await stage.get(f"/acme/guide/{path}") for path in ("", "usage.html", "style.css")]

    assert home.content == page("home")
    assert home.headers["content-type"] == "text/html; charset=utf-8"
    assert home.headers["x-docverse-build"] == build
    assert home.headers["cache-control"] == "max-age=60"
    assert home.headers["x-content-type-options"] == "nosniff"
    assert usage.content == page("usage")
    assert (style.content, style.headers["content-type"]) == (b"h1 { color: red }", "text/css; charset=utf-8")


async def test_an_edition_has_its_own_address_in_any_case(staged: EdgeStaging) -> None:
    async with staged() as stage:
        await stage.publish(SITE)
        build = await stage.publish({"index.html": page("two")}, "2.x", kind=EditionKind.MAJOR)
        found = [await stage.get(f"/acme/guide/v/{slug}/") for slug in ("2.x", "2.X")]
        main = await stage.get("/acme/guide/v/__main/usage.html")

    assert [one.content for one in found] == [page("two")] * 2
    assert {one.headers["x-docverse-build"] for one in found} == {build}
    assert main.content == page("usage")


async def test_a_build_has_an_address_that_never_changes(staged: EdgeStaging) -> None:
    async with staged() as stage:
        old = await stage.publish({"index.html": page("old")})
        await stage.publish(SITE)
        found = await stage.get(f"/acme/guide/builds/{old.lower()}/")
        slash = await stage.get(f"/acme/guide/builds/{old}")
        missing = await stage.get(f"/acme/guide/builds/{'0' * 26}/")
        pages = await stage.get("/acme/guide/builds/linux.html")

    assert found.content == page("old")
    assert found.headers["cache-control"] == "max-age=31536000, immutable"
    assert found.headers["x-robots-tag"] == "noindex"
    assert (slash.status_code, slash.headers["location"]) == (301, f"./{old}/")
    assert missing.status_code == pages.status_code == 404


async def test_a_folder_is_redirected_to_its_slash(staged: EdgeStaging) -> None:
    async with staged() as stage:
        await stage.publish(SITE)
        folder = await stage.get("/acme/guide/api?q=1", host="127.0.0.1")
        index = await stage.get("/acme/guide/api/")
        root = await stage.get("/acme/guide")
        file = await stage.get("/acme/guide/usage.html/")

    assert (folder.status_code, folder.headers["location"]) == (302, "./api/?q=1")
    assert index.content == page("api")
    assert (root.status_code, root.headers["location"]) == (301, "./guide/")
    assert file.status_code == 404


async def test_names_are_decoded_once(staged: EdgeStaging) -> None:
    async with staged() as stage:
        await stage.publish(SITE)
        found = await stage.get("/acme/guide/%C3%BCn%C3%AF%20c%C3%B6de.html")
        twice = await stage.get_raw("/acme/guide/%25C3%25BCn%25C3%25AF%2520c%25C3%25B6de.html")

    assert found.content == page("unicode")
    assert twice[0] == 404


async def test_the_versions_of_a_project_without_a_rendered_dashboard(staged: EdgeStaging) -> None:
    async with staged() as stage:
        await stage.publish(SITE)
        await stage.publish(SITE, "<b>", kind=EditionKind.DRAFT)
        await stage.publish(SITE, "2.x", kind=EditionKind.MAJOR)
        bare = await stage.get("/acme/guide/v")
        shown, named = [await stage.get(f"/acme/guide/v/{path}") for path in ("", "index.html")]
        switcher = await stage.get("/acme/guide/v/switcher.json")
        of_edition = await stage.get("/acme/guide/v/2.x/_docverse.json")
        of_main = await stage.get("/acme/guide/_docverse.json")

    assert (bare.status_code, bare.headers["location"]) == (301, "./v/")
    assert shown.content == named.content
    assert "<h1>The guide</h1>" in shown.text
    assert '<a href="2.x/">Edition 2.x</a>' in shown.text
    assert "Edition &lt;b&gt;" in shown.text
    assert [entry["version"] for entry in switcher.json()] == ["__main", "2.x"]
    assert switcher.json()[1]["url"] == "/acme/guide/v/2.x/"
    assert of_edition.json()["edition"] == "2.x"
    assert (of_main.json()["is_canonical"], of_main.json()["git_ref"]) == (True, "main")


async def test_a_page_that_an_edition_lacks_names_the_editions_that_have_it(staged: EdgeStaging) -> None:
    async with staged() as stage:
        await stage.publish({"index.html": page("home")})
        await stage.publish(SITE, "2.x", kind=EditionKind.MAJOR)
        await stage.publish({"api.html": page("api")}, "1.x", kind=EditionKind.MAJOR)
        file, folder = [await stage.get(f"/acme/guide/v/1.x/{path}") for path in ("usage.html", "api/")]
        edition = await stage.get("/acme/guide/v/9.x/usage.html")
        image = await stage.get("/acme/guide/v/1.x/style.css")
        nowhere = await stage.get("/acme/guide/v/1.x/nowhere.html")

    assert file.status_code == folder.status_code == edition.status_code == image.status_code == nowhere.status_code == 404
    assert '<a href="/acme/guide/v/2.x/usage.html">Edition 2.x</a>' in file.text
    assert '<a href="/acme/guide/v/2.x/api/">Edition 2.x</a>' in folder.text
    assert '<a href="/acme/guide/v/2.x/usage.html">Edition 2.x</a>' in edition.text
    assert image.headers["content-type"].startswith("text/plain")
    assert "/acme/guide/v/2.x/style.css" in image.text
    assert "These editions" not in nowhere.text


async def test_an_edition_that_shows_nothing_yet_is_not_there_yet(staged: EdgeStaging) -> None:
    async with staged() as stage:
        missing = await stage.get("/acme/guide/")
        dashboard = await stage.get("/acme/guide/v/")

    assert missing.status_code == 404
    assert "Nothing has been published yet." in dashboard.text


async def test_pages_name_their_canonical_page_if_main_has_it(staged: EdgeStaging) -> None:
    async with staged(settings=DocsSettings(url="https://docs.example.org")) as stage:
        await stage.publish(SITE)
        await stage.publish(SITE | {"new.html": page("new")}, "2.x", kind=EditionKind.MAJOR)
        root = "/acme/guide/v/2.x"
        index, folder, new, style = [
            await stage.get(f"{root}/{one}") for one in ("index.html", "api/", "new.html", "style.css")
        ]

    canonical = 'https://docs.example.org/acme/guide/{}>; rel="canonical"'
    assert index.headers["link"] == f"<{canonical.format('')}"
    assert folder.headers["link"] == f"<{canonical.format('api/')}"
    assert "link" not in new.headers
    assert "link" not in style.headers


async def test_drafts_and_the_kinds_that_the_project_names_are_kept_from_search_engines(staged: EdgeStaging) -> None:
    async with staged() as stage:
        await stage.add_project("other", noindex=["minor"])
        shown = {}
        for kind in (EditionKind.DRAFT, EditionKind.MINOR, EditionKind.MAJOR):
            await stage.publish(SITE, kind, kind=kind, project="other")
            shown[kind] = (await stage.get(f"/acme/other/v/{kind}/")).headers.get("x-robots-tag")

    assert shown == {"draft": "noindex", "minor": "noindex", "major": None}


async def test_a_project_by_its_own_name(staged: EdgeStaging) -> None:
    async with staged() as stage:
        await stage.publish(SITE)
        await stage.add_project("guide", an_org("rival"))
        ambiguous = await stage.get("/", host="guide.localhost:8001")
        named = await stage.get("/usage.html", host="Guide.Rival.localhost:8001")
        acme = await stage.get("/usage.html", host="guide.acme.localhost:8001")
        stage.projects["solo"] = await stage.add_project("solo")
        await stage.publish(SITE, project="solo")
        solo = await stage.get("/usage.html", host="solo.localhost")

    assert ambiguous.status_code == named.status_code == 404
    assert acme.content == solo.content == page("usage")
    assert acme.headers["link"] == '</usage.html>; rel="canonical"'


async def test_the_domains_of_organisations(staged: EdgeStaging) -> None:
    async with staged() as stage:
        await stage.add_project("guide", an_org("sub", base_domain="docs.sub.org", url_scheme="subdomain"))
        await stage.publish(SITE)
        prefixed = an_org("prefixed", base_domain="prefixed.org", root_path_prefix="/docs/")
        await stage.add_project("guide", prefixed)
        await stage.publish(SITE)
        sub = await stage.get("/v/__main/usage.html", host="guide.docs.sub.org")
        prefix = await stage.get("/docs/guide/usage.html", host="prefixed.org:443")
        outside = [await stage.get(path, host="prefixed.org") for path in ("/guide/", "/sub/guide/", "/docs", "/")]
        others = [await stage.get("/acme/guide/", host=host) for host in ("docs.sub.org", "guide.docs.sub.org")]
        deeper = await stage.get("/", host="a.guide.docs.sub.org")

    assert sub.content == prefix.content == page("usage")
    assert sub.headers["link"] == '<https://guide.docs.sub.org/usage.html>; rel="canonical"'
    assert prefix.headers["link"] == '<https://prefixed.org/docs/guide/usage.html>; rel="canonical"'
    assert {one.status_code for one in (*outside, *others)} == {404}
    assert deeper.status_code == 421


async def test_a_branded_404_of_the_dashboard(staged: EdgeStaging, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "__404.html": b"<title>Ours</title><body>Gone.</body>",
        "__dashboard.html": b"<h1>Versions</h1>",
        "__switcher.json": b"[]",
        "__editions/__main.json": b'{"ours": true}',
    }

    async def read(project: str) -> dict[str, bytes]:
        return files

    async with staged() as stage:
        await stage.publish(SITE)
        await stage.publish({"index.html": page("old")}, "1.x", kind=EditionKind.MAJOR)
        monkeypatch.setattr(stage.app.dashboards, "read", read)
        _, artifact = await stage.add_build({"__dashboard.html": b"-"})
        await stage.change("UPDATE docs_project SET dashboard = :artifact", artifact=artifact)
        stage.clock.pass_time()
        missing = await stage.get("/acme/guide/v/1.x/usage.html")
        got = [(await stage.get(f"/acme/guide/{path}")).content for path in ("v/", "v/switcher.json", "_docverse.json")]

    assert missing.status_code == 404
    assert missing.text.startswith("<title>Ours</title><body>Gone.<aside>")
    assert '<a href="/acme/guide/usage.html">Main</a>' in missing.text
    assert missing.text.endswith("</aside></body>")
    assert got == [files["__dashboard.html"], files["__switcher.json"], files["__editions/__main.json"]]


async def test_the_rendered_dashboard_of_a_project(staged: EdgeStaging) -> None:
    """Q23: as it was rendered, compressed for those who accept it, and anew after the next render."""
    async with staged() as stage:
        await stage.publish(SITE)
        project = stage.projects["guide"].id
        await stage.app.dashboards.render(project)
        stage.clock.pass_time()
        files = await stage.app.dashboards.read(project)
        shown = await stage.get("/acme/guide/v/", accept_encoding="gzip")
        same = await stage.get("/acme/guide/v/", accept_encoding="gzip", if_none_match=shown.headers["etag"])
        plain = await stage.get("/acme/guide/v/")
        switcher = await stage.get("/acme/guide/v/switcher.json")
        metadata = await stage.get("/acme/guide/v/__main/_docverse.json")
        missing = await stage.get("/acme/guide/nowhere.html")

        await stage.publish(SITE, "9.x", kind=EditionKind.MAJOR)
        await stage.run(partial(touch_editions, project))
        await stage.app.dashboards.render(project)
        stage.clock.pass_time()
        again = await stage.get("/acme/guide/v/", accept_encoding="gzip", if_none_match=shown.headers["etag"])

    assert shown.content == plain.content == files["__dashboard.html"]
    assert (shown.headers["content-encoding"], same.status_code) == ("gzip", 304)
    assert shown.headers["etag"] != plain.headers["etag"]
    assert switcher.content == files["__switcher.json"]
    assert metadata.content == files["__editions/__main.json"]
    assert missing.status_code == 404
    assert missing.content == files["__404.html"].replace(b"<!-- editions with this page -->", b"")
    assert again.status_code == 200
    assert "9.x" in again.text


async def test_the_start_page_names_public_projects_on_this_machine_alone(staged: EdgeStaging) -> None:
    async with staged(settings=DocsSettings(url="https://docs.example.org")) as stage:
        await stage.add_project("hidden", an_org("closed", is_private=True))
        here = [await stage.get("/", host=host) for host in ("127.0.0.1:8001", "localhost", "[::1]:8001")]
        elsewhere = [await stage.get("/", host=host) for host in ("docs.example.org", "10.0.0.1", "x.localhost")]

    assert {one.status_code for one in here} == {200}
    assert '<a href="/acme/guide/">The guide</a> acme' in here[0].text
    assert "hidden" not in here[0].text
    assert {one.status_code for one in elsewhere} == {404}
