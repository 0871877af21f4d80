"""The page of a job: everything that is known of it, and what can be done about it."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest

from pressroom import Kind, Pressroom, artifact_lifecycle, kind
from pressroom.api.access import Scope
from pressroom.app import BUILT_IN
from pressroom.model import Job, Status, Work
from pressroom.serving import make_service
from pressroom.store.artifacts import artifacts
from pressroom.store.jobs.transitions import now, record
from pressroom.web.job import source_lines
from pressroom.web.job.details import MAX_EVENTS_PER_END
from pressroom.web.job.output import JobOutput, _image_size
from tests.journeys.artifact_stage import record_artifacts_hook
from tests.service.access_stage import Stage, on_stage, without_ids
from tests.web.browsing import Person, found_token, member

TEXT = "# A plan\n\na & b\n"  # what is rendered in no time
GRAPH = "digraph {\n  a -> b\n}\n"
BROKEN = "digraph {\n  a -> b\n  c -> -> d\n}\n"
BAD_QUESTIONS = {"thumb=2": 422, "download=perhaps": 422, "file=../x": 404, "file=%00": 404, "name=other": 404}
UNKNOWN = "job_01JD0000000000000000000000"


@kind("odd", cache_for=timedelta(hours=1))
def odd(job: Any, payload: Any) -> Any:
    return {"warnings": 5, "details": ["odd"], "engines": "none", "short_link": {}, "artifact": [payload]}


@asynccontextmanager
async def desk(database: str, scope: Scope = Scope.OPERATOR, org: str | None = "ours", **how: Any) -> AsyncIterator[Any]:
    async with on_stage(database, **how) as stage, member(stage, scope, org) as person:
        yield stage, person


@asynccontextmanager
async def on_stage_with(work: Kind, database: str) -> AsyncIterator[Stage]:
    async with Pressroom(database, kinds=[work], apps=BUILT_IN, workers=2, listen="0.0.0.0:8000", rate_limit=0) as press:
        yield Stage(press, *make_service(press))


async def rendered(stage: Stage, source: str = GRAPH, output: str = "svg", language: str = "dot", **how: Any) -> Job:
    job = await stage.press.render(language, source, output, org_id="ours", **how)
    return await stage.press.wait_until_ended(job, timeout=60)


async def send(person: Person, job: Any, action: str, **fields: str) -> httpx.Response:
    page = await person.get(f"/desk/jobs/{job}")
    return await person.client.post(f"/desk/jobs/{job}/{action}", data={"form_token": found_token(page.text)} | fields)


def place(answer: httpx.Response) -> str:
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rpartition("/")[2]


async def test_a_completed_render_shows_its_source_and_what_it_made(database: str) -> None:
    async with desk(database) as (stage, person):
        job = await rendered(stage, subject="the plan <b>")

        page = await person.get(f"/desk/jobs/{job}")
        picture = await person.get(f"/desk/jobs/{job}/output")
        thumb = await person.get(f"/desk/jobs/{job}/output?thumb=1")
        kept = await person.get(f"/desk/jobs/{job}/output?download=1")
        known = await person.get(f"/desk/jobs/{job}/output", headers={"If-None-Match": picture.headers["etag"]})
        source = await person.get(f"/desk/jobs/{job}/source")
        refused = {question: await person.get(f"/desk/jobs/{job}/output?{question}") for question in BAD_QUESTIONS}

    assert page.status_code == 200
    assert "the plan &lt;b&gt;" in page.text
    assert f'<img src="/desk/jobs/{job}/output"' in page.text
    assert '<span id="L2">  a -&gt; b\n</span>' in page.text
    assert job.result["sha256"] in page.text
    assert "Attempt 1 started" in page.text
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/svg+xml")
    assert picture.headers["cache-control"].startswith("private")
    assert picture.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert thumb.content == picture.content
    assert kept.headers["content-disposition"].startswith("attachment")
    assert known.status_code == 304
    assert {question: answer.status_code for question, answer in refused.items()} == BAD_QUESTIONS
    assert {answer.headers["content-type"] for answer in refused.values()} == {"text/html; charset=utf-8"}
    assert (source.text, source.headers["content-disposition"][:10]) == (GRAPH, "attachment")


async def test_a_failed_render_shows_the_lines_that_are_wrong(database: str) -> None:
    async with desk(database) as (stage, person):
        job = await rendered(stage, BROKEN)

        page = await person.get(f"/desk/jobs/{job}")
        nothing = await person.get(f"/desk/jobs/{job}/output")

    (error,) = job.errors
    assert page.status_code == 200
    assert f'href="#L{error["line"]}"' in page.text
    assert f'<span id="L{error["line"]}" class="wrong">' in page.text
    assert "source_invalid" in page.text
    assert nothing.status_code == 404


async def test_a_page_that_was_made_is_framed_where_nothing_runs(database: str) -> None:
    async with desk(database) as (stage, person):
        job = await rendered(stage, "# Hello\n", "html", "markdown")

        page = await person.get(f"/desk/jobs/{job}")
        framed = await person.get(f"/desk/jobs/{job}/preview")
        opened = await person.get(f"/desk/jobs/{job}/output")
        thumb = await person.get(f"/desk/jobs/{job}/output?thumb=1")

    assert re.search(rf'<iframe class="framed" sandbox src="/desk/jobs/{job}/preview"', page.text)
    assert "Hello" in framed.text
    assert framed.headers["content-disposition"] == "inline"
    assert framed.headers["content-security-policy"].startswith("sandbox; default-src 'none'; ")
    assert "frame-ancestors 'self'" in framed.headers["content-security-policy"]
    assert framed.headers["x-content-type-options"] == "nosniff"
    assert "x-frame-options" not in framed.headers
    assert opened.headers["content-disposition"].startswith("attachment")
    assert thumb.status_code == 404


async def test_jobs_of_others_malformed_ids_and_no_jobs_are_the_same(database: str) -> None:
    async with desk(database, works=False) as (stage, person):
        theirs = await stage.press.submit("shout", "theirs", org_id="theirs")
        for path in ("", "/output", "/preview", "/source", "/payload", "/clone"):
            pages = [await person.get(f"/desk/jobs/{id}{path}") for id in (UNKNOWN, theirs, "no-id", "job_%00")]
            assert {page.status_code for page in pages} == {404}
            assert len({without_names(page.text) for page in pages}) == 1
        token = found_token((await person.get("/desk/find")).text)
        for action in ("cancel", "retry", "clone"):
            answers = [
                await person.client.post(f"/desk/jobs/{id}/{action}", data={"form_token": token})
                for id in (UNKNOWN, theirs, "no-id")
            ]
            assert {answer.status_code for answer in answers} == {404}


def without_names(text: str) -> str:
    return re.sub(r'nonce="[^"]*"|req_\w+|request [\w.-]+', "", without_ids(text))


async def test_a_cancel_ends_the_job_and_is_noted(database: str) -> None:
    async with desk(database, works=False) as (stage, person):
        job = await stage.press.submit("shout", "x", org_id="ours")

        answer = await send(person, job, "cancel")
        page = await person.get(answer.headers["location"])
        ended = await stage.press.get(job)
        again = await send(person, job, "cancel")
        told = await person.get(again.headers["location"])

    assert place(answer) == str(job)
    assert ended.status is Status.CANCELLED
    assert "It is cancelled." in page.text
    assert "queued → cancelled" in page.text
    assert told.text.count("<strong>job.cancel</strong>") == 1  # what changed nothing is not noted
    assert "There was nothing to cancel" in told.text


async def test_a_retry_is_a_new_job_and_both_name_each_other(database: str) -> None:
    async with desk(database, works=False) as (stage, person):
        job = await stage.press.submit("shout", "x", org_id="ours")
        early = await send(person, job, "retry")
        await stage.press.cancel(job)

        new = place(await send(person, job, "retry"))
        old_page = await person.get(f"/desk/jobs/{job}")
        new_page = await person.get(f"/desk/jobs/{new}")

    assert early.status_code == 409
    assert new != str(job)
    assert "Tried again as" in old_page.text
    assert f"/desk/jobs/{new}" in old_page.text
    assert "<strong>job.retry</strong>" in old_page.text
    assert "A retry of" in new_page.text
    assert f"/desk/jobs/{job}" in new_page.text
    assert "no earlier result is taken" in new_page.text


@pytest.mark.parametrize("action", ["cancel", "retry", "clone"])
async def test_a_viewer_only_looks(file: str, action: str) -> None:
    async with desk(file, Scope.VIEWER, works=False) as (stage, person):
        job = await stage.press.submit("shout", "x", org_id="ours")
        page = await person.get(f"/desk/jobs/{job}")
        answer = await send(person, job, action)
        after = await stage.press.get(job)

    assert "Clone with changes" not in page.text
    assert f"/{action}" not in page.text
    assert answer.status_code == 403
    assert after.status is Status.QUEUED


async def test_a_clone_is_a_new_job_and_the_old_one_stays_as_it_was(database: str) -> None:
    async with desk(database) as (stage, person):
        job = await rendered(stage, TEXT, "html", "markdown", subject="plan")
        form = await person.get(f"/desk/jobs/{job}/clone")
        fields = {"language": "markdown", "output": "html", "options": "{}", "tier": "interactive", "max_attempts": "1"}

        new = place(await send(person, job, "clone", **fields, source="# Another", subject="another plan"))
        made = await stage.press.get(new)
        page = await person.get(f"/desk/jobs/{new}")
        old = await stage.press.get(job)
        old_page = await person.get(f"/desk/jobs/{job}")

    assert "a &amp; b" in form.text
    assert (made.parent, made.org_id, made.subject, made.max_attempts) == (job.uid, "ours", "another plan", 1)
    assert made.payload["source"] == "# Another"
    assert "Came from" in page.text
    assert "differs in: <strong>source</strong>" in page.text
    assert (old.payload, old.result, old.version) == (job.payload, job.result, job.version)
    assert "What came from it" in old_page.text
    assert "<strong>job.clone</strong>" in old_page.text


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"options": '{\n  "theme": dark\n}'}, "Line 2, column 12."),
        ({"options": "[]"}, "options are a JSON object"),
        ({"options": '{"nonsense": 1}'}, "nonsense"),
        ({"options": "NaN"}, "NaN is no number of JSON"),
        ({"tier": "urgent"}, "a tier is interactive or background"),
        ({"max_attempts": "many"}, "attempts are a whole number from 1 to 1000"),
        ({"language": "latin"}, "latin"),
        ({"output": "gif"}, "gif"),
        ({"subject": "x" * 300}, "the limit is 255"),
    ],
)
async def test_what_is_wrong_with_a_clone_is_told_and_nothing_typed_is_lost(
    file: str, wrong: dict[str, str], says: str
) -> None:
    async with desk(file, works=False) as (stage, person):
        job = await stage.press.render("dot", GRAPH, "svg", org_id="ours")
        right = {"language": "dot", "output": "svg", "options": "{}", "tier": "background", "max_attempts": "2"}

        answer = await send(person, job, "clone", **(right | {"source": "digraph { typed }"} | wrong))
        jobs = await stage.press.list()

    assert answer.status_code == 422, answer.text
    assert says in answer.text
    assert "digraph { typed }" in answer.text
    assert len(jobs.jobs) == 1


async def test_a_clone_of_other_work_is_its_payload_as_json(database: str) -> None:
    async with desk(database, works=False) as (stage, person):
        job = await stage.press.submit("shout", {"words": "high & low"}, org_id="ours", key="one")
        form = await person.get(f"/desk/jobs/{job}/clone")
        usual = {"tier": "background", "max_attempts": "1"}

        in_its_place = await send(person, job, "clone", **usual, payload="1", key="one")
        half = await send(person, job, "clone", **usual, payload='"\\ud800"')
        new = place(await send(person, job, "clone", **usual, payload='{"words": [1, 2]}'))
        made = await stage.press.get(new)
        old = await stage.press.get(job)

    assert "high &amp; low" in form.text
    assert in_its_place.status_code == half.status_code == 422
    assert "would take its place" in in_its_place.text
    assert (made.payload, made.parent) == ({"words": [1, 2]}, job.uid)
    assert (old.payload, old.version) == ({"words": "high & low"}, 1)


async def test_a_long_source_is_cloned_as_it_is(file: str) -> None:
    source = "<p>Long\n" + "word " * 250_000
    async with desk(file, works=False) as (stage, person):
        job = await stage.press.render("html", source, "pdf", org_id="ours")
        page = await person.get(f"/desk/jobs/{job}")
        form = await person.get(f"/desk/jobs/{job}/clone")
        fields = {"language": "html", "output": "pdf", "options": '{"title": "Long"}', "tier": "background"}

        new = place(await send(person, job, "clone", **fields, max_attempts="1"))
        kept = await person.get(f"/desk/jobs/{new}/source")

    assert "The beginning of a long source" in page.text
    assert 'name="source"' not in form.text
    assert kept.text == source


async def test_the_cache_explains_who_joined_and_who_was_spared(database: str) -> None:
    async with desk(database, works=False) as (stage, person):
        job = await stage.press.render("markdown", TEXT, "html", org_id="ours", subject="joined")
        await stage.press.render("markdown", TEXT, "html", org_id="ours")
        page = await person.get(f"/desk/jobs/{job}")
    assert "1 submit of the same input joined it" in page.text
    assert "Another submit of the same input joined it (background)" in page.text

    async with desk(database) as (stage, person):
        await stage.press.wait_until_ended(job, timeout=60)
        await stage.press.render("markdown", TEXT, "html", org_id="ours")
        page = await person.get(f"/desk/jobs/{job}")
    assert "It spared 1 submit the rendering so far" in page.text


async def test_a_long_history_is_told_from_both_ends(database: str) -> None:
    def busy(id: int) -> Work[None]:
        moment = yield from now()
        for number in range(3 * MAX_EVENTS_PER_END):
            yield from record(id, "phase", {"phase": f"phase-{number:03}"}, moment)

    async with desk(database, works=False) as (stage, person):
        job = await stage.press.submit("shout", "x", org_id="ours")
        await stage.service.rendering.database.run(lambda: busy(job.id), name="busy")
        page = await person.get(f"/desk/jobs/{job}")

    assert f"{MAX_EVENTS_PER_END + 1} events between are not shown" in page.text
    assert "Phase phase-000 began" in page.text
    assert "Phase phase-299 began" in page.text
    assert "phase-150" not in page.text


async def test_who_waits_is_told_where_it_stands(database: str) -> None:
    async with desk(database, works=False) as (stage, person):
        first = await stage.press.submit("shout", 1, org_id="ours", key="k")
        later = await stage.press.submit("shout", 2, org_id="ours", delay=3600)
        behind = await stage.press.submit("shout", 3, org_id="ours")
        pages = [(await person.get(f"/desk/jobs/{job}")).text for job in (first, later, behind)]
        await stage.press.pause("shout")
        paused = (await person.get(f"/desk/jobs/{first}")).text

    assert "It is the next of its kind" in pages[0]
    assert "Open now, in their order" in pages[0]
    assert "Scheduled: it starts" in pages[1]
    assert "<strong>1</strong> job of its kind before it" in pages[2]
    assert "is paused" in paused


async def test_progress_by_named_parts_is_shown(database: str) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    @kind("editions")
    async def editions(job: Any, payload: Any) -> None:
        await job.items("editions", ["main", "v<2>", "v3"], message="making them")
        await job.item_completed("main")
        await job.item_failed("v<2>", "no such branch")
        begun.set()
        await go_on.wait()

    async with on_stage_with(editions, database) as stage, member(stage, Scope.VIEWER, "ours") as person:
        job = await stage.press.submit("editions", org_id="ours")
        await begun.wait()
        page = await person.get(f"/desk/jobs/{job}")
        go_on.set()
        await stage.press.wait_until_ended(job, timeout=60)

    assert "v&lt;2&gt;</span> no such branch" in page.text
    assert "2 of 3" in page.text
    assert "making them" in page.text
    assert f'data-live="/desk/live?job={job}&amp;after=' in page.text


async def test_a_result_may_be_anything(database: str) -> None:
    """An application's result once could have had a field `warnings` that is a number, and no page."""
    async with on_stage_with(odd, database) as stage, member(stage, Scope.VIEWER, "ours") as person:
        job = await stage.press.submit("odd", {"language": 1, "source_artifact": "x"}, org_id="ours")
        await stage.press.wait_until_ended(job, timeout=60)
        page = await person.get(f"/desk/jobs/{job}")

    assert page.status_code == 200
    assert "It made no file. It returned:" in page.text


