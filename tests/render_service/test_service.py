"""The render service over HTTP: who may use it, what it refuses, and what it tells."""

import asyncio
import base64
import hashlib
import io
import json

import httpx
import pypdf
import pytest

from pressroom.config import Settings
from pressroom.errors import InvalidSettings
from pressroom.render_service.service import make_service
from tests.render_service.stage import HELLO, SLOW, TOKEN, on_stage


async def test_a_document_comes_with_its_digest_and_its_pages() -> None:  # R21
    async with on_stage() as stage, stage.client() as client:
        answer = await client.post("/render", json={"html": HELLO, "options": {"page": "A5"}})

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/pdf"
    digest = base64.b64encode(hashlib.sha256(answer.content).digest()).decode()
    assert answer.headers["content-digest"] == f"sha-256=:{digest}:"
    assert (answer.headers["pressroom-pages"], answer.headers["pressroom-warnings"]) == ("1", "0")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("body", "status", "code", "words"),
    [
        (b"{", 400, "invalid_json", "not JSON"),
        (b"\xff", 400, "invalid_json", "not JSON"),
        (b'{"data":' + b"[" * 100_000, 400, "invalid_json", "not JSON"),
        (b'{"html": "\\ud800"}', 400, "invalid_json", "not JSON"),
        (b"[]", 400, "invalid_argument", "a JSON object"),
        (b"{}", 400, "invalid_argument", "`html` or `template`"),
        (b'{"html": "a", "markdown": "b"}', 400, "invalid_argument", "one of them only"),
        (b'{"html": 3}', 400, "invalid_argument", "$.html"),
        (b'{"html": "a", "optoins": {}}', 400, "invalid_argument", "optoins"),
        (b'{"html": "a", "options": {"pgae": 1}}', 422, "invalid_argument", "pgae"),
        (b'{"html": "a", "options": {"page": "A9"}}', 422, "invalid_argument", "A9"),
        (b'{"html": "a", "engine": "nothing"}', 422, "invalid_argument", "there is no engine"),
        (b'{"html": "  "}', 422, "source_invalid", "empty"),
        (b'{"sections": 3}', 422, "invalid_argument", "/sections"),
        (b'{"sections": [{"type": "poem"}]}', 422, "invalid_argument", "/sections/0/type"),
        (b'{"title": "no sections"}', 400, "invalid_argument", "`sections`"),
        (b'{"template": "x", "data": []}', 400, "invalid_argument", "$.data"),
        (b'{"template": "x", "options": {"data": {}}}', 422, "invalid_argument", "`template`"),
        (b'{"template": "x", "options": {"pgae": 1}}', 422, "invalid_argument", "pgae"),
        (b'{"template": "{{ x }}"}', 422, "source_invalid", "x"),
    ],
)
async def test_bad_input_is_told_what_is_wrong(body: bytes, status: int, code: str, words: str) -> None:
    async with on_stage() as stage, stage.client() as client:
        answer = await client.post("/render", content=body, headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert words in answer.json()["detail"]
    assert answer.headers["content-type"] == "application/problem+json"


async def test_the_limits_of_the_api_hold_here_too() -> None:
    async with on_stage(body_limit=10_000) as stage, stage.client() as client:
        too_long = await client.post("/render", json={"html": "x" * 20_000})
        a_form = await client.post("/render", data={"html": "x"})
        foreign = await client.post("/render", json={"html": HELLO}, headers={"Origin": "https://elsewhere.example"})
        misnamed = await client.post("/render", json={"html": HELLO}, headers={"Host": "elsewhere.example"})
        packed = await client.post("/render", content=b"", headers={"Content-Encoding": "gzip"})
        answers = [too_long, a_form, foreign, misnamed, packed, await client.get("/render"), await client.get("/jobs")]

    assert [one.status_code for one in answers] == [413, 415, 403, 421, 415, 405, 404]


async def test_the_form_of_the_source_product_is_printed() -> None:  # R21
    document = {
        "title": "Offer <1>",
        "sections": [
            {"type": "text", "text": "Dear {{ name }},"},
            {"type": "bullets", "items": ["first", "second"]},
            {"type": "table", "columns": ["what", "how many"], "rows": [["desks", 2]]},
        ],
        "meta": {"author": "A. Example"},
    }
    async with on_stage() as stage, stage.client() as client:
        answer = await client.post("/render", json=document | {"options": {"page": "A5"}})

    reader = pypdf.PdfReader(io.BytesIO(answer.content))
    text = "".join(page.extract_text() for page in reader.pages)
    assert all(words in text for words in ("Offer <1>", "Dear {{ name }},", "second", "how many", "desks"))
    assert reader.metadata is not None
    assert reader.metadata.title == "Offer <1>"


async def test_an_error_in_a_template_says_where() -> None:
    async with on_stage() as stage, stage.client() as client:
        answer = await client.post("/render", json={"template": "<p>\n  {{ person.nme }}", "data": {"person": {"name": "x"}}})

    told = answer.json()
    assert (answer.status_code, told["code"], told["line"]) == (422, "source_invalid", 2)


async def test_markdown_has_a_route_of_its_own() -> None:
    async with on_stage() as stage, stage.client() as client:
        printed = await client.post("/render/pdf", json={"markdown": "# Hello", "options": {"page": "A5"}})
        refused = await client.post("/render/pdf", json={"html": HELLO})

    assert printed.content.startswith(b"%PDF-")
    assert refused.status_code == 400


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer wrong", f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer \N{SNOWMAN}"]
)
async def test_without_the_token_nothing_is_rendered(authorization: str) -> None:
    headers = {"Authorization": authorization.encode()} if authorization else {}
    async with on_stage(render_token=TOKEN) as stage, stage.client() as client:
        refused = await client.post("/render", json={"html": HELLO}, headers=headers)
        figures = await client.get("/metrics", headers=headers)
        health = await client.get("/health", headers=headers)

    assert (refused.status_code, figures.status_code) == (401, 401)
    assert "RENDER_TOKEN" in refused.json()["detail"]
    assert (health.status_code, health.json()["authorized"]) == (200, False)
    assert TOKEN not in refused.text + health.text


