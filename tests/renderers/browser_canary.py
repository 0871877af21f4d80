"""What a page must not reach: a server on the loopback that counts who comes, and a file with a secret."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pressroom.renderers.browser import binary as browser_binary

NEEDS_CHROMIUM = pytest.mark.skipif(
    browser_binary.missing() is not None, reason="no Chromium here: apt-get install chromium-headless-shell"
)
SECRET = "canary-7f3a91-do-not-leak"


class Canary:
    """Counts connections, whatever they say: even a knock is too much."""

    def __init__(self, folder: Path) -> None:
        self.secret = folder / "secret.txt"
        self.secret.write_text(SECRET)
        self.hits = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        threading.Thread(target=self._serve, daemon=True).start()

    def fill(self, html: str) -> str:
        return html.replace("CANARY", self.address).replace("PORT", str(self.port)).replace("SECRET", str(self.secret))

    def close(self) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                visitor, _ = self._server.accept()
                self.hits += 1
                with visitor, suppress(OSError):
                    visitor.settimeout(1)
                    visitor.recv(4096)
                    visitor.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")


@contextmanager
def opened_canary(folder: Path) -> Iterator[Canary]:
    canary = Canary(folder)
    try:
        yield canary
    finally:
        canary.close()
