"""A text log has one line for an event, whatever a request or an error says."""

import logging

import pytest

from pressroom.api import logs


def lines_of(message: str, error: Exception | None = None) -> list[str]:
    info = (type(error), error, error.__traceback__) if error is not None else None
    record = logging.LogRecord("pressroom.access", logging.INFO, __file__, 1, "%s", (message,), info)
    return logs.TextFormatter("%(asctime)s %(levelname)s %(name)s %(message)s").format(record).split("\n")


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("GET /a\n2026-01-01 ERROR pressroom forged", r"GET /a\n2026-01-01 ERROR pressroom forged"),
        ("a\r\nb", r"a\r\nb"),
        ("\x1b[31mred\x1b]0;title\x07", r"\x1b[31mred\x1b]0;title\x07"),
        ("\x9b0m\x85\x7f\x00", r"\x9b0m\x85\x7f\x00"),
        ("a\u2028b\u202eevil\u2066", r"a\u2028b\u202eevil\u2066"),
        ("grüße, 日本\t🎉", "grüße, 日本\t🎉"),
        (r"C:\new", r"C:\new"),
    ],
)
def test_control_characters_are_escaped(said: str, written: str) -> None:
    (line,) = lines_of(said)

    assert line.endswith(f" INFO pressroom.access {written}")


def test_an_error_cannot_forge_a_line() -> None:
    try:
        raise ValueError("wrong\n2026-01-01 00:00:00,000 INFO pressroom all is well\x1b[2J")
    except ValueError as error:
        first, *rest = lines_of("it failed", error)

    assert first.endswith("it failed")
    assert all(line.startswith("  ") for line in rest)
    assert "\x1b" not in "".join(rest)
    assert "    raise ValueError(" in "\n".join(rest)
