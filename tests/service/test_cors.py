"""Pages of other origins: none may read, unless the operator names them."""

import pytest

from pressroom import config
from pressroom.errors import InvalidSettings
from tests.service.access_stage import on_stage

PAGE = "https://docs.example.org"
ANOTHER = "https://elsewhere.example.org"
HERE = ("127.0.0.1", 1)


def preflight(
    origin: str = PAGE, method: str = "POST", headers: str = "authorization,content-type,idempotency-key"
) -> dict[str, str]:
    return {"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}


async def test_no_page_may_read_unless_it_is_named(file: str) -> None:
    async with on_stage(file, works=False) as stage, stage.client(await stage.token()) as client:
        looked = await client.get("/jobs", headers={"Origin": PAGE})
        asked = await client.options("/jobs", headers=preflight())

    assert looked.status_code == 200
    assert asked.status_code == 405
    for answer in (looked, asked):
        assert not [name for name in answer.headers if name.startswith("access-control-")]


async def test_a_page_that_is_named_may_read_and_submit(file: str) -> None:
    async with on_stage(file, works=False, cors_origins=(PAGE,)) as stage, stage.client(await stage.token()) as client:
        asked = await client.options("/jobs", headers=preflight())
        submitted = await client.post("/jobs", json={"kind": "shout"}, headers={"Origin": PAGE})
        elsewhere = await client.get("/jobs", headers={"Origin": ANOTHER})
        deleting = await client.options("/diagrams/a", headers=preflight(method="DELETE"))

    assert asked.status_code == 200
    assert "POST" in asked.headers["access-control-allow-methods"]
    assert submitted.status_code == 202
    assert submitted.headers["access-control-allow-origin"] == PAGE
    assert "access-control-allow-credentials" not in submitted.headers
    exposed = submitted.headers["access-control-expose-headers"].split(", ")
    assert {"Location", "Retry-After", "ETag", "Cache-Status", "X-Request-Id"} <= set(exposed)
    assert "access-control-allow-origin" not in elsewhere.headers
    assert deleting.status_code == 400


async def test_a_page_may_read_why_it_was_refused(file: str) -> None:
    async with on_stage(file, works=False, cors_origins=("*",), rate_limit_address=1) as stage, stage.client() as client:
        refused = await client.get("/jobs", headers={"Origin": PAGE})
        counted = await client.get("/jobs", headers={"Origin": PAGE})
        encoded = await client.post("/jobs", content=b"", headers={"Origin": PAGE, "Content-Encoding": "gzip"})

    assert [answer.status_code for answer in (refused, counted, encoded)] == [401, 429, 415]
    assert all(answer.headers["access-control-allow-origin"] == "*" for answer in (refused, counted, encoded))


async def test_webhooks_and_figures_are_no_page_s_business(file: str) -> None:
    opened = on_stage(file, works=False, cors_origins=("*",))
    async with opened as stage, stage.client(await stage.token(everywhere=True)) as client:
        answers = [await client.get(path, headers={"Origin": PAGE}) for path in ("/webhooks", "/metrics")]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert not [answer for answer in answers if "access-control-allow-origin" in answer.headers]


@pytest.mark.parametrize(
    ("origins", "origin", "status"),
    [
        ((PAGE,), PAGE, 202),
        ((PAGE,), ANOTHER, 403),
        (("*",), PAGE, 401),
        (("*",), "null", 401),
        (("*",), "http://localhost", 202),
    ],
)
async def test_on_the_loopback_only_a_page_that_is_named_needs_no_token(
    file: str, origins: tuple[str, ...], origin: str, status: int
) -> None:
    """Otherwise `*` would hand the whole queue to every page that its operator happens to visit."""
    opened = on_stage(file, works=False, listen="127.0.0.1:8000", cors_origins=origins)
    async with opened as stage, stage.client(address=HERE, host="localhost") as client:
        site = "same-origin" if origin == "http://localhost" else "cross-site"
        headers = {"Origin": origin, "Sec-Fetch-Site": site}
        submitted = await client.post("/jobs", json={"kind": "shout"}, headers=headers)
        looked = await client.get("/jobs", headers=headers)
        plain = await client.get("/jobs")

    assert submitted.status_code == status
    assert looked.status_code == (200 if status == 202 else 401)
    assert plain.status_code == 200


async def test_a_name_that_was_pointed_here_is_no_page_of_ours(file: str) -> None:
    opened = on_stage(file, works=False, listen="127.0.0.1:8000", cors_origins=("*",))
    async with opened as stage, stage.client(address=HERE, host="evil.example.org") as client:
        looked = await client.get("/jobs", headers={"Origin": "http://evil.example.org"})

    assert looked.status_code == 421


@pytest.mark.parametrize("wrong", ["docs.example.org", "https://docs.example.org/", "ftp://a", "https://u@a", "https://*.a/b"])
def test_what_is_no_origin_is_told_at_once(wrong: str) -> None:
    with pytest.raises(InvalidSettings, match="cors_origins"):
        config.load_settings({}, {"PRESSROOM_CORS_ORIGINS": f"https://a.example.org:8443,{wrong}"}, None)
