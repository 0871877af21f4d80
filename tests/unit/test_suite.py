"""The test command: what it sums up, and which tests it leaves to the deep suite."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import depth
from tools.suite.results import Part, Result, broken_parts, counts, read_tests, summary


def report(test: str, when: str = "call", outcome: str = "passed", seconds: float = 1.0, text: str = "") -> str:
    line = {"test": test, "when": when, "outcome": outcome, "seconds": seconds, "cpu": 0.5, "text": text}
    return json.dumps(line) + "\n"


def test_the_reports_of_a_test_become_one_outcome(tmp_path: Path) -> None:
    file = tmp_path / "tests.jsonl"
    file.write_text(
        report("a", "setup")
        + report("a")
        + report("a", "teardown", "failed", text="left a process behind")
        + report("b", "setup", "skipped", text="Skipped: there is no strace")
        + report("c")
        + '{"test": "half wri'
    )

    a, b, c = read_tests([file, tmp_path / "not-there.jsonl"])

    assert (a.outcome, a.seconds, a.text) == ("failed", 3.0, "left a process behind")
    assert b.outcome == "skipped"
    assert c.outcome == "passed"
    assert counts([a, b, c]) == "1 passed, 1 failed, 1 skipped"


def test_the_summary_ends_with_failures_and_the_counts(tmp_path: Path) -> None:
    log = tmp_path / "check.log"
    log.write_text("a line is too long")
    tests = [
        Result("quick", seconds=0.1),
        Result("slow", seconds=9.0),
        Result("left out", "skipped", text="Skipped: there is no strace"),
        Result("broken", "failed", text="assert 1 == 2"),
    ]
    parts = [Part("check", 1, 3.0, log), Part("tests", 1, 70.0, log), Part("browser", 0, 5.0, log)]

    lines = "\n".join(summary(tests, parts, 70.0))

    order = ["tests        1:10  exit code 1", "slow", "1  there is no strace (left out)", "FAILED check", "FAILED broken"]
    places = [lines.index(words) for words in order]
    assert places == sorted(places)
    assert "a line is too long" in lines
    assert lines.splitlines()[-1] == "2 passed, 2 failed, 1 skipped"


@pytest.mark.parametrize(
    ("name", "code", "outcome", "broken"),
    [
        ("tests", 0, "passed", False),
        ("tests", 1, "failed", False),  # the failed test says it
        ("tests", 1, "passed", True),
        ("tests", 3, "failed", True),  # an internal error of pytest
        ("tests", -9, "passed", True),
        ("check", 1, "failed", True),
    ],
)
def test_a_part_that_ends_badly_without_a_failed_test_is_a_failure(
    tmp_path: Path, name: str, code: int, outcome: str, broken: bool
) -> None:
    part = Part(name, code, 1.0, tmp_path / "log")

    assert broken_parts([Result("a", outcome)], [part]) == ([part] if broken else [])


class Item(SimpleNamespace):
    def get_closest_marker(self, name: str) -> Any:
        return self.markers.get(name)

    def __hash__(self) -> int:
        return hash(self.nodeid)


def item(nodeid: str, parameters: dict[str, Any] | None = None, **markers: Any) -> Any:
    marks = {name: SimpleNamespace(args=(value,)) for name, value in markers.items()}
    cases = {} if parameters is None else {"callspec": SimpleNamespace(params=parameters)}
    return Item(nodeid=nodeid, markers=marks, **cases)


def test_the_quick_suite_leaves_out_deep_tests_and_runs_one_case_in_n_of_a_sampled_one() -> None:
    plain, deep = item("tests/a.py::plain"), item("tests/a.py::deep", deep=True)
    cases = [item(f"tests/a.py::cases[{n}]", {"n": n}, sampled=4) for n in range(20)]
    few = [item(f"tests/a.py::few[{n}]", {"n": n}, sampled=4) for n in range(2)]

    left_out = depth.left_to_the_deep_suite([plain, deep, *cases, *few])

    assert plain not in left_out
    assert deep in left_out
    assert len(left_out & set(cases)) == 15
    assert len(left_out & set(few)) == 1, "one case runs, however few there are"


def test_of_the_tests_on_both_databases_some_go_to_postgresql_in_the_quick_suite() -> None:
    deliveries = [item(f"tests/delivery/a.py::t{n}[on_server]", {"database": "on_server"}) for n in range(40)]
    pages = [item(f"tests/web/a.py::t{n}[on_server]", {"database": "on_server"}) for n in range(40)]
    files = [item(f"tests/web/a.py::t{n}[file]", {"database": "file"}) for n in range(40)]

    left_out = depth.left_to_the_deep_suite([*deliveries, *pages, *files])

    assert not left_out & {*deliveries, *files}
    assert 20 <= len(left_out & set(pages)) < 40
    assert left_out == depth.left_to_the_deep_suite([*deliveries, *pages, *files]), "the same tests in every run"
