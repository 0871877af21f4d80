"""A shared cache must not keep what needs a token: it would hand it to callers who have none."""

import base64
import zlib
from typing import Any

import httpx

from pressroom.api.access import LOCAL, Scope, cache_visibility
from tests.service.access_stage import on_stage

SOURCE = "digraph { a }"
HERE = ("127.0.0.1", 40_000)


async def pictures(client: httpx.AsyncClient) -> dict[str, str]:
    """The same diagram, behind every address that shows one."""
    body = {"kind": "render", "payload": {"language": "dot", "output": "svg", "source": SOURCE}}
    job = (await client.post("/jobs", json=body)).json()["id"]
    result = (await client.get(f"/jobs/{job}?wait=50")).json()["result"]
    named = await client.put("/diagrams/arrows?mode=sync", json={"source": SOURCE, "format": "dot"})
    assert named.status_code < 300, named.text
    packed = base64.urlsafe_b64encode(zlib.compress(SOURCE.encode())).decode()
    return {
        "artifact": f"/artifacts/{result['artifact']}",
        "version": "/a/arrows@1.svg",
        "name": "/a/arrows.svg",
        "kroki": f"/kroki/graphviz/svg/{packed}",
        "shortlink": f"/d/{result['short_link']}",
    }


async def cache_control(client: httpx.AsyncClient, paths: dict[str, str]) -> dict[str, Any]:
    answers = {}
    for name, path in paths.items():
        answer = await client.get(path)
        assert answer.status_code == 200, (name, answer.text)
        again = await client.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
        assert again.headers["cache-control"] == answer.headers["cache-control"], name
        answers[name] = answer.headers["cache-control"].split(", ")
    return answers


async def test_bytes_that_need_a_token_are_private(database: str) -> None:
    async with on_stage(database) as stage:
        async with stage.client(await stage.token(Scope.ADMIN, everywhere=True)) as client:
            paths = await pictures(client)
            answers = await cache_control(client, paths)
        async with stage.client() as stranger:
            open_to_all = [name for name, path in paths.items() if (await stranger.get(path)).status_code == 200]

    assert open_to_all == ["shortlink"], "who has the link may see it"
    assert "public" in answers.pop("shortlink")
    assert {name: "private" in told and "public" not in told for name, told in answers.items()} == dict.fromkeys(answers, True)


async def test_what_is_shown_without_a_token_may_be_shared(file: str) -> None:
    async with on_stage(file, listen="127.0.0.1:8000") as stage, stage.client(address=HERE, host="localhost") as client:
        paths = await pictures(client)
        open_answers = await cache_control(client, paths)
        token = {"Authorization": f"Bearer {await stage.token(Scope.VIEWER)}"}
        with_token = (await client.get(paths["artifact"], headers=token)).headers["cache-control"]

    told = {name: "public" in one for name, one in open_answers.items() if name != "name"}
    assert told == dict.fromkeys(told, True)
    assert "private" in with_token, "a proxy in front of us may have added it, and may keep a cache"


def test_bytes_of_an_organisation_are_private_even_for_who_needs_no_token() -> None:
    assert cache_visibility(LOCAL, None) == "public"
    assert cache_visibility(LOCAL, "acme") == "private"
