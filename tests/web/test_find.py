"""One box for whatever somebody has in hand. What is another organisation's is not there."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from pressroom.api.access import Scope
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.ids import as_uuid
from pressroom.store.engine.statements import load
from pressroom.testing import SteppedStore
from tests import looking
from tests.service.access_stage import Stage, on_stage
from tests.web.browsing import Page, Person, member

SOURCE = "digraph { a -> b }"
HOOK = "https://8.8.8.8/hooks"


@dataclass
class Things:
    """What one organisation has, by the words that name it, each with the page of it."""

    stage: Stage
    pages: dict[str, str]


@asynccontextmanager
async def things(database: str, org: str | None = "acme") -> AsyncIterator[Things]:
    async with on_stage(database, base_url="http://pressroom/press") as stage:
        press = stage.press
        rendered = await press.wait_until_ended(await press.render("dot", SOURCE, output="svg", org_id=org), timeout=60)
        assert rendered.result is not None, rendered
        artifact = await press.artifact(rendered.result["artifact"])
        link = rendered.result["short_link"]
        failed = await press.submit("shout", "fail", max_attempts=1, key="the key", subject="the subject", org_id=org)
        await press.wait_until_ended(failed, timeout=60)
        for _ in range(2):
            await press.submit("shout", 1, delay=3600, subject="of many", org_id=org)
        hook, _ = await press.webhooks.add(org, HOOK, ["job.failed"], None)
        delivery = await press.webhooks.test(hook)
        owed = f"/desk/webhooks/deliveries/msg_{delivery.uid}"
        job, ((fingerprint,),) = (
            f"/desk/jobs/job_{rendered.uid}",
            looking.rows(database, "SELECT fingerprint FROM render_cache"),
        )
        yield Things(
            stage,
            {
                f"job_{rendered.uid}": job,
                rendered.uid: job,
                f"  {rendered.uid.lower()} ": job,
                str(as_uuid(rendered.uid)): job,
                artifact.uid: job,
                link: job,
                link.upper(): job,
                str(artifact.sha256): job,
                f"sha256:{artifact.sha256}": job,
                fingerprint: job,
                f"http://pressroom/press/d/{link}": job,
                f"http://pressroom/press/d/{link}.svg": job,
                f"/jobs/job_{rendered.uid}/events": job,
                f"http://pressroom/press/artifacts/{artifact.uid}?download=1": job,
                "the key": f"/desk/jobs/job_{failed.uid}",
                "the subject": f"/desk/jobs/job_{failed.uid}",
                "of many": "/desk/jobs?subject=of+many",
                f"wh_{hook.uid}": f"/desk/webhooks/wh_{hook.uid}",
                f"/webhooks/wh_{hook.uid}": f"/desk/webhooks/wh_{hook.uid}",
                f"msg_{delivery.uid}": owed,
                f"http://pressroom/press/webhooks/deliveries/msg_{delivery.uid}": owed,
            },
        )


async def led(person: Person, word: str) -> str:
    answer = await person.get("/desk/find", params={"q": word})
    return answer.headers.get("location", f"{answer.status_code}").removeprefix("/press")


async def test_every_word_leads_to_its_page_and_is_nothing_to_others(database: str) -> None:  # A2
    async with (
        things(database) as ours,
        member(ours.stage, Scope.OPERATOR, "acme") as anna,
        member(ours.stage, Scope.ADMIN, everywhere=True) as operator,
        member(ours.stage, Scope.ADMIN, "other") as other,
        member(ours.stage, Scope.ADMIN) as of_none,
    ):
        for person in (anna, operator):
            assert {word: await led(person, word) for word in ours.pages} == ours.pages
        for person in (other, of_none):
            assert {word: await led(person, word) for word in ours.pages} == dict.fromkeys(ours.pages, "200")
            answer = await person.get("/desk/find", params={"q": "the key"})
            assert "Nothing is called" in answer.text


async def test_webhooks_are_not_found_by_those_who_may_not_see_them(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, Scope.VIEWER, "acme") as viewer:
        hook, _ = await stage.press.webhooks.add("acme", HOOK, ["job.failed"], None)
        assert await led(viewer, f"wh_{hook.uid}") == "200"


async def test_a_group_of_failures_is_found_by_its_print(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, Scope.VIEWER, "acme") as ours, member(stage) as theirs:
        job = await stage.press.submit("shout", "x", org_id="acme")
        looking.change(
            database, f"INSERT INTO job_failure SELECT id, '0123456789abcdef', NULL FROM job WHERE uid = '{job.uid}'"
        )

        assert await led(ours, "0123456789ABCDEF") == "/desk/failures/0123456789abcdef"
        assert await led(theirs, "0123456789abcdef") == "200"


async def test_a_named_diagram_leads_to_the_playground(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, Scope.VIEWER, "acme") as person, member(stage) as other:
        async with stage.client(await stage.token(Scope.OPERATOR, "acme")) as client:
            made = await client.put("/diagrams/team-map", json={"source": SOURCE, "format": "dot"})
            assert made.status_code < 300, made.text
        link = made.json()["embed"].partition("?key=")[2]

        for word in ("team-map", link, "/diagrams/team-map", "/a/team-map.svg", "http://pressroom/a/team-map@1.png?key=x"):
            assert await led(person, word) == "/playground/names/team-map", word
            assert await led(other, word) == "200", word


async def test_a_worker_is_found_by_its_name(database: str) -> None:
    async with (
        on_stage(database) as stage,
        member(stage, Scope.VIEWER, "acme") as person,
        member(stage, everywhere=True) as all_of_it,
    ):
        (worker,) = await stage.press.members()

        assert await led(person, worker.id) == f"/desk/workers#{worker.id}".replace(":", "%3A")
        assert await led(all_of_it, worker.host) == f"/desk/workers#{worker.id}".replace(":", "%3A")
        assert await led(person, worker.host) == "200", "whose machines these are is not for everybody"


async def test_a_token_is_found_by_its_beginning(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, Scope.ADMIN, "acme") as admin, member(stage) as other:
        token = next(one for one in await stage.press.tokens.all() if one.org_id == "acme")

        path = await led(admin, token.prefix)
        assert path == f"/desk/tokens?state=all&name={token.uid}"
        assert token.prefix in (await admin.get(path)).text
        assert await led(other, token.prefix) == "200"


async def test_a_page_of_ours_is_gone_to_as_it_is(file: str) -> None:
    async with on_stage(file, works=False, base_url="http://pressroom/press") as stage, member(stage) as person:
        for word, path in (
            ("http://pressroom/press/desk/jobs?status=failed", "/desk/jobs?status=failed"),
            ("/desk/queues", "/desk/queues"),
            ("/press/playground", "/playground"),
        ):
            assert await led(person, word) == path


@pytest.mark.parametrize(
    "word", ["https://evil.example/desk/jobs", "http://evil.example", "//evil.example/desk", "https://pressroom.evil.example/"]
)
async def test_nothing_leads_elsewhere(file: str, word: str) -> None:  # C: open redirect
    async with on_stage(file, works=False) as stage, member(stage) as person:
        answer = await person.get("/desk/find", params={"q": word})

    assert answer.status_code == 200
    assert not [link for link in Page(answer.text).addresses if "evil" in link]


async def test_several_things_of_one_name_are_listed(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, Scope.VIEWER, "acme") as person:
        first = await stage.press.submit("shout", 1, key="twins", org_id="acme")
        second = await stage.press.submit("shout", 2, subject="twins", org_id="acme")
        page = Page((await person.get("/desk/find", params={"q": "twins"})).text)

    assert page.addresses >= {f"/desk/jobs/job_{first.uid}", f"/desk/jobs/job_{second.uid}"}


@pytest.mark.parametrize("word", ["", "   "])
async def test_nothing_asked_explains_what_can_be_found(file: str, word: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as person:
        answer = await person.get("/desk/find", params={"q": word})

    assert answer.status_code == 200
    assert "What can be found" in answer.text


async def test_odd_words_are_told_in_words(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage) as person:
        for word in ("x" * 3000, "a\x00b", "a\nb", "\x1b[31m"):
            answer = await person.get("/desk/find", params={"q": word})

            assert answer.status_code == 422, word
            assert "printable characters" in answer.text


async def test_what_is_not_there_is_said_not_to_be(database: str) -> None:
    odd = ["%", "'", '"; DROP TABLE job', "/", "/d/", "/a", "//", "ⅷ", "wh_", "msg_", "pr_"]
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as person:
        for word in [*odd, "a" * 64, "f" * 16, "z" * 13, "0" * 26, "8" * 26]:
            answer = await person.get("/desk/find", params={"q": word})

            assert answer.status_code == 200, word
            assert "What can be found" in answer.text


LOOKUPS = re.compile(
    r"(^|\.)(lookup_|list_tokens_page|list_deliveries_page|find_delivery_floor|find_webhook_health|search_box)"
)


@pytest.mark.parametrize("name", sorted(filter(LOOKUPS.search, load("sqlite", BUILT_IN_SCHEMA))))
def test_no_look_reads_a_table_from_end_to_end(name: str) -> None:
    """Workers and tokens are few. The newest jobs are read, and no more of them than are counted."""
    small = ("worker", "token")
    statement = load("sqlite", BUILT_IN_SCHEMA)[name]
    values = dict.fromkeys(re.findall(r":(\w+)", statement))
    plan = SteppedStore(schema=BUILT_IN_SCHEMA).raw.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
    scans = [str(row[3]) for row in plan if str(row[3]).startswith("SCAN")]

    bounded = ("newest", "known", "SCAN (subquery", *(f"SCAN {table}" for table in small))
    left = [scan for scan in scans if not any(part in scan for part in bounded)]
    assert left == (["SCAN job"] if name == "lookup_jobs_by_subject" else [])
