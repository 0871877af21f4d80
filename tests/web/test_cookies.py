"""Cookies that a stranger sends: they cost nothing, and only our own are read."""

import re
import time
from pathlib import Path

import pytest
from starlette.requests import Request

import pressroom
from pressroom.web.cookies import MAX_HEADER_BYTES, MAX_TEXT_BYTES, decode_text, encode_text, read_cookie, read_cookies
from tests.service.access_stage import on_stage
from tests.web.browsing import browsing


def request_with(*headers: str) -> Request:
    return Request({"type": "http", "headers": [(b"cookie", header.encode("latin-1")) for header in headers]})


ESCAPES = 'x="' + r"\"" * 30_000 + '"'


@pytest.mark.parametrize("name", ["x", "pressroom", "pressroom_theme", "pressroom_notice"])
async def test_a_long_cookie_does_not_hold_the_service(file: str, name: str) -> None:
    async with on_stage(file, works=False) as stage, browsing(stage) as person:
        await person.get("/desk/login")  # templates are compiled once
        for path in ("/desk/login", "/desk", "/wiki/Home"):
            before = time.thread_time()
            answer = await person.get(path, headers={"Cookie": ESCAPES.replace("x", name, 1)})

            assert answer.status_code in (200, 303)
            assert time.thread_time() - before < 0.25


@pytest.mark.parametrize(
    ("headers", "value"),
    [
        (["pressroom=abc"], "abc"),
        (["a=b; pressroom=abc;c=d"], "abc"),
        ([" pressroom = abc "], "abc"),
        (["pressroom=first; pressroom=last"], "last"),
        (["a=b", "pressroom=abc"], "abc"),
        (["pressroom=a=b"], "a=b"),
        (['pressroom="a\\"b"'], '"a\\"b"'),
        (["pressroom="], ""),
        (["pressroom"], None),
        (["xpressroom=a; pressroom2=b; Pressroom=c"], None),
        ([], None),
        (["a=" + "b" * (MAX_HEADER_BYTES - 20) + "; pressroom=abc"], "abc"),
        (["pressroom=abc; a=" + "b" * 100_000], "abc"),
        (["a=" + "b" * 100_000 + "; pressroom=abc"], None),
        (["a=" + "b" * (MAX_HEADER_BYTES - 15) + "; pressroom=abc"], None),  # it would be cut
        (["pressroom=abc", "a=" + "b" * 100_000], "abc"),
    ],
)
def test_a_cookie_is_read_as_it_was_sent_from_the_first_4_kb(headers: list[str], value: str | None) -> None:
    assert read_cookie(request_with(*headers), "pressroom") == value


@pytest.mark.parametrize("text", ["", "Retry submitted", 'a/b; c="d" 100 %\n', "äöü – 漢字", "\ud800 lone"])
def test_text_comes_back_from_a_cookie(text: str) -> None:
    encoded = encode_text(text)

    assert re.fullmatch(r"[A-Za-z0-9_.~%-]*", encoded)
    assert decode_text(encoded) == text.replace("\ud800", "?")


def test_text_that_is_too_long_for_a_cookie_ends_after_a_whole_letter() -> None:
    encoded = encode_text("漢" * 5_000)

    assert len(encoded) <= MAX_TEXT_BYTES
    assert set(decode_text(encoded)) == {"漢"}


def test_nothing_reads_cookies_in_another_way() -> None:
    """Python's own reader unquotes, in quadratic time in some versions."""
    source = Path(pressroom.__file__).parent
    uses = re.compile(r"\.cookies\b(?! import)|http\.cookies|http import cookies|SimpleCookie|cookie_parser")
    found = [
        f"{path.name}: {line.strip()}"
        for path in source.rglob("*.py")
        for line in path.read_text().splitlines()
        if uses.search(line) and path.name != "cookies.py"
    ]

    assert found == []


def test_all_cookies_of_a_name_are_read_within_the_bytes_that_are_asked_for() -> None:
    sent = [b"a=1; b=" + b"x" * 5_000, b"a=2"]

    assert [*read_cookies(sent, "a")] == ["1"]
    assert [*read_cookies(sent, "a", limit=6_000)] == ["1", "2"]
