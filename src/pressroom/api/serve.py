"""Serve until told to stop, then stop in order: no longer ready, streams closed, requests finished."""

import socket
from types import FrameType

import uvicorn
from fastapi import FastAPI

from pressroom.api.service import Service


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """uvicorn waits for open responses, and an event stream never ends by itself: it must be told."""
        self._service.closing.set()
        super().handle_exit(sig, frame)


async def serve(app: FastAPI, service: Service, listener: socket.socket, *, grace: float) -> None:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        lifespan="off",
        timeout_graceful_shutdown=max(1, int(grace)),
        timeout_keep_alive=65,
    )
    await _Server(config, service).serve([listener])


def listen(host: str, port: int) -> socket.socket:
    """Bound before anything is said, so that the address that is printed is the one that answers."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(2048)
    listener.setblocking(False)
    return listener
