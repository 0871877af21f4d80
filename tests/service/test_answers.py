"""What holds for every answer, and for requests that end before there is one."""

import logging
import re
from typing import Any

import pytest

from pressroom.api.access import Scope
from pressroom.errors import StoreBusy, StoreFull, StoreReadOnly, StoreUnavailable
from tests.service.access_stage import STRANGER, Stage, on_stage
from tests.web.browsing import member


async def test_no_answer_is_taken_for_what_it_is_not(file: str) -> None:
    """Every route, with a token and without: pages, JSON, problems, redirects and pictures."""
    async with (
        on_stage(file, works=False) as stage,
        stage.client(await stage.token(Scope.ADMIN, everywhere=True)) as client,
        stage.client() as stranger,
        member(stage, everywhere=True) as person,
    ):
        found = {}
        for route in stage.app.routes:
            path = re.sub(r"\{\w+(:\w+)?\}", "nothing", route.path)
            if path == "/events" or path.endswith("/live"):
                continue  # they do not end
            for method in route.methods:
                for who in (client, stranger, person.client):
                    answer = await who.request(method, path)
                    found[method, path, answer.status_code] = answer.headers.get_list("x-content-type-options")
        for path in ("/nothing", "/livez/", "/desk/nothing"):
            found["GET", path, 0] = (await client.get(path)).headers.get_list("x-content-type-options")

    assert len(found) > 100
    assert {where: value for where, value in found.items() if value != ["nosniff"]} == {}


async def test_the_link_to_the_next_page_of_jobs_has_the_filters_of_this_one(file: str) -> None:
    async with on_stage(file, works=False) as stage, stage.client(await stage.token(Scope.VIEWER, "ours")) as client:
        jobs = [await stage.press.submit("shout", n, org_id="ours", subject=f"{n % 2}", delay=3600) for n in range(4)]
        page = await client.get("/jobs", params={"subject": "1", "status": ["queued", "failed"], "limit": 1})
        following = await client.get(page.links["next"]["url"])

        seen = [item["id"] for answer in (page, following) for item in answer.json()["items"]]
        assert seen == [str(jobs[3]), str(jobs[1])]
        assert "next" not in following.links


@pytest.mark.parametrize("path", ["/jobs", "/render", "/desk/login", "/kroki/graphviz/svg"])
async def test_a_body_that_breaks_off_is_no_error_of_ours(file: str, path: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with on_stage(file, works=False) as stage:
        token = await stage.token(Scope.ADMIN)
        sent = await break_off(stage, path, token)

    assert sent == []
    assert [record for record in caplog.records if record.levelno >= logging.WARNING or record.exc_info] == []
    assert "went away" in caplog.text


async def break_off(stage: Stage, path: str, token: str) -> list[Any]:
    """Half a body, and then nobody is there."""
    parts = iter([{"type": "http.request", "body": b'{"kind', "more_body": True}])
    headers = [
        (b"host", b"pressroom"),
        (b"authorization", f"Bearer {token}".encode()),
        (b"content-length", b"1000"),
        (b"content-type", b"application/x-www-form-urlencoded" if path.startswith("/desk") else b"application/json"),
    ]
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers,
        "scheme": "http", "client": STRANGER, "server": ("pressroom", 80), "http_version": "1.1", "root_path": "",
    }  # fmt: skip
    sent: list[Any] = []

    async def receive() -> Any:
        return next(parts, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        sent.append(message)

    await stage.app(scope, receive, send)
    return sent


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreUnavailable("postgresql://ada@db.internal:5432/press cannot be reached: no route"), "store_unavailable"),
        (StoreBusy("postgresql://ada@db.internal:5432/press was busy with others: lock timeout"), "store_busy"),
        (StoreFull("the server of db.internal has no room left"), "store_full"),
        (StoreReadOnly("db.internal cannot be written to"), "store_read_only"),
    ],
)
async def test_where_the_store_is_stays_with_the_operator(
    file: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception, code: str
) -> None:
    async def fail(*_: Any, **__: Any) -> None:
        raise error

    async with on_stage(file, works=False) as stage, stage.client(await stage.token()) as client:
        monkeypatch.setattr(stage.service.queue, "submit", fail)
        answer = await client.post("/jobs", json={"kind": "shout", "payload": "x"})

    told = answer.json()
    assert (answer.status_code, told["code"], told["retryable"]) == (503, code, True)
    assert "internal" not in answer.text
    assert "the store" in told["detail"]
    assert f"request {told['request_id']} was refused: {error}" in caplog.text
