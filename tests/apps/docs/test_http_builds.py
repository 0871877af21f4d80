"""Builds over HTTP: announced, uploaded, processed, looked at, compared and deleted."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pressroom.apps.docs.settings import DocsSettings
from tests.apps.docs.http_stage import BASE, SITE, code_of, docs_stage, hash_of, packed, send

GUIDE = "/orgs/red/projects/guide"
BUILDS = f"{GUIDE}/builds"
HASH = f"sha256:{'0' * 64}"


async def test_a_build_is_announced_uploaded_and_processed_by_one_job(database: str) -> None:
    """Q19. Told twice that it is uploaded, it is the same job."""
    async with docs_stage(database) as stage:
        await stage.furnish("red")
        uploader, archive = stage.client("red-uploader"), packed(SITE)
        draft = {"git_ref": "v2.1.0", "content_hash": hash_of(archive), "annotations": {"commit_sha": "4b825dc"}}
        announced = await uploader.post(BUILDS, json=draft)
        build = announced.json()
        early = await code_of(uploader, "PATCH", build["self_url"], status="uploaded")
        stored = await stage.client(None).put(
            build["upload_url"], content=archive, headers={"Content-Type": "application/gzip"}
        )
        first = await uploader.patch(build["self_url"], json={"status": "uploaded"})
        second = await uploader.patch(build["self_url"], json={"status": "uploaded"})
        job = await send(stage.client("red-reader"), "GET", first.json()["queue_url"])

        assert (announced.status_code, build["status"], build["queue_url"], build["number"]) == (201, "pending", None, None)
        assert build["self_url"] == announced.headers["location"] == f"{BASE}{BUILDS}/{build['id']}"
        assert build["upload_url"].startswith(f"{BASE}/uploads/{build['id']}?capability=")
        assert (announced.headers["cache-control"], early, stored.status_code) == ("no-store", (409, "not_uploaded"), 204)
        assert (first.status_code, first.headers["location"]) == (202, first.json()["queue_url"])
        assert (first.json()["status"], first.json()["number"]) == ("processing", 1)
        assert second.json() == first.json()
        assert (job["kind"], job["status"], job["org"], job["project"]) == ("build_processing", "queued", "red", "guide")
        assert (job["build"], job["build_url"], job["errors"]) == (build["id"], build["self_url"], None)


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        ({"git_ref": "x" * 300}, "git_ref"),
        ({"git_ref": "--upload-pack=touch /tmp/x"}, "git_ref"),
        ({"git_ref": "../x"}, "git_ref"),
        ({"git_ref": "a\nb"}, "git_ref"),
        ({"git_ref": ""}, "git_ref"),
        ({"content_hash": "md5:0"}, "content_hash"),
        ({"content_hash": f"sha256:{'0' * 63}G"}, "content_hash"),
        ({"alternate_name": "a/b"}, "alternate_name"),
        ({"annotations": {"x": "y" * 20_000}}, "annotations"),
        ({"annotations": []}, "annotations"),
        ({"size": 3}, "size"),
    ],
)
async def test_a_build_that_cannot_be_is_refused(file: str, draft: dict[str, Any], field: str) -> None:
    async with docs_stage(file) as stage:
        await stage.furnish("red")
        refused = await stage.client("red-uploader").post(BUILDS, json={"git_ref": "main", "content_hash": HASH} | draft)

        assert (refused.status_code, refused.json()["detail"][0]["loc"]) == (422, ["body", field])
        assert (await stage.client("red-reader").get(BUILDS)).json() == []


async def test_an_upload_needs_its_capability_and_fits(file: str) -> None:
    async with docs_stage(file, settings=DocsSettings(max_upload=1_000)) as stage:
        await stage.furnish("red")
        anyone = stage.client(None)
        made = await send(stage.client("red-uploader"), "POST", BUILDS, 201, git_ref="main", content_hash=HASH)
        other = await send(stage.client("red-uploader"), "POST", BUILDS, 201, git_ref="main", content_hash=HASH)
        wrong = made["upload_url"].replace(made["id"], other["id"])
        without = made["upload_url"].partition("?")[0]

        async def endless() -> AsyncIterator[bytes]:
            for _ in range(100):
                yield b"x" * 100

        assert (await anyone.put(wrong, content=b"x")).status_code == 404
        assert (await anyone.put(without, content=b"x")).status_code == 404
        assert (await anyone.put(f"{made['upload_url']}x", content=b"x")).status_code == 404
        for content in (b"x" * 1_001, endless()):
            refused = await anyone.put(made["upload_url"], content=content)
            assert (refused.status_code, refused.json()["detail"][0]["type"]) in (
                (413, "body_too_large"),
                (413, "upload_too_large"),
            )
        assert await code_of(stage.client("red-uploader"), "PATCH", made["self_url"], status="uploaded") == (
            409,
            "not_uploaded",
        )
        assert (await anyone.put(made["upload_url"], content=b"x" * 1_000)).status_code == 204


async def test_only_one_status_can_be_told(file: str) -> None:
    async with docs_stage(file) as stage:
        await stage.furnish("red")
        uploader = stage.client("red-uploader")
        made = await send(uploader, "POST", BUILDS, 201, git_ref="main", content_hash=HASH)

        refused = await uploader.patch(made["self_url"], json={"status": "completed"})
        assert (refused.status_code, refused.json()["detail"][0]["loc"]) == (422, ["body", "status"])


async def test_roles_of_builds(file: str) -> None:
    """Readers look, uploaders upload, admins delete. Another organisation's build is one that never was."""
    async with docs_stage(file) as stage:
        await stage.furnish("red", "blue")
        reader, uploader, admin = (stage.client(f"red-{role}") for role in ("reader", "uploader", "admin"))
        draft = {"git_ref": "main", "content_hash": HASH}
        assert await code_of(reader, "POST", BUILDS, **draft) == (403, "forbidden")
        made = await send(uploader, "POST", BUILDS, 201, **draft)
        assert (await reader.get(made["self_url"])).json()["id"] == made["id"]
        assert await code_of(uploader, "DELETE", made["self_url"]) == (403, "forbidden")
        for role in ("reader", "uploader", "admin"):
            foreign = stage.client(f"blue-{role}")
            for path in (made["self_url"], f"/orgs/blue/projects/guide/builds/{made['id']}"):
                assert await code_of(foreign, "GET", path) == (404, "not_found")
        assert (await stage.client("nobodys").get(made["self_url"])).status_code == 404
        assert (await stage.client(None).get(made["self_url"])).status_code == 401
        assert (await admin.delete(made["self_url"])).status_code == 204
        assert await code_of(admin, "GET", made["self_url"]) == (404, "not_found")
        (entry,) = await send(admin, "GET", "/orgs/red/purgatory?project=guide")
        assert (entry["what"], entry["name"]) == ("build", "main")
        await send(admin, "POST", entry["restore_url"])
        assert (await admin.get(made["self_url"])).status_code == 200


