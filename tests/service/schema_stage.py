"""The service in a thread of its own, with things of two organisations in it, for requests that a document makes up."""

import asyncio
import itertools
import threading
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.responses import Response

from pressroom.api import serve, streams
from pressroom.api.access import Scope
from pressroom.api.metrics import Metrics
from tests.service.access_stage import Stage, on_stage

SPARE = 30  # of what can be deleted
RENDER = {"language": "dot", "output": "svg", "source": "digraph { a }"}
WEBHOOK = {"url": "http://127.0.0.1:9/", "events": ["job.completed", "job.failed"]}  # nobody listens there
DOCS_BUILD = {"git_ref": "main", "content_hash": f"sha256:{'0' * 64}"}


class Brief(asyncio.Event):
    """Ends every event stream after a moment, so that endless ones can be looked at as a whole."""

    async def wait(self) -> Any:
        await asyncio.sleep(0.02)
        return True


_respond = streams.respond


def _respond_briefly(events: Any, closing: asyncio.Event, metrics: Metrics, **how: Any) -> Response:
    return _respond(events, Brief(), metrics, **how)


class Server:
    """`known` is what exists, by the operation that it can be asked for: names for the parts of its path."""

    def __init__(self, database: str, folder: Path, examples: int) -> None:
        self._database, self._folder = database, folder
        self._listening = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self.examples = examples
        self.tokens: list[str] = []
        self.known: dict[str, list[str]] = {}
        self.parts: dict[str, list[str]] = {}  # of paths of documentation, by `{build}` or `DELETE {build}`
        self.turns = itertools.count()

    def __enter__(self) -> "Server":
        self._thread.start()
        assert self._listening.wait(300)
        for token in self.tokens:
            with httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {token}"}, timeout=300) as client:
                self._furnish(client)
        with httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {self.operator}"}, timeout=300) as client:
            self._furnish_docs(client)
        streams.respond = _respond_briefly
        return self

    def __exit__(self, *error: object) -> None:
        streams.respond = _respond
        self._server.should_exit = True
        self._thread.join()

    async def _run(self) -> None:
        async with on_stage(self._database, home=str(self._folder), webhook_allow=("127.0.0.1",)) as stage:
            self._stage = stage
            self.tokens = [await stage.token(Scope.ADMIN, org) for org in ("ours", "theirs")]
            self.operator = await stage.token(Scope.ADMIN, everywhere=True)
            await self._serve(stage)

    async def _serve(self, stage: Stage) -> None:
        listener = serve.listen("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.document = stage.app.document
        self._server = uvicorn.Server(uvicorn.Config(stage.app, log_config=None, access_log=False, lifespan="off"))
        self._listening.set()
        await self._server.serve([listener])

    def _furnish(self, client: httpx.Client) -> None:
        self._furnish_jobs(client)
        self._furnish_diagrams(client)
        self._furnish_webhooks(client)

    def _furnish_jobs(self, client: httpx.Client) -> None:
        for body in (
            {"kind": "shout", "payload": "done"},
            {"kind": "shout", "payload": "fail", "max_attempts": 1},
            {"kind": "shout", "delay": 86_400},
            {"kind": "diagram", "payload": RENDER},
            {"kind": "diagram", "payload": RENDER | {"source": "digraph {"}, "max_attempts": 1},
            {"kind": "diagram", "payload": RENDER | {"source": "digraph { later }"}, "delay": 86_400},
            {"kind": "render", "payload": RENDER},
        ):
            made = client.post("/jobs", json=body)
            assert made.status_code == 202, made.text
            self._note("/jobs/", made.json()["id"])
        self._note("/queue/", "shout")
        ended = client.get(f"{made.headers['location']}?wait=60").json()
        assert ended["status"] == "completed", ended
        self._note("/artifacts/", ended["result"]["artifact"])
        self._note("/d/", ended["result"]["short_link"])

    def _furnish_diagrams(self, client: httpx.Client) -> None:
        for name in ("map", *(f"spare-{number}" for number in range(SPARE))):
            wait = "?mode=sync" if name == "map" else ""
            made = client.put(f"/diagrams/{name}{wait}", json={"source": f"digraph {{ {name[:3]} }}", "format": "dot"})
            assert made.status_code in (200, 202), made.text
            self._note("/diagrams/" if name == "map" else "DELETE /diagrams/", name)
        for file in ("map.svg", "map@1.png"):
            self._note("/a/", file)

    def _furnish_webhooks(self, client: httpx.Client) -> None:
        for number in range(1 + SPARE):
            made = client.post("/webhooks", json=WEBHOOK)
            assert made.status_code == 201, made.text
            self._note("DELETE /webhooks/" if number else "/webhooks/", made.json()["id"])
        delivery = client.post(f"/webhooks/{self.known['/webhooks/'][-1]}/test")
        assert delivery.status_code == 202, delivery.text
        self._note("/webhooks/deliveries/", delivery.json()["id"])

    def _furnish_docs(self, client: httpx.Client) -> None:
        """Organisations for both tokens; `ours` has projects, with builds and editions."""

        def post(path: str, **body: Any) -> Any:
            made = client.post(path, json=body)
            assert made.status_code < 300, f"{path}: {made.text}"
            return made.json()

        def part(name: str, value: str) -> None:
            self.parts.setdefault(name, []).append(value)

        for org in ("ours", "theirs"):
            post("/admin/orgs", slug=org)
        part("{org}", "ours")
        part("{project}", "guide")
        for number in range(SPARE):
            post("/orgs/ours/projects", slug="guide" if number == 0 else f"spare-{number}")
            part("DELETE {project}", f"spare-{number}")
        guide = "/orgs/ours/projects/guide"
        for number in range(SPARE):
            part("{build}" if number % 2 else "DELETE {build}", post(f"{guide}/builds", **DOCS_BUILD)["id"])
            post(f"{guide}/editions", slug=f"spare-{number}", tracking_mode="manual")
            part("{edition}" if number % 2 else "DELETE {edition}", f"spare-{number}")
            role = "{member}" if number % 2 else "DELETE {member}"
            part(role, post("/orgs/ours/members", role="reader")["id"])
            part("/queue/jobs/{id}", post(f"{guide}/dashboard/rebuild")["id"])
        part("{edition}", "__main")
        self.parts["{other}"] = [*self.parts["{build}"], "__main"]
        for slug in self.parts["DELETE {edition}"][:5]:
            assert client.delete(f"{guide}/editions/{slug}").status_code == 204
        self.parts["{entry}"] = [one["id"] for one in client.get("/orgs/ours/purgatory").json()]

    def part_of(self, operation: str, name: str, turn: int) -> str | None:
        """A value for a part of a path of documentation."""
        method, _, path = operation.partition(" ")
        if not path.startswith(("/orgs/", "/admin/orgs/", "/queue/jobs/", "/uploads/")):
            return None
        last = path.endswith(f"{{{name}}}")
        kept = f"/queue/jobs/{{{name}}}" if path.startswith("/queue/") else f"{{{name}}}"
        values = (self.parts.get(f"{method} {kept}") if last else None) or self.parts.get(kept)
        return values[turn % len(values)] if values else None

    def _note(self, where: str, name: str) -> None:
        self.known.setdefault(where, []).append(name)

    def known_for(self, operation: str) -> list[str]:
        """By the longest beginning of `GET /jobs/{id}`, with the method or without."""
        path = operation.partition(" ")[2]
        fitting = [where for where in self.known if operation.startswith(where) or path.startswith(where)]
        return self.known[max(fitting, key=len)] if fitting else []
