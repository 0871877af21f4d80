"""The service from Python: `Client` for programs that wait, `AsyncClient` for those that do other things meanwhile.

    with Client("http://127.0.0.1:8000") as client:
        job = client.render("dot", "digraph { a -> b }", "svg")
        picture = job.result(timeout=30)

| module | what it does |
|---|---|
| `calls.py` | builds the HTTP requests |
| `exchange.py`, `operations.py` | each operation as a generator of requests, pauses and reads, without I/O |
| `retries.py` | which requests are sent again, when, and for how long |
| `errors.py` | turns problem documents into the errors of the library |
| `responses.py`, `event_stream.py` | decode JSON and server-sent events |
| `docs/` | the same for documentation sites: `client.docs("acme", "guide")` |
| `sync_client.py`, `async_client.py`, `httpx_adapter.py` | perform the operations over httpx, blocking or on an event loop |

Needs httpx (`pip install 'pressroom[client]'`), and neither the database nor an engine.
"""

from pressroom.client.async_client import AsyncClient, AsyncHandle
from pressroom.client.docs.async_project import AsyncProjectDocs
from pressroom.client.docs.responses import RemoteBuild, RemoteEdition, RemoteHistoryEntry, RemoteQueueJob
from pressroom.client.docs.sync_project import ProjectDocs
from pressroom.client.errors import InvalidAnswer, Unreachable, problem_of
from pressroom.client.responses import RemoteEvent, RemoteJob, SubmittedJob
from pressroom.client.retries import RetryPolicy
from pressroom.client.sync_client import Client, Handle

__all__ = [
    "AsyncClient",
    "AsyncHandle",
    "AsyncProjectDocs",
    "Client",
    "Handle",
    "InvalidAnswer",
    "ProjectDocs",
    "RemoteBuild",
    "RemoteEdition",
    "RemoteEvent",
    "RemoteHistoryEntry",
    "RemoteJob",
    "RemoteQueueJob",
    "RetryPolicy",
    "SubmittedJob",
    "Unreachable",
    "problem_of",
]
