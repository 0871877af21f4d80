"""Which tests may notice a mistake: those that execute the line where it is.

Every test file is recorded once, by running it without any mistake in the scratch tree. This also shows how long each test
takes, and which fail by themselves and are of no use. A recording is kept in .cache and made again when its test file changes.
When a module has changed since, its lines are found again by comparing the two texts.
"""

import ast
import difflib
import gzip
import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tools.mutants.mutation import Mutation
from tools.mutants.recorder import Lines
from tools.mutants.scratch import RunReport

_DIALECTS = {
    "postgres": "pressroom/store/engine/postgres_connection.py",
    "sqlite": "pressroom/store/engine/sqlite_connection.py",
}


@dataclass(frozen=True)
class RecordedTest:
    """`seconds` on the clock, which says little on a busy machine, and `cpu` of its process and of those that it waited for."""

    name: str
    file: str
    seconds: float
    cpu: float
    lines: Lines


@dataclass(frozen=True)
class _Recording:
    tests: list[RecordedTest]
    sources: dict[str, str]  # a digest of each module as it was
    lines_of_living: Lines
    failed: list[str]


class CoverageMap:
    def __init__(self, root: Path, folder: Path) -> None:
        self._source = root / "src"
        self._root = root
        self._folder = folder
        (folder / "sources").mkdir(parents=True, exist_ok=True)
        self._texts = {str(path.relative_to(self._source)): path.read_bytes() for path in self._source.rglob("*.py")}
        self._digests = {path: _digest(text) for path, text in self._texts.items()}

    def unrecorded(self, files: list[str]) -> list[str]:
        return [file for file in files if not self._place(file).is_file()]

    def save(self, file: str, run: RunReport) -> None:
        for path, digest in self._digests.items():
            (self._folder / "sources" / digest).write_bytes(self._texts[path])
        tests = [
            {"name": name, "seconds": seconds, "cpu": run.cpu[name], "lines": _as_hex(run.lines[name])}
            for name, seconds in run.seconds.items()
            if name not in run.failed and name not in run.skipped
        ]
        recording = {"tests": tests, "sources": self._digests, "living": _as_hex(run.lines_of_living), "failed": [*run.failed]}
        for old in self._folder.glob(f"{_flat(file)}.*.json.gz"):
            old.unlink()
        self._place(file).write_bytes(gzip.compress(json.dumps(recording).encode(), 1))

    def load(self, files: list[str]) -> None:
        self._recordings = {file: self._load(file) for file in files}

    @property
    def failed(self) -> list[str]:
        return [test for recording in self._recordings.values() for test in recording.failed]

    def tests_for(self, mutation: Mutation) -> list[RecordedTest]:
        """Quickest first, file by file, so that fixtures are shared."""
        chosen: dict[str, list[RecordedTest]] = defaultdict(list)
        places = self._lines_of(mutation)
        dialects = {*Path(mutation.path).parts} & {*_DIALECTS} if mutation.path.endswith(".sql") else ()
        for file, recording in self._recordings.items():
            needed = [(path, self._mask(path, recording.sources.get(path), lines)) for path, lines in places]
            backends = [(_DIALECTS[dialect], -1) for dialect in dialects]
            for test in recording.tests:
                if _executes(test, recording, needed) and (not backends or _executes(test, recording, backends)):
                    chosen[file].append(test)
        files = sorted(chosen.values(), key=lambda tests: sum(test.cpu for test in tests))
        return [test for tests in files for test in tests]

    def _lines_of(self, mutation: Mutation) -> list[tuple[str, frozenset[int]]]:
        path = mutation.path.removeprefix("src/")
        if path.endswith(".sql"):
            return self._lines_with_statement(path)
        if not mutation.at_import:
            return [(path, frozenset(range(mutation.first_line, mutation.last_line + 1)))]
        if any(test.lines.get(path) for recording in self._recordings.values() for test in recording.tests):
            return [(path, self._in_functions(path))]
        return [(user, self._in_functions(user)) for user in self._users(path)]

    @cache  # noqa: B019
    def _lines_with_statement(self, path: str) -> list[tuple[str, frozenset[int]]]:
        """Where the name of a .sql file stands in a module, or that of its folder. A part is where its statements are."""
        name, folder = Path(path).stem, Path(path).parent
        if folder.name == "parts":
            whole = [file for file in self._source.rglob("*.sql") if f"/* {name} */" in file.read_text()]
            return [line for file in whole for line in self._lines_with_statement(str(file.relative_to(self._source)))]
        return self._lines_with_word(name) or self._lines_with_word(folder.name) or self._lines_with_word(folder.parent.name)

    def _lines_with_word(self, word: str) -> list[tuple[str, frozenset[int]]]:
        found = []
        for path, text in self._texts.items():
            if not re.search(rb"[\"']%s[\"']" % re.escape(word.encode()), text):
                continue
            constants = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant) and node.value == word]
            lines = frozenset(node.lineno for node in constants)
            inside = self._in_functions(path)
            found.append((path, lines if lines <= inside else lines | inside))
        return found

    @cache  # noqa: B019
    def _in_functions(self, path: str) -> frozenset[int]:
        functions = [
            node for node in ast.walk(ast.parse(self._texts[path])) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        return frozenset(
            line for node in functions for line in range(node.body[0].lineno, (node.body[-1].end_lineno or node.lineno) + 1)
        )

    def _users(self, path: str) -> list[str]:
        """Modules that import this one."""
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        package, _, name = module.rpartition(".")
        pattern = rf"from {re.escape(module)} import|import {re.escape(module)}\b|from {re.escape(package)} import .*\b{name}\b"
        return [other for other, text in self._texts.items() if other != path and re.search(pattern.encode(), text)]

    @cache  # noqa: B019
    def _mask(self, path: str, digest: str | None, lines: frozenset[int]) -> int:
        """The lines as bits, by the numbers that they had when they were recorded."""
        if digest is None:
            return 0
        if digest != self._digests[path]:
            lines = _earlier_lines((self._folder / "sources" / digest).read_bytes(), self._texts[path], lines)
        return sum(1 << line for line in lines)

    def _load(self, file: str) -> _Recording:
        saved: dict[str, Any] = json.loads(gzip.decompress(self._place(file).read_bytes()))
        tests = [
            RecordedTest(test["name"], file, test["seconds"], test["cpu"], _from_hex(test["lines"])) for test in saved["tests"]
        ]
        return _Recording(tests, saved["sources"], _from_hex(saved["living"]), saved["failed"])

    def _place(self, file: str) -> Path:
        return self._folder / f"{_flat(file)}.{_digest((self._root / file).read_bytes())}.json.gz"


def _executes(test: RecordedTest, recording: _Recording, needed: list[tuple[str, int]]) -> bool:
    return any((test.lines.get(path, 0) | recording.lines_of_living.get(path, 0)) & mask for path, mask in needed)


def _earlier_lines(before: bytes, now: bytes, lines: frozenset[int]) -> frozenset[int]:
    """A line that is new stands for its neighbours."""
    old, new = before.decode().splitlines(), now.decode().splitlines()
    found = set()
    for tag, old_first, old_last, new_first, new_last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for line in lines & {*range(new_first + 1, new_last + 1)}:
            if tag == "equal":
                found.add(line - new_first + old_first)
            else:
                found |= {*range(max(1, old_first - 1), old_last + 3)}
    return frozenset(found)


def _as_hex(lines: Lines) -> dict[str, str]:
    return {path: f"{bits:x}" for path, bits in lines.items()}


def _from_hex(lines: dict[str, str]) -> Lines:
    return {path: int(bits, 16) for path, bits in lines.items()}


def _flat(file: str) -> str:
    return file.replace("/", "-").removesuffix(".py")


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]
