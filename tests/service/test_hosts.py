"""Web pages of other sites, and names that were pointed at us, reach nothing; the loopback is no exception."""

from typing import Any

import httpx
import pytest

from pressroom.api.access import Scope
from pressroom.api.hosts import HostNames
from pressroom.config import Settings
from pressroom.errors import InvalidSettings
from tests.service.access_stage import Stage, on_stage

HERE = ("127.0.0.1", 40_000)
JOB = {"kind": "shout", "payload": 1}
FOREIGN = [
    "http://localhost:3000",
    "http://127.0.0.1:3000",
    "null",
    "https://evil.example",
    "http://localhost.evil.example:8000",
    "",
]


def at_home(stage: Stage, host: str = "localhost:8000") -> httpx.AsyncClient:
    return stage.client(address=HERE, host=host)


async def submit(client: httpx.AsyncClient, **headers: str) -> int:
    return (await client.post("/jobs", json=JOB, headers=headers)).status_code


@pytest.mark.parametrize("origin", FOREIGN)
@pytest.mark.parametrize("site", [None, "cross-site", "same-site", "none"])
async def test_a_page_of_another_local_application_changes_nothing(file: str, origin: str, site: str | None) -> None:
    headers = {"Origin": origin} | ({} if site is None else {"Sec-Fetch-Site": site})
    async with on_stage(file, works=False, listen="127.0.0.1:8000") as stage, at_home(stage) as client:
        answer = await client.post("/jobs", json=JOB, headers=headers)
        with_token = await submit(client, **headers, Authorization=f"Bearer {await stage.token(Scope.ADMIN)}")

        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert with_token == 403, "a token does not make it a page of ours"
        assert (await stage.press.list()).jobs == []


@pytest.mark.parametrize("site", ["same-site", "cross-site"])
async def test_a_page_whose_browser_does_not_name_it_changes_nothing(file: str, site: str) -> None:
    async with on_stage(file, works=False, listen="127.0.0.1:8000") as stage, at_home(stage) as client:
        assert await submit(client, **{"Sec-Fetch-Site": site}) == 403


async def test_every_route_that_changes_something_refuses_a_foreign_page(file: str) -> None:
    async with on_stage(file, works=False, listen="127.0.0.1:8000") as stage, at_home(stage) as client:
        answers = {}
        for route in stage.app.routes:
            for method in set(route.methods) - {"GET", "HEAD", "OPTIONS"}:
                path = route.path.replace("{", "").replace("}", "").replace(":path", "")
                answer = await client.request(method, path, headers={"Origin": "http://localhost:3000"})
                answers[method, route.path] = answer.status_code

    assert len(answers) > 20
    assert {where: status for where, status in answers.items() if status != 403} == {}


async def test_our_own_pages_and_programs_are_let_in(file: str) -> None:
    async with on_stage(file, works=False, listen="127.0.0.1:8000", base_url="https://press.example/x") as stage:
        async with at_home(stage) as client:
            own = {"Origin": "http://localhost:8000"}
            assert await submit(client) == 202
            assert await submit(client, **own) == 202
            assert await submit(client, **own, **{"Sec-Fetch-Site": "same-origin"}) == 202
            assert await submit(client, **{"Sec-Fetch-Site": "none"}) == 202
            assert await submit(client, Origin="https://press.example") == 202, "a proxy may have changed the Host"
            assert await submit(client, Origin="http://press.example") == 403
            assert await submit(client, Origin="https://press.example:8443") == 403
        async with at_home(stage, "press.example") as client:  # behind a proxy that speaks HTTPS and passes the Host on
            assert await submit(client, Origin="https://press.example") == 202


async def test_a_site_that_the_operator_names_may_submit(file: str) -> None:
    pages = ("https://docs.example.org",)
    async with on_stage(file, works=False, cors_origins=pages) as stage, stage.client(await stage.token()) as client:
        named = await submit(client, Origin=pages[0], **{"Sec-Fetch-Site": "cross-site"})
        other = await submit(client, Origin="https://docs.example.org.evil.example")

    assert (named, other) == (202, 403)


async def test_reading_is_not_refused_for_its_origin(file: str) -> None:
    """Without CORS a page cannot see the answer, and pictures are shown on other sites."""
    async with on_stage(file, works=False) as stage, stage.client(await stage.token()) as client:
        answer = await client.get("/jobs", headers={"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"})

    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("host", "is_open", "is_closed"),
    [
        ("localhost", True, True),
        ("LOCALHOST.", True, True),
        ("press.localhost", True, True),
        ("127.0.0.1", True, True),
        ("127.8.0.1", True, True),
        ("[::1]", True, True),
        ("press.example", True, True),
        ("a.wide.example", True, True),
        ("wide.example", False, False),
        ("evil.example", False, False),
        ("127.0.0.1.evil.example", False, False),
        ("xn--localhost.evil.example", False, False),
        ("press", False, True),
        ("192.0.2.7", False, True),
        ("[2001:db8::1]", False, True),
        ("2130706433", False, True),
    ],
)
def test_the_names_that_we_serve(host: str, is_open: bool, is_closed: bool) -> None:
    names = ["press.example", ".wide.example"]

    assert (host in HostNames(names, needs_token=False)) is is_open
    assert (host in HostNames(names, needs_token=True)) is is_closed
    assert host in HostNames(["*"], needs_token=False)


