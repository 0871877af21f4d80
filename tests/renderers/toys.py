"""Engines that misbehave on demand, one word per misdeed."""

import ctypes
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from pressroom.errors import EngineMissing, SourceInvalid, Timeout
from pressroom.renderers import MB, Engine, Limits, Rendered


class ToyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    loud: bool = False


class Toy(Engine):
    name = "toy"
    title = "Toy"
    takes = "toy"
    makes = ("txt",)
    sample = "hello"
    Options = ToyOptions
    limits = Limits(source=1000, output=10_000, seconds=0.5, memory=200 * MB)

    def render(self, source: str, output: str, options: Any) -> Rendered:
        verb, _, rest = source.partition(" ")
        answer = getattr(self, f"do_{verb}", lambda text: source)(rest)
        return Rendered(str(answer).upper().encode() if options.loud else str(answer).encode(), "text/plain")

    def do_pid(self, rest: str) -> int:
        return os.getpid()

    def do_hang(self, rest: str) -> None:
        time.sleep(60)

    def do_spin(self, rest: str) -> None:
        while True:
            pass

    def do_die(self, rest: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def do_segfault(self, rest: str) -> None:
        ctypes.string_at(0)

    def do_invalid(self, rest: str) -> None:
        raise SourceInvalid("no such word", line=1, column=9, excerpt="invalid")

    def do_bug(self, rest: str) -> None:
        raise RuntimeError("the secret is hunter2")

    def do_panic(self, rest: str) -> None:
        raise BaseException("as Rust's panics do")

    def do_eat(self, rest: str) -> int:
        hoard = [bytes(1024) * 1024 for _ in range(1)]
        while True:
            hoard.append(os.urandom(1024 * 1024))

    def do_swell(self, rest: str) -> str:
        self.hoard = b"x" * (150 * 1024 * 1024)
        return "swollen"

    def do_breed(self, rest: str) -> str:
        """A child that holds more than the press may, and says so when it does."""
        program = "hoard = b'x' * (250 * 1024 * 1024); print('full', flush=True); import time; time.sleep(600)"
        child = subprocess.Popen([sys.executable, "-S", "-c", program], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        return child.stdout.readline().strip()

    def do_recurse(self, rest: str) -> Any:
        return self.do_recurse(rest)

    def do_long(self, rest: str) -> str:
        return "x" * 20_000

    def do_print(self, rest: str) -> str:
        print("noise on stdout")
        os.write(1, b"more noise")
        os.write(2, b"and on stderr")
        return "said"

    def do_read(self, path: str) -> str:
        return self._try(lambda: Path(path).read_text())

    def do_write(self, path: str) -> str:
        return self._try(lambda: Path(path).write_text("x"))

    def do_connect(self, address: str) -> str:
        host, _, port = address.rpartition(":")
        return self._try(lambda: socket.create_connection((host, int(port)), timeout=1))

    def do_environment(self, rest: str) -> str:
        return ",".join(sorted(os.environ))

    def do_files(self, rest: str) -> str:
        """The descriptors it can see, by trying them all."""
        return ",".join(str(fd) for fd in range(100) if self._open(fd))

    def do_orphan(self, rest: str) -> int:
        child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], start_new_session=bool(rest))
        return child.pid

    def do_slow(self, seconds: str) -> str:
        time.sleep(float(seconds))
        return "slept"

    @staticmethod
    def _open(fd: int) -> bool:
        try:
            os.fstat(fd)
        except OSError:
            return False
        return True

    @staticmethod
    def _try(act: Any) -> str:
        try:
            return f"done: {act()}"
        except OSError as refused:
            return f"refused: {type(refused).__name__}"


class Short(Toy):
    """Worn out after ten renders."""

    name = "short"
    renders = 10


class Patient(Toy):
    """With time enough for a machine that is busy."""

    name = "patient"
    limits = replace(Toy.limits, seconds=30)


class Unhurried(Toy):
    """Whose time limit no test waits for, nor its end by age."""

    name = "unhurried"
    renders = 1_000_000_000
    limits = replace(Toy.limits, seconds=3600)


class StartsOnce(Patient):
    """The first press starts, and no other does."""

    name = "starts once"
    starts = 0

    @classmethod
    def reads(cls) -> tuple[Path, ...]:
        cls.starts += 1
        if cls.starts > 1:
            raise OSError(errno.EAGAIN, "too many processes")
        return super().reads()


class Broken(Toy):
    name = "broken"

    def __init__(self) -> None:
        raise RuntimeError("no such library")


class StartsLate(Toy):
    """Is killed while it starts, or fails to, as often as `deaths` says."""

    name = "starts late"
    deaths = 0
    how = "DIE"

    def __init__(self) -> None:
        if "DIE" in os.environ:
            os.kill(os.getpid(), signal.SIGKILL)
        if "WAIT" in os.environ:
            raise Timeout("its browser did not answer in time")
        if "MISS" in os.environ:
            raise EngineMissing("its browser is not installed")

    @classmethod
    def environment(cls) -> dict[str, str]:
        cls.deaths -= 1
        return {cls.how: "1"} if cls.deaths >= 0 else {}


class WarmsUp(Toy):
    """Says how much time each of its renders had, that of its sample first."""

    name = "warms up"
    sample = "times"

    def __init__(self) -> None:
        self._times: list[float] = []

    def do_times(self, rest: str) -> list[float]:
        self._times.append(self.limits.seconds)
        return self._times


class Prepares(Toy):
    name = "prepares"

    @classmethod
    def prepare(cls) -> bytes | None:
        print("a library talks while it prepares")
        return f"made by {os.getpid()}".encode()

    def do_prepared(self, rest: str) -> str:
        return "nothing" if self.prepared is None else self.prepared.decode()


class CannotPrepare(Prepares):
    name = "cannot prepare"

    @classmethod
    def prepare(cls) -> bytes | None:
        raise RuntimeError("no room")
