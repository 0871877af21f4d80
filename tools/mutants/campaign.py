"""One mistake after the other: planted, given to its tests, and the verdict confirmed by the same test without the mistake."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing.queues import Queue
from pathlib import Path

from tools.mutants.coverage_map import RecordedTest
from tools.mutants.mutation import Mutation
from tools.mutants.scratch import RunReport, Scratch, adopt_orphans

_RECORDING = {"cpu_limit": 900.0, "patience": 400.0}


@dataclass(frozen=True)
class Verdict:
    mutation: Mutation
    noticed: bool
    text: str


@dataclass(frozen=True)
class Trial:
    """`tests` in the order in which to run them; `left_out` says how many more there were.

    A mutant may take ten times the CPU time that its tests take without it, and `spare_cpu`.
    """

    mutation: Mutation
    tests: list[RecordedTest]
    left_out: int
    deep: bool
    spare_cpu: float = 60.0


class Workers:
    """Processes with a scratch tree each."""

    def __init__(self, root: Path, folder: Path, jobs: int) -> None:
        spawn = multiprocessing.get_context("spawn")
        places = spawn.Queue()
        for number in range(jobs):
            places.put(folder / f"tree-{number}")
        self._pool = ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_start_worker, initargs=(root, places))

    def record(self, files: list[str], deep: bool) -> Iterator[tuple[str, RunReport]]:
        futures = {self._pool.submit(_record, file, deep): file for file in files}
        for future in as_completed(futures):
            yield futures[future], future.result()

    def judge(self, trials: list[Trial]) -> Iterator[Verdict]:
        for future in as_completed([self._pool.submit(_judge, trial) for trial in trials]):
            yield future.result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


_scratch: Scratch


def _start_worker(root: Path, places: "Queue[Path]") -> None:
    global _scratch
    adopt_orphans()
    _scratch = Scratch(root, places.get())
    _scratch.check()


def _record(file: str, deep: bool) -> RunReport:
    run = _scratch.run_tests([file], None, deep=deep, record=True, **_RECORDING)
    failed = [test for test in run.failed if test in run.seconds]
    if failed:  # a busy machine, perhaps
        again = _scratch.run_tests([file], failed, deep=deep, record=True, **_RECORDING)
        run.lines |= again.lines
        run.failed = {test: text for test, text in run.failed.items() if test not in failed} | again.failed
    return run


def _judge(trial: Trial) -> Verdict:
    tests, left_out = trial.tests, trial.left_out
    ran = 0
    while tests:
        with _scratch.planted(trial.mutation):
            run = _run(trial, tests)
        if run.failure is None:
            ran += len(run.seconds)
            break
        if _run(trial, _again(run.failure, tests)).failure is None:
            verb = "time:" if run.hung else "noticed by"
            return Verdict(trial.mutation, True, f"{verb} {run.failure}")
        # It fails by itself, now or always: those after it may still notice.
        names = [test.name for test in tests]
        at = names.index(run.failure) if run.failure in names else len(names) - 1
        tests = tests[at + 1 :]
        ran += at
    if not ran:
        return Verdict(
            trial.mutation, False, "survived: no test executes it" if not left_out else "survived: its tests are too slow"
        )
    return Verdict(trial.mutation, False, f"survived {ran} tests" + (f", {left_out} slower ones not run" if left_out else ""))


def _again(failure: str, tests: list[RecordedTest]) -> list[RecordedTest]:
    """The test that failed; where that was no test, the first."""
    named = [test for test in tests if test.name == failure] or [test for test in tests if test.file == failure]
    return named[:1] or tests[:1]


def _run(trial: Trial, tests: list[RecordedTest]) -> RunReport:
    """A loop without end uses up CPU time; what waits without end is idle."""
    files = list(dict.fromkeys(test.file for test in tests))
    cpu_limit = trial.spare_cpu + 10 * sum(test.cpu for test in tests)
    patience = 90 + 3 * max(test.seconds for test in tests)
    return _scratch.run_tests(files, [test.name for test in tests], deep=trial.deep, cpu_limit=cpu_limit, patience=patience)
