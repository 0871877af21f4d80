"""Modules that the setting `imports` names: what they define is found, and what is wrong with them is told in one line."""

from pathlib import Path

import pytest

from pressroom.errors import InvalidSettings
from pressroom.registry import import_kinds

KINDS = """
from pressroom import Schedule, kind

@kind("tidy")
async def tidy(job, payload): ...

@kind("count")
async def count(job, payload): ...

kinds = [count]
nightly = Schedule("nightly", "0 3 * * *", "tidy")
schedules = [Schedule("hourly", "0 * * * *", "tidy"), Schedule("daily", "0 0 * * *", "tidy")]
others = (Schedule("weekly", "0 0 * * 0", "tidy"),)
"""


def write(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> str:
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    return name


def test_kinds_and_schedules_are_found_alone_and_in_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds, schedules = import_kinds([write(tmp_path, monkeypatch, "kinds_in_lists", KINDS)])

    assert [kind.name for kind in kinds] == ["tidy", "count"]
    assert [schedule.name for schedule in schedules] == ["nightly", "hourly", "daily", "weekly"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("divides", "x = 1\ny = x / 0\n", "ZeroDivisionError: division by zero (divides.py, line 2)"),
        ("misspelt", "def x(:\n", "SyntaxError"),
        ("needs_more", "import no_such_module_here\n", "No module named 'no_such_module_here'"),
        ("wrong_kind", "from pressroom import kind\nkind('a b')(print)\n", "InvalidArgument: kind 'a b'"),
    ],
)
def test_what_goes_wrong_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, told: str
) -> None:
    with pytest.raises(InvalidSettings) as caught:
        import_kinds([write(tmp_path, monkeypatch, name, text)])

    assert f"imports: {name!r} " in str(caught.value)
    assert told in str(caught.value)