async def test_an_output_of_many_files_is_a_list_of_them(database: str) -> None:
    async def make_site(job: Any, payload: Any) -> Any:
        rendering = stage.service.rendering
        pages = {"index.html": ("text/html", b"<p>home"), "img/logo.svg": ("image/svg+xml", b"<svg/>")}
        files = [
            await artifact_lifecycle.store_file(rendering.blobs, rendering.database, path, data, media_type=media_type)
            for path, (media_type, data) in pages.items()
        ]
        return artifacts.result_with_artifacts(artifact_lifecycle.bundle_draft(files, media_type="text/html"))

    site = Kind("site", make_site, settling=record_artifacts_hook())
    async with on_stage_with(site, database) as stage, member(stage, Scope.VIEWER, "ours") as person:
        job = await stage.press.submit("site", org_id="ours")
        ended = await stage.press.wait_until_ended(job, timeout=60)
        page = await person.get(f"/desk/jobs/{job}")
        whole = await person.get(f"/desk/jobs/{job}/output")
        logo = await person.get(f"/desk/jobs/{job}/output?file=img/logo.svg")
        absent = await person.get(f"/desk/jobs/{job}/output?file=img")
        home = await person.get(f"/desk/jobs/{job}/preview?file=index.html")

    assert ended.status is Status.COMPLETED, ended.errors
    assert f"/desk/jobs/{job}/output?file=img%2Flogo.svg" in page.text
    assert (logo.status_code, logo.headers["content-type"]) == (200, "image/svg+xml")
    assert home.text == "<p>home"
    assert (whole.status_code, absent.status_code) == (404, 404)


