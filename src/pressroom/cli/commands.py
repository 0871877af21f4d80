"""How a module of this package adds its commands to the parser, and what they are run with."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from pressroom.cli.output import Output
from pressroom.config import Settings
from pressroom.errors import PackageMissing

if TYPE_CHECKING:
    from pressroom.api.tokens import Tokens
    from pressroom.app import App
    from pressroom.kinds.webhooks import Webhooks
    from pressroom.queue import Queue
    from pressroom.store.engine.schema import Schema

# `(settings, args, output)` to an exit code; without settings `(args, output)`.
type RunCommand = Callable[..., int | Coroutine[Any, Any, int]]
type Act[On] = Callable[[On, Namespace, Output], Awaitable[int]]

# The flags that are settings: a flag left out must stay distinct from its default.
_SETTINGS = ("database", "home", "listen", "metrics_listen", "workers", "grace", "imports")


class Commands:
    """Adds commands to the parser, or actions to a command that has some, such as `pressroom jobs`."""

    def __init__(self, subparsers: Any, common: ArgumentParser) -> None:
        self._subparsers = subparsers
        self._common = common

    def add(
        self, name: str, run: RunCommand, text: str, *, makes_database: bool = False, reads_settings: bool = True
    ) -> ArgumentParser:
        """With `makes_database` it makes a database where there is none yet."""
        parser: ArgumentParser = self._subparsers.add_parser(name, parents=[self._common], help=text)
        parser.set_defaults(run=run, makes_database=makes_database, reads_settings=reads_settings)
        return parser

    def add_group(self, name: str, text: str) -> "Commands":
        parser = self._subparsers.add_parser(name, help=text)
        return Commands(parser.add_subparsers(required=True, metavar="ACTION"), self._common)


def add_home_option(parser: ArgumentParser, text: str = "where the database lies") -> None:
    parser.add_argument("--home", metavar="FOLDER", help=text)


def load_settings(args: Namespace) -> Settings:
    from pressroom import config
    from pressroom.app import settings_types

    flags = {name: getattr(args, name, None) for name in _SETTINGS}
    if not (flags["database"] or flags["home"]):
        flags["home"] = getattr(args, "default_home", None)
    return config.load_settings(flags, file=args.config, find_sections=settings_types)


def schema_for(settings: Settings) -> "Schema":
    from pressroom.app import database_schema, find_apps

    return database_schema(find_apps(settings.apps))


def command_on_queue(act: "Act[Queue]") -> RunCommand:
    """With the queue of the settings, and the kinds of their imports."""
    return partial(_run_on_queue, act)


def command_on_tokens(act: "Act[Tokens]") -> RunCommand:
    return partial(_run_on_tokens, act)


def command_on_webhooks(act: "Act[Webhooks]") -> RunCommand:
    return partial(_run_on_webhooks, act)


def command_on_app(name: str, act: Act[Any]) -> RunCommand:
    """With a running app. The argument `works` says whether there are workers."""
    return partial(_run_on_app, name, act)


def command_in_memory(app: "App", act: Act[Any]) -> RunCommand:
    """With a running app on a database in memory, which ends with the command, as do the files in its folder."""
    return partial(_run_in_memory, app, act)


async def _run_in_memory(app: "App", act: Act[Any], args: Namespace, output: Output) -> int:
    from tempfile import TemporaryDirectory

    from pressroom.pressroom import Pressroom

    with TemporaryDirectory(prefix="pressroom-") as folder:
        async with Pressroom("sqlite:///:memory:", apps=[app], workers=os.cpu_count(), artifacts=folder) as press:
            return await act(press.app(app.name), args, output)


async def _run_on_queue(act: "Act[Queue]", settings: Settings, args: Namespace, output: Output) -> int:
    from pressroom.pressroom import Pressroom
    from pressroom.registry import import_kinds

    kinds, schedules = import_kinds(settings.imports)
    async with Pressroom(settings=settings, kinds=kinds, schedules=schedules, workers=None) as press:
        return await act(press.queue, args, output)


async def _run_on_tokens(act: "Act[Tokens]", settings: Settings, args: Namespace, output: Output) -> int:
    from pressroom.pressroom import Pressroom

    async with Pressroom(settings=settings, workers=None) as press:
        with requires_packages("service"):
            tokens = press.tokens
        return await act(tokens, args, output)


async def _run_on_webhooks(act: "Act[Webhooks]", settings: Settings, args: Namespace, output: Output) -> int:
    from pressroom.pressroom import Pressroom

    async with Pressroom(settings=settings, workers=None) as press:
        return await act(press.webhooks, args, output)


async def _run_on_app(name: str, act: Act[Any], settings: Settings, args: Namespace, output: Output) -> int:
    from pressroom.pressroom import Pressroom

    workers = settings.workers if getattr(args, "works", False) else None
    async with Pressroom(settings=settings, workers=workers) as press:
        return await act(press.app(name), args, output)


@contextmanager
def requires_packages(extras: str) -> Iterator[None]:
    """Around imports of packages that only installations with these extras have. Raises PackageMissing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("pressroom"):
            raise
        raise PackageMissing(missing.name, extras) from None
