"""The service from Python: `Client` for programs that wait, `AsyncClient` for those that do other things meanwhile.

    with Client("http://127.0.0.1:8000") as client:
        job = client.render("dot", "digraph { a -> b }", "svg")
        picture = job.result(timeout=30)

| step | what happens | where |
|---|---|---|
| call | an intention becomes a request | `calls.py` |
| talk | requests, pauses and answers in the order they happen, without any I/O | `talk.py`, `journeys.py` |
| patience | what to send again, when, and for how long | `patience.py` |
| trouble | a problem becomes the error that the library raises | `trouble.py` |
| answer | JSON and event frames become values | `answers.py`, `frames.py` |
| carry | a talk is carried out over a connection, blocking or not | `blocking.py`, `waiting.py` |

Needs httpx (`pip install 'pressroom[client]'`), and neither the database nor an engine.
"""

from pressroom.client.answers import Accepted, Event, Job
from pressroom.client.blocking import Client, Handle
from pressroom.client.patience import Patience
from pressroom.client.trouble import Garbled, Unreachable, problem_of
from pressroom.client.waiting import AsyncClient, AsyncHandle

__all__ = [
    "Accepted",
    "AsyncClient",
    "AsyncHandle",
    "Client",
    "Event",
    "Garbled",
    "Handle",
    "Job",
    "Patience",
    "Unreachable",
    "problem_of",
]
