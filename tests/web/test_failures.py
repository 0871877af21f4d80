"""The pages of failures."""

import re

import pytest

from pressroom.api.access import Scope
from pressroom.base.failure_signature import failure_signature
from pressroom.model import GaveUp
from tests.service.queue_stage import Floor, floor
from tests.web.browsing import member


def wrong(message: str, **more: object) -> GaveUp:
    return GaveUp({"code": "source_invalid", "message": message, "attempt": 1, **more})


async def fill(stage: Floor) -> None:
    await stage.end(wrong("bad arrow at 1", line=2, column=3, excerpt="a ->"), subject="one", payload={"source": "a\na ->\nb"})
    await stage.end(wrong("bad arrow at 2"), org_id="theirs", subject="secret-subject")
    await stage.end(wrong("late by 3 s"), name="page")


ARROW, LATE = (
    failure_signature("build", "source_invalid", "bad arrow at 9"),
    failure_signature("page", "source_invalid", "late by 1 s"),
)


async def test_failures_are_shown_by_what_they_have_in_common(database: str) -> None:
    async with floor(database) as stage:
        await fill(stage)
        async with member(stage, everywhere=True) as admin:
            page = (await admin.get("/desk/failures")).text
            counted = (await admin.get("/desk/failures?sort=count&window=all")).text
            of_kind = (await admin.get("/desk/failures?kind=page&window=1h")).text

    assert "bad arrow at …" in page
    assert page.index("late by …") < page.index("bad arrow at …")
    assert counted.index("bad arrow at …") < counted.index("late by …")
    assert "bad arrow" not in of_kind
    for way in (f"/desk/jobs?failure={ARROW}", f"/desk/bulk?action=retry&amp;failure={ARROW}", "kind=page&amp;status=queued"):
        assert way in page


async def test_a_group_tells_where_and_whom(database: str) -> None:
    async with floor(database) as stage:
        await fill(stage)
        async with member(stage, everywhere=True) as admin:
            answer = await admin.get(f"/desk/failures/{ARROW}")

    assert answer.status_code == 200
    assert "secret-subject" in answer.text
    assert re.search(r'class="wrong">\s+2 ▶ a -&gt;', answer.text)


async def test_members_see_their_own_only(database: str) -> None:
    async with floor(database) as stage:
        await fill(stage)
        async with member(stage, Scope.VIEWER, "theirs") as them:
            page = (await them.get("/desk/failures?org=other")).text
            group = (await them.get(f"/desk/failures/{ARROW}")).text
            hidden, never = [await them.get(f"/desk/failures/{one}") for one in (LATE, "0" * 16)]

    assert "bad arrow" in page
    assert "late by" not in page
    assert "action=retry" not in page
    assert "secret-subject" in group
    assert ">one<" not in group
    assert hidden.status_code == never.status_code == 404
    assert "there are no failures" in hidden.text


@pytest.mark.parametrize("asked", ["window=2h", "sort=size", "page=0", "page=x", "kind=" + "k" * 101, "org=%00"])
async def test_what_cannot_be_asked_is_said(file: str, asked: str) -> None:
    async with floor(file) as stage, member(stage, everywhere=True) as admin:
        for path in ("/desk/failures", f"/desk/failures/{ARROW}"):
            answer = await admin.get(f"{path}?{asked}")
            assert answer.status_code == 422
            assert "is one of" in answer.text or "number" in answer.text or "letters" in answer.text


async def test_nothing_failed_and_no_such_group(database: str) -> None:
    async with floor(database) as stage, member(stage, everywhere=True) as admin:
        assert "Nothing here." in (await admin.get("/desk/failures?window=all")).text
        assert (await admin.get("/desk/failures/nonsense")).status_code == 404
