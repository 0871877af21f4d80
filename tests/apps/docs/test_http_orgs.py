"""Organisations, their members and projects over HTTP: roles, tenancy, and what is refused."""

import asyncio
from typing import Any

import httpx
import pytest

from pressroom.api.access import Gate
from tests import looking
from tests.apps.docs.http_stage import BASE, code_of, docs_stage, send


async def test_a_superadmin_creates_reads_and_deletes_organisations(database: str) -> None:
    async with docs_stage(database) as stage:
        root = stage.client()
        made = await root.post("/admin/orgs", json={"slug": "red", "title": "The red ones", "base_domain": "docs.example.org"})
        again = await code_of(root, "POST", "/admin/orgs", slug="red")
        await send(root, "POST", "/admin/orgs", 201, slug="blue")
        listed = await root.get("/admin/orgs?limit=1")
        rest = await root.get(listed.headers["link"].partition("<")[2].partition(">")[0])
        gone = await root.delete("/admin/orgs/blue")

        org = made.json()
        assert (made.status_code, made.headers["location"], org["self_url"]) == (201, f"{BASE}/orgs/red", f"{BASE}/orgs/red")
        assert (org["title"], org["base_domain"], org["purgatory_retention"]) == ("The red ones", "docs.example.org", 2_592_000)
        assert org == (await root.get("/admin/orgs/red")).json() == (await root.get(org["self_url"])).json()
        assert again == (409, "slug_taken")
        assert (listed.headers["x-total-count"], [one["slug"] for one in listed.json()]) == ("2", ["blue"])
        assert ([one["slug"] for one in rest.json()], "link" in rest.headers) == (["red"], False)
        assert (gone.status_code, (await root.get("/orgs/blue")).status_code) == (204, 404)


async def test_an_organisation_with_projects_is_not_deleted(file: str) -> None:
    async with docs_stage(file) as stage:
        await stage.furnish("red")

        assert await code_of(stage.client(), "DELETE", "/admin/orgs/red") == (409, "org_in_use")


async def test_an_organisation_is_changed_by_its_admin(file: str) -> None:
    async with docs_stage(file) as stage:
        await stage.furnish("red")
        admin = stage.client("red-admin")
        before = await admin.get("/orgs/red")
        rules = [{"type": "prefix_strip", "prefix": "tickets/"}]
        changed = await send(admin, "PATCH", "/orgs/red", title="Red", slug_rewrite_rules=rules)
        preview = await send(stage.client("red-reader"), "POST", "/orgs/red/slug-preview", git_ref="tickets/DM-1")

        assert (changed["title"], changed["slug_rewrite_rules"], changed["base_domain"]) == ("Red", rules, "")
        assert (preview["edition_slug"], preview["rule_source"], preview["matched_rule"]["index"]) == ("DM-1", "org", 0)
        tagged = {"If-None-Match": before.headers["etag"]}
        assert (await admin.get("/orgs/red", headers=tagged)).status_code == 200
        tagged = {"If-None-Match": (await admin.get("/orgs/red")).headers["etag"]}
        assert (await admin.get("/orgs/red", headers=tagged)).status_code == 304


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("/admin/orgs", {"title": "no slug"}, ["body", "slug"]),
        ("/admin/orgs", {"slug": "green", "colour": "green"}, ["body", "colour"]),
        ("/admin/orgs", {"slug": "green", "auto_create": {"semver": 1}}, ["body", "auto_create", "semver"]),
        ("/admin/orgs", {"slug": "Green"}, ["body", "slug"]),
        ("/admin/orgs", {"slug": "green", "title": "a\0b"}, ["body"]),
        ("/admin/orgs", {"slug": "green", "url_scheme": "gopher"}, ["body", "url_scheme"]),
        ("/admin/orgs", {"slug": "green", "purgatory_retention": -1}, ["body", "purgatory_retention"]),
        (
            "/admin/orgs",
            {"slug": "green", "slug_rewrite_rules": [{"type": "regex", "pattern": "("}]},
            ["body", "slug_rewrite_rules", 0, "pattern"],
        ),
        ("/orgs/red/projects", {"slug": "x"}, ["body", "slug"]),
        ("/orgs/red/projects", {"slug": "ok", "on_broken_links": "shout"}, ["body", "on_broken_links"]),
        ("/orgs/red/slug-preview", {"git_ref": "--upload-pack=x"}, ["body", "git_ref"]),
        ("/orgs/red/slug-preview", {"git_ref": "x" * 300}, ["body", "git_ref"]),
        ("/orgs/red/members", {"role": "emperor"}, ["body", "role"]),
        ("/orgs/red/members", {"role": "reader", "expires_in_days": 0}, ["body", "expires_in_days"]),
    ],
)
async def test_what_is_wrong_in_a_body_is_told_with_its_place(file: str, path: str, body: Any, place: list[Any]) -> None:
    """X26: `detail` is a list of {type, msg, loc}; the other members are those of every problem."""
    async with docs_stage(file) as stage:
        await stage.furnish("red")
        refused = await stage.client().post(path, json=body)

        problem = refused.json()
        assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
        (detail,) = problem["detail"]
        assert (detail["type"], detail["loc"]) == (problem["code"], place)
        assert detail["msg"]
        assert problem["title"] == "Unprocessable Entity"


