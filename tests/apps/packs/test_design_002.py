"""Design 002 in its own words, over HTTP, on both databases. The criteria are R1 to R41 of the plan."""

import json

from pressroom import backends
from pressroom.apps.packs.access import Overlay
from pressroom.apps.packs.model import to_uid
from pressroom.apps.packs.settings import PacksSettings
from pressroom.apps.packs.store import save_overlay
from pressroom.clock import SystemClock
from pressroom.config import load_settings
from tests.apps.packs.conftest import DATA, Staging


async def test_a_pack_is_rendered_listed_and_downloaded(staged: Staging) -> None:
    """R2, R4, R5, R22, R26, R33, R35, R37, R40."""
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()

        answer = (await stage.http.post(f"/packs/{pack}/render")).json()

        assert (answer["ok"], answer["pack_id"], answer["jobs_created"], answer["jobs_skipped"]) == (True, pack, 2, 0)
        assert [job["doc_id"] for job in answer["jobs"]] == ["offer", "checklist"]
        documents = await stage.settled(pack)
        assert list(documents) == ["offer", "checklist", "report", "retired"]
        offer = documents["offer"]
        assert (offer["status"], offer["attempts"], offer["last_error"], offer["pages"]) == ("ready", 0, None, 1)
        link = (await stage.http.get(f"/files/{offer['file_id']}/download")).json()
        assert link["expires_in_sec"] == 600
        pdf = await stage.http.get(link["url"])
        assert pdf.content.startswith(b"%PDF")
        assert pdf.headers["content-type"] == "application/pdf"


async def test_locked_and_disabled_documents_say_why_and_were_not_requested(staged: Staging) -> None:
    """R8, R35, X21."""
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()

        documents = await stage.documents(pack)

        assert documents["report"]["access"] == {
            "tier": "paid",
            "enabled": True,
            "is_locked": True,
            "reason": "PAID_DOCS_LOCKED",
        }
        assert documents["retired"]["access"]["reason"] == "DISABLED"
        assert {document["status"] for document in documents.values()} == {"not_requested"}


async def test_compat_says_queued_for_what_was_not_requested(staged: Staging) -> None:
    """X21: as the source product did."""
    async with staged(workers=None, settings=PacksSettings(compat=True)) as stage:
        await stage.configure()

        documents = await stage.documents(await stage.new_pack())

        assert {document["status"] for document in documents.values()} == {"queued"}


async def test_a_pack_call_leaves_active_documents_alone(staged: Staging) -> None:
    """R9: queued, rendering and ready documents get no second job; `force` takes them all."""
    async with staged(workers=None) as stage:
        await stage.configure()
        pack = await stage.new_pack()
        first = (await stage.http.post(f"/packs/{pack}/render")).json()

        second = (await stage.http.post(f"/packs/{pack}/render")).json()

        assert (first["jobs_created"], second["jobs_created"], second["jobs_skipped"]) == (2, 0, 2)
        assert second["skipped"][0] == {"doc_id": "offer", "reason": "queued", "missing": []}
        assert second["config_snapshot"] is None
        forced = (await stage.http.post(f"/packs/{pack}/render?force=true")).json()
        # Two wishes for one document that is queued are one job: the newest wins, and nothing is rendered twice at once (D21).
        assert [job["job_id"] for job in forced["jobs"]] == [job["job_id"] for job in first["jobs"]]
        versions = (await stage.http.get(f"/packs/{pack}/documents/offer")).json()["versions"]
        assert [(version["version"], version["status"]) for version in versions] == [(2, "queued"), (1, "failed")]


async def test_a_ready_document_is_not_rendered_again_by_a_pack_call(staged: Staging) -> None:
    """R9."""
    async with staged() as stage:
        await stage.configure(template__offer="<p>{{ person.name }}</p>", template__letterhead=None)
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render/offer")
        await stage.settled(pack)

        answer = (await stage.http.post(f"/packs/{pack}/render")).json()

        assert answer["skipped"] == [{"doc_id": "offer", "reason": "ready", "missing": []}]
        assert [job["doc_id"] for job in answer["jobs"]] == ["checklist"]


async def test_a_single_document_is_always_made_anew(staged: Staging) -> None:
    """R3, R14: also when it is ready. The same input gives the same bytes."""
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()
        first = (await stage.http.post(f"/packs/{pack}/render/offer")).json()
        before = (await stage.settled(pack))["offer"]

        second = (await stage.http.post(f"/packs/{pack}/render/offer")).json()

        after = (await stage.settled(pack))["offer"]
        assert (first["ok"], first["doc_id"], first["version"], second["version"]) == (True, "offer", 1, 2)
        assert first["job_id"] != second["job_id"]
        assert before["file_id"] != after["file_id"]
        versions = (await stage.http.get(f"/packs/{pack}/documents/offer")).json()["versions"]
        assert len({version["sha256"] for version in versions}) == 1


