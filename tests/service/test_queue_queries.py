"""What an operator asks of a queue, as a library and over HTTP: Q13 to Q18, on both databases."""

from datetime import timedelta

import pytest

from pressroom import NotFound, Tier
from pressroom.api.access import Scope
from pressroom.errors import InvalidArgument
from pressroom.store.jobs import progress
from pressroom.store.operators import overview
from tests.service.queue_stage import BAD, GOOD, HALF, STOPPED, floor, job

QUESTIONS = ("backlog", "active", "slow", "conflicts?project=handbook", "errors", "throughput")


async def test_the_backlog_is_told_by_kind_and_tier(database: str) -> None:
    """Q13: how many wait, how many of them are ready, and how old the oldest is."""
    async with floor(database) as here:
        await here.press.submit("build")
        here.clock.advance(seconds=30)
        await here.press.submit("build", delay=3600)
        await here.press.submit("build", tier=Tier.INTERACTIVE)
        await here.start("page")
        await here.end(GOOD, "tidy")
        here.clock.advance(seconds=8)

        told = await here.overview.backlog()

    assert [(line.kind, line.tier, line.queued, line.ready, line.age) for line in told.items] == [
        ("build", "interactive", 1, 1, 10.0),
        ("build", "background", 2, 1, 40.0),
    ]
    assert told.items[1].oldest == told.items[1].ready_since == told.at - timedelta(seconds=40)
    assert (told.queued, told.capped, told.paused) == (3, False, [])


async def test_a_job_that_waits_for_its_time_keeps_no_worker_behind(database: str) -> None:
    """Q13: old and not ready is not late."""
    async with floor(database) as here:
        await here.press.submit("build", delay=3600)

        (line,) = (await here.overview.backlog()).items

    assert (line.queued, line.ready, line.ready_since) == (1, 0, None)


