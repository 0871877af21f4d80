"""The six questions of operators (Q13 to Q18) of jobs of documentation: by SQL over the view `queue_job`, by the library and
over HTTP, on both databases."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pressroom.model import Claim
from pressroom.store.jobs import progress
from tests import looking
from tests.service.queue_stage import BAD, GOOD, HALF, Floor, floor, job

QUERIES = Path(__file__).parents[3] / "docs" / "sql"
BUILD, UPDATE = "docs.build_processing", "docs.edition_update"
GUIDE, MANUAL = "01KAD3TZ5D1G8K4M7P0R3V6Y9B", "01KAD3TZ5D1G8K4M7P0R3V6Y9C"
SITE_BUILD = "01KAD3V6WQ7N2X8M4ZJ5T9RHBC"


def ask(database: str, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """What a statement of `docs/sql` answers, with its parameters put in as psql would."""
    text = (QUERIES / f"{name}.sql").read_text(encoding="utf-8")
    for parameter, value in parameters.items():
        text = re.sub(rf"(?<!:):{parameter}\b", repr(value), text)
    return looking.rows(database, text)


def decoded(progress: Any) -> Any:
    """PostgreSQL's driver decodes it; SQLite has a text."""
    return json.loads(progress) if isinstance(progress, str) else progress


@asynccontextmanager
async def busy(database: str) -> AsyncIterator[tuple[Floor, list[Claim]]]:
    """Two builds of the guide that both update `__main`, a move of an edition of another project, and a job that waits."""
    async with floor(database, kinds={}) as here:
        guide = {"org_id": "acme", "project_id": GUIDE}
        claims = [await here.start(BUILD, **guide, build_id=SITE_BUILD, key=f"build:{number}") for number in (1, 2)]
        claims.append(await here.start(UPDATE, org_id="other", project_id=MANUAL))
        await here.editions(claims[0], "__main", "2", "2.1")
        await here.move(claims[0], "2")
        await here.move(claims[0], "2.1", "failed", "the KV does not answer")
        await here.editions(claims[1], "__main")
        await here.editions(claims[2], "__main")
        await here.press.submit(BUILD, org_id="acme", project_id=GUIDE)
        yield here, claims


async def test_q13_the_backlog_by_kind(database: str) -> None:
    async with busy(database) as (here, _):
        told = await here.overview.backlog()
        async with here.client(await here.token(org="other")) as client:
            theirs = (await client.get("/queue/backlog")).json()
        asked = ask(database, "backlog")

    assert [(line.kind, line.queued) for line in told.items] == [(BUILD, 1)]
    assert [(kind, queued) for kind, queued, _ in asked] == [("build_processing", 1)]
    assert theirs["queued"] == 0


async def test_q14_what_runs_with_its_phase_and_its_editions(database: str) -> None:
    async with busy(database) as (here, claims):
        told = await here.overview.active(org_id="acme")
        asked = ask(database, "active")

    first = told.items[0]
    assert (first.id, first.phase, first.items.total, first.items.names) == (job(claims[0]), "editions", 3, ["__main"])
    public_id, kind, org, project, build, phase, shown, _ = asked[0]
    assert (public_id, kind, org, project, build, phase) == (
        *(claims[0].uid, "build_processing", "acme", GUIDE, SITE_BUILD),
        "editions",
    )
    assert decoded(shown) == {
        "editions_total": 3,
        "editions_completed": ["2"],
        "editions_failed": [{"slug": "2.1", "error": "the KV does not answer"}],
        "editions_in_progress": ["__main"],
    }
    assert [row[0] for row in asked] == [claim.uid for claim in claims]


async def test_q15_jobs_that_update_the_same_edition(database: str) -> None:
    """Not those of another project with an edition of the same name, and not a job that is past its editions."""
    async with busy(database) as (here, claims):
        told = await here.overview.conflicts(GUIDE, noun="editions", item="__main")
        async with here.client(await here.token(org="acme")) as client:
            over_http = (await client.get(f"/queue/conflicts?project={GUIDE}&noun=editions")).json()
        async with here.client(await here.token(org="other")) as client:
            theirs = (await client.get(f"/queue/conflicts?project={GUIDE}")).json()
        asked = ask(database, "edition_conflicts", project=GUIDE)
        await here.run(progress.begin_phase(claims[0].id, claims[0].token, "dashboard", {}))
        afterwards = await here.overview.conflicts(GUIDE, noun="editions", item="__main")

    (conflict,) = told.conflicts
    assert (conflict.item, [one.id for one in conflict.jobs]) == ("__main", [job(claims[0]), job(claims[1])])
    assert [one["item"] for one in over_http["conflicts"]] == ["__main"]
    assert (theirs["items"], theirs["conflicts"]) == ([], [])
    assert [row[0] for row in asked] == [claims[0].uid, claims[1].uid]
    assert all("__main" in decoded(row[3])["editions_in_progress"] for row in asked)
    assert afterwards.conflicts == []


async def test_q16_the_error_rate_of_the_last_hour(database: str) -> None:
    async with floor(database, kinds={}) as here:
        await here.end(BAD, BUILD)
        here.clock.advance(seconds=3_600)
        for outcome in (GOOD, GOOD, HALF, BAD):
            await here.end(outcome, BUILD)
        await here.end(GOOD, UPDATE)
        told = await here.overview.error_rate()
        asked = ask(database, "error_rate", now=here.clock.now_ms())

    assert [(line.kind, line.ended, line.errors, line.rate) for line in told.items] == [(BUILD, 4, 2, 0.5), (UPDATE, 1, 0, 0)]
    assert [(kind, ended, errors, float(percent)) for kind, ended, errors, percent in asked] == [
        ("build_processing", 4, 2, 50.0),
        ("edition_update", 1, 0, 0.0),
    ]


async def test_q17_whose_jobs_ended_within_the_last_hour(database: str) -> None:
    async with floor(database, kinds={}) as here:
        for org, outcome in (("acme", GOOD), ("acme", HALF), ("other", GOOD)):
            await here.end(outcome, BUILD, org_id=org)
        told = await here.overview.throughput()
        asked = ask(database, "throughput", now=here.clock.now_ms())

    assert [(line.org_id, line.ended) for line in told.items] == [("acme", 2), ("other", 1)]
    assert asked == [("acme", 2, 1, 1, 0), ("other", 1, 1, 0, 0)]


async def test_q18_jobs_that_run_for_more_than_ten_minutes(database: str) -> None:
    async with floor(database, kinds={}) as here:
        slow = await here.start(BUILD, org_id="acme", project_id=GUIDE)
        here.clock.advance(seconds=601)
        await here.start(BUILD, org_id="acme", project_id=GUIDE)
        told = await here.overview.slow()
        asked = ask(database, "slow", now=here.clock.now_ms())

    assert [one.id for one in told.items] == [job(slow)]
    assert [row[0] for row in asked] == [slow.uid]
    assert asked[0][-1] > 600
