"""The mutation tool: what it changes, that it changes nothing else, and that it finds a hole."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tools.mutants import scratch
from tools.mutants.__main__ import ROOT, find_mutations, main, sample
from tools.mutants.campaign import Trial, Workers
from tools.mutants.coverage_map import CoverageMap, RecordedTest
from tools.mutants.mutation import Mutation, is_valid_python
from tools.mutants.python_operators import find_python_mutations, optional_parameters
from tools.mutants.scratch import RunReport
from tools.mutants.sql_operators import find_sql_mutations


def python_mutations(source: str) -> list[Mutation]:
    text = source.encode()
    optional = optional_parameters([ast.parse(text)])
    return [one for one in find_python_mutations("m.py", text, optional) if is_valid_python(one, text)]


def mutants_of(source: str) -> set[tuple[str, str]]:
    return {(one.operator, one.apply(source.encode()).decode()) for one in python_mutations(source)}


@pytest.mark.parametrize(
    ("source", "operator", "mutant"),
    [
        ("x = a < b", "boundary", "x = a <= b"),
        ("x = a >= b", "boundary", "x = a > b"),
        ("x = 0 < a <= b", "boundary", "x = 0 < a < b"),
        ("x = a == b", "equality", "x = a != b"),
        ("x = a is  not b", "equality", "x = a is b"),
        ("x = a not in b", "equality", "x = a in b"),
        ("x = a and b", "operand", "x = a"),
        ("x = a and b", "operand", "x = b"),
        ("x = (a or b) and (c or d)", "operand", "x = (a or b)"),
        ("x = (a or b) and (c or d)", "operand", "x = (c or d)"),
        ("x = (a or b) and (c or d)", "operand", "x = (a) and (c or d)"),
        ("if found:\n    x()", "negation", "if not found:\n    x()"),
        ("if not found:\n    x()", "negation", "if found:\n    x()"),
        ("if (a := b()):\n    x()", "negation", "if (not (a := b())):\n    x()"),
        ("def f():\n    return x[0]", "number", "def f():\n    return x[1]"),
        ("def f():\n    return n + 1", "number", "def f():\n    return n + 0"),
        ("def f():\n    return x[:200]", "number", "def f():\n    return x[:201]"),
        ("x = now + wait", "arithmetic", "x = now - wait"),
        ("n += 1", "arithmetic", "n -= 1"),
        ("x = min(a, b)", "function", "x = max(a, b)"),
        ("x = all(a)", "function", "x = any(a)"),
        ("x = len(text.encode())", "length", "x = len(text)"),
        ("file.flush()\nos.fsync(file)", "statement", "file.flush()\npass"),
        ("async def f():\n    await task\n    await x.close()", "statement", "async def f():\n    await task\n    pass"),
        ("def f():\n    a = yield b\n    yield from c(a)", "statement", "def f():\n    a = yield b\n    pass"),
        ("if bad:\n    raise Wrong(bad)", "ending", "if bad:\n    pass"),
        ("def f() -> int | None:\n    return n", "ending", "def f() -> int | None:\n    return None"),
        ("try:\n    f()\nexcept A:\n    undo()\n    raise", "ending", "try:\n    f()\nexcept A:\n    undo()\n    pass"),
        ("try:\n    f()\nexcept (A, B):\n    pass", "exception", "try:\n    f()\nexcept A:\n    pass"),
        ("f(durable=True)", "flag", "f(durable=False)"),
        ("x = [a for a in b if a.live if a.ours]", "filter", "x = [a for a in b if a.live]"),
        ("def f(a, limit=1): ...\nf(1, limit=2)", "argument", "def f(a, limit=1): ...\nf(1)"),
        ("def f(a=0, b=0): ...\nf(a=x, b=y)", "argument", "def f(a=0, b=0): ...\nf(b=y)"),
        ("x = lines[-3:]", "slice", "x = lines[:3]"),
        ('x = "public" if a else "private"', "constant", 'x = "private" if a else "private"'),
        ("x = Status.DONE\ny = Status.LOST", "constant", "x = Status.LOST\ny = Status.LOST"),
        ('a = s == "old"\nb = s == "new"', "constant", 'a = s == "new"\nb = s == "new"'),
    ],
)
def test_a_mistake_in_python(source: str, operator: str, mutant: str) -> None:
    assert (operator, mutant) in mutants_of(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""About a < b and 1."""',
        "assert a < b, 1",
        'log.warning("slow", extra=1)',
        'failpoints.hit("commit", 1)',
        "if TYPE_CHECKING:\n    f(1)",
        "def __repr__(self):\n    return f(1)",
        'x = f"{a + 1} of {b and c}"',
        "x: Literal[1] = y",
        "@cached(size=1)\ndef f(a: Literal[1]) -> Literal[2]: ...",
        "def f():\n    yield only",  # without it, this would be no generator
        "def f(a): ...\nx = f(a=b)",  # a call that forgets it is noticed by every test
    ],
)
def test_what_is_left_alone(source: str) -> None:
    assert python_mutations(source) == []


