"""Administration over HTTP: the configuration, overlays and render jobs (R6, R7, R8)."""

import json
from typing import Any

import httpx
import pytest

from pressroom.errors import Transient
from pressroom.renderers import Rendered, documents
from tests import looking
from tests.apps.packs.conftest import DATA, REGISTRY, Stage, Staging

OFFER = "/admin/config/template:offer"


def audited(database: str) -> list[tuple[Any, ...]]:
    rows = looking.rows(database, "SELECT who, org_id, action, target, before, after FROM audit ORDER BY id")
    return [(*row[:4], *(None if text is None else json.loads(text) for text in row[4:])) for row in rows]


async def draft(client: httpx.AsyncClient, key: str, body: Any) -> int:
    saved = await client.post(f"/admin/config/{key}/draft", json={"body": body})
    assert saved.status_code == 201, saved.text
    assert saved.headers["location"].endswith(f"/admin/config/{key}/{saved.json()['number']}")
    return int(saved.json()["number"])


async def test_a_template_is_drafted_checked_published_and_rolled_back(staged: Staging, database: str) -> None:
    async with staged(workers=None) as stage:
        await stage.configure("red")
        operator, admin = stage.client("red-operator"), stage.client("red-admin")

        broken = await draft(operator, "template:offer", "<p>\n{{ person.name")
        checked = (await operator.post(f"{OFFER}/{broken}/validate")).json()
        good = await draft(operator, "template:offer", "<p>{{ person.name }}</p>")
        refused = await operator.post(f"{OFFER}/{good}/publish")
        unpublishable = await admin.post(f"{OFFER}/{broken}/publish")
        published = (await admin.post(f"{OFFER}/{good}/publish")).json()
        listed = (await operator.get(OFFER)).json()
        back = (await admin.post(f"{OFFER}/rollback")).json()

        assert (checked["status"], checked["problems"][0]["line"]) == ("invalid", 2)
        assert (refused.status_code, unpublishable.json()["code"]) == (403, "not_publishable")
        assert (published["number"], published["status"], published["previous"]) == (3, "published", 1)
        assert (listed["published"], [one["number"] for one in listed["versions"]]) == (3, [3, 2, 1])
        assert (back["number"], back["status"]) == (1, "published")
        text = (await operator.get(f"{OFFER}/{broken}")).json()
        assert text["body"] == "<p>\n{{ person.name"
        assert [(who, org, action, target, before, after) for who, org, action, target, before, after in audited(database)][
            -3:
        ] == [
            ("red's operator", "red", "packs.config.draft", "template:offer", None, audited(database)[-3][5]),
            ("red's admin", "red", "packs.config.publish", "template:offer", {"published": 1}, {"published": 3}),
            ("red's admin", "red", "packs.config.roll_back", "template:offer", {"published": 3}, {"published": 1}),
        ]