async def test_a_backlog_that_is_too_long_to_count_hides_no_kind(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Q13: the oldest are counted, and a kind behind them is still seen."""
    monkeypatch.setattr(overview, "COUNTED", 3)
    async with floor(database) as here:
        for _ in range(5):
            await here.press.submit("build")
        await here.press.submit("tidy")
        here.clock.advance(seconds=5)

        told = await here.overview.backlog()

    assert told.capped
    assert [(line.kind, line.queued, line.ready, line.age) for line in told.items] == [
        ("build", 3, 3, 5.0),
        ("tidy", 1, 1, 5.0),
    ]


async def test_every_running_job_says_what_it_does(database: str) -> None:
    """Q14: kind, subject, worker, since when, phase, and how far it is: in steps, in words, or in named items by state."""
    async with floor(database) as here:
        build = await here.start(
            "build", subject="handbook, build 42", project_id="handbook", org_id="acme", worker="press-1.1.A"
        )
        await here.editions(build, "main", "v2", "draft")
        await here.move(build, "v2")
        await here.move(build, "draft", "failed", "nobody approved it")
        page = await here.start("page", worker="press-2.7.B")
        await here.run(progress.begin_phase(page.id, page.token, "drawing", {"done": 3, "total": 7, "message": "page 3"}))
        await here.press.submit("tidy")
        await here.end(GOOD, "page")

        told = await here.overview.active()

    first, second = told.items
    assert (first.id, first.kind, first.subject, first.worker) == (job(build), "build", "handbook, build 42", "press-1.1.A")
    assert (first.org_id, first.project_id, first.phase, first.attempt) == ("acme", "handbook", "editions", 1)
    assert (first.date_started, first.seconds) == (told.at - timedelta(seconds=3), 3.0)
    assert first.items == overview.ItemStates(
        noun="editions",
        total=3,
        completed=1,
        failed=1,
        in_progress=1,
        names=["main"],
        failures=[overview.ItemFailure("draft", "nobody approved it")],
    )
    assert (second.id, second.worker, second.phase) == (job(page), "press-2.7.B", "drawing")
    assert (second.done, second.total, second.message, second.items) == (3, 7, "page 3", None)


async def test_of_many_items_all_are_counted_and_the_first_are_named(database: str) -> None:
    """Q14: a job of ten thousand editions does not make a page of ten thousand names."""
    names = [f"edition-{number}" for number in range(30)]
    async with floor(database) as here:
        claim = await here.start()
        await here.editions(claim, *names)

        (told,) = (await here.overview.active()).items

    assert (told.items.total, told.items.in_progress, told.items.names) == (30, 30, names[:20])


async def test_items_of_an_earlier_attempt_are_not_told(database: str) -> None:
    """Q14: progress is that of the attempt that runs."""
    async with floor(database) as here:
        first = await here.start()
        await here.editions(first, "main")
        await here.move(first, "main", "failed", "no")
        second = await here.release(first)
        await here.editions(second, "main")

        (told,) = (await here.overview.active()).items

    assert (told.items.failed, told.items.in_progress) == (0, 1)


async def test_running_jobs_are_paged_from_the_longest_to_the_latest(database: str) -> None:
    """Q14: one that ends and one that starts between two pages make none of the others drop out."""
    async with floor(database) as here:
        started = [await here.start() for _ in range(5)]
        first = await here.overview.active(limit=2)
        late = await here.start()
        second = await here.overview.active(limit=2, cursor=first.next_cursor)
        third = await here.overview.active(limit=2, cursor=second.next_cursor)
        only = await here.overview.active(kind="page")

    seen = [one.id for page in (first, second, third) for one in page.items]
    assert seen == [job(claim) for claim in (*started, late)]
    assert third.next_cursor is None
    assert only.items == []


async def test_two_jobs_of_a_project_that_update_the_same_edition_are_a_conflict(database: str) -> None:
    """Q15: who is in the phase `editions`, with its progress, and the editions that two of them name."""
    async with floor(database) as here:
        one = await here.start(project_id="handbook", org_id="acme")
        await here.editions(one, "main", "v2")
        two = await here.start(project_id="handbook", org_id="acme")
        await here.editions(two, "main", "v3")
        await here.move(one, "main")
        for how in (
            {"project_id": "handbook", "org_id": "other"},  # a project of the same name
            {"project_id": "leaflet", "org_id": "acme"},
        ):
            await here.editions(await here.start(**how), "v2")
        earlier = await here.start(project_id="handbook", org_id="acme")
        await here.editions(earlier, "v2", phase="tracking")

        told = await here.overview.conflicts("handbook", org_id="acme")
        of_all = await here.overview.conflicts("handbook")
        none = await here.overview.conflicts("leaflet")

    assert [(line.id, line.items.total, line.items.completed) for line in told.items] == [(job(one), 2, 1), (job(two), 2, 0)]
    assert [(line.item, [(who.id, who.state) for who in line.jobs]) for line in told.conflicts] == [
        ("main", [(job(one), "completed"), (job(two), "in_progress")])
    ]
    assert len(of_all.items) == 3
    assert of_all.conflicts == told.conflicts
    assert (len(none.items), none.conflicts) == (1, [])


async def test_items_of_every_noun_may_conflict_and_a_noun_may_be_chosen(database: str) -> None:
    async with floor(database) as here:
        for noun, names in (("editions", ["main"]), ("packs", ["main", "big"]), ("packs", ["big"])):
            claim = await here.start(project_id="handbook")
            await here.run(progress.begin_items(claim.id, claim.token, noun, noun, names, None))
        plain = await here.start(project_id="handbook")
        await here.run(progress.begin_phase(plain.id, plain.token, "tidying", {}))

        told = await here.overview.conflicts("handbook")
        packs = await here.overview.conflicts("handbook", noun="packs")
        editions = await here.overview.conflicts("handbook", noun="editions")
        async with here.client(await here.token(Scope.VIEWER)) as client:
            over_http = (await client.get("/queue/conflicts?project=handbook&noun=packs")).json()

    assert [(line.noun, line.item, len(line.jobs)) for line in told.conflicts] == [("packs", "big", 2)]
    assert [len(page.items) for page in (told, packs, editions)] == [3, 2, 1]
    assert (packs.conflicts, editions.conflicts) == (told.conflicts, [])
    assert [line["noun"] for line in over_http["conflicts"]] == ["packs"]


async def test_one_can_ask_who_updates_an_edition_before_updating_it_too(database: str) -> None:
    """Q15: only whoever is at it now, also if it is one of many."""
    async with floor(database) as here:
        claim = await here.start(project_id="handbook")
        await here.editions(claim, *(f"v{number}" for number in range(50)))
        await here.move(claim, "v1")

        at_it = await here.overview.conflicts("handbook", item="v44")
        done = await here.overview.conflicts("handbook", item="v1")

    assert [line.id for line in at_it.items] == [job(claim)]
    assert done.items == []


async def test_the_error_rate_is_of_the_last_hour_and_by_kind(database: str) -> None:
    """Q16: failed and completed_with_errors, among all that were not cancelled."""
    async with floor(database) as here:
        await here.end(BAD, "page")
        here.clock.advance(hours=1)
        for outcome in (GOOD, GOOD, BAD, HALF, STOPPED):
            await here.end(outcome)
        await here.end(GOOD, "page")

        told = await here.overview.error_rate()
        here.clock.advance(hours=2)
        later = await here.overview.error_rate()

    by_kind = {line.kind: line for line in told.items}
    assert (by_kind["build"].errors, by_kind["build"].ended, by_kind["build"].rate) == (2, 5, 0.5)
    assert (by_kind["build"].failed, by_kind["build"].completed_with_errors, by_kind["build"].cancelled) == (1, 1, 1)
    assert (by_kind["page"].errors, by_kind["page"].rate) == (0, 0.0)
    assert (told.errors, told.ended, told.rate) == (2, 6, 0.4)
    assert told.since == told.at - timedelta(hours=1)
    assert (later.items, later.rate, later.capped) == ([], 0.0, False)


async def test_where_too_many_ended_the_latest_are_counted_and_it_says_since_when(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q16, Q17: a rate stays a rate."""
    monkeypatch.setattr(overview, "COUNTED", 2)
    async with floor(database) as here:
        for outcome in (BAD, GOOD, GOOD):
            await here.end(outcome)
        here.clock.advance(seconds=59)

        errors = await here.overview.error_rate()
        busy = await here.overview.throughput()

    assert (errors.capped, errors.ended, errors.errors) == (True, 2, 0)
    assert errors.since == busy.since == errors.at - timedelta(seconds=60)
    assert (busy.capped, busy.items[0].per_minute) == (True, 2.0)


async def test_throughput_is_told_by_organisation_the_busiest_first(database: str) -> None:
    """Q17: jobs that completed within the last hour, with what became of the others."""
    async with floor(database) as here:
        await here.end(GOOD, org_id="acme")
        here.clock.advance(hours=1)
        for org, outcome in (("acme", GOOD), ("beta", GOOD), ("beta", GOOD), ("beta", BAD), (None, HALF)):
            await here.end(outcome, org_id=org)

        told = await here.overview.throughput()
        busiest = await here.overview.throughput(limit=1)
        nobody = await here.overview.throughput(org_id="")

    assert [(line.org_id, line.completed, line.ended) for line in told.items] == [("beta", 2, 3), ("acme", 1, 1), (None, 0, 1)]
    assert told.items[0].per_minute == 0.033
    assert (told.orgs, busiest.orgs, [line.org_id for line in busiest.items]) == (3, 3, ["beta"])
    assert [line.org_id for line in nobody.items] == [None]


async def test_a_job_is_slow_when_it_has_been_running_for_more_than_ten_minutes(database: str) -> None:
    """Q18: and the threshold can be another."""
    async with floor(database) as here:
        claim = await here.start()
        here.clock.advance(seconds=599)
        just = await here.overview.slow()
        here.clock.advance(seconds=0.001)
        over = await here.overview.slow()
        await here.start("page")

        quick = await here.overview.slow(timedelta(minutes=11))
        both = await here.overview.slow(0.5)
        one = await here.overview.slow(0.5, kind="page")

    assert just.items == []
    assert [line.id for line in over.items] == [job(claim)]
    assert quick.items == []
    assert [line.kind for line in both.items] == ["build", "page"]
    assert [line.kind for line in one.items] == ["page"]


async def test_a_job_that_took_long_and_has_ended_is_not_slow(database: str) -> None:
    """Q18: nor is one that waits."""
    async with floor(database) as here:
        await here.end(GOOD)
        await here.press.submit("build")
        here.clock.advance(hours=3)

        assert (await here.overview.slow()).items == []


async def test_what_makes_no_sense_is_refused(database: str) -> None:
    async with floor(database) as here:
        for question in (
            here.overview.slow(-1),
            here.overview.slow(float("nan")),
            here.overview.active(limit=0),
            here.overview.active(limit=201),
            here.overview.active(cursor="12"),
            here.overview.throughput(limit=201),
            here.overview.conflicts(""),
        ):
            with pytest.raises(InvalidArgument):
                await question


async def test_every_question_has_its_answer_over_http(database: str) -> None:
    """Q13 to Q18."""
    async with floor(database) as here:
        await here.end(BAD, org_id="acme")
        await here.press.submit("tidy")
        for _ in range(2):
            await here.editions(await here.start(project_id="handbook"), "main")
        async with here.client(await here.token(Scope.VIEWER, everywhere=True)) as operator:
            told = {question: (await operator.get(f"/queue/{question}")) for question in QUESTIONS}
            page = await operator.get("/queue/active?limit=1&kind=build")
            after = await operator.get(page.headers["link"].partition(">")[0].removeprefix("<"))
            slow = await operator.get("/queue/slow?over=1.5")

    backlog, active, quick, conflicts, errors, busy = [told[question].json() for question in QUESTIONS]
    assert {answer.headers["cache-control"] for answer in told.values()} == {"no-store"}
    assert [(line["kind"], line["tier"], line["queued"]) for line in backlog["items"]] == [("tidy", "background", 1)]
    assert [(line["phase"], line["items"]["in_progress"]) for line in active["items"]] == [("editions", 1)] * 2
    assert active["items"][0]["worker"] == "press-1.1.A"
    assert [line["item"] for line in conflicts["conflicts"]] == ["main"]
    assert (errors["rate"], errors["items"][0]["kind"]) == (1.0, "build")
    assert busy["items"][0]["org_id"] == "acme"
    assert quick["items"] == []
    assert [line["seconds"] for line in slow.json()["items"]] == [2.0]
    assert page.json()["items"] == active["items"][:1]
    assert after.json()["items"] == active["items"][1:]


@pytest.mark.parametrize(
    "question",
    [
        *("active?limit=0", "active?limit=201", "active?limit=x", "active?cursor=5", "active?cursor=a-b", "throughput?limit=0"),
        *("slow?over=", "slow?over=-1", "slow?over=nan", "slow?over=10m", "slow?over=1e300", "conflicts", "conflicts?project="),
    ],
)
async def test_a_wrong_parameter_is_refused_with_its_bounds(file: str, question: str) -> None:
    async with floor(file) as here, here.client(await here.token(Scope.VIEWER)) as client:
        answer = await client.get(f"/queue/{question}")

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_argument")
    assert question.partition("?")[2].partition("=")[0] in answer.json()["detail"]


async def test_a_token_of_one_organisation_is_told_of_its_own_jobs_alone(database: str) -> None:
    """Q13 to Q18: what others have is neither shown nor counted, whatever is asked for."""
    async with floor(database) as here:
        await here.end(BAD, org_id="theirs")
        await here.press.submit("tidy", org_id="theirs")
        await here.editions(await here.start(project_id="handbook", org_id="theirs"), "main")
        mine = await here.start(project_id="handbook", org_id="ours")
        await here.editions(mine, "main")
        await here.end(GOOD, org_id="ours")
        await here.press.submit("tidy", org_id="ours")
        here.clock.advance(minutes=20)
        async with here.client(await here.token(Scope.VIEWER, "ours")) as client:
            told = [(await client.get(f"/queue/{question}")).json() for question in QUESTIONS]
            others = [
                (await client.get(f"/queue/{question}{'&' if '?' in question else '?'}org=theirs")).json()
                for question in QUESTIONS
            ]

    backlog, active, slow, conflicts, errors, busy = told
    assert [(line["kind"], line["queued"]) for line in backlog["items"]] == [("tidy", 1)]
    assert {tuple(line["id"] for line in answer["items"]) for answer in (active, slow, conflicts)} == {(job(mine),)}
    assert conflicts["conflicts"] == []
    assert active["items"][0]["worker"] is None, "the machines are the operator's"
    assert (errors["ended"], errors["rate"]) == (1, 0.0)
    assert ([line["org_id"] for line in busy["items"]], busy["orgs"]) == (["ours"], 1)
    assert [answer["items"] for answer in others] == [[]] * len(QUESTIONS)


async def test_a_token_without_an_organisation_is_told_of_jobs_without_one(file: str) -> None:
    async with floor(file) as here:
        await here.press.submit("tidy", org_id="ours")
        await here.press.submit("build")
        async with here.client(await here.token(Scope.VIEWER)) as client:
            told = (await client.get("/queue/backlog")).json()

    assert [line["kind"] for line in told["items"]] == ["build"]


async def test_an_operator_of_all_may_ask_for_one_organisation(file: str) -> None:
    async with floor(file) as here:
        for org in ("one", "two", "two"):
            await here.start(org_id=org)
        async with here.client(await here.token(Scope.VIEWER, everywhere=True)) as operator:
            told = (await operator.get("/queue/active?org=two")).json()

    assert [line["org_id"] for line in told["items"]] == ["two", "two"]


async def test_a_kind_is_paused_and_resumed_again_and_again(database: str) -> None:
    async with floor(database) as here, here.client(await here.token(Scope.OPERATOR, everywhere=True)) as operator:
        for verb, paused in (("pause", True), ("pause", True), ("resume", False), ("resume", False)):
            answer = await operator.post(f"/queue/build/{verb}")
            assert (answer.status_code, answer.json()) == (200, {"kind": "build", "paused": paused})
            assert (await operator.get("/queue/backlog")).json()["paused"] == (["build"] if paused else [])
        unknown = [await operator.post(f"/queue/nosuch/{verb}") for verb in ("pause", "resume")]
        with pytest.raises(NotFound, match="nosuch"):
            await here.press.pause("nosuch")

    assert [(answer.status_code, answer.json()["code"]) for answer in unknown] == [(404, "not_found")] * 2


async def test_only_an_operator_of_all_organisations_may_pause_a_kind(file: str) -> None:
    """A kind is everybody's. One organisation's operator could otherwise stop the work of all others."""
    async with floor(file) as here:
        tokens = [
            await here.token(Scope.ADMIN, "ours"),
            await here.token(Scope.ADMIN),
            await here.token(Scope.SUBMITTER, everywhere=True),
        ]
        for token in tokens:
            async with here.client(token) as client:
                assert (await client.post("/queue/build/pause")).status_code == 403
        async with here.client() as stranger:
            assert (await stranger.post("/queue/build/pause")).status_code == 401
            assert (await stranger.get("/queue/backlog")).status_code == 401

        assert (await here.overview.backlog()).paused == []
