"""The test command: what it sums up, and which tests it leaves to the deep suite."""

import json
import os
import subprocess
import sys
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


def test_processes_that_share_a_list_run_each_test_once_and_keep_their_servers(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import os, pathlib, pytest\n"
        "@pytest.fixture(scope='session')\n"
        "def server():\n"
        "    log = pathlib.Path(__file__).with_name('servers')\n"
        "    with log.open('a') as file: file.write(f'{os.getpid()}\\n')\n"
    )
    names = [f"test_{n}.py" for n in range(6)]
    for name in names:
        (tmp_path / name).write_text("def test_one(server): pass\ndef test_other(server): pass\n")
    (tmp_path / "test_wrong.py").write_text("import nothing_of_the_kind\n")
    (tmp_path / "files.txt").write_text(
        "".join(f"{name}\n" for name in ["test_wrong.py", *(f"{name} {part}/2" for part in (1, 2) for name in names)])
    )
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTEST_ADDOPTS": ""}
    plugins = ["-p", "no:cacheprovider", "-p", "tools.suite.report", "-p", "tools.suite.share"]

    def start(n: int) -> subprocess.Popen[bytes]:
        own = [f"--report-file={n}.jsonl", "--share=files.txt", "."]
        command = [sys.executable, "-m", "pytest", *plugins, *own]
        return subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=subprocess.DEVNULL)

    codes = [process.wait() for process in [start(1), start(2)]]

    reports = [json.loads(line) for file in tmp_path.glob("*.jsonl") for line in file.read_text().splitlines()]
    calls = sorted(report["test"] for report in reports if report["when"] == "call")
    assert calls == sorted(f"{name}::{test}" for name in names for test in ("test_one", "test_other"))
    assert [(report["test"], report["outcome"]) for report in reports if report["when"] == "collect"] == [
        ("test_wrong.py", "failed")
    ]
    servers = (tmp_path / "servers").read_text().split()
    assert len(servers) == len(set(servers)) <= 2
    assert 1 in codes
    assert set(codes) <= {0, 1}
