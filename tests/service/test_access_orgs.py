"""Another organisation's rows do not exist: no operation shows them, changes them, or tells them from what never was."""

import asyncio
import base64
import re
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from pressroom.api.access import Scope
from pressroom.ids import as_uuid, new_uid
from tests.service.access_stage import Stage, on_stage, without_ids

SECRET = "crimson-canary"  # in all that the other organisation writes
SOURCE = f'digraph {{ a [label="{SECRET}"] }}'
DIAGRAM = {"source": SOURCE, "format": "dot"}
ALERT = """
INSERT INTO alert (org_id, kind, subject, code, message, count, job_uid, job_id, first_at, last_at, notified_at)
VALUES ('theirs', 'shout', :secret, 'boom', :secret, 1, :job, 1, 1, 1, 1)
RETURNING id
"""
RENDER = {"kind": "render", "payload": {"language": "dot", "output": "svg", "source": SOURCE}}


@dataclass
class Theirs:
    """What the other organisation has."""

    jobs: dict[str, str] = field(default_factory=dict)  # by what became of them
    artifact: str = ""
    short_link: str = ""
    diagram: str = SECRET
    webhook: str = ""
    delivery: str = ""
    pack: str = ""
    file: str = ""
    alert: int = 0
    pack_job: str = ""
    batch: str = ""
    docs: dict[str, str] = field(default_factory=dict)  # ids, by what they are of

    @property
    def names(self) -> list[str]:
        """By which an answer would give them away."""
        uids = [uid.removeprefix("job_") for uid in self.jobs.values()]
        ids = (self.artifact, self.short_link, self.webhook, self.delivery, self.pack, *self.docs.values())
        return [SECRET, *uids, *filter(None, ids)]


@dataclass
class Scene:
    stage: Stage
    theirs: Theirs
    us: httpx.AsyncClient
    them: httpx.AsyncClient


async def _furnish(them: httpx.AsyncClient, *, render: bool) -> Theirs:
    """A job of each ending, with the canary in every field that takes text."""
    theirs = Theirs()
    words = {"subject": SECRET, "key": SECRET, "project_id": SECRET}
    for ending, payload in (("completed", SECRET), ("failed", "fail")):
        submitted = await them.post("/jobs", json={"kind": "shout", "payload": payload, "max_attempts": 1} | words)
        theirs.jobs[ending] = submitted.json()["id"]
        assert (await them.get(f"/jobs/{theirs.jobs[ending]}?wait=60")).json()["status"] == ending
    queued = await them.post("/jobs", json={"kind": "shout", "payload": SECRET, "delay": 86_400} | words)
    theirs.jobs["queued"] = queued.json()["id"]
    if not render:
        return theirs
    rendered = await them.post("/jobs", json=RENDER)
    theirs.jobs["rendered"] = rendered.json()["id"]
    result = (await them.get(f"/jobs/{theirs.jobs['rendered']}?wait=60")).json()["result"]
    theirs.artifact, theirs.short_link = result["artifact"], result["short_link"]
    named = await them.put(f"/diagrams/{SECRET}?mode=sync", json=DIAGRAM)
    assert named.status_code < 300, named.text
    hook = {"url": f"https://198.51.100.7/{SECRET}", "events": ["job.completed"], "kinds": ["nothing"]}
    made = await them.post("/webhooks", json=hook)
    if made.status_code == 422:  # the address is for documentation, and may be refused as such
        made = await them.post("/webhooks", json=hook | {"url": f"https://8.8.8.8/{SECRET}"})
    theirs.webhook = made.json()["id"]
    theirs.delivery = (await them.post(f"/webhooks/{theirs.webhook}/test")).json()["id"]
    return theirs


async def _furnish_packs(stage: Stage, them: httpx.AsyncClient, theirs: Theirs) -> None:
    """A pack with a document, and an alert."""
    configuration = stage.press.app("packs").configuration
    await configuration.put("theirs", "template:offer", f"<p>{SECRET}</p>", author="them")
    await configuration.put("theirs", f"template:{SECRET}", f"<p>{SECRET}</p>", author="them")
    await configuration.put("theirs", "documents_registry", '[{"doc_id": "offer", "title": "Offer"}]', author="them")
    made = await them.post("/packs", json={"data": {"x": SECRET}, "title": SECRET}, headers={"Pressroom-User": SECRET})
    theirs.pack = made.json()["pack_id"]
    job = (await them.post(f"/packs/{theirs.pack}/render/offer", headers={"Pressroom-User": SECRET})).json()["job_id"]
    theirs.pack_job, theirs.file = job, (await them.get(f"/jobs/{job}?wait=60")).json()["file_id"]
    lines = {"Content-Type": "application/x-ndjson"}
    batch = await them.post("/packs/batches", content=f'{{"data": {{"x": "{SECRET}"}}}}\n', headers=lines)
    theirs.batch = batch.json()["batch_id"]
    async with stage.press.transaction() as tx:
        ((theirs.alert,),) = await tx.execute(ALERT, {"secret": SECRET, "job": new_uid()})


