"""The apps of a Pressroom: makes, opens and stops them."""

from collections.abc import Sequence

from pressroom.app import App, Core, RunningApp
from pressroom.base.lifecycle import Lifecycle, retry_while_busy
from pressroom.clock import Clock
from pressroom.config import Settings
from pressroom.definitions import Kind, Schedule
from pressroom.kinds.rendering import Rendering
from pressroom.queue import Queue
from pressroom.sealing import Keyring


class RunningApps(Lifecycle):
    def __init__(
        self, apps: Sequence[App], settings: Settings, clock: Clock, keyring: Keyring, queue: Queue, rendering: Rendering
    ) -> None:
        self.by_name: dict[str, RunningApp] = {}
        for app in apps:
            app_settings = settings.sections.get(app.name)
            if app_settings is None and app.settings is not None:
                app_settings = app.settings()
            self.by_name[app.name] = app.make(Core(queue, rendering, settings, app_settings, clock, keyring))
        self._opened: list[RunningApp] = []

    @property
    def kinds(self) -> list[Kind]:
        return [kind for app in self.by_name.values() for kind in app.kinds]

    @property
    def schedules(self) -> list[Schedule]:
        return [schedule for app in self.by_name.values() for schedule in app.schedules]

    async def open(self) -> None:
        for app in self.by_name.values():
            await retry_while_busy(app.open)
            self._opened.append(app)

    async def close(self) -> None:
        while self._opened:
            await self._opened.pop(0).stop()
