"""A copy of the tree with an environment of its own, in which mistakes are planted and tests are run.

The environment is a copy made of hard links, but for the .pth file that names the sources: every process of it, whatever its
environment variables and its sandbox, imports the copy. A process that runs tests becomes the parent of all that they leave
behind, and kills it.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.mutants.mutation import Mutation
from tools.mutants.recorder import Lines

_HERE = Path(__file__).parent
_SLOWLY_MADE = ("engines", "corpora", "kroki-clients")  # what tests install under .cache
_PR_SET_CHILD_SUBREAPER = 36
_GRACE = 20.0


@dataclass
class RunReport:
    """What came of one run of pytest."""

    exit_code: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    lines: dict[str, Lines] = field(default_factory=dict)
    lines_of_living: Lines = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    running: str = ""  # the test that was running when it ended
    timed_out: bool = False

    @property
    def failure(self) -> str | None:
        """The test that noticed, or what else went wrong."""
        if self.failed:
            return next(iter(self.failed))
        if self.timed_out or self.exit_code not in (0, 5):
            return self.running or "the start of pytest"
        return None

    @property
    def hung(self) -> bool:
        return self.timed_out or any("Failed: Timeout" in text for text in self.failed.values())


class Scratch:
    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        self._root = root
        self._cache = folder / ".cache"
        self._executed = self._cache / "executed"
        self._report = self._cache / "report.jsonl"
        self._orders = self._cache / "orders.json"
        self._cache.mkdir(parents=True, exist_ok=True)
        self._copy_tree()
        if Path(sys.prefix).is_relative_to(root):
            self._copy_environment(Path(sys.prefix))
        else:  # a tree without an environment of its own, as in a test
            self._python, self._site, self._path = sys.executable, self._cache, [folder / "src", folder, self._cache]
        for name in ("recorder", "plugin"):
            shutil.copyfile(_HERE / f"{name}.py", self._site / f"_mutants_{name}.py")
        self._recording(False)

    def _copy_tree(self) -> None:
        """What differs is copied and what is gone is deleted, so that compiled modules stay."""
        wanted = {path for path in _files_of(self._root) if (self._root / path).is_file()}
        for path in wanted:
            source, target = self._root / path, self.folder / path
            if not target.is_file() or source.read_bytes() != target.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        for target in list(self.folder.rglob("*")):
            path = target.relative_to(self.folder)
            if target.is_file() and path not in wanted and not {".cache", "__pycache__"} & {*path.parts}:
                target.unlink()

    def _copy_environment(self, original: Path) -> None:
        place = self._cache / original.name
        stamp = (original / "stamp").read_text()
        if not (place / "copied").is_file() or (place / "copied").read_text() != stamp:
            shutil.rmtree(place, ignore_errors=True)
            _link_tree(original, place)
            for script in (place / "bin").iterdir():
                text = script.read_bytes() if script.is_file() and not script.is_symlink() else b""
                if text.startswith(b"#!") and str(original).encode() in text:
                    script.unlink()  # a hard link: what is written to it would be written to the original
                    script.write_bytes(text.replace(str(original).encode(), str(place).encode()))
                    script.chmod(0o755)
            (place / "copied").write_text(stamp)
        self._site = place / Path(sysconfig.get_paths()["purelib"]).relative_to(sys.prefix)
        self._python, self._path = str(place / "bin" / "python"), []
        (self._site / "pressroom.pth").unlink(missing_ok=True)
        (self._site / "pressroom.pth").write_text(f"{self.folder / 'src'}\n")
        for name in _SLOWLY_MADE:
            made = self._root / ".cache" / name
            if made.is_dir() and not (self._cache / name).exists():
                _link_tree(made, self._cache / name)

    def check(self) -> None:
        """A process that inherits nothing imports the copy."""
        if self._path:
            return
        (package,) = (path.parent.name for path in (self.folder / "src").glob("*/__init__.py"))
        command = [self._python, "-I", "-c", f"import {package}; print({package}.__file__)"]
        found = subprocess.run(command, env={}, cwd="/", capture_output=True, text=True, check=True).stdout
        if not found.startswith(str(self.folder)):
            raise SystemExit(f"the scratch environment imports {found.strip()}, not the copy in {self.folder}")

    @contextlib.contextmanager
    def planted(self, mutation: Mutation) -> Iterator[None]:
        path = self.folder / mutation.path
        original, times = path.read_bytes(), (path.stat().st_atime, path.stat().st_mtime)
        try:
            path.write_bytes(mutation.apply(original))
            _forget_compiled(path)
            yield
        finally:
            path.write_bytes(original)
            os.utime(path, times)
            _forget_compiled(path)

    def run_tests(
        self,
        files: list[str],
        tests: list[str] | None,
        *,
        deep: bool,
        cpu_limit: float,
        patience: float,
        record: bool = False,
    ) -> RunReport:
        """Run these tests of these files in this order; None stands for all. Without `record` it ends at the first failure.

        Each process may use `cpu_limit` seconds of CPU time. `patience` is how many seconds all may be idle without a test's
        ending: seconds in which none of them ran, or waited for a processor.
        """
        self._recording(record)
        self._report.write_bytes(b"")
        orders = {"tests": tests, "report": str(self._report), "executed": str(self._executed), "deep": deep}
        self._orders.write_text(json.dumps(orders))
        options = ["-q", "-p", "no:cacheprovider", "-p", "_mutants_plugin"]
        options += ["-m", ""] * deep + ["-x"] * (not record) + ["--hypothesis-seed=1"] * (not self._path)
        if not any(b"schemathesis" in (self.folder / file).read_bytes() for file in files):
            options += ["-p", "no:schemathesis"]  # half of the time that pytest needs to start
        command = [self._python, "-m", "pytest", *options, *files]
        temporary = tempfile.mkdtemp(prefix="mutants-")
        environ = os.environ | {"MUTANTS_ORDERS": str(self._orders), "TMPDIR": temporary}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)  # without compiled modules, pytest takes seconds to start
        if self._path:
            environ["PYTHONPATH"] = os.pathsep.join(map(str, self._path))
        try:
            with (self._cache / "run.log").open("wb") as log:
                process = subprocess.Popen(
                    command,
                    cwd=self.folder,
                    env=environ,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
                resource.prlimit(process.pid, resource.RLIMIT_CPU, (int(cpu_limit), int(cpu_limit) + 5))
                timed_out = self._wait(process, patience)
        finally:
            _kill_descendants()
            shutil.rmtree(temporary, ignore_errors=True)
            shutil.rmtree(self.folder / ".hypothesis", ignore_errors=True)
        run = _read_report(self._report)
        run.exit_code = process.returncode
        run.timed_out = timed_out or process.returncode == -signal.SIGXCPU
        return run

    def _wait(self, process: subprocess.Popen[bytes], patience: float) -> bool:
        """Whether it had to be stopped."""
        size, idle, moment, busy = 0, 0.0, time.monotonic(), 0.0
        while idle < patience:
            if _has_exited(process.pid, within=5.0):
                process.wait()
                return False
            before, moment, busy = (moment, busy), time.monotonic(), _busy_seconds()
            worked = max(0.0, busy - before[1])  # less than nothing where a process has ended
            idle += max(0.0, moment - before[0] - worked)
            if size != (size := self._report.stat().st_size):
                idle = 0.0
        process.send_signal(signal.SIGINT)  # so that its fixtures stop their servers
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
        process.kill()
        process.wait()
        return True

    def _recording(self, on: bool) -> None:
        hook = self._site / ("sitecustomize.py" if self._path else "_mutants_recorder.pth")
        hook.unlink(missing_ok=True)
        shutil.rmtree(self._executed, ignore_errors=True)
        if on:
            self._executed.mkdir()
            self._executed.chmod(0o777)  # tests also start processes of other users
            call = f"start({str(self.folder / 'src') + os.sep!r}, {str(self._executed)!r})"
            hook.write_text(f"import _mutants_recorder; _mutants_recorder.{call}\n")


def _read_report(path: Path) -> RunReport:
    run = RunReport()
    for text in path.read_text().splitlines():
        line: dict[str, Any] = json.loads(text)
        match line:
            case {"event": "started", "test": test}:
                run.running = test
            case {"event": "ended", "test": test}:
                run.running = ""
                run.seconds[test], run.cpu[test] = line["seconds"], line["cpu"]
                run.lines[test] = {path: int(bits, 16) for path, bits in line["lines"].items()}
            case {"event": "failed", "test": test}:
                run.failed.setdefault(test, line["text"])
            case {"event": "skipped", "test": test}:
                run.skipped.add(test)
            case {"event": "living"}:
                run.lines_of_living = {path: int(bits, 16) for path, bits in line["lines"].items()}
    return run


def _files_of(root: Path) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=root, capture_output=True, check=False)
    if listed.returncode == 0:
        return [Path(name) for name in listed.stdout.decode().split("\0") if name]
    return [path.relative_to(root) for path in root.rglob("*") if not {".cache", "__pycache__"} & {*path.parts}]


def _link_tree(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True, copy_function=os.link)


def _forget_compiled(module: Path) -> None:
    """By size and second of the last change alone, Python may take one mistake for another."""
    for compiled in (module.parent / "__pycache__").glob(f"{module.stem}.*.pyc"):
        compiled.unlink()


def adopt_orphans() -> None:
    """From now on, what a child leaves behind becomes a child of this process."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _kill_descendants() -> None:
    while children := _descendants(os.getpid()):
        for pid in children:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _has_exited(child: int, within: float) -> bool:
    fd = os.pidfd_open(child)
    try:
        return bool(select.select([fd], [], [], within)[0])
    finally:
        os.close(fd)


def _busy_seconds() -> float:
    """How long all descendants that live have run, or were ready to run and waited for a processor."""
    nanoseconds = 0
    for pid in _descendants(os.getpid()):
        for stat in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                nanoseconds += sum(map(int, stat.read_text().split()[:2]))
    return nanoseconds / 1e9


def _descendants(parent: int) -> list[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    found: list[int] = []
    level = [parent]
    while level:
        level = [pid for pid, above in parents.items() if above in level]
        found += level
    return found