async def _furnish_docs(stage: Stage, them: httpx.AsyncClient, theirs: Theirs) -> None:
    """Both have an organisation; theirs has one of everything."""
    async with stage.client(await stage.token(Scope.ADMIN, everywhere=True)) as root:
        for org, project in (("ours", "ours"), ("theirs", SECRET)):
            title = f"{project} of {org}"
            assert (await root.post("/admin/orgs", json={"slug": org, "title": title})).status_code == 201
            assert (await root.post(f"/orgs/{org}/projects", json={"slug": project, "title": title})).status_code == 201
    project = f"/orgs/theirs/projects/{SECRET}"
    draft = {"git_ref": SECRET, "content_hash": f"sha256:{'0' * 64}", "annotations": {"x": SECRET}}
    theirs.docs["build"] = (await them.post(f"{project}/builds", json=draft)).json()["id"]
    edition = {"slug": SECRET, "title": SECRET, "tracking_mode": "manual"}
    for slug in (SECRET, f"{SECRET}-2"):
        assert (await them.post(f"{project}/editions", json=edition | {"slug": slug})).status_code == 201
    assert (await them.delete(f"{project}/editions/{SECRET}-2")).status_code == 204
    theirs.docs["entry"] = (await them.get("/orgs/theirs/purgatory")).json()[0]["id"]
    theirs.docs["member"] = (await them.post("/orgs/theirs/members", json={"role": "reader", "name": SECRET})).json()["id"]
    theirs.docs["job"] = (await them.post(f"{project}/dashboard/rebuild")).json()["id"]


@asynccontextmanager
async def scene(database: str, *, render: bool = False) -> AsyncIterator[Scene]:
    async with on_stage(database) as stage:
        ours, others = [await stage.token(Scope.ADMIN, org) for org in ("ours", "theirs")]
        async with stage.client(ours) as us, stage.client(others) as them:
            theirs = await _furnish(them, render=render)
            if render:
                await _furnish_packs(stage, them, theirs)
                await _furnish_docs(stage, them, theirs)
            yield Scene(stage, theirs, us, them)


type Trial = Callable[[Scene], Awaitable[None]]


def about(method: str, path: str, **body: Any) -> Trial:
    """An operation on one thing: what is theirs is answered as what never was, to the letter, and stays as it is."""

    async def trial(scene: Scene) -> None:
        before = await _state(scene)
        for theirs, never in _pairs(path, scene.theirs):
            refused = await scene.us.request(method, theirs, **body)
            absent = await scene.us.request(method, never, **body)
            assert refused.status_code == absent.status_code == 404, (theirs, refused.text, absent.text)
            assert _like(refused, theirs) == _like(absent, never)
            assert len(refused.content) == len(absent.content)
        assert await _state(scene) == before

    return trial


def shows(path: str) -> Trial:
    """An operation that tells of many things: theirs are not among them."""

    async def trial(scene: Scene) -> None:
        answer = await scene.us.get(path.format(**scene.theirs.jobs))
        assert answer.status_code < 500
        _assert_silent(answer, scene.theirs)

    return trial


def all_of(*trials: Trial) -> Trial:
    async def trial(scene: Scene) -> None:
        for one in trials:
            await one(scene)

    return trial


async def submitting_the_same_meets_nothing_of_theirs(scene: Scene) -> None:
    for number, body in enumerate((RENDER, {"kind": "shout", "payload": "the same", "key": "the same"})):
        key = {"Idempotency-Key": f"the same {number}"}
        theirs = await scene.them.post("/jobs", json=body, headers=key)
        ours = await scene.us.post("/jobs", json=body, headers=key)

        assert ours.json()["answer"] == "new", "their cache, their keys and their jobs in flight are not ours"
        assert ours.json()["id"] != theirs.json()["id"]
        assert "idempotency-replayed" not in ours.headers