async def test_guesses_of_the_token_are_limited() -> None:
    async with on_stage(render_token=TOKEN, login_limit=3) as stage, stage.client("wrong-token-wrong-token") as client:
        statuses = [(await client.post("/render", json={})).status_code for _ in range(5)]

    assert statuses == [401, 401, 401, 429, 429]


def test_off_the_loopback_it_does_not_start_without_a_token() -> None:
    for address in ("0.0.0.0:8010", "[::]:8010", "192.0.2.1:8010", "render:8010"):
        with pytest.raises(InvalidSettings, match="RENDER_TOKEN"):
            make_service(Settings(listen=address))
    for settings in (Settings(listen="[::1]:8010"), Settings(listen="0.0.0.0:8010", render_token=TOKEN)):
        assert make_service(settings).gate.is_open is not settings.render_token


async def test_one_more_than_may_wait_is_told_to_come_back(eventually) -> None:
    async with on_stage(concurrent=1, waiting=1) as stage, stage.client() as client:
        first, second = (asyncio.create_task(client.post("/render", json={"html": SLOW})) for _ in range(2))
        await eventually(lambda: stage.service.slots.waiting == 1)
        full = await client.post("/render", json={"html": HELLO})

        assert (full.status_code, full.json()["code"], full.headers["retry-after"]) == (429, "backpressure", "5")
        assert "waiting 1.0" in (await client.get("/metrics")).text
        first.cancel()
        second.cancel()
        await asyncio.wait({first, second})
        await eventually(lambda: stage.is_idle)


async def test_health_and_readiness_follow_the_first_render_and_the_stop() -> None:
    async with on_stage() as stage, stage.client() as client:
        ready = await client.get("/readyz")
        told = [(await client.request(method, "/health")).json() for method in ("GET", "POST")]
        assert (await client.get("/livez")).json() == {"status": "pass"}
        stage.service.closing.set()

    assert (ready.status_code, ready.json()) == (200, {"status": "pass"})
    assert told[0] == told[1]
    assert told[0]["status"] == "pass"
    assert {printer["name"] for printer in told[0]["printers"]} == {"html", "html-browser"}


async def test_a_service_that_is_closing_says_so() -> None:
    async with on_stage() as stage:
        app_client = httpx.AsyncClient(transport=httpx.ASGITransport(app=_app(stage)), base_url="http://127.0.0.1")
        stage.service.closing.set()
        async with app_client as client:
            refused = await client.post("/render", json={"html": HELLO})
            ready = await client.get("/readyz")

    assert (refused.status_code, refused.json()["code"]) == (503, "queue_closed")
    assert int(refused.headers["retry-after"]) > 0
    assert ready.status_code == 503


def _app(stage):
    from pressroom.render_service.serving import make_app

    return make_app(stage.service)


async def test_warnings_are_told_in_a_header_that_holds_only_ascii() -> None:
    pictures = "".join(f'<img src="http://host/ä{number}.png">\n' for number in range(40))
    async with on_stage() as stage, stage.client() as client:
        answer = await client.post("/render", json={"html": HELLO + pictures})

    notices = json.loads(answer.headers["pressroom-notices"])
    assert int(answer.headers["pressroom-warnings"]) >= len(notices) > 5
    assert {"no_alt", "blocked_fetch"} >= {one["code"] for one in notices}
    assert len(answer.headers["pressroom-notices"]) <= 4096