async def test_documents_that_cannot_be_rendered_are_refused_by_name(staged: Staging) -> None:
    """R12, R13, and the words of design 002's product."""
    async with staged(workers=None) as stage:
        await stage.configure()
        pack = await stage.new_pack(data={"person": {}})
        refusals = {}

        for doc_id in ("ofer", "retired", "report", "offer"):
            response = await stage.http.post(f"/packs/{pack}/render/{doc_id}")
            refusals[doc_id] = (response.status_code, response.json()["code"])

        assert refusals == {
            "ofer": (404, "unknown_document"),
            "retired": (400, "DOCUMENT_DISABLED"),
            "report": (403, "DOCUMENT_LOCKED"),
            "offer": (422, "NEEDS_INPUT"),
        }
        response = await stage.http.post(f"/packs/{pack}/render/offer")
        assert response.json()["missing"] == ["person.name", "start"]
        assert "did you mean offer?" in (await stage.http.post(f"/packs/{pack}/render/ofer")).json()["detail"]
        listed = (await stage.http.post(f"/packs/{pack}/render")).json()
        assert [job["doc_id"] for job in listed["jobs"]] == ["checklist"]
        assert listed["skipped"] == [{"doc_id": "offer", "reason": "NEEDS_INPUT", "missing": ["person.name", "start"]}]


