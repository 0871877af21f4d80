"""The pools of engine processes of this process, one for each engine."""

import os
from collections.abc import Mapping
from typing import Any

from pressroom.errors import EngineMissing, QueueClosed
from pressroom.renderers import Engine, Rendered
from pressroom.renderers.sandbox.fair_queue import DIRECT_CALLER, RenderCaller
from pressroom.renderers.sandbox.process_pool import ProcessPool
from pressroom.renderers.sandbox.process_tree import remove_stale_folders


class EnginePools:
    """Opened by its first use, and closed by its owner. Belongs to one event loop."""

    def __init__(self, size: int | None = None, *, idle: float = 300.0) -> None:
        self._size = size or os.cpu_count() or 1
        self._idle_timeout = idle
        self._pools: dict[type[Engine], ProcessPool] = {}
        self._has_removed_stale = False
        self._closed = False

    async def render(
        self,
        engine: type[Engine],
        source: bytes,
        output: str,
        options: Mapping[str, Any] | None = None,
        *,
        caller: RenderCaller = DIRECT_CALLER,
    ) -> Rendered:
        """Render one source. Errors in the request are raised before an engine process is used."""
        engine.check(source, output, options or {})
        return await self._pool(engine).render(source, output, dict(options or {}), caller)

    def for_caller(self, caller: RenderCaller) -> "CallerEnginePools":
        return CallerEnginePools(self, caller)

    async def close(self) -> None:
        self._closed = True
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.close()

    def pools(self) -> Mapping[str, ProcessPool]:
        return {engine.name: pool for engine, pool in self._pools.items()}

    def _pool(self, engine: type[Engine]) -> ProcessPool:
        if self._closed:
            raise QueueClosed("the engine processes are closed")
        pool = self._pools.get(engine)
        if pool is None:
            if not self._has_removed_stale:
                self._has_removed_stale = True
                remove_stale_folders()
            if missing := engine.missing():
                raise EngineMissing(f"{engine.name} cannot work here: {missing.what}; to mend it: {missing.install}")
            pool = self._pools[engine] = ProcessPool(engine, self._size, idle=self._idle_timeout)
        return pool


class CallerEnginePools:
    """The same engine processes, with the tier and the organisation of one caller."""

    def __init__(self, pools: EnginePools, caller: RenderCaller) -> None:
        self._presses = pools
        self._caller = caller

    async def render(
        self, engine: type[Engine], source: bytes, output: str, options: Mapping[str, Any] | None = None
    ) -> Rendered:
        return await self._presses.render(engine, source, output, options, caller=self._caller)