async def test_builds_are_listed_in_pages_newest_first(database: str) -> None:
    async with docs_stage(database) as stage:
        await stage.furnish("red")
        uploader = stage.client("red-uploader")
        made = [
            (await send(uploader, "POST", BUILDS, 201, git_ref=ref, content_hash=HASH))["id"] for ref in ("one", "two", "three")
        ]
        first = await uploader.get(f"{BUILDS}?limit=2&status=pending")
        rest = await uploader.get(first.headers["link"].partition("<")[2].partition(">")[0])

        assert [one["id"] for one in first.json()] == [made[2], made[1]]
        assert (first.headers["x-total-count"], [one["id"] for one in rest.json()], "link" in rest.headers) == (
            *("3", [made[0]]),
            False,
        )
        assert (await uploader.get(f"{BUILDS}?status=completed")).json() == []
        assert await code_of(uploader, "GET", f"{BUILDS}?status=uploaded") == (422, "invalid_argument")
        assert (await uploader.get(f"{BUILDS}/{made[0].lower()}")).json()["id"] == made[0]
        for never in (f"{BUILDS}/x", f"{BUILDS}/{made[0][:-1]}", f"{BUILDS}/%00", f"{BUILDS}/{'9' * 26}"):
            assert (await uploader.get(never)).status_code == 404


