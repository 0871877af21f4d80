"""What is long costs the event loop little: pages of megabytes, comparisons, forms and JSON."""

import random
import threading
import time
import tracemalloc
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import pytest

from pressroom.api.json_body import MOST_VALUES, decode_json
from pressroom.errors import InvalidArgument
from pressroom.web import forms, line_diff
from pressroom.web.control_characters import replace_control_characters
from tests.cost import cpu_of
from tests.loop_guard import own_work
from tests.service.access_stage import on_stage
from tests.web.browsing import FORM, member

LIMIT = 0.25


FOOTNOTES = '<a href="#fnref-12" aria-label="Back to reference">↩</a> · '


@pytest.mark.parametrize("text", [FOOTNOTES * 250_000, "ä" * 7_000_000, "<&>" * 5_000_000, "\x01\x9f↩" * 1_000_000])
def test_a_page_of_15_mb_is_looked_through_in_little_time(text: str) -> None:
    assert cpu_of(lambda: replace_control_characters(text)) < LIMIT


def test_control_characters_are_shown_and_others_kept() -> None:
    letters = [chr(number) for number in range(0x180)] + ["漢", "\u2028", "\U0001f600"]
    expected = {
        letter: "\ufffd" if "\x7f" <= letter < "\xa0" else chr(0x2400 + ord(letter)) if letter < " " else letter
        for letter in letters
    } | {letter: letter for letter in "\t\n\f\r"}

    for letter in letters:
        assert replace_control_characters(f"a{letter}b") == f"a{expected[letter]}b".encode()
    mixed = random.Random(1).choices(letters, k=1000)
    assert replace_control_characters("".join(mixed)) == "".join(expected[letter] for letter in mixed).encode()
    assert replace_control_characters("a\ud800b") == b"a?b"


def test_repetitive_lines_are_compared_up_to_a_bound() -> None:
    """A line that stands there twenty times is just rare enough to be compared with all of its like, again for every match."""
    before = [f"line {number % 100}" if number % 2 else f"old {number}" for number in range(2000)]
    after = [line.replace("old", "new") for line in before]
    changed = [*before[:1000], "new", *before[1500:]]

    assert line_diff.diff_lines("\n".join(before), "\n".join(after)) is None  # all of it takes 2.4 s
    assert line_diff.diff_lines("\n".join(before), "\n".join(changed)) is not None
    assert line_diff.diff_lines("", "") == []


async def test_lines_are_compared_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []
    monkeypatch.setattr(line_diff, "diff_lines", lambda *_: threads.append(threading.current_thread()))

    await line_diff.diff_lines_in_thread("a", "b")

    assert threads != [threading.current_thread()]


async def test_a_long_form_is_read_in_a_thread(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as person:
        token = await person.form_token()
        body = f"form_token={token}&action=preview&source={'%E2%86%A9' * 300_000}".encode()
        began = time.thread_time()
        await person.client.post("/wiki/Home", content=body, headers=FORM)
        used = time.thread_time() - began

    assert used < LIMIT


@pytest.mark.parametrize(
    "value", [b"%" * 3_000_000, b"%41" * 1_000_000, b"%F0%9F%92%A9" * 250_000], ids=["signs", "ascii", "emoji"]
)
def test_a_form_of_escapes_takes_little_memory(value: bytes) -> None:
    """Decoded at once, 12 MB of percent signs took 570 MB."""
    body = b"source=" + value
    tracemalloc.start()
    try:
        forms._parse_fields(body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 12 * len(body)


def test_a_form_is_read_as_parse_qsl_reads_it_wherever_its_pieces_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def expected_fields(body: bytes) -> list[tuple[str, str]] | None:
        try:
            return parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=1000)
        except ValueError:
            return None

    def fields(body: bytes) -> list[tuple[str, str]] | None:
        try:
            return forms._parse_fields(body)
        except ValueError:
            return None

    monkeypatch.setattr(forms, "DECODE_CHUNK", 7)
    choices = random.Random(1)
    for alphabet in ([b"%", b"a", b"4", b"=", b"&", b"+"], [b"%41", b"%C3%A4", b"%C3", b"&", b"=", b"+", b"%", b"\xc3"]):
        for _ in range(2000):
            body = b"".join(choices.choices(alphabet, k=choices.randrange(30)))
            assert fields(body) == expected_fields(body), body
    assert fields(b"&" * 1000) is None


class Sent(msgspec.Struct):
    kind: str
    payload: Any = None


@pytest.mark.parametrize(
    "payload",
    [
        b"[" + b"[]," * 3_900_000 + b"1]",
        b'{"source": [' + b'{"b":1},' * 1_400_000 + b"1]}",
        b'{"a": {"b": {"c": [' + b"1," * 5_000_000 + b"1]}}}",
        b"{" + b",".join(b'"%d":1' % number for number in range(1_000_000)) + b"}",
    ],
    ids=["lists", "objects", "deep", "keys"],
)
def test_json_of_millions_of_values_is_refused_in_little_time(payload: bytes) -> None:
    body = b'  {"kind": "shout", "payload": %s}' % payload

    def refused() -> None:
        with pytest.raises(InvalidArgument, match=f"{MOST_VALUES:,} values"):
            decode_json(body, Sent)

    assert cpu_of(refused) < LIMIT


@pytest.mark.parametrize("text", ["a,b[{" * 1_000_000, 'say "x": y, ' * 200_000])
def test_a_long_text_with_many_commas_is_accepted(text: str) -> None:
    body = msgspec.json.encode({"kind": "render", "payload": {"source": text, "options": {"a": [1, 2]}}})

    assert decode_json(body, Sent).payload["source"] == text


def test_json_of_many_values_is_accepted() -> None:
    body = msgspec.json.encode({"kind": "shout", "payload": list(range(MOST_VALUES // 2))})

    assert len(decode_json(body, Sent).payload) == MOST_VALUES // 2


async def test_the_playground_opens_a_long_job_in_little_time(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as person:
        await person.get("/playground")  # templates are compiled once
        with own_work():
            body = msgspec.json.encode({"format": "dot", "source": "digraph { a } //" + "<&>" * 300_000})
        client = stage.client(await stage.token())
        answer = await client.post("/render", content=body, headers={"Content-Type": "application/json"})
        began = time.thread_time()
        page = await person.get(f"/playground?job={answer.json()['jobId']}")
        used = time.thread_time() - began
        await client.aclose()

    assert page.status_code == 200
    assert "&lt;&amp;&gt;" in page.text
    assert used < LIMIT


def test_forms_are_read_as_browsers_send_them() -> None:
    assert forms._parse_fields(b"a=1%0D%0A2&b=%C3%A4&a=") == [("a", "1\n2"), ("b", "ä"), ("a", "")]