@pytest.mark.parametrize(
    ("source", "operator", "mutant"),
    [
        ("SELECT a FROM t WHERE a = 1 AND b < :n", "operand", "SELECT a FROM t WHERE a = 1"),
        ("SELECT a FROM t WHERE a = 1 AND b < :n", "operand", "SELECT a FROM t WHERE b < :n"),
        ("SELECT a FROM t WHERE a = 1 AND b < :n", "boundary", "SELECT a FROM t WHERE a = 1 AND b <= :n"),
        ("SELECT a FROM t WHERE a AND (b OR c) ORDER BY d", "operand", "SELECT a FROM t WHERE a ORDER BY d"),
        ("SELECT a FROM t WHERE a AND (b OR c) ORDER BY d", "operand", "SELECT a FROM t WHERE a AND (b) ORDER BY d"),
        ("SELECT a FROM t WHERE a BETWEEN 1 AND 2 AND b", "operand", "SELECT a FROM t WHERE a BETWEEN 1 AND 2"),
        ("SELECT a FROM t WHERE a BETWEEN 1 AND 2 AND b", "operand", "SELECT a FROM t WHERE b"),
        ("SELECT a FROM t WHERE c AND (:a IS NULL OR a = :a)", "operand", "SELECT a FROM t WHERE c"),
        ("SELECT CASE WHEN a AND b THEN 1 END", "operand", "SELECT CASE WHEN a THEN 1 END"),
        ("SELECT a FROM t ORDER BY a DESC, b LIMIT 1", "order", "SELECT a FROM t ORDER BY a, b LIMIT 1"),
        ("SELECT a FROM t ORDER BY a DESC, b LIMIT 1", "order", "SELECT a FROM t ORDER BY a DESC, b DESC LIMIT 1"),
        ("SELECT a FROM t ORDER BY a DESC, b LIMIT 1", "order", "SELECT a FROM t ORDER BY a DESC LIMIT 1"),
        ("SELECT a FROM t ORDER BY a ASC", "order", "SELECT a FROM t ORDER BY a DESC"),
        ("SELECT a FROM t LIMIT 1", "limit", "SELECT a FROM t LIMIT 2"),
        ("SELECT a FROM t LIMIT :most", "limit", "SELECT a FROM t LIMIT :most + 1"),
        ("SELECT a FROM t WHERE a IS NOT NULL", "null", "SELECT a FROM t WHERE a IS NULL"),
        ("SELECT a FROM t WHERE NOT EXISTS (SELECT 1)", "negation", "SELECT a FROM t WHERE EXISTS (SELECT 1)"),
        ("SELECT max(a), max(a, b) FROM t", "extremes", "SELECT min(a), max(a, b) FROM t"),
        ("UPDATE t SET a = f(1, 2), b = 2 WHERE c", "assignment", "UPDATE t SET a = f(1, 2) WHERE c"),
        ("UPDATE t SET a = f(1, 2), b = 2 WHERE c", "assignment", "UPDATE t SET b = 2 WHERE c"),
        ("SELECT a FROM t FOR UPDATE SKIP LOCKED", "lock", "SELECT a FROM t FOR UPDATE"),
        ("SELECT a FROM t LEFT JOIN u ON b", "join", "SELECT a FROM t JOIN u ON b"),
    ],
)
def test_a_mistake_in_sql(source: str, operator: str, mutant: str) -> None:
    found = find_sql_mutations("s.sql", source.encode())

    assert (operator, mutant) in {(one.operator, one.apply(source.encode()).decode()) for one in found}


