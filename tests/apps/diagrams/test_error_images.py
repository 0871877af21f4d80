"""An error that is asked for as an image is a picture of what is wrong and where, and is not cached."""

import re
from itertools import pairwise
from unicodedata import east_asian_width
from xml.etree import ElementTree

import pytest
from starlette.requests import Request

from pressroom.api.problems import Problem
from pressroom.apps.diagrams.error_images import draw_problem, wants_picture
from tests.apps.diagrams.conftest import Easel, Staging

IMG = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"  # what browsers send for <img>
PAGE = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (IMG, True),
        ("image/*", True),
        ("image/svg+xml", True),
        ("image/*;q=0.5, application/json;q=0.4", True),
        ("image/*;q=0.4, application/problem+json", False),
        ("application/json", False),
        ("*/*", False),
        ("", False),
        (PAGE, False),
        ("text/html", False),
        ("image/*;q=nonsense,,;", True),
    ],
)
def test_a_picture_is_wanted_when_it_is_preferred_to_json(accept: str, wanted: bool) -> None:
    request = Request({"type": "http", "headers": [(b"accept", accept.encode())]})

    assert wants_picture(request) is wanted


def test_an_image_tag_wants_a_picture_whatever_it_accepts() -> None:
    assert wants_picture(Request({"type": "http", "headers": [(b"sec-fetch-dest", b"image")]}))


async def test_an_invalid_diagram_is_a_picture_with_a_400_and_no_store(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        answer = await stage.http.post("/render?format=dot&mode=sync", content="broken", headers={"Accept": IMG})

        assert (answer.status_code, answer.headers["content-type"]) == (400, "image/svg+xml")
        assert answer.headers["cache-control"] == "no-store"
        words = " ".join(ElementTree.fromstring(answer.text).itertext())
        for expected in ("source_invalid", "line 3, column 7", "an arrow needs two ends", "a ->"):
            assert expected in words


async def test_links_and_refusals_are_told_as_pictures_too(staged: Staging, easel: Easel) -> None:
    async with staged() as stage, stage.client(None) as stranger:
        gone = await stage.http.get("/d/0000000000000", headers={"Accept": IMG})
        unknown = await stage.http.post("/render?format=cobol", content="x", headers={"Accept": "image/*"})
        closed = await stranger.post("/render?format=dot", content="x", headers={"Accept": "image/*"})
        nameless = await stage.http.get("/a/nothing.svg")

        for answer, status in ((gone, 404), (unknown, 400), (closed, 401), (nameless, 404)):
            assert (answer.status_code, answer.headers["content-type"]) == (status, "image/svg+xml")
            assert answer.headers["cache-control"] == "no-store"
            ElementTree.fromstring(answer.text)


async def test_whoever_wants_a_picture_is_led_to_it(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        for _ in range(2):
            answer = await stage.http.post(
                "/render?format=dot&mode=sync", content="digraph {}", headers={"Accept": IMG}, follow_redirects=True
            )
            assert (answer.status_code, answer.text) == (200, "<svg>digraph {}|svg|</svg>")


def test_whatever_the_error_says_the_picture_is_well_formed_and_holds_no_markup() -> None:
    words = "<script>alert(1)</script> & \x00\x1b[31m \ud800 " + "long " * 500
    problem = Problem(
        type="t", title="t", status=400, code="c", detail=words, instance="/", request_id="r", line=2, excerpt="<b>\n" * 50
    )
    drawn = ElementTree.fromstring(draw_problem(problem).encode())

    assert {re.sub("{.*}", "", element.tag) for element in drawn.iter()} == {"svg", "title", "rect", "text"}
    assert len(list(drawn)) < 40


@pytest.mark.parametrize("word", ["wrong", "図は読めません", "잘못된", "ошибка", "e\u0301"])
def test_every_line_lies_within_the_picture(word: str) -> None:
    problem = Problem(
        type="t",
        title="t",
        status=400,
        code="c",
        detail=f"{word} " * 40,
        instance="/",
        request_id="r",
        line=2,
        excerpt=word * 3,
    )
    drawn = ElementTree.fromstring(draw_problem(problem).encode())
    width, height = float(drawn.attrib["width"]), float(drawn.attrib["height"])

    rows = [row for row in drawn if row.tag.endswith("text")]
    for row in rows:
        letters = sum(2 if east_asian_width(letter) in "WF" else 1 for letter in row.text or "")
        assert float(row.attrib["x"]) + letters * 7.8 <= width - 10
    heights = [float(row.attrib["y"]) for row in rows]
    assert {round(low - high) for high, low in pairwise(heights)} <= {18, 20}
    assert heights[-1] <= height - 10