async def test_a_processed_build_tells_its_files_and_what_changed(database: str) -> None:
    """Q20, Q24. An upload of the same content needs no bytes: 200 with `upload_url` null."""
    async with docs_stage(database, workers=2) as stage:
        await stage.furnish("red")
        reader, uploader = stage.client("red-reader"), stage.client("red-uploader")
        first = await stage.upload()
        job = await stage.ended(first["queue_url"], "red-reader")
        same = await send(uploader, "POST", BUILDS, 200, git_ref="main", content_hash=hash_of(packed(SITE)))
        changed = {**SITE, "index.html": b"<h1>The new guide</h1>", "new.html": b"<p>new</p>"}
        del changed["style.css"]
        second = await stage.upload(site=changed)
        await stage.ended(second["queue_url"])
        build = await send(reader, "GET", first["self_url"])
        files = await reader.get(f"{first['self_url']}/files?limit=2")
        rest = await reader.get(files.headers["link"].partition("<")[2].partition(">")[0])
        difference = await send(reader, "GET", f"{first['self_url']}/compare/{second['id']}")
        by_edition = await send(reader, "GET", f"{BUILDS}/{first['id']}/compare/__main")
        problems = await reader.get(build["problems_url"])

        assert (job["status"], job["errors"]) == ("completed", None)
        assert (same["id"], same["upload_url"], same["status"]) == (first["id"], None, "completed")
        assert (build["status"], build["object_count"], build["number"]) == ("completed", 3, 1)
        assert build["total_size_bytes"] == sum(len(content) for content in SITE.values())
        assert build["published_url"].endswith(f"/red/guide/builds/{build['id']}/")
        assert [one["path"] for one in files.json() + rest.json()] == sorted(SITE)
        assert (files.headers["x-total-count"], files.json()[0]["media_type"]) == ("3", "text/html")
        assert (difference["added"], difference["removed"], difference["same"]) == (["new.html"], ["style.css"], 1)
        assert [one["path"] for one in difference["changed"]] == ["index.html"]
        assert {**by_edition, "self_url": "", "after": ""} == {**difference, "self_url": "", "after": ""}
        assert (problems.status_code, problems.headers["x-total-count"]) == (200, str(len(problems.json())))
        shown = await send(reader, "GET", second["self_url"])
        assert "__main" in shown["editions"]
        assert await code_of(stage.client("red-admin"), "DELETE", second["self_url"]) == (409, "build_in_use")
        assert (await stage.client("red-admin").delete(first["self_url"])).status_code == 204


async def test_the_pages_of_an_edition_are_searched(database: str) -> None:
    async with docs_stage(database, workers=2) as stage:
        await stage.furnish("red", "blue")
        page = b"<html><head><title>Set-up</title></head><body><h1>Set-up</h1><p>Install the teapot first.</p></body></html>"
        build = await stage.upload(site={"index.html": b"<p>Hello</p>", "setup/index.html": page})
        await stage.ended(build["queue_url"])
        reader = stage.client("red-reader")
        (hit,) = await send(reader, "GET", f"{GUIDE}/search?q=teap")
        nothing = await send(reader, "GET", f"{GUIDE}/search?q=kettle&edition=__main")

        assert (hit["path"], hit["title"]) == ("setup/index.html", "Set-up")
        assert hit["url"] == "http://127.0.0.1:8001/red/guide/setup/"
        assert [part["text"] for part in hit["snippet"] if part["found"]] == ["teapot"]
        assert nothing == []
        assert await code_of(reader, "GET", f"{GUIDE}/search?q=teapot&edition=none") == (404, "not_found")
        assert await code_of(stage.client("blue-admin"), "GET", f"{GUIDE}/search?q=teapot") == (404, "not_found")
