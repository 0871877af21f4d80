"""What an app is, and the apps that Pressroom comes with.

An app is one folder and one value, an `App`. Everything that it brings is found through that value: kinds, schedules, routes,
pages, search, settings, commands, SQL, migrations, templates, static files, invariants and demo data. See
docs/writing-an-app.md.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pressroom.clock import Clock
from pressroom.config import DeclaredSettings, Settings
from pressroom.definitions import Kind, Schedule
from pressroom.errors import InvalidArgument, InvalidSettings
from pressroom.model import Job, Work
from pressroom.registry import import_named_module, search_current_folder
from pressroom.sealing import Keyring
from pressroom.store.engine.schema import CORE, Schema, SqlPackage

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from starlette.types import ASGIApp

    from pressroom.api.routes import Route
    from pressroom.api.service import Service
    from pressroom.api.views import JobFormatter
    from pressroom.kinds.rendering import Rendering
    from pressroom.queue import Queue
    from pressroom.store import Database
    from pressroom.store.operators.lookup import LookupResult, Viewer
    from pressroom.web.navigation import AppSection
    from pressroom.web.site import Site

# The built-in apps, in the order in which pages name them. To add one, add its name: it is `APP` in `pressroom.apps.NAME.app`.
BUILT_IN = ("diagrams", "wiki", "packs", "docs")

_NAME = re.compile(r"[a-z][a-z0-9]{0,30}")


@dataclass(frozen=True)
class Core:
    """What an app is made with. `app_settings` is its own section. The queue and the database can be used once it is open."""

    queue: "Queue"
    rendering: "Rendering"
    settings: Settings
    app_settings: Any
    clock: Clock
    keyring: Keyring

    @property
    def database(self) -> "Database":
        return self.rendering.database


@dataclass(frozen=True)
class Listener:
    """An address of its own that an app is served at, beside the service's, by the same server under the same limits. It has an
    origin of its own: none of the service's routes is there.

    `about` is one word for what is there. `setting` is where the address can be changed if it is taken. A default address
    is `optional`: if it is taken, that is logged, and everything else is served. Nothing listens before `is_needed` answers
    yes; without it, listening begins with the service.
    """

    host: str
    port: int
    application: "ASGIApp"
    about: str
    setting: str
    optional: bool = False
    is_needed: Callable[[], Awaitable[bool]] | None = None


class RunningApp:
    """An app in a process. All that it does not override, it does not have."""

    kinds: Sequence[Kind] = ()
    schedules: Sequence[Schedule] = ()  # saved when workers start, unless they are on demand

    async def open(self) -> None:
        """The database is open, and no job has been claimed yet. Called again if the database was busy."""

    async def on_leading(self) -> None:
        """Called once, when this process leads the workers: for work that one process is to do at a start."""

    async def stop(self) -> None:
        """Jobs have ended or were released; the database is still open."""

    def job_formatters(self) -> Mapping[str, "JobFormatter"]:
        """For kinds whose jobs the HTTP interface shows in other words than the core's."""
        return {}

    def routes(self, service: "Service") -> Iterable["Route"]:  # noqa: ARG002
        return ()

    def listeners(self, service: "Service") -> Iterable[Listener]:  # noqa: ARG002
        """What it serves at addresses of its own."""
        return ()

    def pages(self, site: "Site") -> "AppSection | None":  # noqa: ARG002
        return None

    def find(self, text: str, viewer: "Viewer") -> Work[list["LookupResult"]]:  # noqa: ARG002
        """Its part of the search box: what of its own the text may name. Every statement goes by an index."""
        yield from ()
        return []

    def find_job_subjects(self, job: Job) -> Work[list["LookupResult"]]:  # noqa: ARG002
        """What of its own a job is about: the page of the job links there. Only what the job's organisation may see."""
        yield from ()
        return []


@dataclass(frozen=True)
class App:
    """`name` is the prefix of its kinds, tables, keys, addresses, settings and commands. In `package` are its folders `sql/`,
    `migrations/`, `templates/` and `static/`, as far as it has them.

    `settings` declares the section `[name]` of the file and `PRESSROOM_NAME_*` in the environment (config/declaration.py).
    `commands` adds subcommands to `pressroom NAME`. `demo` fills a new database with something to look at.
    """

    name: str
    package: str
    make: Callable[[Core], RunningApp]
    settings: type[DeclaredSettings] | None = None
    commands: "Callable[[AddCommand], None] | None" = None
    about: str = ""  # one line for `pressroom --help`
    demo: Callable[[RunningApp], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name == CORE.app:
            raise InvalidArgument(f"an app's name is a short word of lower-case letters and digits, not {self.name!r}")


class AddCommand(Protocol):
    """Adds `pressroom NAME ACTION`: the name, a coroutine function `(app, args, output) -> exit code`, and the help."""

    def __call__(
        self,
        name: str,
        act: Any,
        text: str,
        *,
        makes_database: bool = False,
        in_memory: bool = False,
        on_server: Any = None,
    ) -> "ArgumentParser": ...

    def add_group(self, name: str, text: str) -> None:
        """For actions of two words, such as `edition pin`."""
        ...


def find_apps(names: Sequence[App | str]) -> list[App]:
    """Apps by the names of built-in ones, as `module:NAME`, or as they are. Raises InvalidSettings with every problem."""
    found: dict[str, App] = {}
    problems: list[str] = []
    for name in names:
        try:
            app = name if isinstance(name, App) else _load(name)
        except InvalidSettings as invalid:
            problems += invalid.problems
            continue
        if found.setdefault(app.name, app) is not app:
            problems.append(f"apps: two apps are named {app.name!r}")
    if problems:
        raise InvalidSettings(problems)
    return list(found.values())


def _load(name: str) -> App:
    module, _, attribute = f"pressroom.apps.{name}.app:APP".partition(":") if name in BUILT_IN else name.partition(":")
    if not attribute:
        raise InvalidSettings([f"apps: there is no app {name!r}; use {', '.join(BUILT_IN)}, or MODULE:NAME for your own"])
    if name not in BUILT_IN:
        search_current_folder()
    app = getattr(import_named_module(module, f"apps: {name!r}"), attribute, None)
    if not isinstance(app, App):
        raise InvalidSettings([f"apps: {name!r} is not an App"])
    return app


def database_schema(apps: Iterable[App]) -> Schema:
    """The SQL of the core and of these apps."""
    return (CORE, *(SqlPackage(app.name, app.package) for app in apps))


def settings_types(names: Sequence[str]) -> dict[str, type[DeclaredSettings] | None]:
    """By the name of the app: what its section may hold."""
    return {app.name: app.settings for app in find_apps(names)}


BUILT_IN_SCHEMA: Schema = (CORE, *(SqlPackage(name, f"pressroom.apps.{name}") for name in BUILT_IN))
