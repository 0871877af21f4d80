"""Which errors are alike."""

import pytest

from pressroom.base.failure_signature import GAP, KEPT, failure_signature, normalize_message


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("syntax error in line 3 near 'foo'", "syntax error in line 17 near 'bar baz'"),
        ('unexpected "}" at line 12, column 5', 'unexpected "->" at line 1, column 80'),
        ("no answer within 300 s", "no answer within 1.5 s"),
        ("the picture has 12 MB; 512 KB are allowed", "the picture has 1,234 bytes; 9 MiB are allowed"),
        ("cannot read /var/lib/a.txt", "cannot read ../b/c.txt"),
        ("GET https://a.example/x?y=1 failed", "GET http://b.example failed"),
        ("job_01J5ABCDEFGHJKMNPQRSTVWXYZ is gone", "job_01J6ABCDEFGHJKMNPQRSTVWXY0 is gone"),
        ("at 0xdeadbeef", "at 0x1"),
        ("row 550e8400-e29b-41d4-a716-446655440000", "row 123e4567-e89b-12d3-a456-426614174000"),
        ("ask for one of: 'a', 'b'", "ask for one of: 'c', 'd', 'e'"),
        ("since 2024-05-06T07:08:09Z", "since 2025-01-01 00:00"),
        ("bad   source\nat the start", " bad source \nelsewhere"),
        ("\x1b[31mbad\x1b[0m", "bad"),
    ],
)
def test_messages_that_differ_in_numbers_names_and_places_are_alike(one: str, other: str) -> None:
    assert normalize_message(one) == normalize_message(other)
    assert failure_signature("render", "x", one) == failure_signature("render", "x", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ValueError in the handler", "KeyError in the handler"),
        ("can't read it, and it's late", "can't write it, and it's late"),
        ("unknown language d2", "unknown language dot"),
    ],
)
def test_messages_that_say_something_else_are_not(one: str, other: str) -> None:
    assert normalize_message(one) != normalize_message(other)


def test_a_message_stays_readable_and_short() -> None:
    assert normalize_message("unexpected '}' at line 12, column 5") == f"unexpected {GAP} at line {GAP}, column {GAP}"
    assert normalize_message("read/write of application/json in utf8") == "read/write of application/json in utf8"
    assert normalize_message("") == normalize_message(" \n ") == ""
    assert len(normalize_message("word " * 10_000)) <= KEPT


def test_kind_and_code_are_part_of_a_print() -> None:
    prints = {failure_signature(kind, code, "no") for kind in ("a", "b") for code in ("x", "y")}

    assert len(prints) == 4
    assert all(len(one) == 16 for one in prints)