async def streaming_tells_nothing_of_theirs(scene: Scene) -> None:
    """From the very first event on, with theirs and ours happening in between."""
    told = asyncio.Event()
    transport = scene.us._transport
    assert isinstance(transport, httpx.ASGITransport)
    app = transport.app

    async def overheard(scope: Any, receive: Any, send: Any) -> None:
        """The client hands out a stream when it has ended, and the test must know when ours was told."""

        async def note(message: Any) -> None:
            await send(message)
            if b"event: completed" in message.get("body", b""):
                told.set()

        await app(scope, receive, note)

    async def end() -> None:
        await scene.them.post("/jobs", json={"kind": "shout", "payload": SECRET})
        mine = await scene.us.post("/jobs", json={"kind": "shout", "payload": "ours"})
        await scene.us.get(f"/jobs/{mine.json()['id']}?wait=60")
        with suppress(TimeoutError):
            await asyncio.wait_for(told.wait(), 60)
        scene.stage.service.closing.set()

    ending = asyncio.create_task(end())
    transport.app = overheard
    answer = await scene.us.get("/events?after=0")
    transport.app = app
    await ending
    scene.stage.service.closing.clear()

    assert "event: completed" in answer.text, "our own are told"
    _assert_silent(answer, scene.theirs)


async def scrapes_are_for_those_who_see_all(scene: Scene) -> None:
    assert (await scene.us.get("/metrics")).status_code == 403
    everywhere = await scene.stage.token(Scope.VIEWER, everywhere=True)
    async with scene.stage.client(everywhere) as operator:
        assert "pressroom_jobs" in (await operator.get("/metrics")).text


async def workers_are_for_those_who_see_all(scene: Scene) -> None:
    assert (await scene.us.get("/workers")).status_code == 403


async def kinds_are_for_those_who_see_all(scene: Scene) -> None:
    """Who pauses a kind stops it for everybody."""
    for verb in ("pause", "resume", "scale"):
        assert (await scene.us.post(f"/queue/shout/{verb}", json={"slots": 1})).status_code == 403


async def links_are_for_whoever_has_them(scene: Scene) -> None:
    """A short link cannot be guessed, and is meant to be handed on: to have it is to be allowed."""
    assert SECRET in (await scene.us.get(f"/d/{scene.theirs.short_link}")).text
    assert (await scene.us.get("/d/aaaaaaaaaa")).status_code == 404


async def rendering_the_same_meets_nothing_of_theirs(scene: Scene) -> None:
    theirs = await scene.them.post("/render?mode=sync", json=DIAGRAM)
    again = await scene.them.post("/render?mode=sync", json=DIAGRAM)
    ours = await scene.us.post("/render?mode=sync", json=DIAGRAM)

    assert again.json()["cached"] is True
    assert ours.json()["cached"] is False
    assert ours.json()["shortlink"] != theirs.json()["shortlink"]


async def a_name_of_theirs_is_free_for_us(scene: Scene) -> None:
    source = {"source": "digraph { ours }", "format": "dot"}
    assert (await scene.us.put(f"/diagrams/{SECRET}?mode=sync", json=source)).status_code < 300
    assert "ours" in (await scene.us.get(f"/a/{SECRET}.svg")).text
    assert SECRET in (await scene.them.get(f"/a/{SECRET}.svg")).text
    assert (await scene.us.delete(f"/diagrams/{SECRET}")).status_code < 300
    assert (await scene.them.get(f"/diagrams/{SECRET}")).status_code == 200


async def a_pack_of_ours_is_made_with_nothing_of_theirs(scene: Scene) -> None:
    """Their registry and templates are not ours."""
    ours = (await scene.us.post("/packs", json={"data": {}})).json()["pack_id"]
    refused = await scene.us.post(f"/packs/{ours}/render/offer")
    assert (refused.status_code, refused.json()["code"]) == (409, "REGISTRY_EMPTY")
    _assert_silent(refused, scene.theirs)


async def an_overlay_of_ours_changes_nothing_of_theirs(scene: Scene) -> None:
    path = f"/packs/{scene.theirs.pack}/documents"
    before = (await scene.them.get(path, headers={"Pressroom-User": SECRET})).json()
    await scene.us.put("/admin/documents/offer/overlays", json={"scope": "all", "enabled": False})
    assert (await scene.them.get(path, headers={"Pressroom-User": SECRET})).json() == before
    await scene.us.delete("/admin/documents/offer/overlays?scope=all")
    assert (await scene.them.get(path, headers={"Pressroom-User": SECRET})).json() == before