@pytest.mark.parametrize(
    "source",
    [
        "-- a < b AND c",
        "SELECT a->>'x', '<' FROM t WHERE b = 'c AND d'",
        "CREATE OR REPLACE FUNCTION f() RETURNS trigger",
        "SELECT a FROM t WHERE b BETWEEN :first AND :last",
        "SELECT a FROM t WHERE (:a IS NULL OR a = :a)",
    ],
)
def test_sql_that_is_left_alone(source: str) -> None:
    assert find_sql_mutations("s.sql", source.encode()) == []


def test_a_change_is_where_it_is_said_to_be_and_nowhere_else() -> None:
    source = dedent('''\
        """Größe, in Zeilen."""

        def find(größe, *,
                 first=1):  # first < 1 is an error
            names = {"ä": größe, "€": first}
            return (größe  # bytes
                    < names["ä"] and (
                        first <= größe))
    ''')

    found = {(one.line, one.operator, one.old, one.new) for one in python_mutations(source)}
    texts = {one.apply(source.encode()).decode() for one in python_mutations(source) if one.operator == "boundary"}

    assert (8, "boundary", "first <= größe", "first < größe") in found
    assert texts == {
        source.replace("first <= größe", "first < größe")
    }  # the other has a comment in between: better none than wrong


def test_every_change_of_a_real_module_leaves_the_other_lines_as_they_are() -> None:
    found = find_mutations(
        ROOT,
        [str(ROOT / "src/pressroom/worker/judge.py"), str(ROOT / "src/pressroom/store/jobs/sql/sqlite/find_ready.sql")],
    )

    assert len(found) >= 30
    for one in found:
        source = (ROOT / one.path).read_bytes()
        before, after = source.splitlines(), one.apply(source).splitlines()
        last = source.count(b"\n", 0, one.end) + 1
        assert before[: one.line - 2] == after[: one.line - 2]
        assert before[last:] == after[len(after) - len(before) + last :]


def test_a_mistake_knows_which_lines_run_when_it_is_reached() -> None:
    source = dedent("""\
        def f(a=True):
            b()
            if (c and
                    d):
                e()
            match g:
                case 1 if h < i:
                    j()
    """)

    lines = {one.operator: (one.line, one.first_line, one.last_line) for one in python_mutations(source)}

    assert lines["flag"] == (1, 2, 8)  # the default matters wherever the function is called
    assert lines["operand"] == (3, 3, 4)
    assert lines["boundary"] == (7, 7, 7)


def test_a_sample_is_repeatable_and_has_one_mistake_a_line() -> None:
    found = find_mutations(ROOT, [str(ROOT / "src/pressroom/worker/judge.py"), str(ROOT / "src/pressroom/ids.py:1-40")])

    chosen = sample(ROOT, found, 10, seed=7)

    assert chosen == sample(ROOT, found, 10, seed=7) != sample(ROOT, found, 10, seed=8)
    assert len({(one.path, one.line) for one in chosen}) == 10
    assert all(one.line <= 40 for one in chosen if one.path.endswith("ids.py"))