async def test_the_difference_of_two_versions_and_the_fields_of_one(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        await stage.configure()
        number = await draft(
            stage.http,
            "template:offer",
            "{% include 'letterhead' %}\n<p>{% for item in items %}{{ item.price }}{% endfor %}</p>",
        )
        registry = await draft(stage.http, "documents_registry", REGISTRY[:1])

        diff = (await stage.http.get(f"{OFFER}/1/diff/{number}")).json()
        fields = (await stage.http.get(f"{OFFER}/{number}/fields")).json()
        none = await stage.http.get("/admin/config/strings/1/fields")

        assert [line["change"] for line in diff["lines"]] == ["gone", "new", "new"]
        assert ([one["path"] for one in fields["fields"]], fields["strings"]) == (["items", "items[].price"], ["company"])
        assert none.json()["code"] == "invalid_argument"
        body = (await stage.http.get(f"/admin/config/documents_registry/{registry}")).json()["body"]
        assert json.loads(body) == REGISTRY[:1]
        keys = (await stage.http.get("/admin/config")).json()["keys"]
        assert ("template:offer", number) in [(one["key"], one["number"]) for one in keys]


async def test_a_dry_run_shows_what_a_version_would_make(staged: Staging, database: str) -> None:
    """Of each document that uses it, also through an include; nothing is kept and nothing is published."""
    async with staged() as stage:
        await stage.configure(documents_registry=json.dumps([REGISTRY[0] | {"sample": DATA}, REGISTRY[1]]))
        letterhead = await draft(stage.http, "template:letterhead", "<header>{{ t('gone') }} {{ person.name }}</header>")
        broken = await draft(stage.http, "template:offer", "{{ person.name.first }}{{ start }}")
        jobs = looking.rows(database, "SELECT count(*) FROM job")

        made = (await stage.http.post(f"/admin/config/template:letterhead/{letterhead}/dry-run")).json()
        failed = (await stage.http.post(f"{OFFER}/{broken}/dry-run?doc_id=offer")).json()["documents"][0]
        named = (await stage.http.post(f"{OFFER}/1/dry-run?doc_id=ofer")).json()

        (offer,) = made["documents"]
        assert (offer["doc_id"], offer["ok"], offer["pages"], offer["missing"]) == ("offer", True, 1, [])
        assert offer["size"] > 1_000
        assert offer["picture"].startswith("data:image/png;base64,")
        assert offer["warnings"]
        assert (failed["ok"], failed["problem"]["code"], failed["problem"]["line"]) == (False, "source_invalid", 1)
        assert named["code"] == "unknown_document"
        assert looking.rows(database, "SELECT count(*) FROM job") == jobs


async def test_an_overlay_unlocks_a_document_and_is_audited(staged: Staging, database: str) -> None:
    """R8."""
    async with staged(workers=None) as stage:
        await stage.configure("red")
        red, operator = stage.client("red"), stage.client("red-operator")
        pack = await stage.new_pack(red)
        overlays = "/admin/documents/report/overlays"

        saved = await operator.put(overlays, json={"scope": "pack", "scope_id": pack, "unlocked": True, "reason": "paid"})
        unlocked = (await stage.documents(pack, red))["report"]["access"]
        listed = (await operator.get(f"/admin/documents?scope_id={pack}")).json()["documents"]
        deleted = await operator.delete(f"{overlays}?scope=pack&scope_id={pack}")
        again = await operator.delete(f"{overlays}?scope=pack&scope_id={pack}")

        assert (saved.status_code, deleted.status_code, again.status_code) == (200, 204, 404)
        assert (unlocked["tier"], unlocked["is_locked"]) == ("paid", False)
        assert [len(one["overlays"]) for one in listed] == [0, 0, 1, 0]
        assert (await stage.documents(pack, red))["report"]["access"]["is_locked"] is True
        saying, forgetting = audited(database)[-2:]
        assert (saying[2:5], saying[5]["unlocked"]) == (("packs.overlay.save", "report", None), True)
        assert (forgetting[2], forgetting[4]["reason"]) == ("packs.overlay.delete", "paid")
        for path, body, code in (
            (overlays, {"scope": "all", "scope_id": "x", "enabled": True}, "invalid_argument"),
            (overlays, {"reason": "nothing"}, "invalid_argument"),
            (overlays, {"scope": "world"}, "invalid_body"),
            ("/admin/documents/nothing/overlays", {"enabled": False}, "unknown_document"),
        ):
            assert (await operator.put(path, json=body)).json()["code"] == code


async def fail_offer(stage: Stage, pack: str, client: httpx.AsyncClient) -> str:
    """The job id of a render that has failed."""
    job = (await client.post(f"/packs/{pack}/render/offer")).json()["job_id"]
    await stage.settled(pack, client)
    return str(job)


async def test_a_failed_render_job_is_requeued_with_the_versions_of_now(staged: Staging, database: str) -> None:
    async with staged() as stage:
        await stage.configure("red", template__offer="<p>{{ (tasks | default([]))[0].name.letter }}</p>")
        red, operator = stage.client("red"), stage.client("red-operator")
        pack = await stage.new_pack(red, data={"tasks": [1]})
        old = await fail_offer(stage, pack, red)
        number = await draft(operator, "template:offer", "<p>{{ tasks[0] }}</p>")
        await stage.client("red-admin").post(f"{OFFER}/{number}/publish")

        await stage.app.queue.pause("packs.render")
        requeued = (await operator.post(f"/admin/render-jobs/{old}/requeue")).json()
        twice = await operator.post(f"/admin/render-jobs/{old}/requeue")
        queued = (await operator.get("/admin/render-jobs?status=queued")).json()["items"]
        skipped = (await operator.post("/admin/render-jobs/requeue-failed")).json()
        await stage.app.queue.resume("packs.render")
        offer = (await stage.settled(pack, red))["offer"]
        ready = await operator.post(f"/admin/render-jobs/{requeued['job_id']}/requeue")

        assert (requeued["retry_of"], requeued["version"], requeued["doc_id"]) == (old, 2, "offer")
        assert (twice.status_code, twice.json()["code"]) == (409, "ALREADY_IN_PROGRESS")
        assert (ready.status_code, ready.json()["code"]) == (400, "INVALID_STATUS")
        assert [(one["job_id"], one["retry_of"]) for one in queued] == [(requeued["job_id"], old)]
        assert (skipped["enqueued"], skipped["skipped_in_progress"], skipped["errors"]) == (0, 1, 0)
        assert (offer["status"], offer["version"]) == ("ready", 2)
        shown = (await operator.get(f"/admin/render-jobs/{requeued['job_id']}")).json()
        assert shown["config"]["template:offer"] == number
        entry = audited(database)[-1]
        assert (entry[2:4], entry[4]["job_id"], entry[5]["job_id"]) == (
            ("packs.render.requeue", f"{pack}/offer"),
            old,
            requeued["job_id"],
        )


async def test_failed_documents_are_requeued_together_and_counted(staged: Staging, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> Rendered:
        raise Transient("the renderer is away")

    async with staged() as stage:
        await stage.configure(documents_registry=json.dumps([REGISTRY[0] | {"doc_id": "offer"}, REGISTRY[1]]))
        await stage.app.queue.pause("packs.render")
        packs = [await stage.new_pack() for _ in range(3)]
        for pack in packs:
            await stage.http.post(f"/packs/{pack}/render/offer")
        broken = await draft(stage.http, "template:offer", "{{ person.name.first.letter }}{{ start }}")
        with monkeypatch.context() as patch:
            patch.setattr(documents, "render", fail)
            patch.setattr("pressroom.definitions.Backoff.delay", lambda *_: 0.0)
            await stage.app.queue.resume("packs.render")
            for pack in packs:
                assert (await stage.settled(pack))["offer"]["status"] == "failed"
        await stage.http.delete(f"/packs/{packs[0]}")
        disable = {"scope": "pack", "scope_id": packs[1], "enabled": False}
        await stage.http.put("/admin/documents/offer/overlays", json=disable)
        overview = (await stage.http.get("/admin/overview")).json()

        counts = (await stage.http.post("/admin/render-jobs/requeue-failed?limit=50")).json()

        assert (overview["packs"], overview["failed"], overview["failed_last_day"]) == (2, 2, 3)
        assert (overview["documents"], overview["drafts"], overview["open_alerts"]) == (2, 1, 3)
        assert (counts["enqueued"], counts["skipped_in_progress"], counts["errors"]) == (1, 0, 1)
        assert counts["failures"][0]["code"] == "DOCUMENT_DISABLED"
        assert (await stage.settled(packs[2]))["offer"]["status"] == "ready"
        assert broken == 2


async def test_render_jobs_are_filtered_and_paged(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        await stage.configure()
        packs = [await stage.new_pack() for _ in range(3)]
        for pack in packs:
            await stage.http.post(f"/packs/{pack}/render")

        first = await stage.http.get("/admin/render-jobs?doc_id=offer&limit=2")
        second = await stage.http.get(first.headers["link"].partition(">")[0].removeprefix("<"))
        of_pack = (await stage.http.get(f"/admin/render-jobs?pack_id={packs[0]}")).json()["items"]

        assert [one["pack_id"] for one in first.json()["items"]] == [packs[2], packs[1]]
        assert ([one["pack_id"] for one in second.json()["items"]], second.json()["next_cursor"]) == ([packs[0]], None)
        assert {one["doc_id"] for one in of_pack} == {"offer", "checklist"}
        assert (await stage.http.get("/admin/render-jobs?status=ready")).json()["items"] == []
        assert len((await stage.http.get(f"/admin/render-jobs?status=queued&pack_id={packs[1]}")).json()["items"]) == 2
        for query in ("status=lost", "limit=0", "cursor=x"):
            assert (await stage.http.get(f"/admin/render-jobs?{query}")).status_code == 422


async def test_administration_needs_an_operator_and_knows_only_its_organisation(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        await stage.configure("red")
        red = stage.client("red")
        pack = await stage.new_pack(red)
        job = (await red.post(f"/packs/{pack}/render/offer")).json()["job_id"]
        reads = ["/admin/config", OFFER, "/admin/documents", "/admin/render-jobs", f"/admin/render-jobs/{job}"]

        for path in (*reads, "/admin/overview"):
            assert (await red.get(path)).status_code == 403, path
            assert (await stage.client(None).get(path)).status_code == 401, path
        # The default organisation, as this machine sees it, is another one.
        assert (await stage.http.get("/admin/config")).json() == {"keys": []}
        assert (await stage.http.get(f"{OFFER}/1")).status_code == 404
        assert (await stage.http.get("/admin/documents")).json()["documents"] == []
        assert (await stage.http.get("/admin/render-jobs")).json()["items"] == []
        unknown = "0199e3c2-5b7e-7c11-9d2a-4f6b8a0c1d2e"
        answers = [await stage.http.get(f"/admin/render-jobs/{id}") for id in (job, unknown, "no-id")]
        assert [answer.status_code for answer in answers] == [404] * 3
        assert len({answer.json()["detail"] for answer in answers}) == 1
        assert (await stage.http.post(f"/admin/render-jobs/{job}/requeue")).status_code == 404
