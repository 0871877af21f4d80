"""The way of one `POST /render` through the modules of Pressroom: `./dev trace`.

A service runs in this process, with a database in a file. One render that the cache does not hold is submitted, and every
call of a function in `src/pressroom` is recorded, in all threads, until the response. Then a worker starts, and what it
calls to run the job is recorded too, without the threads of the store.

A hop is a call from one module to another; the same hop several times in a row counts once. A return is a hop into a package
that an earlier hop left.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePosixPath
from types import CodeType, FrameType
from typing import NamedTuple

import httpx

import pressroom
from pressroom import Pressroom
from pressroom.serving import make_service

ROOT = Path(pressroom.__file__).parent
HELPERS = ("clock", "failpoints", "ids", "json_text", "tracing")  # they call no other module
ATTEMPT = "worker/run.py:Attempt.run"  # runs the handler of a job

# What a render should need once in the process that takes the request, and once in the worker.
COUNTED = {
    "planned": ("/documents.py:make_plan",),
    "checked": (":Engine.check",),
    "engines found": ("/documents.py:engines_of",),
    "fingerprinted": ("fingerprint.py:fingerprint",),
    "cache asked": (":find_hit", ":_find_answer"),
}


class Function(NamedTuple):
    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"


class Call(NamedTuple):
    function: Function
    callers: tuple[Function, ...]  # the functions of ours on the stack, the nearest first


class Hop(NamedTuple):
    caller: str
    module: str
    functions: tuple[str, ...]
    is_return: bool


def function_of(code: CodeType) -> Function | None:
    path = Path(code.co_filename)
    return Function(path.relative_to(ROOT).as_posix(), code.co_qualname) if path.is_relative_to(ROOT) else None


@contextmanager
def recorded(calls: list[Call]) -> Iterator[None]:
    """Append every call of a function in `src/pressroom`. A generator or coroutine is called when it starts to run."""
    monitoring, tool = sys.monitoring, sys.monitoring.PROFILER_ID

    def on_start(code: CodeType, _: int) -> object:
        function = function_of(code)
        if function is None:
            return monitoring.DISABLE
        calls.append(Call(function, tuple(functions_on_stack(sys._getframe(1).f_back))))
        return None

    monitoring.use_tool_id(tool, "trace_request")
    monitoring.register_callback(tool, monitoring.events.PY_START, on_start)
    monitoring.set_events(tool, monitoring.events.PY_START)
    try:
        yield
    finally:
        monitoring.set_events(tool, monitoring.events.NO_EVENTS)
        monitoring.free_tool_id(tool)


def functions_on_stack(frame: FrameType | None) -> Iterator[Function]:
    while frame is not None:
        if function := function_of(frame.f_code):
            yield function
        frame = frame.f_back


def hops_of(calls: Sequence[Call]) -> list[Hop]:
    hops: list[Hop] = []
    left: set[str] = set()
    for (module, name), callers in calls:
        caller = callers[0].module if callers else module
        if caller == module:
            continue
        if hops and (hops[-1].caller, hops[-1].module) == (caller, module):
            hops[-1] = hops[-1]._replace(functions=(*hops[-1].functions, name))
            continue
        source, target = package_of(caller), package_of(module)
        hops.append(Hop(caller, module, (name,), source != target and target in left))
        if source != target:
            left.add(source)
    return hops


def package_of(module: str) -> str:
    return str(PurePosixPath(module).parent)


async def trace() -> tuple[list[Call], list[Call]]:
    """The calls until the response, and those that run the job in a worker."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/trace.db"
        async with Pressroom(database, workers=None) as press:
            await submit(press, "warm up")  # imports the engine
            request: list[Call] = []
            job_id = await submit(press, "traced", request)
        job: list[Call] = []
        with recorded(job):
            async with Pressroom(database, workers=1, presses=1) as press:
                await press.wait_until_ended(job_id, timeout=60)
    return request, last_attempt(job)


def last_attempt(calls: Sequence[Call]) -> list[Call]:
    """The first attempt renders the warm-up."""
    attempts: list[list[Call]] = []
    for call in calls:
        if str(call.function) == ATTEMPT:
            attempts.append([])
        elif ATTEMPT in map(str, call.callers):
            attempts[-1].append(call)
    return attempts[-1]


async def submit(press: Pressroom, node: str, calls: list[Call] | None = None) -> str:
    """The id of a job that renders a graph with this node."""
    transport = httpx.ASGITransport(app=make_service(press)[1], client=("127.0.0.1", 1234))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        with nullcontext() if calls is None else recorded(calls):
            body = {"source": f'digraph {{ source -> "{node}" }}', "format": "dot", "outputType": "svg"}
            response = await client.post("/render", json=body)
    assert response.status_code == 202, response.text
    return str(response.json()["jobId"])


def counts_of(calls: Sequence[Call]) -> dict[str, int]:
    return {what: sum(str(call.function).endswith(names) for call in calls) for what, names in COUNTED.items()}


def print_way(title: str, calls: Sequence[Call], *, brief: bool) -> None:
    hops = hops_of(calls)
    way = [hop for hop in hops if PurePosixPath(hop.module).stem not in HELPERS]
    print(f"{title}: {len(hops)} hops, {sum(hop.is_return for hop in hops)} returns;", end=" ")
    print(f"without calls of helpers {len(way)} and {sum(hop.is_return for hop in way)}")
    for number, hop in enumerate(() if brief else hops, 1):
        functions = ", ".join(dict.fromkeys(name.rpartition("<locals>.")[2] for name in hop.functions))
        print(f"{number:4} {'<' if hop.is_return else ' '} {hop.caller:34} -> {hop.module:34} {functions}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev trace", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--brief", action="store_true", help="only the figures")
    brief = parser.parse_args().brief
    request, job = asyncio.run(trace())
    print_way("POST /render until the response", request, brief=brief)
    print_way("The job in the worker", job, brief=brief)
    print(f"{'':16}{'request':>8}{'job':>8}")
    for (what, in_request), in_job in zip(counts_of(request).items(), counts_of(job).values(), strict=True):
        print(f"{what:16}{in_request:8}{in_job:8}")


if __name__ == "__main__":
    main()
