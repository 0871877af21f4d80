"""The engine processes of one engine: as many as there are cores, started when there is work, replaced before they wear out.

With two or more, one is kept for interactive renders, as a worker keeps a slot: a render cannot be pre-empted, so priority
alone does not bound how long an interactive one waits.
"""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pressroom.errors import EngineCrashed, EngineMissing, PressroomError
from pressroom.renderers import Engine, Rendered
from pressroom.renderers.sandbox.engine_process import EngineProcess
from pressroom.renderers.sandbox.fair_queue import DIRECT_CALLER, RenderCaller, Ticket, TicketQueue

log = logging.getLogger("pressroom.renderers")

CHECK_INTERVAL = 0.05
MAX_SECONDS_AHEAD = 0.01  # seconds of work that may be queued in an engine process behind its current request
MAX_REQUESTS_AHEAD = 64
MAX_TRIES = 3  # engine processes that may die around a request before it fails
CLOSE_TIMEOUT = 2.0
CLOSING_MESSAGE = "the engine processes are closing"


class ProcessPool:
    def __init__(self, engine: type[Engine], size: int, *, idle: float = 300.0) -> None:
        self.engine = engine
        self.processes: list[EngineProcess] = []
        self._size = size
        self._idle_timeout = idle
        self._max_background = max(1, size - 1)
        self._queue = TicketQueue()
        self._work_arrived = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._limits_task: asyncio.Task[None] | None = None
        self._starting: set[asyncio.Task[None]] = set()
        self._closed = False

    async def render(
        self, source: bytes, output: str, options: dict[str, Any], caller: RenderCaller = DIRECT_CALLER
    ) -> Rendered:
        ticket = Ticket(source, output, options, asyncio.get_running_loop().create_future(), caller)
        self._queue.add(ticket)
        self._dispatch()
        with contextlib.ExitStack() as waiting:
            if not ticket.is_sent:
                waiting.enter_context(caller.waiting())
                ticket.on_sent = waiting.close
            return await ticket.future

    async def close(self) -> None:
        self._closed = True
        for ticket in self._queue.clear():
            self._fail(ticket, EngineCrashed(CLOSING_MESSAGE))
        for process in list(self.processes):
            process.close()
        await asyncio.gather(*self._starting, return_exceptions=True)
        if self.processes:
            await asyncio.wait([asyncio.ensure_future(self._empty.wait())], timeout=CLOSE_TIMEOUT)
        for process in list(self.processes):
            process.kill(EngineCrashed(CLOSING_MESSAGE))
        await self._empty.wait()
        if self._limits_task is not None:
            self._limits_task.cancel()
            await asyncio.gather(self._limits_task, return_exceptions=True)

    def _dispatch(self) -> None:
        """Hand waiting tickets to engine processes with room, interactive ones first; start another engine process if that
        was not enough.
        """
        for background in (False, True):
            while self._queue.has(background=background) and (process := self._least_busy_process(background=background)):
                ticket = self._queue.pop(self._count_by_org, background=background)
                if not ticket.future.done():
                    process.send(ticket)
        if self._queue.has(background=False):
            self._start_if_allowed(self._size)
        elif self._queue.has(background=True):
            self._start_if_allowed(self._max_background)
        if self._limits_task is None and self.processes:
            self._limits_task = asyncio.create_task(self._enforce_limits())
        self._work_arrived.set()

    def _count_by_org(self) -> Counter[str]:
        return Counter(ticket.caller.org_id for process in self.processes for ticket in process.waiting.values())

    def _least_busy_process(self, *, background: bool) -> EngineProcess | None:
        """The engine process with the least to do. What is quick is sent ahead by the dozen, what is slow waits here for any
        of them.
        """
        processes = self.processes
        if background and self._size > 1:
            taken = [process for process in processes if process.has_background]
            processes = taken if len(taken) >= self._max_background else processes
        best = None
        for process in processes:
            if not process.ready or process.retiring:
                continue
            if not process.waiting:
                return process
            room = (
                len(process.waiting) < MAX_REQUESTS_AHEAD
                and len(process.waiting) * process.seconds_per_render < MAX_SECONDS_AHEAD
            )
            if room and (best is None or len(process.waiting) < len(best.waiting)):
                best = process
        return best

    def _start_if_allowed(self, size: int) -> None:
        if self._closed or len([process for process in self.processes if not process.retiring]) >= size:
            return
        process = EngineProcess(self.engine, self._on_capacity, self._on_process_end)
        self.processes.append(process)
        self._empty.clear()
        task = asyncio.create_task(self._start_process(process))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _start_process(self, process: EngineProcess) -> None:
        try:
            await process.start()
        except OSError as reason:
            process.failure = EngineCrashed(f"an engine process for {self.engine.name} cannot be started: {reason.strerror}")
            self._on_process_end(process)
        except Exception as reason:  # an engine's own code says what an engine process may read, and may be wrong
            log.exception("an engine process for %s cannot be started", self.engine.name)
            process.failure = EngineCrashed(
                f"an engine process for {self.engine.name} cannot be started: {type(reason).__name__}"
            )
            self._on_process_end(process)

    def _on_capacity(self, process: EngineProcess) -> None:
        if process.rendered >= self.engine.renders:
            process.worn = True
        self._retire_if_used_up(process)
        self._dispatch()

    def _retire_if_used_up(self, process: EngineProcess) -> None:
        """A process that has rendered enough sources continues until its replacement is warm."""
        if process.worn and not process.retiring:
            fresh = [other for other in self.processes if not other.worn and not other.retiring]
            if any(other.ready for other in fresh):
                process.retiring = True
            elif not fresh:
                self._start_if_allowed(self._size + 1)
        for old in [old for old in self.processes if old.retiring and not old.waiting]:
            old.close()

    def _on_process_end(self, process: EngineProcess) -> None:
        self.processes.remove(process)
        if not self.processes:
            self._empty.set()
        if process.stderr:  # what it said in passing matters only if it came to a bad end
            log.log(
                logging.DEBUG if process.ended_cleanly else logging.WARNING,
                "%s engine process: %s",
                self.engine.name,
                process.stderr[-2000:].decode(errors="replace"),
            )
        for ticket in reversed(process.take_unfinished()):
            ticket.tries += 1
            if self._closed:  # no engine process will take it any more
                self._fail(ticket, EngineCrashed(CLOSING_MESSAGE))
            elif ticket.tries >= MAX_TRIES:
                self._fail(
                    ticket, EngineCrashed(f"{MAX_TRIES} engine processes for {self.engine.name} died around this source")
                )
            else:
                self._queue.put_back(ticket)
        if process.never_ready:
            if self._any_ready():
                return  # it takes what waits. To start another at once would be a busy loop on a machine without room for it
            self._fail_waiting(process)
        self._dispatch()

    def _fail_waiting(self, process: EngineProcess) -> None:
        """An engine process died while it started, which no request caused. If a package is missing, every waiting request
        fails with that reason. Anything else may be temporary (the machine was busy, the process was killed): each request is
        tried with another process before it fails, and its failure is retried.
        """
        is_missing = isinstance(process.failure, EngineMissing)
        why = f"did not start: {process.failure}" if process.failure else f"died while it started ({process.exit_description})"
        reason = process.failure if is_missing else EngineCrashed(f"the {self.engine.name} engine process {why}")
        assert reason is not None
        for ticket in self._queue.clear():
            ticket.tries += 1
            if is_missing or ticket.tries >= MAX_TRIES:
                self._fail(ticket, reason)
            else:
                self._queue.add(ticket)

    def _any_ready(self) -> bool:
        return any(process.ready for process in self.processes)

    @staticmethod
    def _fail(ticket: Ticket, reason: PressroomError) -> None:
        if not ticket.future.done():
            ticket.future.set_exception(type(reason)(*reason.args))

    async def _enforce_limits(self) -> None:
        """Time and memory, looked at while there is work. Engine processes exit after the idle time."""
        ticks = 0
        while True:
            busy = list(self._busy_processes())
            if not busy and not await self._wait_for_work():
                for process in self.processes:
                    process.close()
                if not self.processes:
                    self._limits_task = None
                    return
            now = time.monotonic()
            for process in busy:
                process.check_time(now)
                if ticks % 5 == 0:
                    process.check_memory()
            ticks += 1
            await asyncio.sleep(CHECK_INTERVAL)

    def _busy_processes(self) -> Iterator[EngineProcess]:
        return (process for process in self.processes if process.pid and (process.waiting or not process.ready))

    async def _wait_for_work(self) -> bool:
        """Wait for work; False if none came for as long as an idle engine process is kept."""
        self._work_arrived.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._work_arrived.wait(), self._idle_timeout)
            return True
        return False