async def test_a_body_that_is_no_json_is_refused(file: str) -> None:
    async with docs_stage(file) as stage:
        for content, headers, expected in (
            (b"{", {}, (422, "invalid_json")),
            (b"<x/>", {"Content-Type": "text/xml"}, (415, "unsupported_media_type")),
            (b"[]", {}, (422, "invalid_argument")),
            (b'{"slug": "' + b"x" * 13 * 1024 * 1024 + b'"}', {}, (413, "body_too_large")),
        ):
            refused = await stage.client().post("/admin/orgs", content=content, headers=headers)

            assert (refused.status_code, refused.json()["code"]) == expected
            assert refused.json()["detail"][0]["type"] == expected[1]


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "cursor=%2F", "order=size", "q=%00"])
async def test_what_is_wrong_in_a_query_is_refused(file: str, query: str) -> None:
    async with docs_stage(file) as stage:
        await stage.furnish("red")

        assert await code_of(stage.client(), "GET", f"/orgs/red/projects?{query}") == (422, "invalid_argument")


async def test_projects_are_listed_in_pages_by_slug_and_by_age(database: str) -> None:
    async with docs_stage(database) as stage:
        await stage.furnish("red", project="guide")
        admin = stage.client("red-admin")
        for slug in ("api", "zoo", "tutorial"):
            await send(admin, "POST", "/orgs/red/projects", 201, slug=slug, title=f"All of the {slug}")

        by_slug, by_age = [await pages(admin, f"/orgs/red/projects?limit=3{order}") for order in ("", "&order=date_created")]
        found = await admin.get("/orgs/red/projects?q=ALL+OF")

        assert by_slug == [["api", "guide", "tutorial"], ["zoo"]]
        assert by_age == [["tutorial", "zoo", "api"], ["guide"]]
        assert (found.headers["x-total-count"], len(found.json())) == ("3", 3)


async def pages(client: httpx.AsyncClient, path: str) -> list[list[str]]:
    slugs = []
    following: str | None = path
    while following:
        page = await client.get(following)
        slugs.append([one["slug"] for one in page.json()])
        following = page.headers["link"].partition("<")[2].partition(">")[0] if "link" in page.headers else None
    return slugs


async def test_a_project_is_created_changed_deleted_and_restored(database: str) -> None:
    async with docs_stage(database) as stage:
        await stage.furnish("red")
        admin = stage.client("red-admin")
        guide = "/orgs/red/projects/guide"
        project = await send(admin, "GET", guide)
        changed = await send(admin, "PATCH", guide, title="A guide", lifecycle_rules=[], noindex=["draft"])
        editions = await send(admin, "GET", project["editions_url"])
        deleted = await admin.delete(guide)
        gone = await admin.get(guide)
        (entry,) = await send(admin, "GET", "/orgs/red/purgatory")
        restored = await send(admin, "POST", entry["restore_url"])
        twice = await code_of(admin, "POST", entry["restore_url"])

        assert project["published_url"] == "http://127.0.0.1:8001/red/guide/"
        assert (changed["title"], changed["lifecycle_rules"], changed["noindex"]) == ("A guide", [], ["draft"])
        assert [(one["slug"], one["kind"], one["build"]) for one in editions] == [("__main", "main", None)]
        assert (deleted.status_code, gone.status_code) == (204, 404)
        assert (entry["what"], entry["name"], entry["project"], entry["actor"]) == ("project", "guide", "guide", "red's admin")
        assert restored["id"] == entry["id"]
        assert twice == (404, "not_found")
        assert (await send(admin, "GET", guide))["title"] == "A guide"


