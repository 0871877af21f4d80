"""What the tests of the Node engines share. Their fixtures are in node_fixtures.py."""

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from pressroom.renderers import Rendered
from pressroom.renderers.node import installation as node_places
from pressroom.renderers.node.engine import NodeEngine
from pressroom.renderers.node.engines import Bytefield, Dbml, Nomnoml, Pikchr, PlantUml, Svgbob, WaveDrom

ENGINES: tuple[type[NodeEngine], ...] = (Nomnoml, WaveDrom, Bytefield, Dbml, Pikchr, Svgbob, PlantUml)
KEPT = Path(__file__).parents[2] / ".cache" / "engines"

needs_node = pytest.mark.skipif(node_places.find_node() is None, reason=node_places.GET_NODE)


class Bench:
    """One engine of each kind, kept warm between tests as a press would."""

    def __init__(self) -> None:
        self._engines: dict[type[NodeEngine], NodeEngine] = {}

    def engine(self, kind: type[NodeEngine]) -> NodeEngine:
        return self._engines.setdefault(kind, kind())

    def render(self, kind: type[NodeEngine], source: str, output: str = "svg", **options: Any) -> Rendered:
        return self.engine(kind).render(source, output, kind.Options(**options))

    def close(self) -> None:
        for engine in self._engines.values():
            engine.close()


class Canary:
    """A secret file, and a listener on the loopback that notes who calls."""

    def __init__(self, folder: Path) -> None:
        self.secret = "canary-5f1d2c"
        self.file = folder / "secret.json"
        self.file.write_text(f'{{"secret": "{self.secret}"}}')
        self.calls = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/{self.secret}"
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _listen(self) -> None:
        while True:
            try:
                caller, _ = self._socket.accept()
            except OSError:
                return
            self.calls += 1
            caller.close()
