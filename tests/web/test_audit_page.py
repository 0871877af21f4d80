"""The audit: every change that was made at the desk, for those whom it concerns."""

import pytest

from pressroom.api.access import Scope
from pressroom.store.operators.audit import AuditEntry, record
from pressroom.web.pages.audit import list_changes
from tests.service.access_stage import Stage, on_stage
from tests.web.browsing import Page, member


async def write(stage: Stage, **deed: object) -> None:
    unit = record(AuditEntry(**({"who": "anna", "action": "job.cancel", "target": "job_1"} | deed)))  # type: ignore[arg-type]
    await stage.press.rendering.database.run(lambda: unit, name="audit")


async def test_the_newest_come_first_with_what_they_changed(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, Scope.OPERATOR, "acme") as person:
        await write(
            stage,
            org_id="acme",
            target="the first",
            before={"status": "queued", "same": 1},
            after={"status": "cancelled", "same": 1},
        )
        await write(stage, org_id="acme", target="the second", after={"slots": 3})
        words = Page((await person.get("/desk/audit")).text).words

    assert words.index("the second") < words.index("the first")
    assert "queued" in words
    assert "cancelled" in words
    assert "same" not in words, "what did not change is left out"


async def test_each_sees_the_deeds_of_their_own_organisation(database: str) -> None:
    async with (
        on_stage(database, works=False) as stage,
        member(stage, Scope.OPERATOR, "acme") as anna,
        member(stage, Scope.OPERATOR) as of_none,
        member(stage, Scope.ADMIN, everywhere=True) as operator,
    ):
        await write(stage, org_id="acme", target="of acme")
        await write(stage, org_id="other", target="of others")
        await operator.post("/desk/tokens", {"scope": "viewer", "lifetime": "1d", "org": "other", "name": "canary"})
        seen = [(await person.get("/desk/audit")).text for person in (anna, of_none, operator)]

    assert ["of acme" in page for page in seen] == [True, False, True]
    assert ["of others" in page for page in seen] == [False, False, True]
    assert ["canary" in page for page in seen] == [False, False, True], (
        "who stands above all is not of the default organisation"
    )


@pytest.mark.parametrize("query", ["who=anna", "action=job.retry", "target=job_7", "who=anna&action=job.retry&target=job_7"])
async def test_a_filter_is_exact_and_in_the_address(database: str, query: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as person:
        await write(stage, who="anna", action="job.retry", target="job_7", after="wanted")
        await write(stage, who="ann", action="job", target="job_77", after="unwanted")
        page = (await person.get(f"/desk/audit?{query}")).text
        none = (await person.get("/desk/audit?who=nobody")).text

    assert "wanted" in page
    assert "unwanted" not in page
    assert "Nothing matches" in none


async def test_pages_leave_nothing_out(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pressroom.web.pages.audit.PAGE_SIZE", 3)
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as person:
        for number in range(7):
            await write(stage, target=f"number-{number}", who="anna & <b>co</b>")
        seen, path = [], "/desk/audit?who=anna %26 <b>co</b>"
        while path:
            page = Page((await person.get(path)).text)
            seen += [word for word in page.words.split() if word.startswith("number-")]
            older = [attributes["href"] for _, attributes in page.elements if attributes.get("rel") == "next"]
            path = str(older[0]) if older else ""

    assert seen == [f"number-{number}" for number in reversed(range(7))]


async def test_odd_filters_are_told_in_words(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage) as person:
        for query in ("cursor=x", "cursor=99999999999999999999", "who=" + "x" * 600, "action=%00", "target=%1b"):
            answer = await person.get(f"/desk/audit?{query}")

            assert answer.status_code == 422, query
            assert "<h1>" in answer.text


async def test_a_viewer_does_not_see_it(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, Scope.SUBMITTER) as person:
        assert (await person.get("/desk/audit")).status_code == 403


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (None, None, []),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, [("b", "2", "3")]),
        ({"a": 1}, None, [("a", "1", None)]),
        (None, {"a": [1, "ü"]}, [("a", None, '[1, "ü"]')]),
        ({"a": None}, {}, [("a", "null", None)]),
        ("queued", "cancelled", [("", "queued", "cancelled")]),
        (3, {"a": 1}, [("", "3", '{"a": 1}')]),
        ({"a": "x" * 1000}, {}, [("a", "x" * 300 + "…", None)]),
    ],
)
def test_a_change_is_told_part_by_part(before: object, after: object, shown: list[object]) -> None:
    assert list_changes(before, after) == shown
