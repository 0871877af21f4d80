"""The value that brings it all. `PRESSROOM_APPS=diagrams,wiki,tests.toy.app:APP` adds it to a service."""

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pressroom.app import AddCommand, App, Core, Listener, RunningApp
from pressroom.cli.output import Output
from pressroom.config.addresses import split_host_and_port
from pressroom.config.declaration import DeclaredSettings, positive, setting
from pressroom.definitions import Kind, Schedule
from pressroom.model import Ending, Statement, Work
from pressroom.store.jobs.transitions import now
from pressroom.store.operators.lookup import LookupResult, Viewer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from pressroom.api.routes import Routes
    from pressroom.api.service import Service
    from pressroom.web.navigation import AppSection
    from pressroom.web.site import PageRequest, Site

SHOWN = 100


@dataclass(frozen=True)
class ToySettings(DeclaredSettings):
    """`[toy]` in the file, `PRESSROOM_TOY_*` in the environment."""

    ink: str = setting("blue", "the colour of stamps")
    longest: int = setting(40, "characters of a stamp", positive())
    listen: str = setting("", "where stamps are shown to everybody, such as `127.0.0.1:9001`; empty: nowhere")


class Stamp(NamedTuple):
    name: str
    text: str


class Toy(RunningApp):
    def __init__(self, core: Core) -> None:
        self._core = core
        self.settings: ToySettings = core.app_settings
        self.has_led = self.has_stopped = False
        self.kinds = (Kind("toy.stamp", self._make_stamp, settling=_keep_stamp, submit_scope="submitter"),)
        self.schedules = (Schedule("toy: stamp of the day", "0 6 * * *", "toy.stamp", {"name": "today"}),)

    async def on_leading(self) -> None:
        self.has_led = True

    async def stop(self) -> None:
        self.has_stopped = True

    async def submit(self, name: str) -> str:
        job = await self._core.queue.submit("toy.stamp", {"name": name}, key=f"toy:{name}", subject=f"stamp {name}")
        return f"job_{job.uid}"

    async def stamps(self, org_id: str | None) -> list[Stamp]:
        return await self._core.database.read(partial(_list_stamps, org_id or ""))

    async def _make_stamp(self, job: Any, payload: Any) -> dict[str, str]:
        return {"name": payload["name"], "text": self.text_of(payload["name"])}

    def text_of(self, name: str) -> str:
        return f"{name} in {self.settings.ink}"[: self.settings.longest]

    def routes(self, service: "Service") -> "Routes":
        from pressroom.api.access import Scope
        from pressroom.api.replies import reply
        from pressroom.api.routes import Routes
        from pressroom.api.schema import json_response, responses

        async def list_stamps(request: "Request") -> "Response":
            """The stamps of the caller's organisation."""
            caller = await service.gate.caller(request, Scope.VIEWER)
            return reply(await self.stamps(caller.org_id))

        routes = Routes("stamps")
        found = json_response(list[Stamp], "The stamps: name and text", example=[["paid", "paid in blue"]])
        routes.add("/toy/stamps", list_stamps, "GET", responses=responses({200: found}, 401))
        return routes

    def pages(self, site: "Site") -> "AppSection":
        from pressroom.api.routes import Routes
        from pressroom.web.navigation import AppSection, NavItem

        async def show(request: "PageRequest") -> "Response":
            return request.page("toy/stamps.html", stamps=await self.stamps(request.caller.org_id))

        routes = Routes()
        site.get(routes, "/toy", show)
        return AppSection("Stamps", "/toy", routes, (NavItem("All stamps", "/toy"),))

    def listeners(self, service: "Service") -> Iterable[Listener]:
        async def show(scope: Any, receive: Any, send: Any) -> None:
            text = "\n".join(stamp.text for stamp in await self.stamps(None))
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": text.encode()})

        if self.settings.listen:
            host, port = split_host_and_port(self.settings.listen)
            yield Listener(host, port, show, about="stamps", setting="PRESSROOM_TOY_LISTEN")

    def find(self, text: str, viewer: Viewer) -> Work[list[LookupResult]]:
        rows = yield Statement("toy.find_stamp", {"org_id": viewer.own_org, "name": text})
        return [LookupResult(what="stamp", name=name, about=about, path=f"/toy#{name}") for name, about in rows]


def _keep_stamp(ending: Ending) -> Work[None]:
    if ending.result is not None:
        moment = yield from now()
        yield Statement("toy.save_stamp", {"org_id": ending.org_id or "", "now": moment, **ending.result})


def _list_stamps(org_id: str) -> Work[list[Stamp]]:
    rows = yield Statement("toy.list_stamps", {"org_id": org_id, "limit": SHOWN})
    return [Stamp(*row) for row in rows]


def _add_commands(add: AddCommand) -> None:
    add("make", make, "queue a stamp", makes_database=True).add_argument("name")
    add("list", list_stamps, "the stamps that there are")
    add("try", try_stamp, "print a stamp without keeping it", in_memory=True).add_argument("name")


async def make(toy: Toy, args: Namespace, output: Output) -> int:
    output.line(await toy.submit(args.name))
    return 0


async def list_stamps(toy: Toy, args: Namespace, output: Output) -> int:
    for stamp in await toy.stamps(None):
        output.line(stamp.text)
    return 0


async def try_stamp(toy: Toy, args: Namespace, output: Output) -> int:
    output.line(toy.text_of(args.name))
    return 0


async def fill_demo(toy: RunningApp) -> None:
    assert isinstance(toy, Toy)
    for name in ("paid", "copy", "draft"):
        await toy.submit(name)


APP = App(
    name="toy",
    package="tests.toy",
    make=Toy,
    settings=ToySettings,
    commands=_add_commands,
    about="make and list stamps",
    demo=fill_demo,
)
