"""`pressroom engines`: what can be rendered on this machine, what is missing, and how to get it."""

import time
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from pressroom.cli import exits
from pressroom.cli.commands import Commands
from pressroom.cli.output import Output
from pressroom.errors import PressroomError

if TYPE_CHECKING:
    from pressroom.renderers import Engine
    from pressroom.renderers.sandbox.engine_pools import EnginePools


def add_commands(commands: Commands) -> None:
    parser = commands.add(
        "engines", run_engines_command, "what can be rendered here, and what is missing", reads_settings=False
    )
    parser.add_argument("action", nargs="?", choices=["list", "install"], default="list")
    parser.add_argument("what", nargs="?", choices=["node"], help="for install: the packages that run in Node.js")


def run_engines_command(args: Namespace, output: Output) -> int:
    return install_engines(args, output) if args.action == "install" else list_engines(output)


class EngineTrial(msgspec.Struct, frozen=True):
    """How an engine did with its own sample. An engine that is not installed is not a problem: all of them are optional."""

    name: str
    state: str  # ready, absent, broken
    detail: str
    mend: str = ""
    walls: list[str] = []

    @property
    def is_well(self) -> bool:
        return self.state != "broken"

    def to_json(self) -> Any:
        return msgspec.to_builtins(self)


def list_engines(output: Output) -> int:
    from pressroom.renderers import catalogue

    found = [(engine, engine.missing()) for engine in catalogue.engines()]
    if output.as_json:
        output.data([_engine_view(engine) for engine, _ in found])
        return exits.OK
    output.table(
        ("ENGINE", "TAKES", "MAKES", "STATE", "VERSION"),
        (
            (
                engine.name,
                engine.takes,
                " ".join(engine.makes),
                "missing" if missing else "ready",
                "" if missing else engine.version(),
            )
            for engine, missing in found
        ),
    )
    commands: dict[str, list[str]] = {}
    for engine, missing in found:
        if missing:
            commands.setdefault(missing.install, []).append(engine.name)
    for command, names in commands.items():
        output.line()
        output.line(f"for {', '.join(names)}: {command}")
    return exits.OK


def _engine_view(engine: "type[Engine]") -> dict[str, Any]:
    missing = engine.missing()
    return {
        "name": engine.name,
        "title": engine.title,
        "takes": engine.takes,
        "makes": engine.makes,
        "ready": missing is None,
        "version": None if missing else engine.version(),
        "missing": missing and missing.what,
        "install": missing and missing.install,
        "options": msgspec.json.schema(engine.Options),
        "limits": msgspec.to_builtins(engine.limits),
    }


def install_engines(args: Namespace, output: Output) -> int:
    if args.what is None:
        output.line("say what to install: pressroom engines install node")
        return exits.USAGE
    from pressroom.renderers.node.install import install as install_node_packages

    folder = install_node_packages()
    if output.as_json:
        output.data({"installed": args.what, "folder": str(folder)})
    else:
        output.line(f"installed into {folder}")
    return exits.OK


async def try_all_engines() -> list[EngineTrial]:
    """Render every engine's sample, one after the other: this is about whether they work, not about how fast."""
    from pressroom.renderers import catalogue
    from pressroom.renderers.sandbox.engine_pools import EnginePools

    presses = EnginePools(1)
    try:
        return [await _try_engine(presses, engine) for engine in catalogue.engines()]
    finally:
        await presses.close()


async def _try_engine(presses: "EnginePools", engine: "type[Engine]") -> EngineTrial:
    if missing := engine.missing():
        return EngineTrial(engine.name, "absent", missing.what, missing.install)
    began = time.perf_counter()
    try:
        rendered = await presses.render(engine, engine.sample.encode(), engine.makes[0])
    except PressroomError as error:
        return EngineTrial(engine.name, "broken", str(error), "see the log above, or run it with -v")
    walls = presses.pools()[engine.name].processes[0].layers
    detail = f"{engine.makes[0]}, {len(rendered.data):,} bytes in {time.perf_counter() - began:.2f} s with its start"
    return EngineTrial(engine.name, "ready", detail, walls=walls)


def show_trials(tried: Sequence[EngineTrial], output: Output) -> None:
    for one in tried:
        mark = {"ready": "ok     ", "absent": "absent ", "broken": "PROBLEM"}[one.state]
        output.line(f"{mark} {one.name:<16} {one.detail}")
        if one.mend:
            output.line(f"        to mend it: {one.mend}")
    ready = [one for one in tried if one.state == "ready"]
    if ready:
        walls = set.intersection(*(set(one.walls) for one in ready))
        missing = {"network", "files", "privileges"} - walls
        output.line(f"walls around every engine: {', '.join(sorted(walls)) or 'none'}")
        if missing:
            output.line(f"        this system does not let us wall off: {', '.join(sorted(missing))}")
