"""Threads for handlers that are plain functions.

Like a pool, but a thread that does not come back can be abandoned: it is a daemon, and nobody waits for it at exit.
"""

import asyncio
import contextvars
import ctypes
import queue
import threading
from collections.abc import Callable
from typing import Any


class _Thread(threading.Thread):
    def __init__(self, idle: "queue.LifoQueue[_Thread]") -> None:
        super().__init__(name="pressroom-handler", daemon=True)
        self.inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._idle = idle

    def run(self) -> None:
        while (call := self.inbox.get()) is not None:
            call()
            self._idle.put(self)


class Threads:
    def __init__(self) -> None:
        self._idle: queue.LifoQueue[_Thread] = queue.LifoQueue()

    def run(self, function: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> "Call":
        try:
            thread = self._idle.get_nowait()
        except queue.Empty:
            thread = _Thread(self._idle)
            thread.start()
        call = Call(function, loop, thread)
        thread.inbox.put(call.make)
        return call

    def close(self) -> None:
        while True:
            try:
                self._idle.get_nowait().inbox.put(None)
            except queue.Empty:
                return


class Call:
    """One function on its way through a thread."""

    def __init__(self, function: Callable[[], Any], loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
        self.future: asyncio.Future[Any] = loop.create_future()
        self._function = function
        self._loop = loop
        self._thread = thread
        self._context = contextvars.copy_context()
        self._lock = threading.Lock()
        self._running = False

    def make(self) -> None:
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
            self._loop.call_soon_threadsafe(self._answer, result, error)
        except RuntimeError:
            return  # the loop is gone: nobody is left to tell

    def interrupt(self, error: type[BaseException]) -> None:
        """Raise an error in the thread at its next bytecode. A call that is stuck in C code does not notice."""
        with self._lock:
            if self._running:
                self._raise_in_thread(error)

    def _raise_in_thread(self, error: type[BaseException] | None) -> None:
        thread = ctypes.c_ulong(self._thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None if error is None else ctypes.py_object(error))

    def _answer(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        elif isinstance(error, StopIteration):  # a future refuses to carry it
            self.future.set_exception(RuntimeError("the handler raised StopIteration"))
        else:
            self.future.set_exception(error)
