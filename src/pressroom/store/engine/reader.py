"""Reader threads: each request sees a snapshot of its own."""

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from pressroom.model import Work
from pressroom.store.engine.work_requests import GROUP_LIMIT, WorkRequest, resolve_group

type ReadInbox = queue.SimpleQueue[WorkRequest | None]


class ReadConnection(Protocol):
    """A connection as a reader thread needs it."""

    def read[T](self, unit: Callable[[], Work[T]]) -> T:
        """All statements of the unit see one snapshot. Raises the database's errors as ours."""
        ...


class ReaderThread:
    """Several may take from the same inbox."""

    def __init__(self, connection: ReadConnection, inbox: ReadInbox) -> None:
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
                self._run_request(request)
            resolve_group(group)
        self._inbox.put(None)  # for the other readers

    def _run_request(self, request: WorkRequest) -> None:
        try:
            request.result = self._connection.read(request.unit)
        except BaseException as error:
            request.error = error
