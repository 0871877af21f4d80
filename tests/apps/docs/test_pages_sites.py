"""The pages of organisations and projects as a browser gets them: without a script, on both databases."""

import re

import pytest

from pressroom.api.access import Scope
from pressroom.apps.docs.demo import fill_demo
from tests.apps.docs.pages_stage import SITE, SiteStage, send, sites
from tests.web.browsing import Page, Person, browsing, member

HOME = "/sites/red/guide"


def words(page: str) -> str:
    """Its text, with a space where a cell or a line ends."""
    return " ".join(Page(re.sub(r"(<br>|</(?:td|th|p|strong|span|dd|dt|li)>)", r"\1 ", page)).words.split())


def row(page: str, id: str) -> str:
    found = re.search(rf'<tr[^>]* id="{id}".*?</tr>', page, re.DOTALL)
    assert found is not None, page
    return words(found[0])


async def test_nothing_yet_says_how_to_begin(file: str) -> None:
    async with sites(file) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        page = await person.get("/sites")
        async with member(scene.stage, everywhere=True) as admin:
            form = await admin.get("/sites")

    assert page.text.count("pressroom docs ") == 4
    assert "Create organisation" not in page.text
    assert "Create organisation" in form.text


async def test_an_admin_of_all_makes_organisations_and_an_operator_makes_projects(database: str) -> None:
    async with (
        sites(database) as scene,
        member(scene.stage, everywhere=True) as admin,
        member(scene.stage, Scope.OPERATOR, "red") as operator,
        member(scene.stage, Scope.ADMIN, "red") as red_admin,
    ):
        made = await send(admin, "/sites", "/sites", slug="red", title="Red & Co", base_domain="docs.example.org")
        wrong = await send(admin, "/sites", "/sites", slug="Not a slug", title="Kept")
        refused = await red_admin.post("/sites", {"slug": "blue"})
        project = await send(operator, "/sites/red", "/sites/red", slug="guide", title="A <b>guide</b>")
        again = await send(operator, "/sites/red", "/sites/red", slug="guide", title="Typed before")
        shown = await operator.get(HOME)

    assert made.headers["location"] == "/sites/red"
    assert (wrong.status_code, 'value="Kept"' in wrong.text, 'aria-invalid="true"' in wrong.text) == (422, True, True)
    assert refused.status_code == 403
    assert project.headers["location"] == HOME
    assert (again.status_code, "slug_taken" in again.text, 'value="Typed before"' in again.text) == (409, True, True)
    assert "A &lt;b&gt;guide&lt;/b&gt;" in shown.text
    assert "https://docs.example.org/guide/" in shown.text


