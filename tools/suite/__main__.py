"""Run format, lint, types and all tests beside each other, show how far they are, and sum up.

Browser tests have a pytest of their own: Playwright keeps an event loop running in its process, and no other test would pass
beside it.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.suite.results import Part, broken_parts, counts, minutes, read_tests, summary

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".cache" / "test"
BROWSER = Path("tests/browser")
# Folders whose files take long, so that no process is left alone with one of them at the end.
LONGEST_FIRST = ("chaos", "reliability", "machine", "deploy", "service", "security", "processes", "conformance", "promote")
# Files with so many slow tests that one process would be busy with them when all others have ended, and in how many parts.
SPLIT = {"tests/machine/test_mistakes_on_a_server.py": 8}
IN_MEMORY = Path("/dev/shm")
ROOM_IN_MEMORY = 4 << 30
MUTANTS = 30
TOLD_EVERY = 30.0  # seconds, where the output is not a terminal


def main() -> int:
    args = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    _install_engines()
    with _temporary_folder() as temporary:
        environ = os.environ | {"TMPDIR": str(temporary)}
        parts, seconds = _run(_commands(args), environ)
        if args.deep and args.mutants:  # afterwards: it needs both cores, and recorded times
            planted, more = _run({"mutants": _mutants(args.mutants)}, environ)
            parts, seconds = parts + planted, seconds + more
            print(
                " ".join(["./dev mutants", *_mutants(args.mutants)[3:]]), planted[0].log.read_text(errors="replace"), sep="\n"
            )
    tests = read_tests(FOLDER.glob("*.jsonl"))
    print("\n".join(summary(tests, parts, seconds)))
    return 1 if any(test.outcome == "failed" for test in tests) or broken_parts(tests, parts) or not tests else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev test")
    parser.add_argument("--deep", action="store_true", help="every test, database and delivery, and many generated cases")
    parser.add_argument("--processes", type=int, default=(os.cpu_count() or 2) + 2, help="pytest processes beside each other")
    parser.add_argument("--mutants", type=int, default=MUTANTS, help="planted mistakes that the deep suite tries at the end")
    return parser.parse_args()


def _commands(args: argparse.Namespace) -> dict[str, list[str]]:
    depth = ["--deep"] if args.deep else []
    check = f'"{sys.executable}" -m ruff format --check . && "{sys.executable}" -m ruff check . && "{sys.executable}" -m mypy'
    files = FOLDER / "files.txt"
    files.write_text("".join(f"{line}\n" for file in _files() for line in _lines(file)))
    share = ["-p", "tools.suite.share", f"--share={files}", "tests", *depth]
    commands = {
        "check": ["sh", "-c", check],
        "browser": [*_pytest("browser"), str(BROWSER), *depth],
    }
    return commands | {f"tests {n}": [*_pytest(f"tests-{n}"), *share] for n in range(1, args.processes + 1)}


def _files() -> list[Path]:
    """All but the browser's, those of the slow folders first. A file stays together, so that its servers are started once."""
    folders = {folder: place for place, folder in enumerate(LONGEST_FIRST)}
    files = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
    return sorted((file for file in files if file.parts[1] != BROWSER.name), key=lambda file: folders.get(file.parts[1], 99))


def _lines(file: Path) -> list[str]:
    """How the list names a file: once, or once for each part of it."""
    parts = SPLIT.get(str(file), 1)
    return [str(file)] if parts == 1 else [f"{file} {part}/{parts}" for part in range(1, parts + 1)]


def _mutants(count: int) -> list[str]:
    """Other mistakes each day; the seed is printed, so that they can be planted again."""
    seed = str(int(time.time()) // 86400)
    return [sys.executable, "-m", "tools.mutants", "--sample", str(count), "--seed", seed]


def _pytest(name: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-p", "tools.suite.report", f"--report-file={FOLDER / name}.jsonl"]


def _install_engines() -> None:
    """Once, before several processes would. Tests that need what is not to be had say so and are skipped."""
    os.environ.setdefault("PRESSROOM_ENGINES", str(ROOT / ".cache" / "engines"))
    with (FOLDER / "engines.log").open("wb") as log:
        subprocess.run([sys.executable, "-m", "pressroom", "engines", "install", "node"], cwd=ROOT, stdout=log, stderr=log)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """In memory where there is room: a test asks in which order files are synced, never what the disk takes for it."""
    has_room = IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ROOM_IN_MEMORY
    folder = Path(tempfile.mkdtemp(prefix="pressroom-test-", dir=IN_MEMORY if has_room else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(commands: dict[str, list[str]], environ: dict[str, str]) -> tuple[list[Part], float]:
    began = time.monotonic()
    logs = {name: FOLDER / f"{name}.log" for name in commands}
    running: dict[str, subprocess.Popen[bytes]] = {}
    parts: list[Part] = []
    try:
        for name, command in commands.items():
            with logs[name].open("wb") as log:
                # A session of its own: what a part leaves behind ends with it.
                running[name] = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=environ, start_new_session=True)
        told = time.monotonic()
        while running:
            for name, process in list(running.items()):
                if process.poll() is not None:
                    parts.append(Part(name, process.returncode, time.monotonic() - began, logs[name]))
                    _end(running.pop(name))
            time.sleep(0.2)
            told = _tell(began, told, running)
    finally:
        for process in running.values():
            _end(process)
    return parts, time.monotonic() - began


def _tell(began: float, told: float, running: dict[str, subprocess.Popen[bytes]]) -> float:
    now = time.monotonic()
    is_terminal = sys.stdout.isatty()
    if running and now - told < (1.0 if is_terminal else TOLD_EVERY):
        return told
    line = f"{minutes(now - began)}  {counts(read_tests(FOLDER.glob('*.jsonl')))}  {', '.join(running)}"
    print(f"\r\033[K{line}" if is_terminal else line, end="" if is_terminal and running else "\n", flush=True)
    return now


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


if __name__ == "__main__":
    sys.exit(main())
