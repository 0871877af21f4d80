"""Ordinary use before the first attack, so that what a service loads once is not taken for growth."""

import asyncio

from tests.attack.closed_service import ClosedService
from tests.attack.http_client import HttpClient

PAGES = (
    "/",
    "/docs",
    "/openapi.json",
    "/metrics",
    "/health",
    "/desk",
    "/desk/login",
    "/desk/jobs",
    "/playground",
    "/wiki/Home",
)


async def warm_up(service: ClosedService) -> None:
    http, token = HttpClient(service.port), service.tokens["acme submitter"]
    for page in PAGES:
        await http.request("GET", page, token=token)
    await http.form(token, "/wiki/Warm_up", {"source": "# Warm up\n\n```dot\ndigraph { a -> b }\n```\n", "previous": "0"})
    await http.form(token, "/playground/preview", {"language": "dot", "output": "svg", "source": "digraph { a }"})
    body = {"source": "digraph { warm -> up }", "format": "dot"}
    await asyncio.gather(
        *(http.submit(service.tokens[f"{org} submitter"], body, "/render?mode=sync") for org in ("acme", "globex"))
    )
