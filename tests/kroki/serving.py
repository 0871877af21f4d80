"""`pressroom serve`, with Kroki's routes mounted if the wiring has not mounted them itself.

Run as `python -m tests.kroki.serving serve`; the settings come from the environment, as they do for the command.
"""

import sys
from typing import Any

from fastapi import FastAPI
from starlette.routing import NoMatchFound

from pressroom import command, serving
from pressroom.api.service import Service
from pressroom.apps.diagrams import kroki


def make_service(press: Any) -> tuple[Service, FastAPI]:
    service, app = _as_wired(press)
    try:
        app.url_path_for("kroki_health")
    except NoMatchFound:
        app.include_router(kroki.router(service, press.diagrams))
    return service, app


_as_wired = serving.make_service

if __name__ == "__main__":
    serving.make_service = make_service
    sys.exit(command.main())
