"""`/queue/jobs`: what a caller reads of a job (Q37), and whose jobs exist for them (D32)."""

from typing import Any

from pressroom.model import GaveUp, PartlySucceeded, Retry, Work
from pressroom.store.jobs import claiming, progress
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement, settle
from tests.apps.docs.http_stage import DocsStage, code_of, docs_stage, send

BUILD = "docs.build_processing"
ERROR = {"attempt": 1, "code": "handler_error", "message": "it broke", "detail": "a traceback"}
LEASE = 86_400_000


async def write[T](stage: DocsStage, unit: Work[T]) -> T:
    return await stage.app.core.database.run(lambda: unit, name="test")


async def claim(stage: DocsStage, kind: str = BUILD) -> Any:
    (claimed,) = await write(stage, claiming.claim("press-1.1.A", [kind], FreeSlots(1, 1), LEASE))
    return claimed


async def end(stage: DocsStage, claimed: Any, outcome: Any) -> None:
    await write(stage, settle([Settlement(claimed, outcome)], {}))


async def submit(stage: DocsStage, org: str = "red", kind: str = BUILD, **fields: Any) -> str:
    project = await stage.app.projects.get(org, "guide")
    submitted = await stage.press.submit(kind, {}, org_id=org, project_id=project.id, subject=f"{org}/guide: main", **fields)
    return submitted.uid


async def test_q37_a_job_is_told_in_the_words_of_the_design(database: str) -> None:
    """Status, phase, progress, errors and three dates; each edition by what became of it."""
    async with docs_stage(database) as stage:
        await stage.furnish("red")
        reader = stage.client("red-reader")
        uid = await submit(stage)
        waiting = await send(reader, "GET", f"/queue/jobs/{uid}")
        claimed = await claim(stage)
        held = (claimed.id, claimed.token)
        await write(stage, progress.begin_phase(*held, "inventory", {"message": "Cataloging 3 objects"}))
        inventory = await send(reader, "GET", f"/queue/jobs/job_{uid.lower()}")
        names = ["__main", "2", "2.1"]
        await write(stage, progress.begin_items(*held, "editions", "editions", names, None))
        await write(stage, progress.move_item(*held, "editions", "__main", "completed", None))
        await write(stage, progress.move_item(*held, "editions", "2.1", "failed", "the KV does not answer"))
        editions = await send(reader, "GET", f"/queue/jobs/{uid}")
        await write(stage, progress.begin_phase(*held, "dashboard", {"message": "Rendering"}))
        dashboard = await send(reader, "GET", f"/queue/jobs/{uid}")
        partial = {"attempt": 1, "code": "partial", "message": "1 of 3 editions failed"}
        await end(stage, claimed, PartlySucceeded('{"editions_skipped": [{"slug": "1", "reason": "older"}]}', partial))
        ended = await send(reader, "GET", f"/queue/jobs/{uid}")

        assert (waiting["id"], waiting["kind"], waiting["status"]) == (uid, "build_processing", "queued")
        assert (waiting["phase"], waiting["progress"], waiting["errors"]) == (None, None, None)
        assert waiting["date_created"]
        assert waiting["date_started"] is waiting["date_completed"] is None
        assert (inventory["phase"], inventory["progress"]) == ("inventory", {"message": "Cataloging 3 objects"})
        shown = {
            "editions_total": 3,
            "editions_completed": ["__main"],
            "editions_failed": [{"slug": "2.1", "error": "the KV does not answer"}],
            "editions_in_progress": ["2"],
        }
        assert (editions["phase"], editions["status"], editions["progress"]) == ("editions", "in_progress", shown)
        assert dashboard["progress"] == shown | {"message": "Rendering"}
        assert (ended["status"], ended["progress"]["editions_failed"]) == ("completed_with_errors", shown["editions_failed"])
        assert ended["progress"]["editions_skipped"] == [{"slug": "1", "reason": "older"}]
        assert (ended["errors"]["message"], ended["errors"]["type"]) == ("1 of 3 editions failed", "partial")
        assert ended["date_started"]
        assert ended["date_completed"]


async def test_q37_errors_are_an_object_with_those_of_all_attempts_and_no_traceback(database: str) -> None:
    async with docs_stage(database) as stage:
        await stage.furnish("red")
        uid = await submit(stage)
        await end(stage, await claim(stage), Retry(ERROR, 0.0))
        await end(stage, await claim(stage), GaveUp(ERROR | {"attempt": 2, "message": "it broke again"}))
        told = await stage.client("red-reader").get(f"/queue/jobs/{uid}")

        errors = told.json()["errors"]
        assert (errors["message"], errors["type"]) == ("it broke again", "handler_error")
        assert [one["attempt"] for one in errors["attempts"]] == [1, 2]
        assert "traceback" not in told.text


