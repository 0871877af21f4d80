"""How long a body may be: 64 KB where nothing but a few fields is sent, more where there is a text."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.service.access_stage import on_stage

TEXTS = {  # a source, a payload, or an article
    "/jobs",
    "/render",
    "/render/terminal",
    "/diagrams/{name}",
    "/kroki",
    "/kroki/",
    "/kroki/{type}",
    "/kroki/{type}/{format}",
    "/packs",
    "/render/jobs",
    "/packs/batches",
    "/packs/{pack_id}/bundle",  # 500 titles
    "/admin/config/{key}/draft",
    "/library/settings/{key}/draft",
    "/library/settings/documents",  # with sample data
    "/library/batches",  # pasted lines
    "/sites/{org}/settings",  # rules
    "/sites/{org}/settings/dry-run",
    "/sites/{org}/settings/services",
    "/sites/{org}/settings/services/credentials",
    "/sites/{org}/settings/services/credentials/{label}/replace",
    "/sites/{org}/{project}/change",
    "/sites/{org}/{project}/dry-run",
    "/packs/{pack_id}/data",
    "/playground",
    "/playground/preview",
    "/playground/frame",
    "/playground/download",
    "/playground/keep",
    "/playground/save",
    "/wiki/{url:path}",
    "/desk/jobs/{id}/clone",
    "/admin/orgs",  # with rules of 64 KB
    "/orgs/{org}",
    "/orgs/{org}/lifecycle",
    "/orgs/{org}/projects",
    "/orgs/{org}/projects/{project}",
    "/uploads/{build}",  # an archive
    "/hooks/git",  # 25 MB, as git hosts send
    "/webhooks/github",
}
NOT_READ = {  # whatever the body is
    "/kroki/health",
    "/webhooks/{id}",
    "/webhooks/{id}/rotate",
    "/webhooks/{id}/enable",
    "/webhooks/{id}/test",
    "/webhooks/deliveries/{id}/replay",
    "/queue/{kind}/pause",
    "/queue/{kind}/resume",
}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def test_only_what_holds_a_text_may_be_long(file: str) -> None:
    async with on_stage(file, works=False) as stage:
        changing = [route for route in stage.app.routes if set(route.methods) - {"GET", "HEAD", "OPTIONS"}]

    assert {route.path for route in changing if not route.small_body} == TEXTS | NOT_READ, (
        "a route that reads a few fields gets small_body=True (a page: small=True, the default); add one that reads a "
        "whole text to TEXTS in this file, and one that reads no body to NOT_READ"
    )


@pytest.mark.parametrize("declared", [True, False])
async def test_a_long_login_is_refused(file: str, declared: bool) -> None:
    async with on_stage(file, works=False) as stage, stage.client() as client:
        body = b"token=" + b"x" * 65_536
        sent = 0

        async def in_pieces() -> AsyncIterator[bytes]:
            nonlocal sent
            for start in range(0, 1_000_000, 8192):
                sent += 8192
                yield body[start : start + 8192] or b"x" * 8192

        answer = await client.post("/desk/login", content=body if declared else in_pieces(), headers=FORM)
        short = await client.post("/desk/login", content=body[:60_000], headers=FORM)

    assert answer.status_code == 413
    assert "65,536 bytes" in answer.text
    assert sent <= 90_000  # it is not read to its end
    assert short.status_code == 403  # it is read, and is no form of ours


async def test_limits_are_settings(file: str) -> None:
    async with (
        on_stage(file, works=False, body_limit=2000, form_limit=1500, head_limit=4000) as stage,
        stage.client(await stage.token()) as client,
    ):
        statuses = [
            (await client.post("/jobs", content=b" " * 2001, headers={"Content-Type": "application/json"})).status_code,
            (await client.post("/desk/login", content=b"x" * 1501, headers=FORM)).status_code,
            (await client.get("/jobs", headers={"X": "y" * 5000})).status_code,
            (await _post_small(client)).status_code,
        ]

    assert statuses == [413, 413, 431, 202]


async def _post_small(client: httpx.AsyncClient) -> httpx.Response:
    return await client.post("/jobs", json={"kind": "shout", "payload": "x" * 1800})