def posts(path: str, **body: Any) -> Trial:
    """An operation of ours that has nothing of theirs to work on, and changes nothing of theirs."""

    async def trial(scene: Scene) -> None:
        before = await _state(scene)
        answer = await scene.us.post(path, **body)
        assert answer.status_code < 500, answer.text
        _assert_silent(answer, scene.theirs)
        assert await _state(scene) == before

    return trial


def shows_a_user_of_theirs(path: str) -> Trial:
    async def trial(scene: Scene) -> None:
        answer = await scene.us.get(path, headers={"Pressroom-User": SECRET})
        assert answer.status_code == 200
        _assert_silent(answer, scene.theirs)

    return trial


async def a_webhook_of_ours_is_not_told_of_theirs(scene: Scene) -> None:
    made = await scene.us.post("/webhooks", json={"url": "https://8.8.8.8/ours", "events": ["job.completed"]})
    assert made.status_code == 201, made.text
    job = (await scene.them.post("/jobs", json={"kind": "shout", "payload": SECRET})).json()["id"]
    assert (await scene.them.get(f"/jobs/{job}?wait=60")).json()["status"] == "completed"
    deliveries = await scene.us.get(f"/webhooks/{made.json()['id']}/deliveries")
    assert deliveries.json()["items"] == []
    await scene.us.delete(f"/webhooks/{made.json()['id']}")


def drawing(method: str, path: str, **body: Any) -> Trial:
    """What they drew before is drawn again for us: not even that they have it is told."""

    async def trial(scene: Scene) -> None:
        await scene.them.request(method, path, **body)
        again = await scene.them.request(method, path, **body)
        ours = await scene.us.request(method, path, **body)

        assert again.status_code == ours.status_code, (again.text, ours.text)
        assert "; hit" not in ours.headers.get("cache-status", "")
        told = ours.headers.get("location", "") + ours.headers.get("cache-status", "")
        assert not any(name in told for name in scene.theirs.names)

    return trial


async def organisations_are_for_those_who_see_all(scene: Scene) -> None:
    for org in ("theirs", "nevers"):
        assert (await scene.us.post("/admin/orgs", json={"slug": org})).status_code == 403
        assert (await scene.us.delete(f"/admin/orgs/{org}")).status_code == 403


def about_a_build(method: str, path: str, **body: Any) -> Trial:
    """In their project, and under the name of ours."""
    return all_of(
        about(method, f"/orgs/{{org}}/projects/{{project}}/builds/{path}", **body),
        about(method, f"/orgs/ours/projects/ours/builds/{path}", **body),
    )


_PROJECT = "/orgs/{org}/projects/{project}"
_EDITION = f"{_PROJECT}/editions/{{diagram}}"
_CREDENTIAL = {"label": "sites", "provider": "s3", "credentials": {"access_key_id": "a", "secret_access_key": "b"}}
_SERVICE = {"label": "sites", "provider": "minio", "config": {"endpoint": "https://s3.example.org", "bucket": "sites"}}
_TEMPLATE = {"git_url": "https://git.example.org/acme/dashboards.git"}
_HASH = f"sha256:{'0' * 64}"
DOT = "digraph { same }"
ENCODED = base64.urlsafe_b64encode(zlib.compress(DOT.encode(), 9)).decode()