async def test_d32_a_job_of_another_organisation_is_one_that_never_was(database: str) -> None:
    async with docs_stage(database) as stage:
        await stage.furnish("red", "blue")
        uid = await submit(stage, "blue")
        red = stage.client("red-admin")
        for method, path in (("GET", ""), ("POST", "/cancel"), ("POST", "/retry")):
            theirs = await red.request(method, f"/queue/jobs/{uid}{path}")
            never = await red.request(method, f"/queue/jobs/{uid[:-1]}{'0' if uid[-1] != '0' else '1'}{path}")

            assert (theirs.status_code, theirs.json()["detail"]) == (404, never.json()["detail"])
        assert (await red.get("/queue/jobs")).json() == (await red.get("/queue/jobs?org=blue")).json() == []
        assert (await send(stage.client("blue-reader"), "GET", f"/queue/jobs/{uid}"))["status"] == "queued"
        assert [one["id"] for one in await send(stage.client(), "GET", "/queue/jobs?org=blue")] == [uid]


async def test_jobs_of_other_apps_and_ids_that_are_none_are_not_found(file: str) -> None:
    async with docs_stage(file) as stage:
        await stage.furnish("red")
        other = await stage.press.submit("render", {"language": "dot", "output": "svg", "source": "digraph {}"}, org_id="red")

        for id in (other.uid, "x", "%00", "0" * 26, "job_" + "Z" * 26):
            assert await code_of(stage.client(), "GET", f"/queue/jobs/{id}") == (404, "not_found")
        assert await send(stage.client(), "GET", "/queue/jobs") == []


async def test_jobs_are_listed_by_kind_status_project_and_age(database: str) -> None:
    async with docs_stage(database) as stage:
        await stage.furnish("red", "blue")
        build, update = await submit(stage), await submit(stage, kind="docs.edition_update")
        theirs = await submit(stage, "blue")
        reader, root = stage.client("red-reader"), stage.client()
        project = (await stage.app.projects.get("red", "guide")).id
        queries: dict[str, list[str]] = {
            "": [update, build],
            "kind=edition_update": [update],
            "kind=docs.edition_update": [],
            "status=queued": [update, build],
            "status=failed": [],
            "project=guide": [update, build],
            f"project={project}": [update, build],
            "project=none": [],
            "max_age=3600": [update, build],
            "max_age=0": [],
        }
        for query, expected in queries.items():
            assert [one["id"] for one in await send(reader, "GET", f"/queue/jobs?{query}")] == expected, query
        assert [one["id"] for one in await send(root, "GET", "/queue/jobs")] == [theirs, update, build]
        first = await root.get("/queue/jobs?limit=2")
        rest = await root.get(first.headers["link"].partition("<")[2].partition(">")[0])
        assert [one["id"] for one in first.json() + rest.json()] == [theirs, update, build]
        for query in (
            "status=done",
            "status=",
            "max_age=x",
            "max_age=-1",
            "cursor=x",
            "cursor=",
            "cursor=&org=blue",
            "limit=0",
        ):
            assert await code_of(reader, "GET", f"/queue/jobs?{query}") == (422, "invalid_argument")


async def test_a_job_is_cancelled_and_run_again(database: str) -> None:
    """By uploaders and above; to run again what only our own code submits needs an admin."""
    async with docs_stage(database) as stage:
        await stage.furnish("red")
        uid = (await stage.upload())["queue_url"].rpartition("/")[2]
        reader, uploader, admin = (stage.client(f"red-{role}") for role in ("reader", "uploader", "admin"))
        refused = await code_of(reader, "POST", f"/queue/jobs/{uid}/cancel")
        early = await code_of(admin, "POST", f"/queue/jobs/{uid}/retry")
        cancelled = await send(uploader, "POST", f"/queue/jobs/{uid}/cancel")
        twice = await send(uploader, "POST", f"/queue/jobs/{uid}/cancel")
        retried = await admin.post(f"/queue/jobs/{uid}/retry")

        assert (refused, early) == ((403, "forbidden"), (409, "not_finished"))
        assert cancelled["status"] == twice["status"] == "cancelled"
        assert await code_of(reader, "POST", f"/queue/jobs/{uid}/retry") == (403, "forbidden")
        again = retried.json()
        assert (retried.status_code, again["retry_of"], again["status"]) == (202, uid, "queued")
        assert retried.headers["location"] == again["self_url"]
