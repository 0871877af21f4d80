"""Sum up the reports of a run: counts, the slowest tests, what was skipped and why, failures last."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SLOWEST = 10


@dataclass
class Result:
    name: str
    outcome: str = "passed"
    seconds: float = 0.0
    cpu: float = 0.0
    text: str = ""

    def add(self, report: dict[str, object]) -> None:
        self.seconds += float(str(report["seconds"]))
        self.cpu += float(str(report["cpu"]))
        outcome = str(report["outcome"])
        if outcome == "failed":
            self.text = f"{self.text}\n{report['text']}".strip() if self.outcome == "failed" else str(report["text"])
            self.outcome = "failed"
        elif outcome == "skipped" and self.outcome == "passed":
            self.outcome, self.text = "skipped", str(report["text"])


@dataclass(frozen=True)
class Part:
    """One command of the run, and how it ended."""

    name: str
    code: int
    seconds: float
    log: Path


def read_tests(files: Iterable[Path]) -> list[Result]:
    tests: dict[str, Result] = {}
    for file in files:
        written = file.read_text() if file.exists() else ""
        for line in written[: written.rfind("\n") + 1].splitlines():  # the last one may be half written
            report = json.loads(line)
            tests.setdefault(report["test"], Result(report["test"])).add(report)
    return list(tests.values())


def counts(tests: Iterable[Result], broken_parts: int = 0) -> str:
    """A closing line that tools which read test logs understand."""
    outcomes = [test.outcome for test in tests]
    failed = outcomes.count("failed") + broken_parts
    return f"{outcomes.count('passed')} passed, {failed} failed, {outcomes.count('skipped')} skipped"


def broken_parts(tests: list[Result], parts: list[Part]) -> list[Part]:
    """Parts that failed in another way than by a failed test: lint, types, or a pytest that did not come to its end."""
    tests_failed = any(test.outcome == "failed" for test in tests)
    return [part for part in parts if part.code and not (part.code == 1 and tests_failed and part.name != "check")]


def summary(tests: list[Result], parts: list[Part], seconds: float) -> Iterator[str]:
    yield ""
    yield from (
        f"{part.name:<12} {minutes(part.seconds)}  {'ok' if part.code == 0 else f'exit code {part.code}'}" for part in parts
    )
    yield f"{'all':<12} {minutes(seconds)}  processor time of the tests: {minutes(sum(test.cpu for test in tests))}"
    yield ""
    yield f"The {SLOWEST} slowest tests (seconds, processor seconds):"
    for test in sorted(tests, key=lambda test: -test.seconds)[:SLOWEST]:
        yield f"  {test.seconds:7.1f} {test.cpu:7.1f}  {test.name}"
    yield from _skipped(tests)
    yield from _failed(tests, parts)
    yield ""
    yield counts(tests, len(broken_parts(tests, parts)))


def _skipped(tests: list[Result]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        if test.outcome == "skipped":
            by_reason[test.text.removeprefix("Skipped: ")].append(test.name)
    if by_reason:
        yield ""
        yield "Skipped:"
    for reason, names in sorted(by_reason.items()):
        yield f"  {len(names):4}  {reason} ({names[0]}{', …' if len(names) > 1 else ''})"


def _failed(tests: list[Result], parts: list[Part]) -> Iterator[str]:
    for part in broken_parts(tests, parts):
        yield ""
        yield f"FAILED {part.name} (exit code {part.code}); the end of its log, {part.log}:"
        yield part.log.read_text(errors="replace")[-8000:]
    failed = [test for test in tests if test.outcome == "failed"]
    for test in failed:
        yield ""
        yield f"FAILED {test.name}"
        yield test.text
    if failed:
        yield ""
        yield "Failed:"
        yield from (f"  {test.name}" for test in failed)


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
