"""The pages of a project, a build and an edition as a browser gets them."""

import re
import threading
from typing import Any

import pytest

from pressroom.api.access import Scope
from pressroom.apps.docs.domain.comparison import Comparison, compare_files
from pressroom.apps.docs.model import EditionKind, TrackingMode, TrackingParams
from pressroom.apps.docs.operations import builds as operations
from pressroom.apps.docs.pages.build_page import describe_annotations
from pressroom.apps.docs.requests import ProjectChanges
from pressroom.apps.docs.settings import DocsSettings
from tests.apps.docs.pages_stage import SITE, send, sites
from tests.apps.docs.test_pages_sites import row, words
from tests.web.browsing import member

HOME = "/sites/red/guide"
PROBLEM = {"page": "index.html", "link": "nowhere.html", "reason": "no such file in the build"}


async def test_a_project_shows_editions_by_kind_and_what_they_show(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        guide = await scene.project()
        release = await scene.edition(guide, "v1.0.0", kind=EditionKind.RELEASE)
        major = {"tracking_mode": TrackingMode.SEMVER_MAJOR, "tracking_params": TrackingParams(major_version=1)}
        await scene.edition(guide, "1.x", kind=EditionKind.MAJOR, **major)
        for number in range(12):
            await scene.edition(guide, f"draft-{number:02}")
        build = await scene.build(guide, "v1.0.0", shown_by=["v1.0.0", "1.x"])
        page = await person.get(HOME)
        drafts = await person.get(f"{HOME}?kind=draft")

    kinds = re.findall(r'id="kind-(\w+)"', page.text)
    shown = row(page.text, f"edition-{release.id}")
    assert kinds == ["main", "release", "major", "draft"]
    assert "v1.0.0 build 1 ✓ published builds of v1.0.0" in shown
    assert "the newest release 1.x" in page.text
    assert "http://127.0.0.1:8001/red/guide/v/v1.0.0/" in page.text
    assert "nothing yet" in page.text
    assert "Show all 12 drafts" in page.text
    assert (page.text.count("draft-1"), drafts.text.count(">draft-1")) == (0, 2)
    assert f"{HOME}/builds/{build.uid}" in page.text
    assert "3 files" in words(page.text)
    assert "equal files of different builds" not in page.text


async def test_builds_are_listed_by_state_and_paged(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        guide = await scene.project()
        wrong = await scene.build(guide, "b", error={"code": "source_invalid", "message": "'../x' leads out of the archive"})
        for number in range(21):
            await scene.new_build(guide, f"ref-{number}")
        newest = await person.get(HOME)
        older = await person.get(re.search(r'rel="next" href="([^"]+)"', newest.text)[1])  # type: ignore[index]
        failed = await person.get(f"{HOME}?status=failed")
        none = await person.get(f"{HOME}?status=completed")

    assert newest.text.count('id="build-') == 20
    assert older.text.count('id="build-') == 2
    assert "failed '../x' leads out of the archive" in row(failed.text, f"build-{wrong.uid}")
    assert "No builds are completed." in words(none.text)


async def test_a_preview_names_the_edition_and_the_rule_and_storage_what_sharing_saved(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        guide = await scene.project()
        await scene.build(guide)
        await scene.build(guide, "v2", SITE | {"index.html": b"<h1>Two</h1>"})
        rules = [{"type": "ignore", "glob": "bot/*"}, {"type": "prefix_strip", "prefix": "tickets/"}]
        await scene.app.projects.change("red", "guide", ProjectChanges(slug_rewrite_rules=rules))
        stripped = await person.get(f"{HOME}?ref=tickets/DM-1")
        ignored = await person.get(f"{HOME}?ref=bot/1")
        plain = await person.get(f"{HOME}?ref=a/b&alternate=usdf")
        wrong = await person.get(f"{HOME}?ref=a..b")

    assert "tickets/DM-1 makes the draft edition DM-1 . By rule 2 of the project: prefix_strip" in words(stripped.text)
    assert "bot/1 is ignored" in words(ignored.text)
    assert "edition usdf--a-b" in words(plain.text)
    assert (wrong.status_code, "not a name that git allows" in wrong.text, 'value="a..b"' in wrong.text) == (200, True, True)
    assert "equal files of different builds are stored once" in stripped.text


async def test_an_edition_is_made_changed_pinned_and_deleted_by_forms(database: str) -> None:
    """What is refused is told beside the field, and what was typed is still there."""
    async with sites(database) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        guide = await scene.project()
        base = f"{HOME}/editions/stable"
        fields = {"kind": "release", "tracking_mode": "semver_minor", "major_version": "2", "git_ref": "left over"}
        wrong = await send(person, HOME, f"{HOME}/editions", slug="stable", minor_version="two", **fields)
        missing = await send(person, HOME, f"{HOME}/editions", slug="stable", minor_version="", **fields)
        made = await send(person, HOME, f"{HOME}/editions", slug="stable", minor_version="1", **fields)
        taken = await send(person, HOME, f"{HOME}/editions", slug="STABLE", minor_version="1", **fields)
        pinned = await send(person, base, f"{base}/pin", pinned="yes")
        after_pin = await person.get(base)
        changed = await send(person, base, f"{base}/change", title="Newest", kind="release", tracking_mode="manual")
        refused = await send(person, base, f"{base}/change", title="Kept", kind="main", tracking_mode="manual")
        edition = await scene.get_edition(guide, "stable")
        deleted = await send(person, base, f"{base}/delete")
        main = await person.post(f"{HOME}/editions/__main/delete", {})
        gone = await person.get(base)

    assert (wrong.status_code, 'id="edition-minor_version-wrong"' in wrong.text, 'value="left over"' in wrong.text) == (
        422,
        True,
        True,
    )
    assert (missing.status_code, missing.text.count("the mode semver_minor needs it")) == (422, 2)
    assert made.headers["location"] == base
    assert (taken.status_code, "slug_taken" in taken.text) == (409, True)
    assert (pinned.status_code, changed.status_code, deleted.status_code, gone.status_code) == (303, 303, 303, 404)
    assert "Builds do not move it." in after_pin.text
    assert (edition.title, edition.tracking_mode, edition.pinned) == ("Newest", TrackingMode.MANUAL, True)
    assert edition.tracking_params == TrackingParams()
    assert (refused.status_code, 'value="Kept"' in refused.text) == (422, True)
    assert (main.status_code, "main_edition" in main.text) == (403, True)


async def test_an_edition_is_rolled_back_from_its_history(database: str) -> None:
    """Q25: by a job; it stays there, because it is pinned."""
    async with sites(database, works=True) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        guide = await scene.project()
        first = await scene.build(guide, "main", shown_by=["__main"], annotations={"commit_sha": "3f786850e387550f"})
        second = await scene.build(guide, "main", SITE | {"new.html": b"x"}, shown_by=["__main"])
        base = f"{HOME}/editions/__main"
        before = await person.get(base)
        answer = await send(person, base, f"{base}/rollback", build=first.uid, stay="yes")
        unknown = await person.post(f"{base}/rollback", {"build": "x"})
        job = (await scene.stage.press.list(kind="docs.edition_update")).jobs[0]
        await scene.stage.press.wait_until_ended(job, timeout=120)
        after = await person.get(base)
        edition = await scene.get_edition(guide)
        back = await send(person, base, f"{base}/build", build=second.uid)
        own = await person.get(f"/desk/jobs/{job}")

    assert "build 2, shown now" in row(before.text, "move-2")
    assert "Roll back" not in row(before.text, "move-2")
    assert "3f78685" in row(before.text, "move-1")
    assert (answer.headers["location"], unknown.status_code, back.status_code) == (base, 422, 303)
    assert "rolled back" in row(after.text, "move-3")
    assert (edition.build, edition.pinned) == (first.uid, True)
    assert "pinned" in words(after.text)
    assert f'href="{HOME}"' in own.text
    assert f'href="{base}"' in own.text
    assert f'href="{HOME}/builds/{first.uid}"' in own.text


async def test_a_build_shows_its_files_problems_editions_and_annotations(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        guide = await scene.project(source_url="https://git.example.org/red/guide")
        annotations = {"commit_sha": "3f786850e387", "github_run_url": "javascript:alert(1)", "note": {"a": 1}}
        build = await scene.build(guide, problems=[PROBLEM], shown_by=["__main"], annotations=annotations)
        base = f"{HOME}/builds/{build.uid}"
        page = await person.get(base)
        found = await person.get(f"{base}?files=SITE")
        none = await person.get(f"{base}?files=100%25")
        in_use = await person.post(f"{base}/delete", {})
        lower = await person.get(f"{HOME}/builds/{build.uid.lower()}")
        pending = await scene.new_build(guide, "main")
        waiting = await person.get(f"{HOME}/builds/{pending.uid}")
        deleted = await send(person, f"{HOME}/builds/{pending.uid}", f"{HOME}/builds/{pending.uid}/delete")
        missing = [await person.get(f"{HOME}/builds/{id}") for id in (pending.uid, "x", "0" * 26)]

    assert "index.html nowhere.html no such file in the build" in words(page.text)
    assert 'href="https://git.example.org/red/guide/commit/3f786850e387"' in page.text
    assert 'href="javascript' not in page.text
    assert f'href="{HOME}/editions/__main"' in page.text
    assert page.text.index("search.js") < page.text.index("_static/site.css")
    assert ("_static/site.css</a>" in found.text, "search.js</a>" in found.text) == (True, False)
    assert "No file matches." in none.text
    assert (in_use.status_code, "build_in_use" in in_use.text, lower.status_code) == (409, True, 200)
    assert "It waits for its upload." in waiting.text
    assert deleted.status_code == 303
    assert [answer.status_code for answer in missing] == [404, 404, 404]


async def test_two_builds_are_compared_by_their_inventories(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        guide = await scene.project()
        first = await scene.build(guide, "main", SITE | {"old.html": b"old"}, shown_by=["__main"])
        other = await scene.build(guide, "Release/V1", SITE)
        second = await scene.build(guide, "main", SITE | {"index.html": b"<h1>New</h1>", "new.html": b"new"})
        base = f"{HOME}/builds/{second.uid}"
        before, edition = await person.get(f"{base}/compare"), await person.get(f"{base}/compare?with=__main")
        equal = await person.get(f"{HOME}/builds/{other.uid}/compare?with={other.uid}")
        refused = [
            await person.get(f"{HOME}/builds/{first.uid}/compare"),
            await person.get(f"{base}/compare?with=nothing"),
            await person.get(f"{base}/compare?with={'0' * 26}"),
        ]

    for page in (before, edition):
        text = words(page.text)
        assert "Compared with build 1 of main" in text
        assert "1 added 1 changed 1 removed 2 the same" in text
        assert f"http://127.0.0.1:8001/red/guide/builds/{second.uid}/new.html" in page.text
    assert "The two builds are equal." in equal.text
    assert "What changed in build 2 of Release/V1" in words(equal.text)
    assert "Compared with build 2 of Release/V1, created" in words(equal.text)
    assert [answer.status_code for answer in refused] == [404, 404, 404]


async def test_inventories_are_compared_beside_the_event_loop(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """50,000 files on either side would stop all other requests meanwhile."""
    threads = []

    def compare(*sides: Any) -> Comparison:
        threads.append(threading.current_thread())
        return compare_files(*sides)

    monkeypatch.setattr(operations, "compare_files", compare)
    async with sites(file) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        guide = await scene.project()
        builds = [await scene.build(guide, "main") for _ in range(2)]
        page = await person.get(f"{HOME}/builds/{builds[1].uid}/compare")

    assert page.status_code == 200
    assert threads
    assert threading.main_thread() not in threads


async def test_a_processed_build_shows_phases_and_the_state_of_each_edition(database: str) -> None:
    """Q6, Q8: inventory, tracking, editions, dashboard; and the page of the job leads back."""
    async with sites(database, works=True) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        guide = await scene.project()
        await scene.edition(guide, "also-main", "main")
        build = await scene.upload(guide, "main")
        page = await person.get(f"{HOME}/builds/{build.uid}")
        job = await person.get(f"/desk/jobs/job_{build.job_uid}")

    text = words(page.text)
    assert [text.count(phase) > 0 for phase in ("inventory", "tracking", "editions", "dashboard")] == [True] * 4
    assert "✓ __main" in text
    assert "✓ also-main" in text
    assert f"/desk/jobs/job_{build.job_uid}" in page.text
    assert f'href="{HOME}/builds/{build.uid}"' in job.text


async def test_a_job_of_another_organisation_names_no_project(file: str) -> None:
    async with sites(file, works=True) as scene, member(scene.stage, Scope.ADMIN, everywhere=True) as person:
        guide = await scene.project()
        stranger = await scene.app.core.queue.submit("shout", "x", org_id="blue", project_id=guide.id)
        page = await person.get(f"/desk/jobs/{stranger}")

    assert page.status_code == 200
    assert "/sites/red" not in page.text


async def test_a_project_is_changed_rebuilt_and_deleted(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        guide = await scene.project()
        base = f"{HOME}/change"
        fields = {"title": "Changed", "on_broken_links": "hold", "noindex": ["draft", "alternate"]}
        wrong = await send(person, base, base, slug_rewrite_rules='[{"type": "regex", "pattern": "("}]', **fields)
        no_json = await send(person, base, base, lifecycle_rules="[{]", **fields)
        own = {"own_auto_create": "yes", "auto_create": "semver", "purgatory_retention": "7", "lifecycle_rules": "[]"}
        saved = await send(person, base, base, **fields, **own)
        changed = await scene.app.projects.get("red", "guide")
        form = await person.get(base)
        again = await send(person, base, base, title="", on_broken_links="warn")
        inherited = await scene.app.projects.get("red", "guide")
        rebuilt = await send(person, HOME, f"{HOME}/rebuild")
        deleted = await send(person, HOME, f"{HOME}/delete")
        audit = await person.get("/desk/audit")

    assert (wrong.status_code, 'id="change-slug_rewrite_rules-wrong"' in wrong.text) == (422, True)
    assert ('value="Changed"' in wrong.text, "checked" in wrong.text) == (True, True)
    assert (no_json.status_code, "not JSON in line 1" in no_json.text) == (422, True)
    assert (saved.status_code, changed.title, changed.on_broken_links) == (303, "Changed", "hold")
    assert (changed.lifecycle_rules, changed.slug_rewrite_rules, changed.purgatory_retention) == ([], None, 7 * 86_400)
    assert (sorted(changed.noindex), changed.auto_create and changed.auto_create.semver) == (["alternate", "draft"], True)
    assert changed.auto_create is not None
    assert not changed.auto_create.git_ref
    assert form.text.count(" checked") == 4
    assert (again.status_code, inherited.title, inherited.auto_create, inherited.noindex) == (303, guide.title, None, [])
    assert (rebuilt.headers["location"], deleted.headers["location"]) == (HOME, "/sites/red/purgatory")
    assert "docs.project.delete" in audit.text


def test_annotations_link_to_the_commit_where_that_is_known() -> None:
    sha = "3f786850e387"
    on_github = describe_annotations({"commit_sha": sha, "github_repository": "red/guide"}, "https://git.example.org/x")
    plain = describe_annotations({"commit_sha": sha}, "")
    odd = describe_annotations({"commit_sha": f"../{sha}", "github_run_url": "https://ci.example.org/1"}, "https://a.example")

    assert on_github[0].link == f"https://github.com/red/guide/commit/{sha}"
    assert plain[0].link is None
    assert [one.link for one in odd] == [None, "https://ci.example.org/1"]


async def test_pages_of_an_edition_are_searched(database: str) -> None:
    async with sites(database, works=True) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        guide = await scene.project()
        await scene.edition(guide, "v1")
        await scene.upload(guide, "main", SITE | {"a b.html": b"<title>Levers</title><p>Pull the <b>lever</b> twice.</p>"})
        await scene.upload(guide, "v1", SITE | {"old.html": b"<title>Old</title><p>Push the lever.</p>"})
        found = await person.get(f"{HOME}?search=LEVER+twice")
        of_edition = await person.get(f"{HOME}?search=lever&in=v1")
        none = await person.get(f"{HOME}?search=lever+nowhere")
        wrong = await person.get(f"{HOME}?search=x&in=v9")

    assert 'href="http://127.0.0.1:8001/red/guide/a%20b.html">Levers</a>' in found.text
    assert "<mark>lever</mark> <mark>twice</mark>" in found.text
    assert ("v/v1/old.html" in of_edition.text, "a%20b.html" in of_edition.text) == (True, False)
    assert "No page of __main has these words." in words(none.text)
    assert wrong.status_code == 404


async def test_where_no_sites_are_served_no_page_links_to_one(file: str) -> None:
    async with (
        sites(file, sections={"docs": DocsSettings(listen="")}) as scene,
        member(scene.stage, Scope.VIEWER, "red") as person,
    ):
        guide = await scene.project()
        build = await scene.build(guide, shown_by=["__main"])
        pages = [await person.get(path) for path in (HOME, f"{HOME}/editions/__main", f"{HOME}/builds/{build.uid}")]

    assert "This service serves no sites." in pages[0].text
    assert all('href="/red/' not in page.text for page in pages)
