"""For those who only look: threads beside the lanes, each request at a moment of its own."""

import queue
import threading
from contextlib import AbstractContextManager, suppress
from typing import Protocol

from pressroom.model import Work
from pressroom.store.engine.work_requests import GROUP_LIMIT, Request, answer

type Reads = queue.SimpleQueue[Request | None]


class Reading(Protocol):
    """A connection as a reader needs it."""

    def begin_reading(self) -> None:
        """From here until `roll_back` everything is as it was at one moment."""
        ...

    def carry_out[T](self, work: Work[T]) -> T: ...

    def roll_back(self) -> None: ...

    def translated(self) -> AbstractContextManager[None]: ...


class Reader:
    """A thread that looks things up, each request at a moment of its own. Several may take from the same inbox."""

    def __init__(self, connection: Reading, inbox: Reads) -> None:
        self._connection = connection
        self._inbox = inbox
        self.thread = threading.Thread(target=self._read_in_groups, name="pressroom-reader", daemon=True)
        self.thread.start()

    def _read_in_groups(self) -> None:
        while (first := self._inbox.get()) is not None:
            group = [first]
            with suppress(queue.Empty):
                while len(group) < GROUP_LIMIT:
                    more = self._inbox.get_nowait()
                    if more is None:  # closing: finish these, then see the end again
                        self._inbox.put(None)
                        break
                    group.append(more)
            for request in group:
                self._read(request)
            answer(group)
        self._inbox.put(None)  # for the other readers

    def _read(self, request: Request) -> None:
        try:
            with self._connection.translated():
                self._connection.begin_reading()
                request.result = self._connection.carry_out(request.unit())
        except BaseException as error:
            request.error = error
        finally:
            self._connection.roll_back()
