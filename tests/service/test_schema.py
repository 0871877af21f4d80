"""The OpenAPI document is the service: whatever it allows is answered as it says, and whatever it forbids is refused.

Schemathesis makes the requests. They go over real connections to a real server, with tokens of two organisations in turn.
"""

import asyncio
import itertools
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from pressroom.api import serve
from pressroom.api.access import Scope
from tests.service.access_stage import Stage, on_stage

EXAMPLES = 100
# With a JSON body the query is not looked at, and so not refused either: a document cannot say that.
BODY_WINS = {"POST /render/terminal"}
LONGEST_WAIT = "0.02"  # what a generated `wait` becomes: the answers are the same, and sixty seconds are not


class Brief(asyncio.Event):
    """Ends every event stream and every wait after a moment, so that endless ones can be looked at as a whole."""

    async def wait(self) -> Any:
        await asyncio.sleep(0.02)
        return True


class Server:
    """The service in a thread of its own, with jobs, artifacts and tokens of two organisations."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._listening = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self.tokens: list[str] = []
        self.ids: dict[str, list[str]] = {}

    def __enter__(self) -> "Server":
        self._thread.start()
        assert self._listening.wait(20)
        self._furnish()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.should_exit = True
        self._thread.join()

    async def _run(self) -> None:
        async with on_stage(self._folder) as stage:
            self._stage = stage
            self.tokens = [await stage.token(Scope.ADMIN, org) for org in ("ours", "theirs")]
            await self._serve(stage)

    async def _serve(self, stage: Stage) -> None:
        listener = serve.listen("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.document = stage.app.openapi()
        self._server = uvicorn.Server(uvicorn.Config(stage.app, log_config=None, access_log=False, lifespan="off"))
        self._listening.set()
        await self._server.serve([listener])

    def _furnish(self) -> None:
        """Things that exist, so that not every generated request is about what never was."""
        jobs: list[str] = []
        for token in self.tokens:
            with httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
                for body in (
                    {"kind": "shout", "payload": "done"},
                    {"kind": "shout", "payload": "fail", "max_attempts": 1},
                    {"kind": "shout", "delay": 86_400},
                    {"kind": "render", "payload": {"language": "dot", "output": "svg", "source": "digraph { a }"}},
                ):
                    jobs.append(client.post("/jobs", json=body).json()["id"])
                ended = client.get(f"/jobs/{jobs[-1]}?wait=50").json()
                assert ended["status"] == "completed", ended
                rendered = ended["result"]
                self.ids.setdefault("uid", []).append(rendered["artifact"])
                self.ids.setdefault("shortlink", []).append(rendered["short_link"])
        self.ids["id"] = jobs
        self._stage.service.closing = Brief()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("schema")) as server:
        yield server


@pytest.fixture(scope="module")
def document(server: Server) -> Any:
    schema = schemathesis.openapi.from_dict(server.document)
    schema.config.update(base_url=server.url)
    schema.config.generation.update(allow_extra_parameters=False)  # what is not understood in a query is ignored
    # A kind that does not exist, or a source that is wrong, is refused with these; the document cannot say which they are.
    understood = ["2xx", "3xx", "400", "403", "404", "406", "409", "416", "422", "501"]
    schema.config.checks.positive_data_acceptance.expected_statuses = understood
    schema.config.checks.not_a_server_error.expected_statuses = ["2xx", "3xx", "4xx", "501"]  # an engine is not installed here
    turns = itertools.count()

    @schema.hook
    def map_path_parameters(context: Any, path_parameters: dict[str, Any]) -> dict[str, Any]:
        """Every second request is about something that exists."""
        turn = next(turns)
        for name, known in server.ids.items():
            if turn % 2 and name in (path_parameters or {}):
                path_parameters[name] = known[turn // 2 % len(known)]
        return path_parameters

    @schema.hook
    def map_query(context: Any, query: dict[str, Any]) -> dict[str, Any]:
        if query and isinstance(query.get("wait"), int | float) and 0 < query["wait"] <= 60:
            query["wait"] = LONGEST_WAIT
        return query

    return schema


# The server is a thread of this process, and its retries roll dice while a strategy draws.
@pytest.mark.filterwarnings("ignore:Do not use the .random. module")
def test_the_service_does_what_its_document_says(server: Server, document: Any, subtests: pytest.Subtests) -> None:
    for result in document.get_all_operations():
        operation = result.ok()
        with subtests.test(operation.label):
            _try(operation, server)


def _try(operation: schemathesis.APIOperation, server: Server) -> None:
    """Half of the examples as the document allows, half as it forbids, where it forbids anything."""
    turns = itertools.count()
    how = settings(
        max_examples=EXAMPLES // 2,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        database=None,
        phases=[Phase.generate],
    )
    modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
    for mode in modes[:1] if operation.label in BODY_WINS else modes:

        @how
        @given(operation.as_strategy(generation_mode=mode))
        def examples(case: schemathesis.Case) -> None:
            token = server.tokens[next(turns) % 2]
            case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, timeout=30)

        with suppress(Unsatisfiable):  # an operation without a parameter cannot be asked wrongly
            examples()