# Every operation of the service, by its id. A new one fails the test below until it says here how it keeps them apart.
TRIALS: dict[str, Trial] = {
    "submit_job": submitting_the_same_meets_nothing_of_theirs,
    "list_jobs": all_of(
        shows("/jobs?limit=200"),
        shows("/jobs?org=theirs"),
        shows("/jobs?org="),
        shows(f"/jobs?subject={SECRET}"),
        shows(f"/jobs?key={SECRET}"),
        shows("/jobs?parent={completed}"),
        shows("/jobs?status=failed&status=completed&status=queued"),
        shows("/jobs?cursor=1000000"),
    ),
    "get_job": all_of(about("GET", "/jobs/{job}"), about("GET", "/jobs/{job}?wait=1")),
    "get_result": about("GET", "/jobs/{job}/result"),
    "cancel_job": about("POST", "/jobs/{job}/cancel"),
    "retry_job": about("POST", "/jobs/{job}/retry"),
    "watch_job": about("GET", "/jobs/{job}/events"),
    "watch_all": streaming_tells_nothing_of_theirs,
    "get_artifact": about("GET", "/artifacts/{artifact}"),
    "link_artifact": about("GET", "/artifacts/{artifact}/link"),
    "render": rendering_the_same_meets_nothing_of_theirs,
    "render_for_terminal": drawing("POST", "/render/terminal", json=DIAGRAM),
    "get_named_diagram": about("GET", "/diagrams/{diagram}"),
    "delete_diagram": about("DELETE", "/diagrams/{diagram}"),
    "show_diagram": all_of(about("GET", "/a/{diagram}.svg"), about("GET", "/a/{diagram}@1.svg")),
    "list_named_diagrams": shows("/diagrams"),
    "put_diagram": a_name_of_theirs_is_free_for_us,
    "kroki_start": shows("/kroki/"),
    "kroki_health": shows("/kroki/health"),
    "kroki_get": drawing("GET", f"/kroki/graphviz/svg/{ENCODED}"),
    "kroki_post": drawing("POST", "/kroki/", json={"diagram_source": DOT + " ", "diagram_type": "graphviz"}),
    "kroki_post_type": drawing("POST", "/kroki/graphviz", content=DOT + "  "),
    "kroki_post_format": drawing("POST", "/kroki/graphviz/svg", content=DOT + "   "),
    "create_webhook": a_webhook_of_ours_is_not_told_of_theirs,
    "list_webhooks": shows("/webhooks"),
    "get_webhook": about("GET", "/webhooks/{webhook}"),
    "delete_webhook": about("DELETE", "/webhooks/{webhook}"),
    "rotate_webhook": about("POST", "/webhooks/{webhook}/rotate"),
    "enable_webhook": about("POST", "/webhooks/{webhook}/enable"),
    "test_webhook": about("POST", "/webhooks/{webhook}/test"),
    "list_deliveries": about("GET", "/webhooks/{webhook}/deliveries"),
    "get_delivery": about("GET", "/webhooks/deliveries/{delivery}"),
    "replay_delivery": about("POST", "/webhooks/deliveries/{delivery}/replay"),
    "get_diagram": links_are_for_whoever_has_them,
    "livez": shows("/livez"),
    "readyz": shows("/readyz"),
    "health": shows("/health"),
    "metrics": scrapes_are_for_those_who_see_all,
    "get_backlog": all_of(shows("/queue/backlog"), shows("/queue/backlog?org=theirs")),
    "list_active": all_of(shows("/queue/active"), shows("/queue/active?org=theirs")),
    "list_slow": shows("/queue/slow?over=0"),
    "list_conflicts": shows(f"/queue/conflicts?project={SECRET}"),
    "get_error_rate": shows("/queue/errors"),
    "get_throughput": all_of(shows("/queue/throughput"), shows("/queue/throughput?org=theirs")),
    "pause_kind": kinds_are_for_those_who_see_all,
    "resume_kind": kinds_are_for_those_who_see_all,
    "scale_kind": kinds_are_for_those_who_see_all,
    "list_workers": workers_are_for_those_who_see_all,
    "list_alerts": all_of(shows("/alerts"), shows("/alerts?open=false"), shows("/alerts?kind=shout")),
    "ack_alert": about("POST", "/alerts/{alert}/ack"),
    "create_pack": a_pack_of_ours_is_made_with_nothing_of_theirs,
    "list_packs": all_of(shows("/packs"), shows(f"/packs?user={SECRET}"), shows("/packs?status=ready")),
    "list_my_packs": shows_a_user_of_theirs("/me/packs"),
    "list_my_files": shows_a_user_of_theirs("/me/files"),
    "list_my_documents": shows_a_user_of_theirs("/me/documents"),
    "get_pack": about("GET", "/packs/{pack}"),
    "delete_pack": about("DELETE", "/packs/{pack}"),
    "restore_pack": about("POST", "/packs/{pack}/restore"),
    "put_pack_data": about("PUT", "/packs/{pack}/data", json={"data": {}}),
    "make_pack_link": about("POST", "/packs/{pack}/link"),
    "withdraw_pack_link": about("DELETE", "/packs/{pack}/link"),
    "render_pack": about("POST", "/packs/{pack}/render"),
    "render_document": about("POST", "/packs/{pack}/render/offer"),
    "list_documents": about("GET", "/packs/{pack}/documents"),
    "list_document_versions": about("GET", "/packs/{pack}/documents/offer"),
    "watch_pack": about("GET", "/packs/{pack}/events"),
    "create_batch": posts("/packs/batches", content='{"data": {}}', headers={"Content-Type": "application/x-ndjson"}),
    "create_sections_job": posts("/render/jobs", json={}),
    "get_sections_job": about("GET", "/render/jobs/{pack_job}"),
    "list_batches": shows("/packs/batches"),
    "get_batch": about("GET", "/packs/batches/{batch}"),
    "retry_batch": about("POST", "/packs/batches/{batch}/retry"),
    "download_batch": about("GET", "/packs/batches/{batch}.zip"),
    "download_pack": about("GET", "/packs/{pack}.zip"),
    "request_bundle": about("POST", "/packs/{pack}/bundle"),
    "get_bundle": about("GET", "/packs/{pack}/bundle"),
    "list_config_keys": shows("/admin/config"),
    "list_config_versions": shows("/admin/config/template:offer"),
    "save_config_draft": posts("/admin/config/template:offer/draft", json={"body": "<p>ours</p>"}),
    "roll_back_config": about("POST", "/admin/config/{config}/rollback"),
    "get_config_version": about("GET", "/admin/config/{config}/1"),
    "validate_config_version": about("POST", "/admin/config/{config}/1/validate"),
    "dry_run_config_version": about("POST", "/admin/config/{config}/1/dry-run"),
    "publish_config_version": about("POST", "/admin/config/{config}/1/publish"),
    "diff_config_versions": about("GET", "/admin/config/{config}/1/diff/1"),
    "list_template_fields": about("GET", "/admin/config/{config}/1/fields"),
    "list_registry_documents": shows("/admin/documents"),
    "put_overlay": an_overlay_of_ours_changes_nothing_of_theirs,
    "delete_overlay": an_overlay_of_ours_changes_nothing_of_theirs,
    "list_render_jobs": all_of(shows("/admin/render-jobs"), shows("/admin/render-jobs?status=ready")),
    "requeue_failed_render_jobs": posts("/admin/render-jobs/requeue-failed"),
    "get_render_job": about("GET", "/admin/render-jobs/{pack_job}"),
    "requeue_render_job": about("POST", "/admin/render-jobs/{pack_job}/requeue"),
    "get_packs_overview": shows("/admin/overview"),
    "download_file": about("GET", "/files/{file}/download"),
    "list_orgs": shows("/admin/orgs"),
    "create_org": organisations_are_for_those_who_see_all,
    "get_org_as_admin": about("GET", "/admin/orgs/{org}"),
    "delete_org": organisations_are_for_those_who_see_all,
    "get_org": about("GET", "/orgs/{org}"),
    "change_org": about("PATCH", "/orgs/{org}", json={"title": "ours"}),
    "preview_slug": all_of(
        about("POST", "/orgs/{org}/slug-preview", json={"git_ref": "main"}),
        posts("/orgs/ours/slug-preview", json={"git_ref": "main", "project": SECRET}),
    ),
    "preview_lifecycle": about("POST", "/orgs/{org}/lifecycle?dry_run=true", json={}),
    "list_members": about("GET", "/orgs/{org}/members"),
    "create_member": about("POST", "/orgs/{org}/members", json={"role": "reader"}),
    "get_member": all_of(about("GET", "/orgs/{org}/members/{member}"), about("GET", "/orgs/ours/members/{member}")),
    "delete_member": all_of(about("DELETE", "/orgs/{org}/members/{member}"), about("DELETE", "/orgs/ours/members/{member}")),
    "list_credentials": about("GET", "/orgs/{org}/credentials"),
    "create_credential": about("POST", "/orgs/{org}/credentials", json=_CREDENTIAL),
    "get_credential": about("GET", "/orgs/{org}/credentials/sites"),
    "replace_credential": about("PUT", "/orgs/{org}/credentials/sites", json={"credentials": _CREDENTIAL["credentials"]}),
    "delete_credential": about("DELETE", "/orgs/{org}/credentials/sites"),
    "list_services": about("GET", "/orgs/{org}/services"),
    "create_service": about("POST", "/orgs/{org}/services", json=_SERVICE),
    "get_service": about("GET", "/orgs/{org}/services/sites"),
    "change_service": about("PATCH", "/orgs/{org}/services/sites", json={"config": {}}),
    "delete_service": about("DELETE", "/orgs/{org}/services/sites"),
    "get_org_template": about("GET", "/orgs/{org}/dashboard-template"),
    "put_org_template": about("PUT", "/orgs/{org}/dashboard-template", json=_TEMPLATE),
    "delete_org_template": about("DELETE", "/orgs/{org}/dashboard-template"),
    "sync_org_template": about("POST", "/orgs/{org}/dashboard-template/sync"),
    "get_project_template": about("GET", f"{_PROJECT}/dashboard-template"),
    "put_project_template": about("PUT", f"{_PROJECT}/dashboard-template", json=_TEMPLATE),
    "delete_project_template": about("DELETE", f"{_PROJECT}/dashboard-template"),
    "sync_project_template": about("POST", f"{_PROJECT}/dashboard-template/sync"),
    "receive_git_webhook": posts("/hooks/git", json={}),
    "receive_github_webhook": posts("/webhooks/github", json={}),
    "list_projects": all_of(about("GET", "/orgs/{org}/projects"), shows(f"/orgs/ours/projects?q={SECRET}")),
    "create_project": about("POST", "/orgs/{org}/projects", json={"slug": "ours"}),
    "get_project": all_of(about("GET", _PROJECT), about("GET", "/orgs/ours/projects/{project}")),
    "change_project": about("PATCH", _PROJECT, json={"title": "ours"}),
    "delete_project": about("DELETE", _PROJECT),
    "rebuild_dashboard": about("POST", f"{_PROJECT}/dashboard/rebuild"),
    "rebuild_dashboards": about("POST", "/orgs/{org}/dashboard/rebuild"),
    "search_pages": about("GET", f"{_PROJECT}/search?q={SECRET}"),
    "list_builds": about("GET", f"{_PROJECT}/builds"),
    "announce_build": about("POST", f"{_PROJECT}/builds", json={"git_ref": "main", "content_hash": _HASH}),
    "get_build": about_a_build("GET", "{build}"),
    "start_build": about_a_build("PATCH", "{build}", json={"status": "uploaded"}),
    "delete_build": about_a_build("DELETE", "{build}"),
    "list_build_files": about_a_build("GET", "{build}/files"),
    "list_build_problems": about_a_build("GET", "{build}/problems"),
    "compare_builds": about_a_build("GET", "{build}/compare/{build}"),
    "upload_archive": about("PUT", "/uploads/{build}?capability=guessed", content=b"x"),
    "list_editions": about("GET", f"{_PROJECT}/editions"),
    "create_edition": about("POST", f"{_PROJECT}/editions", json={"slug": "ours", "tracking_mode": "manual"}),
    "get_edition": all_of(about("GET", _EDITION), about("GET", "/orgs/ours/projects/ours/editions/{diagram}")),
    "change_edition": about("PATCH", _EDITION, json={"title": "ours"}),
    "delete_edition": about("DELETE", _EDITION),
    "list_history": about("GET", f"{_EDITION}/history"),
    "roll_back_edition": about("POST", f"{_EDITION}/rollback", json={"build": new_uid()}),
    "list_purgatory": all_of(about("GET", "/orgs/{org}/purgatory"), shows("/orgs/ours/purgatory")),
    "restore_from_purgatory": all_of(
        about("POST", "/orgs/{org}/purgatory/{entry}/restore"), about("POST", "/orgs/ours/purgatory/{entry}/restore")
    ),
    "list_queue_jobs": all_of(
        shows("/queue/jobs"), shows("/queue/jobs?org=theirs"), shows(f"/queue/jobs?project={SECRET}"), shows("/queue/jobs?org=")
    ),
    "get_queue_job": about("GET", "/queue/jobs/{docs_job}"),  # D32
    "cancel_queue_job": about("POST", "/queue/jobs/{docs_job}/cancel"),
    "retry_queue_job": about("POST", "/queue/jobs/{docs_job}/retry"),
}