async def test_what_lifecycle_rules_would_delete_is_told_and_stays(database: str) -> None:
    async with docs_stage(database) as stage:
        await stage.furnish("red", "blue")
        admin, path = stage.client("red-admin"), "/orgs/red/lifecycle?dry_run=true"
        draft = await send(admin, "POST", "/orgs/red/projects/guide/editions", 201, slug="draft", tracking_mode="manual")
        looking.change(database, "UPDATE docs_edition SET date_changed = 1 WHERE slug = 'draft'")
        told = await send(admin, "POST", path, rules=[{"type": "draft_inactivity", "max_days_inactive": 30}])
        none = await admin.post(path, json={"project": "guide"})

        assert [(one["url"], one["what"], one["rule"]) for one in told] == [(draft["self_url"], "edition", "draft_inactivity")]
        assert none.json() == []
        assert (await admin.get(draft["self_url"])).status_code == 200
        for body, problem in (({"rules": [{"type": "x"}]}, (422, "invalid_argument")), ({"project": "x"}, (404, "not_found"))):
            assert await code_of(admin, "POST", path, **body) == problem
        assert await code_of(admin, "POST", "/orgs/red/lifecycle", project="guide") == (422, "invalid_argument")
        assert await code_of(stage.client("red-uploader"), "POST", path, project="guide") == (403, "forbidden")
        assert await code_of(stage.client("blue-admin"), "POST", path, project="guide") == (404, "not_found")


async def test_a_repeated_post_is_carried_out_once(database: str) -> None:
    async with docs_stage(database) as stage:
        await stage.furnish("red")
        admin, key = stage.client("red-admin"), {"Idempotency-Key": '"once"'}
        sent = [admin.post("/orgs/red/projects", json={"slug": "api"}, headers=key) for _ in range(2)]
        first, second = await asyncio.gather(*sent)
        other = await admin.post("/orgs/red/projects", json={"slug": "zoo"}, headers=key)

        assert (first.status_code, second.status_code, first.json()) == (201, 201, second.json())
        assert "true" in (first.headers.get("idempotency-replayed"), second.headers.get("idempotency-replayed"))
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


async def test_members_are_tokens_of_the_organisation(database: str) -> None:
    """The secret is shown once, works for this organisation with its role, and no longer when the member is deleted."""
    async with docs_stage(database) as stage:
        await stage.furnish("red", "blue")
        admin = stage.client("red-admin")
        made = await admin.post("/orgs/red/members", json={"role": "uploader", "name": "CI", "expires_in_days": 30})
        member = made.json()
        stage.service.gate = Gate(stage.press.tokens.lookup)
        uploader = stage.client(member["token"])
        read = await uploader.get("/orgs/red/projects")
        refused = await code_of(uploader, "PATCH", "/orgs/red", title="mine")
        foreign = await code_of(uploader, "GET", "/orgs/blue")
        stage.service.gate = Gate(_as_before)
        listed = await send(admin, "GET", "/orgs/red/members")
        theirs = await send(stage.client("blue-admin"), "GET", "/orgs/blue/members")
        stolen = await code_of(stage.client("blue-admin"), "DELETE", f"/orgs/blue/members/{member['id']}")
        deleted = await admin.delete(member["self_url"])
        again = await code_of(admin, "DELETE", member["self_url"])
        audited = looking.rows(database, "SELECT who, org_id, action FROM audit ORDER BY id")
        valid = looking.rows(database, "SELECT count(*) FROM token WHERE revoked_at IS NULL")

        assert (made.status_code, made.headers["cache-control"], made.headers["location"]) == (
            201,
            "no-store",
            member["self_url"],
        )
        assert (read.status_code, refused, foreign) == (200, (403, "forbidden"), (404, "not_found"))
        assert [(one["id"], one["name"], one["role"], "token" in one) for one in listed] == [
            (member["id"], "CI", "uploader", False)
        ]
        assert (theirs, stolen) == ([], (404, "not_found"))
        assert (deleted.status_code, again, valid) == (204, (404, "not_found"), [(0,)])
        assert audited == [("red's admin", "red", "token.create"), ("red's admin", "red", "token.revoke")]


async def _as_before(token: str) -> Any:
    from tests.apps.docs.http_stage import TOKENS

    return TOKENS.get(token)
