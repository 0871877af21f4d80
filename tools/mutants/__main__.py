"""`./dev mutants`: plant small mistakes one at a time, and name the test that notices each."""

import argparse
import ast
import random
import re
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from tools.mutants.campaign import Trial, Verdict, Workers
from tools.mutants.coverage_map import CoverageMap, RecordedTest
from tools.mutants.mutation import Mutation, is_valid_python
from tools.mutants.python_operators import find_python_mutations, optional_parameters
from tools.mutants.sql_operators import find_sql_mutations

ROOT = Path(__file__).resolve().parents[2]
# A migration that was released is never changed; the demo is a made-up story.
LEFT_OUT = ("migrations", "demo")
# They kill processes or break servers at random for minutes. What they notice, they may not notice the next time.
LABS = ("chaos", "reliability", "conformance", "deploy")


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    options = _parse(argv)
    mutations = find_mutations(root, options.files)
    if options.sample is not None:
        mutations = sample(root, mutations, options.sample, options.seed)
    else:
        mutations = [mutation for mutation in mutations if _is_valid(root, mutation)]
    if options.list:
        for mutation in mutations:
            print(f"{mutation}  [{mutation.operator}]")
        return 0
    folder = root / ".cache" / "mutants"
    if options.record:
        shutil.rmtree(folder / "recorded", ignore_errors=True)
    workers = Workers(root, folder, options.jobs)
    try:
        tests = _coverage_map(root, folder / "recorded", workers, options)
        trials = [_trial(tests, mutation, options) for mutation in mutations]
        verdicts = [_tell(verdict) for verdict in workers.judge(trials)]
    finally:
        workers.close()
    noticed = _summarize(root, verdicts)
    return 1 if options.at_least is not None and noticed < options.at_least else 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("./dev mutants", description=__doc__)
    parser.add_argument(
        "files", nargs="*", metavar="FILE[:LINE[-LINE]]", help="where to plant mistakes; everywhere if none is named"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="this many, chosen at random, at most one a line")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="repeats a sample")
    parser.add_argument("--list", action="store_true", help="only name the mistakes")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="how many at a time (default: %(default)s)")
    parser.add_argument("--at-least", type=float, metavar="PERCENT", help="fail if fewer are noticed")
    parser.add_argument(
        "--budget",
        type=float,
        default=120,
        metavar="SECONDS",
        help="CPU time of the tests of one mistake (default: %(default)s)",
    )
    parser.add_argument("--tests", nargs="+", default=[], metavar="PATH", help="use these tests only")
    parser.add_argument("--deep", action="store_true", help="deep tests and the labs too, and no budget")
    parser.add_argument("--record", action="store_true", help="record anew which lines each test executes")
    options = parser.parse_args(argv)
    if not options.files and options.sample is None and not options.list:
        parser.error("name files, or a --sample")
    return options


def find_mutations(root: Path, wanted: Sequence[str] = ()) -> list[Mutation]:
    """All of them, or those of the named files and lines. Not yet known is whether the changed module can be compiled."""
    source = root / "src"
    modules = {path: path.read_bytes() for path in sorted(source.rglob("*.py"))}
    optional = optional_parameters(ast.parse(text) for text in modules.values())
    lines = defaultdict(list)
    for one in wanted:
        name, first, last = re.fullmatch(r"(.+?)(?::(\d+)(?:-(\d+))?)?", one).groups()  # type: ignore[union-attr]
        lines[Path(name).resolve()].append(range(int(first or 1), int(last or first or sys.maxsize) + 1))
    found = []
    for path in sorted([*modules, *source.rglob("*.sql")]):
        name = str(path.relative_to(root))
        if path in lines or (not wanted and not {*LEFT_OUT} & {*Path(name).parts}):
            is_python = path in modules
            of_file = (
                find_python_mutations(name, modules[path], optional)
                if is_python
                else find_sql_mutations(name, path.read_bytes())
            )
            found += [one for one in of_file if not wanted or any(one.line in range_ for range_ in lines[path])]
    if unknown := lines.keys() - {root / one.path for one in found}:
        raise SystemExit(f"nothing to change in {', '.join(map(str, unknown))}")
    return found


def sample(root: Path, mutations: list[Mutation], count: int, seed: int) -> list[Mutation]:
    """By lines, because a long condition has a dozen mutations and is no more important for that."""
    lines: dict[tuple[str, int], list[Mutation]] = defaultdict(list)
    for mutation in mutations:
        lines[mutation.path, mutation.line].append(mutation)
    luck = random.Random(seed)
    chosen = (luck.choice(lines[place]) for place in luck.sample(sorted(lines), len(lines)))
    valid = (mutation for mutation in chosen if _is_valid(root, mutation))
    return [mutation for mutation, _ in zip(valid, range(count), strict=False)]


def _is_valid(root: Path, mutation: Mutation) -> bool:
    return mutation.path.endswith(".sql") or is_valid_python(mutation, (root / mutation.path).read_bytes())


def _coverage_map(root: Path, folder: Path, workers: Workers, options: argparse.Namespace) -> CoverageMap:
    labs = set() if options.deep else {*LABS}
    found = [path.relative_to(root) for path in (root / "tests").rglob("test_*.py")]
    files = sorted(str(path) for path in found if not labs & {*path.parts} and _is_within(path, options.tests))
    tests = CoverageMap(root, folder)
    missing = tests.unrecorded(files)
    for number, (file, run) in enumerate(workers.record(missing, options.deep), 1):
        if run.exit_code not in (0, 1, 5) and not run.seconds:
            raise SystemExit(f"{file} cannot be run in {folder.parent}/tree-*; .cache/run.log there says why")
        tests.save(file, run)
        trouble = f", {len(run.failed)} failed" * bool(run.failed) + ", stopped" * run.timed_out
        figures = f"{len(run.seconds)} tests, {sum(run.cpu.values()):.0f} s of CPU time"
        print(f"recorded {number}/{len(missing)} {file}: {figures}{trouble}", flush=True)
    tests.load(files)
    for test in tests.failed:
        print(f"left out, it fails without any mistake: {test}")
    return tests


def _is_within(path: Path, folders: list[str]) -> bool:
    return not folders or any(path.is_relative_to(folder) for folder in folders)


def _trial(tests: CoverageMap, mutation: Mutation, options: argparse.Namespace) -> Trial:
    chosen: list[RecordedTest] = []
    cpu = 0.0
    found = tests.tests_for(mutation)
    for test in found:
        cpu += test.cpu
        if chosen and cpu > options.budget and not options.deep:
            break
        chosen.append(test)
    return Trial(mutation, chosen, len(found) - len(chosen), options.deep)


def _tell(verdict: Verdict) -> Verdict:
    print(f"{verdict.mutation}  {verdict.text}", flush=True)
    return verdict


def _summarize(root: Path, verdicts: list[Verdict]) -> float:
    survivors = [verdict for verdict in verdicts if not verdict.noticed]
    for verdict in survivors:
        source = (root / verdict.mutation.path).read_bytes()
        print(f"\n{verdict.text} [{verdict.mutation.operator}]\n{verdict.mutation.diff(source)}")
    noticed = len(verdicts) - len(survivors)
    percent = 100 * noticed / len(verdicts) if verdicts else 100.0
    operators = Counter(verdict.mutation.operator for verdict in survivors)
    told = f" ({', '.join(f'{count} {operator}' for operator, count in operators.most_common())})" if operators else ""
    print(f"\n{noticed} of {len(verdicts)} noticed, {percent:.0f} %; {len(survivors)} survived{told}")
    return percent


if __name__ == "__main__":
    sys.exit(main())
