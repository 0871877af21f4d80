"""What a README and the image proxy before it see: never a broken picture, never an old one, never a kept error."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.apps.diagrams.conftest import Easel, Staging

TEXT = {"source": "a", "format": "dot"}
CAMO = {"Accept": "image/*", "User-Agent": "Camo Asset Proxy", "Via": "Camo Asset Proxy"}


async def test_a_proxy_gets_the_same_for_everybody_and_must_ask_again(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await stage.http.put("/diagrams/arch?mode=sync", json=TEXT)

        plain = await stage.http.get("/a/arch.svg")
        proxied = await stage.http.get("/a/arch.svg", headers=CAMO | {"Cookie": "session=1", "Accept-Language": "de"})
        known = await stage.http.get("/a/arch.svg", headers=CAMO | {"If-None-Match": plain.headers["etag"]})

        for answer in (plain, proxied, known):
            assert "vary" not in answer.headers
            assert "set-cookie" not in answer.headers
            assert answer.headers["cache-control"] == "no-cache, must-revalidate"
            assert answer.headers["etag"] == plain.headers["etag"]
        assert (proxied.content, known.status_code, known.content) == (plain.content, 304, b"")


@pytest.mark.parametrize("path", ["/a/nothing.svg", "/a/nothing.png", "/a/arch@9.svg", "/a/arch.gif", "/a/arch.svg?theme=pink"])
async def test_no_error_is_kept_and_each_is_a_picture_for_who_wants_one(staged: Staging, easel: Easel, path: str) -> None:
    async with staged() as stage:
        await stage.http.put("/diagrams/arch?mode=sync", json=TEXT)
        answer = await stage.http.get(path, headers=CAMO)

        assert answer.status_code in (400, 404)
        assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("image/svg+xml", "no-store")
        assert "etag" not in answer.headers


async def test_the_older_picture_is_shown_when_there_is_no_room_for_a_new_one(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    """Once, a full queue broke embeds that had a picture to show."""
    async with staged(workers=1, max_queued=1) as stage:
        await stage.http.put("/diagrams/arch?mode=sync", json=TEXT)
        await stage.http.get("/a/arch.png")
        await stage.http.put("/diagrams/arch?mode=sync", json=TEXT | {"source": "b"})
        easel.hold()
        await stage.http.post("/render", json=TEXT | {"source": "at work"})
        await eventually(lambda: easel.sources[-1] == "at work")
        await stage.http.post("/render", json=TEXT | {"source": "in line"})

        shown = await stage.http.get("/a/arch.png", headers=CAMO)
        other = await stage.http.get("/a/arch.pdf", headers=CAMO)
        easel.release()

        assert (shown.status_code, shown.text) == (200, "<svg>a|png|light</svg>")
        assert shown.headers["content-location"] == "/a/arch@1.png"
        assert (other.status_code, other.headers["cache-control"]) == (503, "no-store")
        assert "retry-after" in other.headers


async def test_each_theme_is_a_picture_of_its_own(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await stage.http.put("/diagrams/arch?mode=sync", json=TEXT)
        shown = {theme: await stage.http.get(f"/a/arch.svg?theme={theme}", headers=CAMO) for theme in ("light", "dark", "auto")}

        assert {theme: answer.text for theme, answer in shown.items()} == {
            theme: f"<svg>a|svg|{theme}</svg>" for theme in shown
        }
        assert len({answer.headers["etag"] for answer in shown.values()}) == 3