async def test_every_operation_says_how_it_keeps_organisations_apart(file: str) -> None:
    async with on_stage(file, works=False) as stage:
        document = stage.app.document

    operations = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
    assert len(set(operations)) == len(operations)
    assert set(operations) - TRIALS.keys() == set(), "add them to TRIALS"
    assert TRIALS.keys() - set(operations) == set(), "there is no such operation any more"


async def test_nothing_of_another_organisation_is_seen(database: str, subtests: pytest.Subtests) -> None:  # A1, A2
    async with scene(database, render=True) as made:
        for operation, trial in TRIALS.items():
            with subtests.test(operation):
                await trial(made)


async def test_a_token_for_all_organisations_sees_them_all(database: str) -> None:
    async with scene(database) as made, made.stage.client(await made.stage.token(Scope.VIEWER, everywhere=True)) as operator:
        seen = {job["id"] for job in (await operator.get("/jobs?org=theirs")).json()["items"]}
        assert set(made.theirs.jobs.values()) <= seen
        assert (await operator.get(f"/jobs/{made.theirs.jobs['queued']}")).status_code == 200


async def test_a_token_without_an_organisation_sees_only_rows_without_one(database: str) -> None:
    async with scene(database) as made:
        own = await made.stage.press.submit("shout", "nobody's")
        async with made.stage.client(await made.stage.token(Scope.VIEWER)) as default:
            assert [job["id"] for job in (await default.get("/jobs")).json()["items"]] == [str(own)]
            assert (await default.get(f"/jobs/{made.theirs.jobs['queued']}")).status_code == 404


