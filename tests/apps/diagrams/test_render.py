"""`POST /render`, in all the ways it can be asked (design 003, I6 to I8, I12; X22, X26)."""

import hashlib
from typing import Any

import pytest

from pressroom.api import waiting
from pressroom.renderers import Limits
from tests.apps.diagrams.conftest import Easel, Staging, ended

ARROW = {"source": "digraph { a -> b }", "format": "dot", "outputType": "svg"}


# I6
async def test_post_render_returns_202_with_a_job_id_at_once(staged: Staging, easel: Easel) -> None:
    easel.hold()
    async with staged() as stage:
        answer = await stage.http.post("/render", json=ARROW)

        assert answer.status_code == 202
        told = answer.json()
        assert told["status"] == "pending"
        assert told["statusUrl"] == f"/jobs/{told['jobId']}" == answer.headers["location"]
        assert told["jobId"].startswith("job_")
        assert answer.headers["retry-after"] == "1"
        easel.release()


# I7, I12
async def test_post_render_with_mode_sync_returns_200_with_a_shortlink(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        answer = await stage.http.post("/render?mode=sync", json=ARROW)

        assert answer.status_code == 200
        told = answer.json()
        assert told["url"] == f"/d/{told['shortlink']}"
        assert told["cached"] is False
        assert (await stage.http.get(told["url"])).text == "<svg>digraph { a -> b }|svg|</svg>"


# I8
async def test_get_jobs_id_returns_the_status_and_the_shortlink_when_completed(staged: Staging, easel: Easel) -> None:
    easel.hold()
    async with staged() as stage:
        answer = await stage.http.post("/render", json=ARROW)
        before = (await stage.http.get(answer.json()["statusUrl"])).json()
        assert before["status"] in ("pending", "rendering")
        assert (before["shortlink"], before["url"], before["error"]) == (None, None, None)
        easel.release()

        told = await ended(stage, answer)

        assert told["status"] == "completed"
        assert told["url"] == f"/d/{told['shortlink']}"
        assert told["inputHash"] == hashlib.sha256(b"digraph { a -> b }|dot|svg").hexdigest()
        assert told["createdAt"] <= told["startedAt"] <= told["completedAt"] < told["expiresAt"]


# I8, I13, P7
async def test_an_invalid_diagram_is_a_failed_job_with_its_error_message_and_place(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        told = await ended(stage, await stage.http.post("/render", json=ARROW | {"source": "broken"}))

        assert (told["status"], told["shortlink"]) == ("failed", None)
        assert told["error"] == "an arrow needs two ends"
        assert (told["code"], told["line"], told["column"]) == ("source_invalid", 3, 7)


# X26
async def test_in_mode_sync_an_invalid_diagram_is_a_400_with_its_place(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        answer = await stage.http.post("/render?mode=sync", json=ARROW | {"source": "broken"})

        assert answer.status_code == 400
        assert answer.headers["content-type"] == "application/problem+json"
        told = answer.json()
        assert (told["code"], told["detail"], told["line"], told["column"]) == (
            "source_invalid",
            "an arrow needs two ends",
            3,
            7,
        )
        assert (await stage.http.get(f"/jobs/{told['job_id']}")).json()["status"] == "failed"


async def test_an_error_that_nobody_foresaw_is_a_500_without_its_words(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        stage.press.kinds["diagram"].__dict__["max_attempts"] = 1
        answer = await stage.http.post("/render?mode=sync", json=ARROW | {"source": "crash"})

        assert (answer.status_code, answer.json()["code"]) == (500, "handler_error")
        assert "nobody foresaw" not in answer.text


async def test_a_render_that_takes_too_long_says_so_itself_and_is_not_tried_again(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        answer = await stage.http.post("/render?mode=sync", json=ARROW | {"source": "endless"})
        told = answer.json()

        assert (answer.status_code, told["code"]) == (504, "timeout")
        assert easel.sources == ["endless"]
        assert Limits().seconds < waiting.SYNC_WAIT


async def test_past_the_time_limit_it_is_a_504_that_names_the_job_and_the_job_goes_on(
    staged: Staging, easel: Easel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pressroom.api.waiting.SYNC_WAIT", 0.05)
    easel.hold()
    async with staged() as stage:
        answer = await stage.http.post("/render?mode=sync", json=ARROW)
        assert (answer.status_code, answer.json()["code"]) == (504, "wait_timeout")
        easel.release()

        job = await stage.http.get(answer.headers["location"], params={"wait": 60})
        assert job.json()["status"] == "completed"


async def test_a_preference_to_wait_falls_back_to_a_job(staged: Staging, easel: Easel) -> None:
    easel.hold()
    async with staged() as stage:
        late = await stage.http.post("/render", json=ARROW, headers={"Prefer": "wait=0.05"})
        assert (late.status_code, late.headers["preference-applied"]) == (202, "wait=0.05")
        assert "Prefer" in late.headers["vary"]
        easel.release()

        soon = await stage.http.post("/render?wait=60", json=ARROW | {"source": "digraph { other }"})
        assert (soon.status_code, soon.json()["cached"]) == (200, False)


# X22
async def test_a_hit_is_200_cached_and_prefer_respond_async_makes_it_a_202_with_a_completed_job(
    staged: Staging, easel: Easel
) -> None:
    async with staged() as stage:
        first = (await stage.http.post("/render?mode=sync", json=ARROW)).json()

        hit = await stage.http.post("/render", json=ARROW)
        assert (hit.status_code, hit.json()["cached"]) == (200, True)
        assert (hit.json()["shortlink"], hit.json()["url"]) == (first["shortlink"], first["url"])

        asked = await stage.http.post("/render", json=ARROW, headers={"Prefer": "respond-async"})
        assert (asked.status_code, asked.headers["preference-applied"]) == (202, "respond-async")
        assert asked.json()["status"] == "completed"
        assert (await ended(stage, asked))["shortlink"] == first["shortlink"]


async def test_an_unknown_mode_is_async(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        assert (await stage.http.post("/render?mode=quickly", json=ARROW)).status_code == 202


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", None, "text/vnd.graphviz"])
async def test_the_source_may_be_the_body_with_the_rest_in_the_query(
    staged: Staging, easel: Easel, content_type: str | None
) -> None:
    """`curl -d` calls whatever it sends a form."""
    async with staged() as stage:
        headers = {} if content_type is None else {"Content-Type": content_type}
        answer = await stage.http.post(
            "/render?format=graphviz&outputType=png&mode=sync&theme=dark&scale=3", content="digraph { a=b }", headers=headers
        )

        assert answer.status_code == 200
        (asked,) = easel.drew
        assert (asked.language, asked.output, asked.source) == ("dot", "png", b"digraph { a=b }")
        assert asked.options == {"theme": "dark", "scale": 3.0}


async def test_json_that_curl_called_a_form_is_understood(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = await stage.http.post("/render", content='{"source": "digraph {}", "format": "dot"}', headers=headers)

        assert answer.status_code == 202


async def test_the_bytes_of_the_body_are_not_touched(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await stage.http.post("/render?format=dot&mode=sync", content=b"  digraph {\r\n\ta }\n\n ")

        assert easel.drew[0].source == b"  digraph {\r\n\ta }\n\n "


ALIASES = {
    "mermaid": "mermaid",
    "mmd": "mermaid",
    "Mermaid": "mermaid",
    "d2": "d2",
    "plantuml": "plantuml",
    "puml": "plantuml",
    "graphviz": "dot",
    "dot": "dot",
    "vegalite": "vega-lite",
}


async def test_a_format_has_other_names(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        for alias, language in ALIASES.items():
            answer = await stage.http.post(f"/render?format={alias}&mode=sync", content=alias)

            assert answer.status_code == 200, answer.text
            assert easel.drew[-1].language == language


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"format": "cobol"}, "unsupported_format", "there are markdown, html, jinja, mermaid, dot, d2"),
    ({"format": None}, "format_missing", "mermaid"),
    ({"outputType": "gif"}, "unsupported_output", "it can be svg, png, pdf"),
    ({"options": {"colour": "red"}}, "invalid_argument", "there is no option `colour`; there are title"),
    ({"options": {"scale": "wide"}}, "invalid_argument", "scale"),
    ({"engine": "steam"}, "invalid_argument", "there is no engine 'steam'"),
    ({"engine": "d2"}, "invalid_argument", "d2 takes d2"),
    ({"source": ""}, "invalid_argument", "source"),
    ({"source": " \n"}, "source_invalid", "empty"),
    ({"sauce": "x"}, "invalid_argument", "sauce"),
    ({"source": 7}, "invalid_argument", "source"),
]


async def test_what_cannot_be_rendered_is_a_400_that_lists_what_there_is(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        for change, code, words in WRONG:
            answer = await stage.http.post("/render", json=ARROW | change)

            assert (answer.status_code, answer.json()["code"]) == (400, code), answer.text
            assert words in answer.json()["detail"]
        assert (await stage.press.list()).jobs == []


NOT_JSON = [b"", b"{", b"[]", b"\xff", b'{"source": "\\ud800", "format": "dot"}', b"[" * 20_000]


async def test_a_body_that_is_not_what_it_says_is_a_400(staged: Staging, easel: Easel) -> None:
    async with staged(workers=None) as stage:
        for body in NOT_JSON:
            answer = await stage.http.post("/render", content=body, headers={"Content-Type": "application/json"})

            assert answer.status_code == 400, answer.text


async def test_a_body_of_another_type_is_a_415(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        answer = await stage.http.post("/render?format=dot", content=b"x", headers={"Content-Type": "image/png"})

        assert answer.status_code == 415


async def test_a_source_past_its_limit_is_a_413_before_it_is_queued(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        answer = await stage.http.post("/render?format=dot", content="x" * 2_000_000)

        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


async def test_a_source_that_no_payload_can_carry_is_rendered_all_the_same(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        answer = await stage.http.post("/render?format=dot&mode=sync", content="x" * 700_000)
        hit = await stage.http.post("/render?format=dot&mode=sync", content="x" * 700_000)

        assert (answer.status_code, hit.json()["cached"]) == (200, True)


async def test_an_idempotency_key_answers_twice_and_submits_once(staged: Staging, easel: Easel) -> None:
    easel.hold()
    async with staged() as stage:
        headers = {"Idempotency-Key": '"k1"'}
        first = await stage.http.post("/render", json=ARROW, headers=headers)
        again = await stage.http.post("/render", json=ARROW, headers=headers)
        other = await stage.http.post("/render", json=ARROW | {"source": "digraph {}"}, headers=headers)

        assert (again.status_code, again.json()) == (202, first.json())
        assert again.headers["idempotency-replayed"] == "true"
        assert other.status_code == 422
        easel.release()


async def test_links_are_absolute_when_there_is_a_base_url(staged: Staging, easel: Easel) -> None:
    async with staged(base_url="https://press.example") as stage:
        answer = await stage.http.post("/render", json=ARROW)
        told = answer.json()
        assert told["statusUrl"] == answer.headers["location"] == f"https://press.example/jobs/{told['jobId']}"
        job = (await stage.http.get(f"/jobs/{told['jobId']}?wait=60")).json()
        assert job["url"] == f"https://press.example/d/{job['shortlink']}"


async def test_every_route_of_the_app_is_described(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        paths = (await stage.http.get("/openapi.json")).json()["paths"]

        for path in ("/render", "/render/terminal", "/d/{shortlink}", "/a/{file}", "/diagrams", "/diagrams/{name}"):
            for operation in paths[path].values():
                assert operation["operationId"]
                assert {"200", "202", "204"} & operation["responses"].keys()
                assert any(status.startswith("4") for status in operation["responses"])
        body = paths["/render"]["post"]["requestBody"]["content"]
        assert body["application/json"]["example"]["format"] == "dot"
        assert "text/plain" in body


@pytest.mark.parametrize(
    ("accept", "made", "status"),
    [
        ("image/png", "png", 303),
        ("application/pdf", "pdf", 303),
        ("image/svg+xml;q=0.5, image/png", "png", 303),
        ("image/png;q=0, */*", "svg", 200),
        ("image/webp, image/*", "svg", 303),
        ("application/json", "svg", 200),
        ("*/*", "svg", 200),
    ],
)
async def test_what_is_accepted_chooses_the_output(staged: Staging, easel: Easel, accept: str, made: str, status: int) -> None:
    """Where neither body nor query names one."""
    body = {"source": "digraph { a -> b }", "format": "dot"}
    async with staged() as stage:
        answers = [
            await stage.http.post("/render?mode=sync", json=body, headers={"Accept": accept}),
            await stage.http.post("/render?mode=sync&format=dot", content=body["source"], headers={"Accept": accept}),
        ]
        named = await stage.http.post("/render?mode=sync&outputType=svg", json=body, headers={"Accept": "image/png"})
        pictures = [await stage.http.get(one.headers.get("location") or one.json()["url"]) for one in [*answers, named]]

    assert [one.status_code for one in answers] == [status, status]
    assert [one.text.split("|")[1] for one in pictures] == [made, made, "svg"]
