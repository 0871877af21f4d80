"""The queues: everybody may look, those who run the whole place may change them, and each change is in the audit."""

from functools import partial
from itertools import product
from typing import Any

from pressroom.api.access import Scope
from pressroom.store.operators import audit, figures
from tests.service.queue_stage import BAD, GOOD, Floor, floor
from tests.web.browsing import Page, member
from tests.web.test_overview import lines

CHANGES = [("pause", {}), ("resume", {}), ("scale", {"slots": "3"})]


async def deeds(here: Floor) -> list[Any]:
    found = await here.press._database.read(audit.list_entries)
    return [(deed.action, deed.target, deed.before, deed.after) for deed in reversed(found)]


async def state(here: Floor, name: str = "build") -> tuple[bool, int | None]:
    kind = await here.press._database.read(partial(figures.kind, name))
    return kind.paused, kind.slots


async def test_every_kind_is_told_with_its_figures(database: str) -> None:
    async with floor(database) as here, member(here, Scope.VIEWER, everywhere=True) as person:
        await here.end(GOOD)
        await here.end(BAD)
        await here.start("build")
        await here.press.submit("build", delay=60)
        await here.press.scale("build", 5)
        await here.press.pause("tidy")

        page = await person.get("/desk/queues")

    told = lines(page.text)
    assert "build ✓ on 1 0 ready now 1 2 1 5" in told
    assert "tidy ❚❚ paused 0 none 0 0 0 no limit" in told
    assert not [attributes for tag, attributes in Page(page.text).elements if "/desk/queues/" in str(attributes.get("action"))]


async def test_an_operator_pauses_resumes_and_limits_a_kind_and_the_audit_knows(database: str) -> None:
    async with floor(database) as here, member(here, Scope.OPERATOR, everywhere=True) as person:
        paused = await person.post("/desk/queues/pause", {"kind": "build"})
        assert await state(here) == (True, None)
        await person.post("/desk/queues/resume", {"kind": "build"})
        assert await state(here) == (False, None)
        await person.post("/desk/queues/scale", {"kind": "build", "slots": " 3 "})
        assert await state(here) == (False, 3)
        await person.post("/desk/queues/scale", {"kind": "build", "slots": ""})
        assert await state(here) == (False, None)
        page = await person.get("/desk/queues")
        done = await deeds(here)

    assert (paused.status_code, paused.headers["location"]) == (303, "/desk/queues")
    assert "build runs without a limit." in page.text
    assert {"/desk/queues/pause", "/desk/queues/scale"} <= Page(page.text).addresses
    assert done == [
        ("queue.pause", "build", {"paused": False}, {"paused": True}),
        ("queue.resume", "build", {"paused": True}, {"paused": False}),
        ("queue.scale", "build", {"slots": None}, {"slots": 3}),
        ("queue.scale", "build", {"slots": 3}, {"slots": None}),
    ]


async def test_who_may_not_changes_nothing(file: str) -> None:
    """A kind is everybody's, so the operator of one organisation may not stop it for the others."""
    async with (
        floor(file) as here,
        member(here, Scope.SUBMITTER, everywhere=True) as submitter,
        member(here, Scope.ADMIN, "acme") as admin,
    ):
        for what, fields in CHANGES:
            answers = [await one.post(f"/desk/queues/{what}", {"kind": "build"} | fields) for one in (submitter, admin)]
            assert [answer.status_code for answer in answers] == [403, 403]
            assert "--all-orgs" in answers[1].text
        page = await admin.get("/desk/queues")

        assert not [one for one in Page(page.text).addresses if one.startswith("/desk/queues/")]
        assert await state(here) == (False, None)
        assert await deeds(here) == []


async def test_a_kind_that_nobody_registered_is_not_there(database: str) -> None:
    async with floor(database) as here, member(here, Scope.OPERATOR, everywhere=True) as person:
        for kind, (what, fields) in product(["", "no such kind", "build\0", "<b>", "x" * 5000], CHANGES):
            answer = await person.post(f"/desk/queues/{what}", {"kind": kind} | fields)
            assert answer.status_code == 404
            assert "there is no kind" in answer.text
            assert "<b>" not in answer.text
        assert await deeds(here) == []


async def test_slots_that_cannot_be_are_refused_in_words(file: str) -> None:
    async with floor(file) as here, member(here, Scope.OPERATOR, everywhere=True) as person:
        for slots in ("0", "-1", "1.5", "many", "1000001", "9" * 5000, "٣"):
            answer = await person.post("/desk/queues/scale", {"kind": "build", "slots": slots})
            assert answer.status_code == 422
            assert "a whole number from 1 to 1,000,000, or empty for no limit" in answer.text
        assert await state(here) == (False, None)
