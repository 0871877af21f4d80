"""Webhooks of git hosts over HTTP: signatures over the raw bytes, repeated deliveries, and what each event begins (Q27)."""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom.apps.docs.http.hooks.routes import BODY_LIMIT
from pressroom.apps.docs.requests import ProjectDraft, TemplateDraft
from pressroom.apps.docs.settings import DocsSettings
from tests.apps.docs.git_stage import TEMPLATE, GitRepository
from tests.apps.docs.http_stage import DocsStage, docs_stage

SETTINGS = DocsSettings(webhook_secret="correcthorse batterystaple")


def signed(body: bytes, secret: str = "correcthorse") -> str:
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


async def deliver(
    stage: DocsStage, event: str, payload: Any, *, id: str = "", path: str = "/hooks/git", **headers: str
) -> httpx.Response:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    named = {"X-GitHub-Event": event, "X-Hub-Signature-256": signed(body), "Content-Type": "application/json"}
    if id:
        named["X-GitHub-Delivery"] = id
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    async with stage.client(None) as client:
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in named.items()]
        return await client.post(path, content=body, headers=encoded)


def repository(full_name: str = "acme/dashboards", host: str = "https://git.example.org") -> dict[str, Any]:
    return {
        "id": 1,
        "name": full_name.partition("/")[2],
        "full_name": full_name,
        "private": False,
        "owner": {"login": full_name.partition("/")[0]},
        "html_url": f"{host}/{full_name}",
        "clone_url": f"{host}/{full_name}.git",
        "ssh_url": f"git@git.example.org:{full_name}.git",
        "default_branch": "main",
    }


def push(ref: str = "refs/heads/main", **fields: Any) -> dict[str, Any]:
    return {"ref": ref, "before": "0" * 40, "after": "1" * 40, "deleted": False, "repository": repository(), **fields}


async def bind(stage: DocsStage, **fields: Any) -> None:
    draft = TemplateDraft(**({"git_url": "https://git.example.org/Acme/Dashboards.git"} | fields))
    await stage.app.templates.put("red", None, draft, actor="test")


async def test_a_push_fetches_the_templates_of_that_repository_and_branch_q27(file: str) -> None:
    async with docs_stage(file, settings=SETTINGS) as stage:
        await stage.furnish("red", "blue")
        await bind(stage)

        other_branch = await deliver(stage, "push", push("refs/heads/other"))
        other_repository = await deliver(stage, "push", push(repository=repository("acme/other")))
        found = await deliver(stage, "push", push(), path="/webhooks/github")

        assert [one.status_code for one in (other_branch, other_repository, found)] == [202] * 3
        assert other_branch.json() == other_repository.json() == {"status": "accepted", "jobs": []}
        (job,) = found.json()["jobs"]
        assert job["kind"] == "dashboard_sync"
        assert job["queue_url"].endswith(f"/queue/jobs/{job['id']}")


async def test_a_push_is_fetched_and_rendered(file: str, tmp_path: Path) -> None:
    templates = GitRepository(tmp_path)
    templates.push(TEMPLATE)
    settings = DocsSettings(webhook_secret="correcthorse", git_allow=(str(tmp_path),))
    async with docs_stage(file, workers=2, settings=settings) as stage:
        await stage.furnish("red")
        _, first = await stage.app.templates.put("red", None, TemplateDraft(git_url=templates.url), actor="test")
        await stage.press.wait_until_ended(first, timeout=120)
        templates.push({"list.html": "after the push"})

        pushed = await deliver(stage, "push", push(repository={"clone_url": templates.url, "full_name": "a/b"}))
        await stage.ended(pushed.json()["jobs"][0]["queue_url"])

        project = await stage.app.projects.get("red", "guide")
        page = (await stage.app.dashboards.read(project.id))["__dashboard.html"]
        assert b"after the push" in page


@pytest.mark.parametrize("secret", ["correcthorse", "batterystaple"])
async def test_each_of_several_secrets_is_right_while_one_takes_the_place_of_the_other(file: str, secret: str) -> None:
    async with docs_stage(file, settings=SETTINGS) as stage:
        answer = await deliver(stage, "ping", b"{}", X_Hub_Signature_256=signed(b"{}", secret))
        assert (answer.status_code, answer.json()["status"]) == (200, "pong")


BODY = json.dumps(push()).encode()


@pytest.mark.parametrize(
    "signature",
    [
        "",
        signed(BODY, "wrong"),
        signed(BODY + b" "),
        signed(BODY).removeprefix("sha256="),
        signed(BODY).upper(),
        signed(BODY)[:-1],
        signed(BODY).replace("sha256=", "sha1="),
        "sha256=\u00e4",
    ],
)
async def test_what_is_not_signed_is_refused_and_not_even_read(file: str, signature: str) -> None:
    async with docs_stage(file, settings=SETTINGS) as stage:
        answer = await deliver(stage, "push", BODY, X_Hub_Signature_256=signature)
        assert (answer.status_code, answer.json()["code"]) == (401, "signature_invalid")
        garbage = await deliver(stage, "push", b"\xff{", X_Hub_Signature_256=signature)
        assert garbage.status_code == 401


async def test_a_repeated_delivery_begins_nothing_and_another_body_under_its_id_is_told(database: str) -> None:
    async with docs_stage(database, settings=SETTINGS) as stage:
        await stage.furnish("red")
        await bind(stage)

        first = await deliver(stage, "push", push(), id="72d3162e")
        again = await deliver(stage, "push", push(), id="72d3162e")
        other = await deliver(stage, "push", push("refs/heads/x"), id="72d3162e")

        assert (first.status_code, len(first.json()["jobs"])) == (202, 1)
        assert (again.status_code, again.json()) == (200, {"status": "repeated", "jobs": []})
        assert (other.status_code, other.json()["code"]) == (409, "delivery_differs")


