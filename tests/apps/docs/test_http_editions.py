"""Editions over HTTP: created, changed, moved to a build, rolled back and deleted."""

from typing import Any

import pytest

from tests.apps.docs.http_stage import SITE, code_of, docs_stage, send

GUIDE = "/orgs/red/projects/guide"
EDITIONS = f"{GUIDE}/editions"


async def test_an_edition_is_created_changed_deleted_and_restored(database: str) -> None:
    async with docs_stage(database) as stage:
        await stage.furnish("red")
        admin = stage.client("red-admin")
        draft = {"slug": "Stable", "title": "Stable", "kind": "release", "tracking_mode": "semver_release"}
        made = await admin.post(EDITIONS, json=draft)
        edition = made.json()
        conflict = await code_of(admin, "POST", EDITIONS, **draft | {"slug": "STABLE"})
        changed = await send(admin, "PATCH", f"{EDITIONS}/stable", title="The stable one", lifecycle_exempt=True, pinned=True)
        listed = await admin.get(EDITIONS)
        releases = await send(admin, "GET", f"{EDITIONS}?kind=release")
        deleted = await admin.delete(f"{EDITIONS}/STABLE")
        (entry,) = await send(admin, "GET", "/orgs/red/purgatory")
        again = await send(admin, "POST", EDITIONS, 201, **draft | {"slug": "stable"})
        taken = await code_of(admin, "POST", entry["restore_url"])

        assert (made.status_code, made.headers["location"]) == (201, edition["self_url"])
        assert edition["published_url"] == "http://127.0.0.1:8001/red/guide/v/Stable/"
        assert (edition["build"], edition["publish_status"]) == (None, None)
        assert conflict == (409, "slug_taken")
        assert (changed["title"], changed["lifecycle_exempt"], changed["pinned"]) == ("The stable one", True, True)
        assert ([one["slug"] for one in listed.json()], listed.headers["x-total-count"]) == (["__main", "Stable"], "2")
        assert [one["slug"] for one in releases] == ["Stable"]
        assert (deleted.status_code, entry["what"], entry["name"]) == (204, "edition", "Stable")
        assert again["slug"] == "stable"  # D27: a deleted edition's slug is free
        assert taken == (409, "slug_taken")


async def test_the_main_edition_stays(file: str) -> None:
    async with docs_stage(file) as stage:
        await stage.furnish("red")
        admin = stage.client("red-admin")

        assert await code_of(admin, "DELETE", f"{EDITIONS}/__main") == (403, "main_edition")
        assert await code_of(admin, "PATCH", f"{EDITIONS}/__main", kind="draft") == (403, "main_edition")
        assert await code_of(admin, "GET", f"{EDITIONS}?kind=") == (422, "invalid_argument")


@pytest.mark.parametrize(
    ("draft", "place"),
    [
        ({"slug": "__mine"}, ["body", "slug"]),
        ({"slug": "x" * 129}, ["body", "slug"]),
        ({"slug": "a/b"}, ["body", "slug"]),
        ({"kind": "main"}, ["body", "kind"]),
        ({"kind": "paper"}, ["body", "kind"]),
        ({"tracking_mode": "git_ref"}, ["body", "tracking_params", "git_ref"]),
        (
            {"tracking_mode": "semver_major", "tracking_params": {"major_version": -1}},
            ["body", "tracking_params", "major_version"],
        ),
        ({"tracking_params": {"colour": 1}}, ["body", "tracking_params", "colour"]),
    ],
)
async def test_an_edition_that_cannot_be_is_refused(file: str, draft: dict[str, Any], place: list[str]) -> None:
    async with docs_stage(file) as stage:
        await stage.furnish("red")
        body = {"slug": "stable", "tracking_mode": "manual"} | draft
        refused = await stage.client("red-admin").post(EDITIONS, json=body)

        assert (refused.status_code, refused.json()["detail"][0]["loc"]) == (422, place)