async def test_without_a_registry_a_pack_call_is_refused(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        pack = await stage.new_pack()

        response = await stage.http.post(f"/packs/{pack}/render")

        assert (response.status_code, response.json()["code"]) == (409, "REGISTRY_EMPTY")
        assert await stage.documents(pack) == {}


async def test_the_config_snapshot_says_which_versions_were_used(staged: Staging) -> None:
    """R11."""
    async with staged(workers=None) as stage:
        await stage.configure()
        await stage.configure(template__offer="<p>{{ person.name }}, again</p>")
        pack = await stage.new_pack()

        answer = (await stage.http.post(f"/packs/{pack}/render")).json()

        uid = to_uid(answer["config_snapshot"])
        content = json.loads((await stage.http.get(f"/artifacts/{uid}")).content)
        assert content["active_versions"]["template:offer"] == 2
        assert content["active_versions"]["documents_registry"] == 2
        assert len(content["hashes"]["template:offer"]) == 64


async def test_the_tables_of_design_002(staged: Staging) -> None:
    """R24, R25, R31, R34: views with the design's columns, and `meta.render_job_id` between them."""
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack(session_id="s-81")
        await stage.http.post(f"/packs/{pack}/render/offer")
        offer = (await stage.settled(pack))["offer"]

        async with stage.press.transaction() as tx:
            jobs = await tx.execute(
                "SELECT id, pack_id, session_id, doc_id, status, attempts, max_attempts, last_error FROM render_jobs"
            )
            ((file_id, kind, meta),) = await tx.execute("SELECT id, kind, meta FROM artifacts")
            files = await tx.execute("SELECT artifact_id, key, content_type FROM artifact_files")

        assert jobs == [(offer["job_id"], pack, "s-81", "offer", "ready", 0, 5, None)]
        assert (file_id, kind, json.loads(meta)["render_job_id"]) == (offer["file_id"], "render", offer["job_id"])
        assert files == [(file_id, f"renders/{offer['job_id']}/offer.pdf", "application/pdf")]


async def test_the_views_of_design_002_are_there_before_anything_was_rendered(staged: Staging) -> None:
    """R32: the first process that opens a new database makes them."""
    async with staged(workers=None) as stage, stage.press.transaction() as tx:
        for view in ("render_jobs", "artifacts", "artifact_files"):
            assert await tx.execute(f"SELECT * FROM {view}") == []


async def test_the_list_has_the_latest_job_of_each_document(staged: Staging) -> None:
    """R36, R37: whatever became of the ones before; and its file only if it is ready."""
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render")
        first = await stage.settled(pack)
        await stage.http.post(f"/packs/{pack}/render/offer")
        second = await stage.settled(pack)
        await stage.app.queue.pause("packs.render")
        third = (await stage.http.post(f"/packs/{pack}/render/offer")).json()

        listed = await stage.documents(pack)

        offers = [(one["offer"]["version"], one["offer"]["status"]) for one in (first, second, listed)]
        assert offers == [(1, "ready"), (2, "ready"), (3, "queued")]
        assert (listed["offer"]["job_id"], listed["offer"]["file_id"]) == (third["job_id"], None)
        assert listed["offer"]["good"]["file_id"] == second["offer"]["file_id"] != first["offer"]["file_id"]
        assert listed["checklist"] == first["checklist"]


def test_every_name_of_the_environment_has_its_effect() -> None:
    """R38."""
    settings = load_settings(
        {},
        {
            "DATABASE_URL": "postgresql://db/press",
            "REDIS_URL": "redis://redis:6379/0",
            "RENDER_URL": "http://render:8010",
            "RENDER_TIMEOUT_SEC": "90",
            "S3_ENDPOINT": "minio:9000",
            "S3_PRESIGN_ENDPOINT": "files.example.org",
            "S3_BUCKET": "artifacts",
            "S3_ACCESS_KEY": "a-key",
            "S3_SECRET_KEY": "a-secret",
            "S3_USE_SSL": "false",
        },
        None,
    )

    bucket = backends._make_s3(settings, SystemClock())._place
    assert (settings.database, settings.redis_url) == ("postgresql://db/press", "redis://redis:6379/0")
    assert (settings.render_url, settings.render_timeout) == ("http://render:8010", 90)
    assert (bucket.address(), bucket.public_address(), bucket.bucket) == (
        "http://minio:9000",
        "http://files.example.org",
        "artifacts",
    )
    assert (bucket.access_key, bucket.secret_key) == ("a-key", "a-secret")


async def test_a_failure_does_not_hide_a_good_file(staged: Staging) -> None:
    """D21: `good` names the newest ready file, whatever came after it."""
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render/offer")
        good = (await stage.settled(pack))["offer"]
        await stage.app.configuration.put(None, "template:offer", "{{ 1 // 0 }}{{ person.name }}{{ start }}", author="test")

        await stage.http.post(f"/packs/{pack}/render/offer")

        failed = (await stage.settled(pack))["offer"]
        assert (failed["status"], failed["file_id"]) == ("failed", None)
        assert failed["last_error"]
        assert (failed["good"]["version"], failed["good"]["file_id"]) == (1, good["file_id"])


async def test_a_document_is_outdated_after_its_template_or_data_changed(staged: Staging) -> None:
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render")
        fresh = await stage.settled(pack)
        await stage.app.configuration.put(None, "template:letterhead", "<p>new {{ t('company') }}</p>", author="test")

        outdated = await stage.documents(pack)

        assert (fresh["offer"]["outdated"], outdated["offer"]["outdated"], outdated["checklist"]["outdated"]) == (
            False,
            True,
            False,
        )
        answer = (await stage.http.post(f"/packs/{pack}/render?outdated=true")).json()
        assert [job["doc_id"] for job in answer["jobs"]] == ["offer"]
        assert (await stage.settled(pack))["offer"]["outdated"] is False
        await stage.http.put(f"/packs/{pack}/data", json={"data": DATA | {"tasks": ["sign"]}})
        assert (await stage.documents(pack))["checklist"]["outdated"] is True


async def test_overlays_are_enforced_when_a_job_is_submitted(staged: Staging) -> None:
    """R8, R13: a lock is not only shown."""
    async with staged(workers=None) as stage:
        await stage.configure()
        pack = await stage.new_pack()
        other = await stage.new_pack()
        unlock = Overlay(doc_id="report", scope="pack", scope_id=pack, unlocked=True)
        await stage.app.packs.database.run(lambda: save_overlay("", unlock, "test"), name="test")

        unlocked = await stage.http.post(f"/packs/{pack}/render/report")
        locked = await stage.http.post(f"/packs/{other}/render/report")

        assert (unlocked.status_code, locked.status_code) == (200, 403)


async def test_another_organisations_packs_and_files_do_not_exist(staged: Staging) -> None:
    """The same body for a malformed id, an unknown one and another organisation's."""
    async with staged() as stage:
        await stage.configure("red")
        red, blue = stage.client("red"), stage.client("blue")
        pack = await stage.new_pack(red)
        await red.post(f"/packs/{pack}/render")
        offer = (await stage.settled(pack, red))["offer"]
        unknown = "0199e3c2-5b7e-7c11-9d2a-4f6b8a0c1d2e"
        requests = [
            ("GET", "/packs/{}"),
            ("GET", "/packs/{}/documents"),
            ("GET", "/packs/{}/documents/offer"),
            ("POST", "/packs/{}/render"),
            ("POST", "/packs/{}/render/offer"),
            ("POST", "/packs/{}/link"),
        ]

        for method, path in requests:
            answers = [await blue.request(method, path.format(id)) for id in (pack, unknown, "no-id")]
            assert [answer.status_code for answer in answers] == [404] * 3, path
            assert len({answer.json()["detail"] for answer in answers}) == 1
        assert (await blue.get(f"/files/{offer['file_id']}/download")).status_code == 404
        assert (await red.get(f"/files/{offer['file_id']}/download")).status_code == 200


async def test_a_users_pack_is_not_for_another_user(staged: Staging) -> None:
    """The application's server says for whom it asks; another user's pack is 403, as in design 002's product."""
    async with staged(workers=None) as stage:
        await stage.configure()
        pack = await stage.new_pack(user="u-17")

        answers = [
            await stage.http.post(f"/packs/{pack}/render", headers={"Pressroom-User": user} if user else {})
            for user in ("u-18", "u-17", "")
        ]

        assert [answer.status_code for answer in answers] == [403, 200, 200]
        job = answers[1].json()["jobs"][0]["job_id"]
        stranger = {"Pressroom-User": "u-18"}
        for method, path in (
            ("POST", f"/packs/{pack}/link"),
            ("DELETE", f"/packs/{pack}/link"),
            ("DELETE", f"/packs/{pack}"),
            ("GET", f"/packs/{pack}"),
            ("POST", f"/packs/{pack}/bundle"),
            ("GET", f"/render/jobs/{job}"),
        ):
            assert (await stage.http.request(method, path, headers=stranger)).status_code == 403, path
        assert (await stage.http.get(f"/packs/{pack}")).json()["has_link"] is False


async def test_a_link_reads_one_pack_until_it_is_withdrawn(staged: Staging) -> None:
    async with staged() as stage:
        await stage.configure()
        await stage.configure("red")
        red = stage.client("red")
        pack, other = await stage.new_pack(red), await stage.new_pack(red)
        await red.post(f"/packs/{pack}/render/offer")
        offer = (await stage.settled(pack, red))["offer"]
        stranger = stage.client(None)

        link = (await red.post(f"/packs/{pack}/link")).json()["link"]

        seen = (await stranger.get(f"/packs/{pack}/documents?link={link}")).json()["documents"]
        assert [document["doc_id"] for document in seen] == ["offer", "checklist", "report"]  # nothing that is disabled
        assert (await stranger.get(f"/packs/{other}/documents?link={link}")).status_code == 404
        assert (await stranger.get(f"/files/{offer['file_id']}/download?link={link}")).status_code == 200
        assert (await stranger.get(f"/packs/{pack}/documents")).status_code == 401
        await red.delete(f"/packs/{pack}/link")
        assert (await stranger.get(f"/packs/{pack}/documents?link={link}")).status_code == 404


async def test_data_has_versions_and_a_condition(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        pack = await stage.new_pack()

        first = await stage.http.put(f"/packs/{pack}/data", json={"data": {"a": 1}}, headers={"If-Match": '"1"'})
        same = await stage.http.put(f"/packs/{pack}/data", json={"data": {"a": 1}})
        late = await stage.http.put(f"/packs/{pack}/data", json={"data": {"a": 2}}, headers={"If-Match": '"1"'})

        assert [response.status_code for response in (first, same, late)] == [200, 200, 412]
        shown = (await stage.http.get(f"/packs/{pack}")).json()
        assert (shown["data"], shown["data_version"], len(shown["data_versions"])) == ({"a": 1}, 2, 2)


async def test_a_deleted_pack_is_gone_and_can_be_restored(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        pack = await stage.new_pack()

        assert (await stage.http.delete(f"/packs/{pack}")).status_code == 204

        assert (await stage.http.get(f"/packs/{pack}")).status_code == 404
        assert (await stage.http.post(f"/packs/{pack}/restore")).status_code == 200
        assert (await stage.http.get(f"/packs/{pack}")).status_code == 200


async def test_a_job_is_shown_in_the_words_of_design_002(staged: Staging) -> None:
    """R26, R33."""
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()
        job = (await stage.http.post(f"/packs/{pack}/render/offer")).json()["job_id"]
        offer = (await stage.settled(pack))["offer"]

        shown = (await stage.http.get(f"/jobs/{job}")).json()

        assert (shown["status"], shown["pack_id"], shown["doc_id"], shown["file_id"]) == (
            "ready",
            pack,
            "offer",
            offer["file_id"],
        )


async def test_bad_data_is_refused_with_its_reason(staged: Staging) -> None:
    async with staged(workers=None, settings=PacksSettings(max_data=1_000)) as stage:
        deep = json.loads("[" * 70 + "]" * 70)
        bodies = [
            (b'{"data": []}', 422),
            (b'{"data": {"a": NaN}}', 400),
            (b'{"data": {"a": "\\u0000"}}', 422),
            (json.dumps({"data": {"a": deep}}).encode(), 422),
            (json.dumps({"data": {"a": "x" * 1_000}}).encode(), 413),
            (b'{"data": {}, "colour": 1}', 422),
            (b'{"data": {}, "lang": "the language of Goethe"}', 422),
            (b'{"data": {', 400),
        ]

        for body, status in bodies:
            response = await stage.http.post("/packs", content=body)
            assert response.status_code == status, (body[:60], response.text)
            assert response.json()["detail"]