async def test_an_unknown_event_is_taken_and_a_service_without_a_secret_has_no_hooks(file: str) -> None:
    async with docs_stage(file, settings=SETTINGS) as stage:
        answer = await deliver(stage, "star", {"action": "created"})
        assert (answer.status_code, answer.json()["status"]) == (202, "ignored")
    async with docs_stage(file) as stage:
        answer = await deliver(stage, "push", push())
        assert answer.status_code == 404


async def test_a_body_of_30_mb_is_refused(file: str) -> None:
    async with docs_stage(file, settings=SETTINGS) as stage:
        answer = await deliver(stage, "push", b"x" * (BODY_LIMIT + 1))
        assert answer.status_code == 413
        largest = json.dumps(push(commits="x" * (20 * 1024 * 1024))).encode()
        assert (await deliver(stage, "push", largest)).status_code == 202


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"ref": 1}', b'{"ref": "refs/heads/a"}', b"[" * 100_000, b"\xff"])
async def test_a_signed_payload_that_cannot_be_read_is_refused(file: str, body: bytes) -> None:
    async with docs_stage(file, settings=SETTINGS) as stage:
        answer = await deliver(stage, "push", body)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_argument")


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("delete", {"ref": "tickets/7", "ref_type": "branch", "repository": repository("acme/guide")}),
        ("push", push("refs/heads/tickets/7", deleted=True, repository=repository("acme/guide"))),
    ],
)
async def test_a_deleted_ref_is_audited(file: str, event: str, payload: Any) -> None:
    async with docs_stage(file, settings=SETTINGS) as stage:
        answer = await deliver(stage, event, payload)
        again = await deliver(stage, event, payload)
        (job,) = answer.json()["jobs"]
        assert job["kind"] == "git_ref_audit"
        assert again.json()["jobs"][0]["id"] == job["id"]
        assert (await stage.press.get(job["id"])).payload == {"repository": "git.example.org/acme/guide"}


@pytest.mark.parametrize(
    ("payload", "old"),
    [
        ({"action": "renamed", "changes": {"repository": {"name": {"from": "old"}}}}, "acme/old"),
        ({"action": "transferred", "changes": {"owner": {"from": {"organization": {"login": "Before"}}}}}, "before/new"),
        ({"action": "transferred", "changes": {"owner": {"from": {"user": {"login": "Before"}}}}}, "before/new"),
    ],
)
async def test_a_renamed_repository_is_followed(file: str, payload: Any, old: str) -> None:
    async with docs_stage(file, settings=SETTINGS) as stage:
        await stage.furnish("red")
        await bind(stage, git_url=f"https://git.example.org/{old}.git")
        await stage.app.projects.create("red", ProjectDraft(slug="moved", git_url=f"https://git.example.org/{old}"))
        await stage.app.projects.create("red", ProjectDraft(slug="stays", git_url="https://git.example.org/acme/other"))

        answer = await deliver(stage, "repository", payload | {"repository": repository("acme/new")})

        assert answer.status_code == 202
        assert [job["kind"] for job in answer.json()["jobs"]] == ["dashboard_sync"]  # one that runs has read the old address
        assert (await stage.app.templates.get("red", None)).git_url == "https://git.example.org/acme/new.git"
        assert (await stage.app.projects.get("red", "moved")).git_url == "https://git.example.org/acme/new.git"
        assert (await stage.app.projects.get("red", "stays")).git_url == "https://git.example.org/acme/other"
        pushed = await deliver(stage, "push", push(repository=repository("acme/new")))
        assert len(pushed.json()["jobs"]) == 1


async def test_templates_are_bound_read_and_unbound_over_http(file: str) -> None:
    async with docs_stage(file, settings=SETTINGS) as stage:
        await stage.furnish("red", "blue")
        place = "/orgs/red/projects/guide/dashboard-template"
        async with stage.client("red-admin") as admin, stage.client("red-reader") as reader, stage.client("blue-admin") as blue:
            missing = await reader.get(place)
            put = await admin.put(place, json={"owner": "acme", "repo": "dash", "ref": "refs/heads/main", "root_path": "a//b/"})
            found = await reader.get(place)
            synced = await admin.post(f"{place}/sync")
            refused = [
                await admin.put(place, json=draft)
                for draft in (
                    {"git_url": "file:///etc"},
                    {"git_url": "https://10.0.0.1/x.git"},
                    {"git_url": "https://a.example.org/x.git", "ref": "--upload-pack=id"},
                    {"git_url": "https://a.example.org/x.git", "root_path": "/../etc"},
                    {"git_url": ""},
                    {"git_url": "https://a.example.org/x.git", "owner": "acme", "repo": "x"},
                )
            ]
            by_reader = await reader.put(place, json={"owner": "acme", "repo": "dash"})
            by_other = await blue.get(place)
            deleted = await admin.delete(place)
            again = await admin.delete(place)

    assert missing.status_code == 404
    assert put.status_code == 202
    shown = found.json()
    assert (shown["git_url"], shown["ref"], shown["root_path"]) == ("https://github.com/acme/dash.git", "main", "/a/b")
    assert (shown["last_sync_status"], shown["commit_sha"]) == ("pending", None)
    assert synced.status_code == 202
    assert synced.json()["id"] == put.json()["queue_url"].rpartition("/")[2]
    assert [one.status_code for one in refused] == [422] * 6
    assert (by_reader.status_code, by_other.status_code) == (403, 404)
    assert (deleted.status_code, again.status_code) == (202, 404)
