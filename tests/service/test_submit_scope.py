"""Who may submit which kind from outside, by every route that submits."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pressroom import Kind, Pressroom, Schedule, Status, kind
from pressroom.api.access import Scope
from pressroom.api.submitting import may_repeat, may_submit
from pressroom.app import BUILT_IN
from pressroom.errors import InvalidArgument
from pressroom.model import Job
from pressroom.serving import make_service
from tests.service.access_stage import Stage, on_stage, shout
from tests.web.browsing import Person, member

# Every kind that Pressroom registers, with its `submit_scope`.
SCOPES = {
    "render": "submitter",
    "diagram": "submitter",
    "webhook": None,
    "desk.bulk": None,
    "wiki.render": None,
    "wiki.rerender": None,
    "packs.render": None,
    "packs.bundle": None,
    "packs.batch": None,
    "packs.purge": None,
    "docs.build_processing": None,
    "docs.edition_update": None,
    "docs.dashboard_sync": None,
    "docs.lifecycle_eval": None,
    "docs.git_ref_audit": None,
    "docs.purgatory_cleanup": None,
    "docs.credential_rewrap": None,
    "docs.reconcile": None,
}
INTERNAL = [name for name, scope in SCOPES.items() if scope is None]


@kind("locked", submit_scope="admin")
def locked(job: object, payload: Any) -> Any:
    return payload


def inner(job: object, payload: Any) -> Any:
    return payload


@asynccontextmanager
async def stage_with(database: str, *kinds: Kind, schedules: list[Schedule] | None = None) -> AsyncIterator[Stage]:
    options = {"listen": "0.0.0.0:8000", "rate_limit": 0, "rate_limit_address": 0, "login_limit": 0}
    async with Pressroom(database, kinds=kinds, apps=BUILT_IN, schedules=schedules or (), workers=1, **options) as press:
        yield Stage(press, *make_service(press))


async def ended_job(stage: Stage, name: str, org: str | None = "ours") -> Job:
    payload = {"any": "payload", "build": "none"}  # a settling hook may read what it is about
    job = await stage.press.submit(name, payload, org_id=org, delay=3600)
    return await stage.press.cancel(job)


async def jobs_in(stage: Stage) -> int:
    return len((await stage.press.list(limit=500)).jobs)


async def test_every_kind_that_is_registered_says_who_may_submit_it(file: str) -> None:
    async with Pressroom(file, workers=None) as press:
        assert {name: one.submit_scope for name, one in press.kinds.items()} == SCOPES, (
            "add a new kind to SCOPES in this file, with the scope of token that may submit it over HTTP, or None for code of "
            "the process alone"
        )


def test_a_kind_is_for_its_own_code_and_a_decorated_one_for_submitters() -> None:
    assert Kind("inner", inner).submit_scope is None
    assert shout.submit_scope == "submitter"
    assert locked.submit_scope == "admin"
    with pytest.raises(InvalidArgument, match="submit_scope is submitter, operator, admin"):
        kind("wrong", submit_scope="viewer")(inner)


@pytest.mark.parametrize("name", INTERNAL)
@pytest.mark.parametrize("scope", [Scope.SUBMITTER, Scope.OPERATOR, Scope.ADMIN])
async def test_an_internal_kind_is_not_submitted_over_http(file: str, name: str, scope: Scope) -> None:
    async with on_stage(file, works=False) as stage, stage.client(await stage.token(scope, everywhere=True)) as client:
        answer = await client.post("/jobs", json={"kind": name, "payload": {"which": "all", "who": "somebody else"}})

        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert name in answer.json()["detail"]
        assert await jobs_in(stage) == 0


async def test_the_wikis_and_the_dashboards_own_jobs_cannot_be_forged(database: str) -> None:
    forged = [
        {"kind": "wiki.rerender", "payload": {"which": "all"}},
        {"kind": "desk.bulk", "payload": {"action": "cancel", "wanted": {}, "up_to": 9**9, "as_of": 9**12, "who": "the admin"}},
    ]
    async with on_stage(database) as stage, stage.client(await stage.token(Scope.SUBMITTER, "ours")) as client:
        answers = [(await client.post("/jobs", json=body, headers={"Idempotency-Key": "k"})).status_code for body in forged]
        allowed = await client.post("/jobs", json={"kind": "shout", "payload": 1})

    assert answers == [403, 403]
    assert allowed.status_code == 202


async def test_a_kind_may_ask_for_more_than_a_submitter(database: str) -> None:
    async with stage_with(database, locked) as stage:
        answers = {}
        for scope in Scope:
            async with stage.client(await stage.token(scope, "ours")) as client:
                answers[scope] = (await client.post("/jobs", json={"kind": "locked", "payload": 1})).status_code

    assert answers == {Scope.VIEWER: 403, Scope.SUBMITTER: 403, Scope.OPERATOR: 403, Scope.ADMIN: 202}


@pytest.mark.parametrize("name", [*INTERNAL, "inner"])
async def test_an_internal_job_is_retried_by_operators_only(file: str, name: str) -> None:
    """Its payload is the one that our own code made; what it starts is still more than a submitter may."""
    async with stage_with(file, Kind("inner", inner)) as stage:
        old = await ended_job(stage, name)
        answers = {}
        for scope in (Scope.SUBMITTER, Scope.OPERATOR):
            async with stage.client(await stage.token(scope, "ours")) as client:
                answers[scope] = (await client.post(f"/jobs/{old}/retry")).status_code

    assert answers == {Scope.SUBMITTER: 403, Scope.OPERATOR: 202}


async def test_a_job_of_a_kind_that_is_not_known_here_is_retried_by_operators_only(file: str) -> None:
    async with Pressroom(file, kinds=[shout], workers=None) as elsewhere:
        old = await elsewhere.cancel(await elsewhere.submit("shout", "hi", org_id="ours"))
    async with stage_with(file) as stage:
        answers = {}
        for scope in (Scope.SUBMITTER, Scope.OPERATOR):
            async with stage.client(await stage.token(scope, "ours")) as client:
                answers[scope] = (await client.post(f"/jobs/{old}/retry")).status_code

    assert answers == {Scope.SUBMITTER: 403, Scope.OPERATOR: 202}


async def test_pages_retry_and_clone_only_what_may_be_submitted(database: str) -> None:
    async with (
        stage_with(database, shout, Kind("inner", inner)) as stage,
        member(stage, Scope.SUBMITTER, "ours") as submitter,
        member(stage, Scope.OPERATOR, "ours") as operator,
    ):
        old, own = await ended_job(stage, "inner"), await ended_job(stage, "shout")
        before = await jobs_in(stage)
        refused = [await tried(submitter, old, "retry"), await tried(submitter, old, "clone")]
        refused += [await tried(operator, old, "clone"), (await operator.get(f"/desk/jobs/{old}/clone")).status_code]
        unchanged = await jobs_in(stage)
        pages = [(await person.get(f"/desk/jobs/{old}")).text for person in (submitter, operator)]
        offered = (await submitter.get(f"/desk/jobs/{own}")).text

        assert refused == [403] * 4
        assert unchanged == before
        assert [(f"{old}/retry" in page, f"{old}/clone" in page) for page in pages] == [(False, False), (True, False)]
        assert f"{own}/retry" in offered
        assert f"{own}/clone" in offered
        assert await tried(operator, old, "retry") == 303


async def tried(person: Person, job: Job, action: str) -> int:
    fields = {"subject": "", "key": "", "tier": "background", "max_attempts": "1", "payload": '{"forged": true}'}
    return (await person.post(f"/desk/jobs/{job}/{action}", fields)).status_code


async def test_a_bulk_retry_leaves_out_kinds_that_need_more(database: str) -> None:
    async with stage_with(database, shout, locked) as stage, member(stage, Scope.OPERATOR, "ours") as operator:
        for name in ("shout", "locked"):
            await ended_job(stage, name)
        page = await operator.get("/desk/bulk?action=retry&status=cancelled", follow_redirects=True)
        fields = dict(page.request.url.params.multi_items()) | {"decided": "1"}
        answer = await operator.post("/desk/bulk", fields)
        job = answer.headers["location"].rpartition("/")[2]
        ended = await stage.press.wait_until_ended(job, timeout=60)

    assert "its kind needs another scope" in page.text
    assert ended.status is Status.COMPLETED
    assert ended.result["requeued"] == 1
    assert ended.result["why"] == {"its kind needs another scope": 1}


async def test_a_schedule_is_run_by_hand_by_who_may_submit_its_kind(file: str) -> None:
    nightly = [Schedule("nightly", "0 2 * * *", "locked"), Schedule("hourly", "0 * * * *", "inner")]
    async with (
        stage_with(file, locked, Kind("inner", inner), schedules=nightly) as stage,
        member(stage, Scope.OPERATOR, everywhere=True) as operator,
    ):
        answers = [(await operator.post("/desk/schedules/run", {"name": one.name})).status_code for one in nightly]

    assert answers == [403, 303]


async def test_what_a_page_offers_is_what_a_route_accepts(file: str) -> None:
    async with on_stage(file, works=False) as stage:
        caller = (await stage.press.tokens.lookup(await stage.token(Scope.SUBMITTER, "ours"))) or pytest.fail("no caller")
        kinds = stage.press.kinds
        offered = {name: (may_submit(caller, kinds, name), may_repeat(caller, kinds, name)) for name in kinds}

    assert offered == {name: (SCOPES.get(name, "submitter") is not None,) * 2 for name in kinds}
