"""The listeners that apps bring, beside that of the service."""

import asyncio
import logging
import resource
import socket
from collections.abc import Sequence

from pressroom.api import serve as server
from pressroom.api.serve import HttpService
from pressroom.app import Listener
from pressroom.errors import Unavailable, Unusable

log = logging.getLogger("pressroom")

CHECK_INTERVAL = 5.0  # seconds between questions whether a listener is needed by now


class AppListeners:
    """Bound before anything is said, or as soon as they are needed, and served until the service closes."""

    def __init__(self, service: HttpService, listeners: Sequence[Listener]) -> None:
        self._service = service
        self._listeners = listeners
        self._bound: dict[str, socket.socket] = {}  # by what is there
        self._tried: set[str] = set()  # an optional one that was taken is not tried again

    @property
    def max_connections(self) -> int:
        """Of each; 0 is no limit. A quarter of the open files, so that readers of one listener do not take those of another."""
        wanted = self._service.settings.max_connections
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return wanted if files == resource.RLIM_INFINITY or not wanted else min(wanted, files // 4)

    @property
    def reserved(self) -> int:
        """Open files of all."""
        return self.max_connections * len(self._listeners)

    @property
    def urls(self) -> dict[str, str]:
        """Of those that listen."""
        return {about: server.url_of(bound) for about, bound in self._bound.items()}

    async def bind(self) -> None:
        """All that are needed already. Raises Unusable if the address of one is taken, unless it is optional."""
        for listener in self._listeners:
            if await _is_needed(listener):
                self._bind(listener)

    async def serve(self) -> None:
        async with asyncio.TaskGroup() as together:
            for listener in self._listeners:
                together.create_task(self._serve(listener))

    def close(self) -> None:
        for bound in self._bound.values():
            bound.close()

    async def _serve(self, listener: Listener) -> None:
        if listener.about not in self._tried:
            if not await self._wait_until_needed(listener):
                return
            self._bind(listener)
            if listener.about in self._bound:
                log.info("%s are served at %s", listener.about, self.urls[listener.about])
        bound = self._bound.get(listener.about)
        if bound is not None:
            await self._run_server(listener, bound)

    async def _wait_until_needed(self, listener: Listener) -> bool:
        """False if the service closes first."""
        while not self._service.closing.is_set():
            if await _is_needed(listener):
                return True
            try:
                await asyncio.wait_for(self._service.closing.wait(), CHECK_INTERVAL)
            except TimeoutError:
                continue
        return False

    async def _run_server(self, listener: Listener, bound: socket.socket) -> None:
        own = asyncio.Event()  # the server sets it when it ends, which is no reason for the others to end
        passing_on = asyncio.create_task(_set_after(self._service.closing, own))
        settings = self._service.settings
        try:
            await server.run_server(
                listener.application, settings, bound, own, grace=settings.grace, max_connections=self.max_connections
            )
        finally:
            passing_on.cancel()

    def _bind(self, listener: Listener) -> None:
        self._tried.add(listener.about)
        try:
            self._bound[listener.about] = server.listen(listener.host, listener.port, setting=listener.setting)
        except Unusable as taken:
            if not listener.optional:
                raise
            log.warning("%s are not served: %s", listener.about, taken)


async def _is_needed(listener: Listener) -> bool:
    try:
        return listener.is_needed is None or await listener.is_needed()
    except Unavailable as reason:
        log.debug("whether %s are to be served is not known: %s", listener.about, reason)
        return False


async def _set_after(event: asyncio.Event, other: asyncio.Event) -> None:
    await event.wait()
    other.set()
