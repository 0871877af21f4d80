"""Who waits for which job, inside this process."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class Switchboard:
    """Connects news about jobs with those who listen. News never waits for a listener, and a listener may be gone."""

    def __init__(self) -> None:
        self._listeners: dict[int, set[asyncio.Event]] = {}
        self._everything: set[asyncio.Event] = set()
        self.somebody_listens = asyncio.Event()
        self.closed = False

    @contextmanager
    def listen(self, job_id: int | None) -> Iterator[asyncio.Event]:
        """An event that is set whenever there may be news about the job, or about any job if None."""
        news = asyncio.Event()
        listeners = self._everything if job_id is None else self._listeners.setdefault(job_id, set())
        listeners.add(news)
        self.somebody_listens.set()
        try:
            yield news
        finally:
            listeners.discard(news)
            if job_id is not None and not listeners and self._listeners.get(job_id) is listeners:
                del self._listeners[job_id]
            if not self._listeners and not self._everything:
                self.somebody_listens.clear()

    def tell(self, job_ids: Iterable[int]) -> None:
        if not self._listeners and not self._everything:
            return
        for job_id in job_ids:
            for news in self._listeners.get(job_id, ()):
                news.set()
        for news in self._everything:
            news.set()

    def tell_everybody(self) -> None:
        self.tell(list(self._listeners))

    def close(self) -> None:
        """Wake everybody for the last time."""
        self.closed = True
        self.tell_everybody()