@pytest.mark.parametrize("own", ["ours", None])
async def test_who_asks_for_another_organisation_by_name_is_told_of_none(file: str, own: str | None) -> None:
    """Not of their own instead: a filter that is ignored would say that these are the other's."""
    async with on_stage(file, works=False) as stage:
        for org in ("theirs", "theirs", "ours", None):
            await stage.press.submit("shout", 1, org_id=org)
        async with stage.client(await stage.token(Scope.VIEWER, own)) as client:
            listed = {query: (await client.get(f"/jobs{query}")).json()["items"] for query in ("", "?org=theirs")}
            waiting = {query: (await client.get(f"/queue/backlog{query}")).json()["queued"] for query in ("", "?org=theirs")}

    assert {query: len(jobs) for query, jobs in listed.items()} == {"": 1, "?org=theirs": 0}
    assert waiting == {"": 1, "?org=theirs": 0}


async def test_two_tokens_of_one_organisation_do_not_share_idempotency_keys(database: str) -> None:
    async with on_stage(database, works=False) as stage:
        answers = []
        for body in ("a", "b"):
            async with stage.client(await stage.token(Scope.SUBMITTER, "ours", name="ci")) as client:
                answers.append(
                    await client.post("/jobs", json={"kind": "shout", "payload": body}, headers={"Idempotency-Key": "k"})
                )

    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json()["id"] != answers[1].json()["id"]


