"""An engine process: a warm process that renders many sources. Killing it loses nothing but the render that it is doing.

This is the side of its owner. Requests are sent ahead so that the process never waits for the next one; responses come back in
order. If the process dies, or is killed at its time limit, the request that it was rendering fails and the others are returned.
"""

import asyncio
import mmap
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pressroom.errors import EngineCrashed, PressroomError, Timeout, TooLarge
from pressroom.renderers import Engine, Rendered, fonts
from pressroom.renderers.sandbox.child import CURSOR
from pressroom.renderers.sandbox.fair_queue import Ticket
from pressroom.renderers.sandbox.process_tree import FOLDER_PREFIX, kill_process_tree, memory_of, process_tree
from pressroom.renderers.sandbox.protocol import (
    EngineRequest,
    FrameDecoder,
    ProcessReady,
    RenderFailure,
    RenderSuccess,
    encode_frame,
    message_decoder,
)
from pressroom.renderers.sandbox.python_process import READABLE_PATHS, python_command
from pressroom.renderers.sandbox.shared_memory import has_prepare_step, prepared_memory

START_WITHIN = 180.0  # a browser may take a minute to start on a machine that is very busy
_INHERITED_VARIABLES = ("PATH", "PRESSROOM_CHROMIUM")
PIPE_DRAIN_SECONDS = 2.0
_CANCELLED_GRACE = 0.5  # seconds that a render may go on after its caller was cancelled: to start a process takes longer
MAX_STDERR_BYTES = 64 * 1024