async def test_projects_are_listed_with_their_newest_build(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        guide = await scene.project("guide", title="User guide")
        await scene.build(guide, "main", shown_by=["__main"])
        await scene.build(guide, "v2", problems=[{"page": "index.html", "link": "x.html", "reason": "no such file"}])
        idle = await scene.project("handbook")
        broken = await scene.project("api")
        await scene.build(broken, "main", error={"code": "source_invalid", "message": "an entry leaves its folder"})
        everything, of_org = await person.get("/sites"), await person.get("/sites/red")
        found, none = await person.get("/sites?q=user"), await person.get("/sites/red?q=nothing")
        newest_first = await person.get("/sites/red?order=date_created")
        wrong = await person.get("/sites/red?order=size")

    for page in (everything, of_org):
        assert "completed v2 ⚠ 1 broken link" in row(page.text, f"project-{guide.id}")
        assert "no build yet" in row(page.text, f"project-{idle.id}")
        assert "failed main" in row(page.text, f"project-{broken.id}")
    assert found.text.count("data-row") == 1
    assert "No project matches." in none.text
    assert newest_first.text.index("project-" + broken.id) < newest_first.text.index("project-" + guide.id)
    assert wrong.status_code == 422


async def test_a_long_list_of_projects_has_pages(file: str) -> None:
    async with sites(file) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        for number in range(52):
            await scene.project(f"p-{number:02}")
        front, first = await person.get("/sites"), await person.get("/sites/red")
        second = await person.get(re.search(r'rel="next" href="([^"]+)"', first.text)[1])  # type: ignore[index]

    assert front.text.count("data-row") == 10
    assert "All 52 projects" in front.text
    assert [page.text.count("data-row") for page in (first, second)] == [50, 2]


PAGES = ("/sites/red", HOME, f"{HOME}/change", f"{HOME}/editions/__main", "/sites/red/settings", "/sites/red/purgatory")


async def test_another_organisation_does_not_exist(database: str) -> None:
    """D32: the words are those for an organisation that never was."""
    async with sites(database) as scene, member(scene.stage, Scope.OPERATOR, "blue") as stranger:
        project = await scene.project()
        build = await scene.build(project, shown_by=["__main"])
        pages = [
            await stranger.get(path) for path in (*PAGES, f"{HOME}/builds/{build.uid}", f"{HOME}/builds/{build.uid}/compare")
        ]
        actions = (f"{HOME}/delete", f"{HOME}/editions", f"{HOME}/builds/{build.uid}/delete", f"{HOME}/editions/__main/pin")
        forms = [await stranger.post(path, {}) for path in ("/sites/red", "/sites/red/settings", *actions)]
        missing = await stranger.get("/sites/green")
        live = await stranger.get("/sites/-/live?org=red")
        front = await stranger.get("/sites")
        found = [await stranger.get(f"/desk/find?q={text}") for text in ("guide", "red", "red/guide", build.uid)]
        by_id = await stranger.get(f"/sites/blue/{project.id}")

    assert [answer.status_code for answer in (*pages, *forms, missing, live, by_id)] == [404] * 17
    assert all("there is no such organisation" in answer.text for answer in (*pages, *forms))
    assert "/sites/red" not in front.text
    assert all(answer.status_code == 200 for answer in found)
    assert all("/sites/red" not in answer.text for answer in found)


async def test_a_viewer_sees_and_an_operator_acts(database: str) -> None:
    async with (
        sites(database) as scene,
        member(scene.stage, Scope.VIEWER, "red") as viewer,
        member(scene.stage, Scope.SUBMITTER, "red") as submitter,
        browsing(scene.stage) as anonymous,
    ):
        project = await scene.project()
        build = await scene.build(project, shown_by=["__main"])
        readable = [HOME, f"{HOME}/editions/__main", f"{HOME}/builds/{build.uid}", "/sites/red", "/sites"]
        shown = [await viewer.get(path) for path in readable]
        closed = [await viewer.get(path) for path in (f"{HOME}/change", "/sites/red/settings", "/sites/red/purgatory")]
        actions = ["/delete", "/rebuild", "/editions", "/editions/__main/pin", f"/builds/{build.uid}/delete", "/change"]
        forms = [await submitter.post(HOME + path, {}) for path in actions]
        away = [await anonymous.get(path) for path in (*readable, "/sites/-/live")]

    assert [page.status_code for page in shown] == [200] * 5
    assert all('method="post"' not in page.text.split("<main")[1] for page in shown)
    assert [answer.status_code for answer in (*closed, *forms)] == [403] * 9
    assert [answer.status_code for answer in away] == [303] * 5 + [401]


async def test_a_form_of_another_site_changes_nothing(file: str) -> None:
    async with sites(file) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        await scene.project()
        answer = await person.client.post(f"{HOME}/delete", data={"form_token": "0" * 64})
        still = await person.get(HOME)

    assert (answer.status_code, still.status_code) == (403, 200)


async def test_a_project_named_like_a_page_is_reached_by_its_id(file: str) -> None:
    async with sites(file) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        project = await scene.project("settings", title="Settings reference")
        listed = await person.get("/sites/red")
        shown = await person.get(f"/sites/red/{project.id}")
        deleted = await send(person, f"/sites/red/{project.id}", f"/sites/red/{project.id}/delete")
        gone = await person.get(f"/sites/red/{project.id}")

    assert f'href="/sites/red/{project.id}"' in listed.text
    assert "Settings reference" in shown.text
    assert (deleted.status_code, gone.status_code) == (303, 404)


async def test_the_search_box_finds_projects_organisations_and_builds(database: str) -> None:
    async with (
        sites(database) as scene,
        member(scene.stage, Scope.VIEWER, "red") as person,
        member(scene.stage, Scope.VIEWER, everywhere=True) as everybody,
    ):
        guide = await scene.project("user-guide")
        await scene.project("user-api")
        await scene.project("user-guide", org="blue")
        build = await scene.build(guide)
        one = await person.get("/desk/find?q=user-g")
        several = await person.get("/desk/find?q=USER")
        both = await everybody.get("/desk/find?q=user-guide")
        exact = await everybody.get("/desk/find?q=blue/user-guide")
        org = await person.get("/desk/find?q=red")
        by_id = await person.get(f"/desk/find?q={build.uid.lower()}")

    assert one.headers["location"] == "/sites/red/user-guide"
    assert ("/sites/red/user-api" in several.text, "/sites/blue" in several.text) == (True, False)
    assert ("/sites/red/user-guide" in both.text, "/sites/blue/user-guide" in both.text) == (True, True)
    assert exact.headers["location"] == "/sites/blue/user-guide"
    assert org.headers["location"] == "/sites/red"
    assert by_id.headers["location"] == f"/sites/red/user-guide/builds/{build.uid}"


async def test_what_was_deleted_is_listed_and_restored(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        empty = await _purgatory_of(scene, person)
        project = await scene.project("handbook")
        await scene.edition(project, "draft")
        await scene.build(project, "draft", SITE, shown_by=["draft"])
        deleted = await send(person, "/sites/red/handbook/editions/draft", "/sites/red/handbook/editions/draft/delete")
        listed = await person.get("/sites/red/purgatory")
        action = re.search(r'action="(/sites/red/purgatory/\w{26}/restore)"', listed.text)[1]  # type: ignore[index]
        restored = await send(person, "/sites/red/purgatory", action)
        again = await person.post(action, {})
        edition = await scene.get_edition(project, "draft")

    assert "Nothing was deleted." in empty
    assert deleted.headers["location"] == "/sites/red/handbook"
    assert "edition draft deleted by hand" in words(listed.text)
    assert "3 files" in words(listed.text)
    assert restored.status_code == 303
    assert (again.status_code, "it was restored or purged" in again.text) == (404, True)
    assert edition.build is not None


async def _purgatory_of(scene: SiteStage, person: Person) -> str:
    await scene.project()
    return (await person.get("/sites/red/purgatory")).text


@pytest.mark.parametrize(
    "path", ["/sites?cursor=%00", "/sites?q=a%0ab", "/sites/red?q=" + "x" * 201, f"{HOME}?cursor=x", f"{HOME}?status=x"]
)
async def test_what_no_page_links_to_is_refused(file: str, path: str) -> None:
    async with sites(file) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        await scene.project()
        answer = await person.get(path)

    assert answer.status_code == 422


async def test_the_demonstration_has_builds_and_editions_in_every_state(file: str) -> None:
    async with sites(file) as scene:
        await fill_demo(scene.app)
        builds = {
            f"{project} {build.git_ref} {build.status}": build
            for project in ("guide", "api")
            for build in reversed((await scene.app.builds.list("acme", project))[0])
        }
        stable = await scene.app.editions.get("acme", "guide", "stable")
        purgatory = await scene.app.purgatory.list("acme")

    assert {"guide v2.0.1 processing", "api tickets/API-4 failed", "api v0.9.0 processing"} <= builds.keys()
    assert (builds["guide main completed"].broken_links or 0) > 0
    assert (stable.pinned, stable.build) == (True, builds["guide v1.1.0 completed"].uid)
    assert [entry.name for entry in purgatory] == ["GD-9"]