def _pairs(path: str, theirs: Theirs) -> list[tuple[str, str]]:
    """Paths to what is theirs, each with one of the same form to what never was."""
    if "{job}" in path:
        return [(path.format(job=job), path.format(job=f"job_{new_uid()}")) for job in theirs.jobs.values()]
    kept = {"artifact": theirs.artifact, "diagram": SECRET, "webhook": theirs.webhook, "delivery": theirs.delivery}
    never = {name: _of_the_same_form(value) for name, value in kept.items()}
    kept |= {"pack_job": theirs.pack_job, "batch": theirs.batch, "config": f"template:{SECRET}"}
    never |= {"pack_job": str(as_uuid(new_uid())), "batch": str(as_uuid(new_uid())), "config": "template:magenta-canary"}
    kept |= {"pack": theirs.pack, "file": theirs.file, "alert": str(theirs.alert)}
    docs = {name: theirs.docs.get(name, "") for name in ("build", "entry", "member")} | {"docs_job": theirs.docs.get("job", "")}
    kept |= docs | {"org": "theirs", "project": SECRET}
    never |= {name: new_uid() for name in docs} | {"org": "nevers", "project": "magenta-canary"}
    never |= {"pack": str(as_uuid(new_uid())), "file": str(as_uuid(new_uid())), "alert": "9"}
    return [(path.format(**kept), path.format(**never))]


def _of_the_same_form(name: str) -> str:
    """Another id, or another word of the same length, that nothing has."""
    return re.sub(r"[0-9A-Z]{26}", lambda _: new_uid(), name) if name != SECRET else "magenta-canary"


def _like(answer: httpx.Response, path: str) -> tuple[Any, ...]:
    headers = {name: without_ids(value) for name, value in answer.headers.items()}
    named = re.escape(path.partition("?")[0])
    told = re.sub("crimson-canary|magenta-canary", "NAME", re.sub(named, "PATH", answer.text))
    return answer.status_code, headers, without_ids(told)


def _assert_silent(answer: httpx.Response, theirs: Theirs) -> None:
    told = f"{answer.headers}\n{answer.text}"
    asked = str(answer.request.url)
    for name in theirs.names:
        assert name not in told.replace(asked, ""), f"{asked} tells of {name}"


async def _state(scene: Scene) -> Any:
    kept = [(await scene.them.get(f"/jobs/{job}")).json() for job in scene.theirs.jobs.values()]
    return [(job["id"], job["status"], job["cancel_requested"]) for job in kept]