async def test_a_name_that_was_pointed_here_reads_nothing(file: str) -> None:
    """DNS rebinding: a page on evil.example whose name leads to 127.0.0.1 would be of our own origin."""
    async with on_stage(file, works=False, listen="127.0.0.1:8000") as stage, at_home(stage, "evil.example:8000") as client:
        answers = [await client.get(path) for path in ("/", "/jobs", "/desk", "/wiki", "/metrics", "/livez", "/nothing")]
        posted = await submit(client, Origin="http://evil.example:8000", **{"Sec-Fetch-Site": "same-origin"})

    assert {answer.status_code for answer in answers} == {421}
    assert {answer.json()["code"] for answer in answers} == {"misdirected_request"}
    assert posted == 421


async def test_further_names_are_a_setting(file: str) -> None:
    async with on_stage(file, works=False, listen="127.0.0.1:8000", allowed_hosts=("press.example",)) as stage:
        async with at_home(stage, "press.example") as client:
            assert (await client.get("/livez")).status_code == 200
        async with at_home(stage, "other.example") as client:
            assert (await client.get("/livez")).status_code == 421


@pytest.mark.parametrize("wrong", ["https://a.example", "a.example:80", "a b", "", "..a", "*.example"])
async def test_what_is_no_host_name_is_told_at_once(wrong: str) -> None:
    assert [problem for problem in Settings(allowed_hosts=(wrong,)).problems() if problem.startswith("allowed_hosts")]
    with pytest.raises(InvalidSettings):
        async with on_stage("sqlite:///:memory:", allowed_hosts=(wrong,)):
            pass


@pytest.mark.parametrize(
    "hosts",
    [[], [b"pressroom", b"pressroom"], [b"pressroom", b"evil.example"], [b""], [b"a/b"], [b"u@a"], [b"a:b"], [b"a b"], [b"a?"]],
)
async def test_a_request_names_one_host(file: str, hosts: list[bytes]) -> None:
    async with on_stage(file, works=False) as stage:
        answer = await asked(stage, "GET", "/livez", [(b"host", host) for host in hosts])
        old = await asked(stage, "GET", "/livez", [], http_version="1.0")

    assert answer["status"] == 400
    assert old["status"] == 200, "HTTP/1.0 has no Host"


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST", "CONNECT"])
@pytest.mark.parametrize("target", ["*", "press.example:443", ""])
async def test_a_target_that_is_no_path_is_refused(file: str, method: str, target: str) -> None:
    async with on_stage(file, works=False) as stage:
        answer = await asked(stage, method, target, [(b"host", b"pressroom")])

    assert answer["status"] == 400


async def asked(stage: Stage, method: str, path: str, headers: list[tuple[bytes, bytes]], **how: Any) -> dict[str, Any]:
    """A request that no client would send."""
    scope = {"type": "http", "http_version": "1.1", "scheme": "http", "query_string": b"", "root_path": "", "server": ("h", 1)}
    scope |= {"method": method, "path": path, "raw_path": path.encode(), "headers": headers, "client": HERE} | how
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await stage.app(scope, receive, send)
    return dict(sent[0])


@pytest.mark.parametrize("path", ["/jobs/", "/jobs/?limit=1", "/artifacts/"])
async def test_an_empty_id_is_not_found(file: str, path: str) -> None:
    """P21: it is not another way to write the list."""
    async with on_stage(file, works=False) as stage, stage.client(await stage.token(everywhere=True)) as client:
        answer = await client.get(path)

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/livez/", "../livez"),
        ("/jobs/nothing/?a=b&c", "../nothing?a=b&c"),
        ("/diagrams/a:b/", "../a%3Ab"),
        ("/desk/jobs/", None),
    ],
)
async def test_a_redirect_is_not_made_from_the_host(file: str, path: str, location: str | None) -> None:
    async with (
        on_stage(file, works=False, allowed_hosts=("*",)) as stage,
        stage.client(await stage.token(), host="evil.example") as client,
    ):
        answer = await client.get(path)

    assert "evil.example" not in str(answer.headers)
    if location is not None:
        assert (answer.status_code, answer.headers["location"]) == (307, location)
        assert (
            str(answer.url.join(location))
            == f"http://evil.example{path.replace('/?', '?').rstrip('/').replace('a:b', 'a%3Ab')}"
        )