class EngineProcess(asyncio.SubprocessProtocol):
    """`on_capacity` tells the pool that it may send more, `on_end` that it is gone."""

    def __init__(
        self, engine: type[Engine], on_capacity: Callable[["EngineProcess"], None], on_end: Callable[["EngineProcess"], None]
    ) -> None:
        self.engine = engine
        self.ready = False
        self.worn = False  # it should be replaced
        self.retiring = False  # it gets no more orders
        self.ended = False
        self.exit_description = "it was never started"
        self.rendered = 0
        self.seconds_per_render = 0.01  # seconds per render, as it says itself, with the latest counting most
        self.pid = 0
        self.busy_since = 0.0
        self.layers: list[str] = []
        self.never_ready = True
        self.failure: PressroomError | None = None  # why
        self.waiting: dict[int, Ticket] = {}
        self.stderr = b""
        self._on_capacity = on_capacity
        self._on_end = on_end
        self._last_number = 0
        self._unsent: list[bytes] = []
        self._frame_decoder = FrameDecoder(limit=engine.limits.output + 16 * 1024 * 1024)
        self._kill_reason: PressroomError | None = None
        self._closed = False
        self._transport: asyncio.SubprocessTransport | None = None
        self._input: asyncio.BaseTransport | None = None  # until the process runs
        self._cursor: mmap.mmap | None = None
        self._loop = asyncio.get_running_loop()
        self.started = self._loop.time()

    async def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-"))
        try:
            await self._start_process()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    async def _start_process(self) -> None:
        cursor = self.folder / "cursor"
        cursor.write_bytes(bytes(CURSOR.size))
        with cursor.open("r+b") as file:
            self._cursor = mmap.mmap(file.fileno(), CURSOR.size)
        private = self.folder / "private"
        private.mkdir()
        (self.folder / "fonts.conf").write_text(fonts.fontconfig_xml(private), encoding="utf-8")
        _, own = _package_of(self.engine)
        shared = (
            await asyncio.to_thread(prepared_memory, self.engine, _prepare_command(self.engine))
            if has_prepare_step(self.engine)
            else None
        )
        instructions = {
            "module": self.engine.__module__,
            "engine": self.engine.__name__,
            "cursor": str(cursor),
            "reads": [str(path) for path in (*READABLE_PATHS, own, self.folder / "fonts.conf", *self.engine.reads())],
            "writes": [str(path) for path in (private, "/dev/null", *self.engine.writes())],
            "prepared": shared,
        }
        await self._loop.subprocess_exec(
            lambda: self,
            *_python_command("child", self.engine, instructions),
            cwd=private,
            env=self._environment(private),
            start_new_session=True,
            close_fds=True,
            pass_fds=() if shared is None else (shared,),
        )

    def _environment(self, private: Path) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
        return (
            kept
            | self.engine.environment()
            | {
                "LANG": "C.UTF-8",
                "TZ": "UTC",
                "HOME": str(private),
                "TMPDIR": str(private),
                "XDG_CACHE_HOME": str(private),
                "FONTCONFIG_FILE": str(self.folder / "fonts.conf"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "SOURCE_DATE_EPOCH": "0",
            }
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self.pid = transport.get_pid()
        self._input = transport.get_pipe_transport(0)
        if self._closed and self._input is not None:
            self._input.close()

    @property
    def has_background(self) -> bool:
        return any(ticket.caller.is_background for ticket in self.waiting.values())

    def send(self, ticket: Ticket) -> None:
        if not self.waiting:
            self.busy_since = time.monotonic()
        self._last_number += 1
        self.waiting[self._last_number] = ticket
        ticket.mark_sent()
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(encode_frame(EngineRequest(self._last_number, ticket.output, ticket.options, ticket.source)))

    def _flush(self) -> None:
        data = b"".join(self._unsent)
        self._unsent.clear()
        if not self.ended and self._input is not None:
            self._input.write(data)  # type: ignore[attr-defined]

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        assert isinstance(data, bytes)
        if fd == 2:
            self.stderr = (self.stderr + data)[-MAX_STDERR_BYTES:]
            return
        try:
            for body in self._frame_decoder.feed(data):
                self._handle_message(body)
        except Exception:  # after a message that cannot be parsed nothing from this process can be trusted
            self.kill(EngineCrashed(f"the {self.engine.name} engine process sent what cannot be understood"))
            return
        if self.ready:
            self._on_capacity(self)

    def _handle_message(self, body: bytes) -> None:
        match message_decoder.decode(body):
            case ProcessReady(layers):
                self.layers = layers
                self.ready = True
                self.never_ready = False
            case RenderSuccess(number=number) as made:
                self.seconds_per_render += (made.seconds - self.seconds_per_render) * 0.2
                self._settle(number, made.rendered())
            case RenderFailure(number=0) as failed:
                self.failure = failed.error()
            case RenderFailure(number=number) as failed:
                error = failed.error()
                if isinstance(error, EngineCrashed | TooLarge):
                    self.retiring = True  # it lived through it, but who knows in what state
                self._settle(number, error)

    def _settle(self, number: int, outcome: Rendered | PressroomError) -> None:
        ticket = self.waiting.pop(number)  # an unknown number is nonsense: KeyError, and the engine process is killed
        self.rendered += 1
        self.busy_since = time.monotonic()
        if ticket.future.done():
            return  # its caller was cancelled
        if isinstance(outcome, Rendered):
            ticket.future.set_result(outcome)
        else:
            ticket.future.set_exception(outcome)

    @property
    def current_ticket(self) -> tuple[Ticket | None, float]:
        """The request that it is rendering, as the process reports it, and since when. If it reports none: None."""
        if self._cursor is not None:
            number, began = CURSOR.unpack_from(self._cursor)
            if ticket := self.waiting.get(number):
                # The press may stand still amid writing the time: what is read then is too early, by hours.
                return ticket, max(began / 1e9, ticket.sent_at)
        return None, self.busy_since

    def check_time(self, now: float) -> None:
        """Kill it if its current request has reached the time limit."""
        limit = self.engine.limits.seconds
        ticket, since = self.current_ticket
        if ticket is not None and ticket.future.cancelled() and now - since > _CANCELLED_GRACE:
            self.kill(Timeout("its caller was cancelled"))
        # A process that has requests and reports none as current gets the same time limit.
        elif (ticket is not None and now - since > limit) or (self.waiting and now - self.busy_since > 2 * limit + 1):
            self.kill(Timeout(f"{self.engine.name} did not finish within {limit:g} s"))
        elif not self.ready and self._loop.time() - self.started > START_WITHIN:
            self.kill(EngineCrashed(f"the {self.engine.name} engine process did not start within {START_WITHIN:g} s"))

    def check_memory(self) -> None:
        limit = self.engine.limits.memory
        used = memory_of(process_tree(self.pid))
        if used > limit:
            self.kill(TooLarge(f"{self.engine.name} needed more than {limit // 1024**2} MB of memory"))
        elif used > limit * 0.6:
            self.worn = True

    def kill(self, reason: PressroomError) -> None:
        if self.ended:
            return
        self._kill_reason = self._kill_reason or reason
        if self.never_ready:
            self.failure = self.failure or reason
        self.ready = False
        if self.pid:  # 0 is our own process group
            kill_process_tree(self.pid)

    @property
    def ended_cleanly(self) -> bool:
        return self._closed and self._kill_reason is None

    def close(self) -> None:
        """Close its input. The process exits when it has answered what it was sent."""
        self.retiring = True
        self._closed = True
        if self._input is not None:
            self._input.close()

    def process_exited(self) -> None:
        self.ready = False
        self.exit_description = _describe_exit(self._transport.get_returncode() if self._transport is not None else None)
        kill_process_tree(self.pid)  # no descendant outlives it
        self._loop.call_later(PIPE_DRAIN_SECONDS, self._end)

    def connection_lost(self, _: Exception | None) -> None:
        self._end()

    def _end(self) -> None:
        """It has exited and all of its output was read, or a descendant outside its group holds the pipes open."""
        if self.ended:
            return
        self.ended = True
        died = f"the {self.engine.name} engine process died while it rendered this source ({self.exit_description})"
        self._fail_current(self._kill_reason or EngineCrashed(died))
        if self._transport is not None:
            self._transport.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._on_end(self)

    def _fail_current(self, reason: PressroomError) -> None:
        """The order it was at is answered with its death. If it was killed and did not say where it was, the oldest is."""
        ticket, _ = self.current_ticket
        if ticket is None and self._kill_reason is not None:
            ticket = next(iter(self.waiting.values()), None)
        if ticket is not None and not ticket.future.done():
            ticket.future.set_exception(reason)

    def take_unfinished(self) -> Sequence[Ticket]:
        """What it had in hand and is not to blame for."""
        tickets = [ticket for ticket in self.waiting.values() if not ticket.future.done()]
        self.waiting.clear()
        return tickets


def _describe_exit(code: int | None) -> str:
    if code is None:
        return "it is not known how"
    return f"signal {-code}, {signal.strsignal(-code)}" if code < 0 else f"exit code {code}"


def _python_command(module: str, engine: type[Engine], *arguments: object) -> list[str]:
    """Python with an engine and our renderers in reach: it calls `main` of a module of ours."""
    root, _ = _package_of(engine)
    return python_command(f"pressroom.renderers.sandbox.{module}", *arguments, also=[str(root)])


def _prepare_command(engine: type[Engine]) -> list[str]:
    return _python_command("shared_memory", engine, engine.__module__, engine.__name__)


def _package_of(engine: type[Engine]) -> tuple[Path, Path]:
    """Where an engine's package is found, and the package itself: an application may bring engines of its own."""
    file = sys.modules[engine.__module__].__file__
    assert file is not None
    above = engine.__module__.count(".")
    root = Path(file).resolve().parents[above]
    return root, Path(file) if above == 0 else root / engine.__module__.partition(".")[0]