async def test_roles_of_editions(file: str) -> None:
    async with docs_stage(file) as stage:
        await stage.furnish("red", "blue")
        for role in ("reader", "uploader"):
            client = stage.client(f"red-{role}")
            assert (await client.get(f"{EDITIONS}/__main")).status_code == 200
            assert await code_of(client, "POST", EDITIONS, slug="mine", tracking_mode="manual") == (403, "forbidden")
            assert await code_of(client, "PATCH", f"{EDITIONS}/__main", title="mine") == (403, "forbidden")
            assert await code_of(client, "POST", f"{EDITIONS}/__main/rollback", build="x") == (403, "forbidden")
            assert await code_of(client, "GET", "/orgs/red/purgatory") == (403, "forbidden")
        for path in (EDITIONS, f"{EDITIONS}/__main", f"{EDITIONS}/__main/history", f"{GUIDE}/builds"):
            assert await code_of(stage.client("blue-admin"), "GET", path) == (404, "not_found")


async def test_an_edition_is_moved_to_a_build_and_rolled_back(database: str) -> None:
    """Q25, Q26, D28: each move is one job and one entry of the history; the newest entry is the first."""
    async with docs_stage(database, workers=2) as stage:
        await stage.furnish("red")
        admin, main = stage.client("red-admin"), f"{EDITIONS}/__main"
        builds = []
        for number in (1, 2):
            builds.append(await stage.upload(site=SITE | {"index.html": b"<h1>%d</h1>" % number}))
            await stage.ended(builds[-1]["queue_url"])
        shown = await send(admin, "GET", main)
        rolled = await admin.post(f"{main}/rollback", json={"build": builds[0]["id"]})
        job = await stage.ended(rolled.json()["queue_url"], "red-admin")
        back = await send(admin, "GET", main)
        moved = await admin.patch(main, json={"build": builds[1]["id"].lower(), "pinned": False})
        await stage.ended(moved.json()["queue_url"])
        history = await admin.get(f"{main}/history?limit=3")
        rest = await admin.get(history.headers["link"].partition("<")[2].partition(">")[0])

        assert (shown["build"], shown["publish_status"]) == (builds[1]["id"], "published")
        assert (rolled.status_code, rolled.json()["kind"], job["status"]) == (202, "edition_update", "completed")
        assert job["progress"]["editions_completed"] == ["__main"]
        assert (back["build"], back["pinned"]) == (builds[0]["id"], True)
        assert (moved.status_code, moved.json()["pinned"]) == (202, False)
        lines = history.json() + rest.json()
        assert [(one["position"], one["trigger"], one["build"]) for one in lines] == [
            (1, "patch", builds[1]["id"]),
            (2, "rollback", builds[0]["id"]),
            (3, "build", builds[1]["id"]),
            (4, "build", builds[0]["id"]),
        ]
        assert (history.headers["x-total-count"], lines[0]["publish_status"], lines[0]["actor"]) == (
            "4",
            "published",
            "red's admin",
        )


async def test_what_an_edition_cannot_show_is_refused(database: str) -> None:
    """A build that was never there (404), one that is not complete, and one that is deleted (409)."""
    async with docs_stage(database, workers=2) as stage:
        await stage.furnish("red", "blue")
        admin, main = stage.client("red-admin"), f"{EDITIONS}/__main"
        first = await stage.upload()
        await stage.ended(first["queue_url"])
        second = await stage.upload(site={"index.html": b"2"})
        await stage.ended(second["queue_url"])
        theirs = await stage.upload("blue", site={"index.html": b"3"})
        await stage.ended(theirs["queue_url"])
        pending = await send(admin, "POST", f"{GUIDE}/builds", 201, git_ref="main", content_hash=f"sha256:{'0' * 64}")
        assert (await admin.delete(first["self_url"])).status_code == 204

        assert await code_of(admin, "PATCH", main, build=theirs["id"]) == (404, "not_found")
        assert await code_of(admin, "PATCH", main, build="x") == (404, "not_found")
        assert await code_of(admin, "PATCH", main, build=pending["id"]) == (409, "build_not_usable")
        assert await code_of(admin, "PATCH", main, build=first["id"]) == (409, "build_not_usable")
        assert await code_of(admin, "POST", f"{main}/rollback", build=pending["id"]) == (404, "not_found")
        assert await code_of(admin, "POST", f"{main}/rollback", build=first["id"]) == (409, "build_not_usable")
        listed = [await send(admin, "GET", f"{main}/history{query}") for query in ("", "?include_deleted=true")]
        assert [[one["build_deleted"] for one in lines] for lines in listed] == [[False], [False, True]]
