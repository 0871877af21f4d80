"""The listeners of this process, by job."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class JobListeners:
    """Wakes listeners when a job may have changed. A notification never waits for a listener."""

    def __init__(self) -> None:
        self._listeners: dict[int, set[asyncio.Event]] = {}
        self._all_jobs: set[asyncio.Event] = set()
        self.has_listeners = asyncio.Event()
        self.closed = False

    @contextmanager
    def listen(self, job_id: int | None) -> Iterator[asyncio.Event]:
        """An event that is set whenever the job may have changed, or any job if None."""
        changed = asyncio.Event()
        listeners = self._all_jobs if job_id is None else self._listeners.setdefault(job_id, set())
        listeners.add(changed)
        self.has_listeners.set()
        try:
            yield changed
        finally:
            listeners.discard(changed)
            if job_id is not None and not listeners and self._listeners.get(job_id) is listeners:
                del self._listeners[job_id]
            if not self._listeners and not self._all_jobs:
                self.has_listeners.clear()

    def notify(self, job_ids: Iterable[int]) -> None:
        if not self._listeners and not self._all_jobs:
            return
        for job_id in job_ids:
            for changed in self._listeners.get(job_id, ()):
                changed.set()
        for changed in self._all_jobs:
            changed.set()

    def notify_all(self) -> None:
        self.notify(list(self._listeners))

    def close(self) -> None:
        """Wake all listeners for the last time."""
        self.closed = True
        self.notify_all()