async def test_a_stream_of_a_job_that_has_ended_says_so_once(database: str) -> None:
    """It may end between the page and its stream: then the page must look again, and not come back for ever."""
    async with desk(database, works=False) as (stage, person):
        job = await stage.press.submit("shout", "x", org_id="ours")
        await stage.press.cancel(job)
        stream = await person.get(f"/desk/live?job={job}&after=1")

    assert (stream.status_code, stream.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert stream.text == "event: changed\ndata: for the last time\n\n"


def test_a_place_in_a_source_is_marked() -> None:
    around = source_lines.lines_around_error("one\n\ttwo three\nfour", {"line": 2, "column": 6})

    assert [line.number for line in around] == [1, 2, 3]
    assert (around[1].before, around[1].mark, around[1].after) == ("\ttwo ", "t", "hree")
    assert around[1].caret == "\t    ^"


@pytest.mark.parametrize("error", [{}, {"line": 0}, {"line": 9}, {"line": "2"}, {"line": None, "column": 1}])
def test_a_place_that_is_not_there_shows_nothing(error: dict[str, Any]) -> None:
    assert source_lines.lines_around_error("one\ntwo", error) == []


def test_a_place_in_a_very_long_line_is_shown_with_what_is_around_it() -> None:
    (line,) = source_lines.lines_around_error("x" * 5_000 + "!" + "y" * 5_000, {"line": 1, "column": 5_001})

    assert line.mark == "!"
    assert len(line.before) + len(line.after) < 2 * source_lines.MAX_LINE_WIDTH
    assert (line.before[0], line.after[-1]) == ("…", "…")


def test_a_picture_is_as_large_as_its_first_bytes_say() -> None:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4) + (480).to_bytes(4)

    assert _image_size(head) == (640, 480)
    assert _image_size(head[:23]) is None


@pytest.mark.parametrize(
    ("width", "height", "pixels"),
    [
        (0.6, 1, (1, 1)),
        (640, 480, (640, 480)),
        (0, 480, None),
        (640, -480, None),
        (999_999, 1, (999_999, 1)),
        (1_000_000, 1, None),
    ],
)
def test_a_size_that_no_picture_has_is_left_out(width: float, height: float, pixels: tuple[int, int] | None) -> None:
    details = {"width": width, "height": height}
    output = JobOutput(artifact=None, short_link=None, warnings=[], engines={}, details=details)

    assert output.pixels == pixels
