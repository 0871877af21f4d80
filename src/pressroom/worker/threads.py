"""Threads for handlers that are plain functions.

Like a pool, but a thread that does not come back can be abandoned: daemon threads do not
delay the exit of the process.
"""

import asyncio
import contextvars
import ctypes
import queue
import threading
from collections.abc import Callable
from typing import Any


class _HandlerThread(threading.Thread):
    def __init__(self, idle: "queue.LifoQueue[_HandlerThread]") -> None:
        super().__init__(name="pressroom-handler", daemon=True)
        self.inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._idle = idle

    def run(self) -> None:
        while (call := self.inbox.get()) is not None:
            call()
            self._idle.put(self)


class HandlerThreads:
    def __init__(self) -> None:
        self._idle: queue.LifoQueue[_HandlerThread] = queue.LifoQueue()

    def run(self, function: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> "ThreadCall":
        try:
            thread = self._idle.get_nowait()
        except queue.Empty:
            thread = _HandlerThread(self._idle)
            thread.start()
        call = ThreadCall(function, loop, thread)
        thread.inbox.put(call.run)
        return call

    def close(self) -> None:
        while True:
            try:
                self._idle.get_nowait().inbox.put(None)
            except queue.Empty:
                return


class ThreadCall:
    """One function call in a thread, and the future that gets its result."""

    def __init__(self, function: Callable[[], Any], loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
        self.future: asyncio.Future[Any] = loop.create_future()
        self._function = function
        self._loop = loop
        self._thread = thread
        self._context = contextvars.copy_context()
        self._lock = threading.Lock()
        self._running = False

    def run(self) -> None:
        with self._lock:
            self._running = True
        result: Any = None
        error: BaseException | None = None
        try:
            try:
                result = self._context.run(self._function)
            finally:
                with self._lock:
                    self._running = False
                    self._raise_in_thread(None)  # an interruption that came too late must not hit the next call
        except BaseException as raised:
            error = raised
        try:
            self._loop.call_soon_threadsafe(self._set_future, result, error)
        except RuntimeError:
            return  # the event loop is closed

    def interrupt(self, error: type[BaseException]) -> None:
        """Raise an error in the thread at its next bytecode. A call that is stuck in C code does not notice."""
        with self._lock:
            if self._running:
                self._raise_in_thread(error)

    def _raise_in_thread(self, error: type[BaseException] | None) -> None:
        thread = ctypes.c_ulong(self._thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None if error is None else ctypes.py_object(error))

    def _set_future(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        elif isinstance(error, StopIteration):  # a future refuses to carry it
            self.future.set_exception(RuntimeError("the handler raised StopIteration"))
        else:
            self.future.set_exception(error)