# A package with a hole: no test looks at the last age that is young, nor at what a child process prints.
TOY = {
    "src/toy/__init__.py": "",
    "src/toy/ages.py": """\
        def is_young(age):
            return age < 30


        def count(limit):
            n = 0
            while n < limit:
                n += 1
            return n


        def unused(age):
            return age > 30
    """,
    "src/toy/__main__.py": """\
        from toy.ages import is_young

        if is_young(29):
            print("young")
    """,
    "tests/test_ages.py": """\
        import subprocess
        import sys

        from toy.ages import count, is_young


        def test_fails_by_itself():
            assert is_young(31)


        def test_young():
            assert is_young(1)
            assert not is_young(99)


        def test_count():
            assert count(3) == 3


        def test_command():
            subprocess.run([sys.executable, "-m", "toy"], check=True)
    """,
}


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take longer to import than all of this to run
    for name, text in TOY.items():
        path = tmp_path / "toy tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return tmp_path / "toy tree"


def test_it_names_the_test_that_notices_and_shows_the_hole(toy: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ages = str(toy / "src/toy/ages.py")

    code = main([f"{ages}:1-2", f"{ages}:12-13", f"{ages}:7", "--jobs", "1", "--at-least", "90"], root=toy)

    out = capfd.readouterr().out
    assert "left out, it fails without any mistake: tests/test_ages.py::test_fails_by_itself" in out
    assert "src/toy/ages.py:7  n < limit -> n <= limit  noticed by tests/test_ages.py::test_count" in out
    assert "src/toy/ages.py:2  age < 30 -> age <= 30  survived 2 tests" in out
    assert "src/toy/ages.py:13  age > 30 -> age >= 30  survived: no test executes it" in out
    assert "-    return age < 30\n+    return age <= 30\n" in out
    assert "%;" in out.splitlines()[-1]
    assert code == 1
    assert "<=" not in (toy / "src/toy/ages.py").read_text()


@pytest.mark.deep
def test_a_loop_without_end_counts_as_noticed(toy: Path) -> None:
    (endless,) = (one for one in find_mutations(toy, [str(toy / "src/toy/ages.py:8")]) if one.operator == "number")
    test = RecordedTest("tests/test_ages.py::test_count", "tests/test_ages.py", 0.1, 0.1, {})
    workers = Workers(toy, toy / ".cache", 1)

    try:
        (verdict,) = workers.judge([Trial(endless, [test], 0, deep=False, spare_cpu=8)])
    finally:
        workers.close()

    assert verdict.noticed
    assert verdict.text == "time: tests/test_ages.py::test_count"


def test_a_line_is_found_again_after_the_module_has_changed(tmp_path: Path) -> None:
    module = tmp_path / "src" / "m.py"
    module.parent.mkdir()
    module.write_text("def f():\n    a()\n    b()\n")
    (tmp_path / "test_m.py").write_text("")
    run = RunReport(
        seconds={"t": 1.0, "u": 1.0}, cpu={"t": 1.0, "u": 1.0}, lines={"t": {"m.py": 1 << 2}, "u": {"m.py": 1 << 3}}
    )
    CoverageMap(tmp_path, tmp_path / "recorded").save("test_m.py", run)

    module.write_text("import x\n\n\ndef f():\n    a()\n    b()\n")
    tests = CoverageMap(tmp_path, tmp_path / "recorded")
    tests.load(["test_m.py"])

    (second,) = (one for one in find_mutations(tmp_path) if one.line == 6)
    assert [test.name for test in tests.tests_for(second)] == ["u"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="descendants are found by Linux's /proc")
def test_a_descendant_whose_name_is_no_text_is_found() -> None:
    """The name of a process is cut after 15 bytes, perhaps within a letter: a recording of all tests ended with a traceback."""
    rename = "import ctypes, sys; ctypes.CDLL(None).prctl(15, b'\\xc3', 0, 0, 0); print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", rename], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()

        found = scratch._descendants(os.getpid())

        assert child.pid in found
        child.communicate()
