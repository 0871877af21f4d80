"""What the tests of the diagram engines share: a quick way to draw, a second process, and canaries that must stay silent."""

import hashlib
import importlib
import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pressroom.errors import SourceInvalid
from pressroom.renderers import Engine, Rendered

ENGINES = {
    "mermaid": ("mermaid.engine", "Mermaid"),
    "svg": ("svg.engine", "Svg"),
    "graphviz": ("graphviz.engine", "Graphviz"),
    "vega": ("vega", "Vega"),
    "vega-lite": ("vega", "VegaLite"),
    "d2": ("d2.engine", "D2"),
}
SIGNATURES = {"svg": b"<svg ", "png": b"\x89PNG\r\n", "pdf": b"%PDF-"}

IN_ANOTHER_PROCESS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tests.renderers.drawing import ENGINES, digests
print(json.dumps({name: digests(name) for name in ENGINES}))
"""


def engine_class(name: str) -> type[Engine]:
    module, attribute = ENGINES[name]
    found: type[Engine] = getattr(importlib.import_module(f"pressroom.renderers.{module}"), attribute)
    return found


@cache
def engine(name: str) -> Engine:
    return engine_class(name)()


def draw(name: str, source: str, output: str = "svg", /, **options: Any) -> Rendered:
    return engine(name).render(source, output, msgspec.convert(options, engine_class(name).Options))


def text(name: str, source: str, /, **options: Any) -> str:
    return draw(name, source, "svg", **options).data.decode()


def refused(name: str, source: str, output: str = "svg", /, **options: Any) -> SourceInvalid:
    with pytest.raises(SourceInvalid) as caught:
        draw(name, source, output, **options)
    assert not re.search(r"/usr|site-packages|\.cache|Traceback|\n", str(caught.value))
    return caught.value


def codes(rendered: Rendered) -> set[str]:
    return {notice.code for notice in rendered.warnings}


def digests(name: str) -> list[str]:
    sample = engine_class(name).sample
    return [hashlib.sha256(draw(name, sample, output).data).hexdigest() for output in ("svg", "png", "pdf")]


@cache
def digests_elsewhere() -> dict[str, list[str]]:
    """Of every engine, in a process with another seed for its hash tables, another time zone and no home."""
    program = [sys.executable, "-c", IN_ANOTHER_PROCESS, str(Path(__file__).parents[2])]
    environment = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "HOME": "/nonexistent"}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@contextmanager
def listener() -> Iterator[tuple[str, list[bytes]]]:
    """A server on the loopback that remembers who called. Nobody should."""
    calls: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        stop = threading.Event()

        def serve() -> None:
            while not stop.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    calls.append(connection.recv(100))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/canary.png", calls
        finally:
            stop.set()
            thread.join()


def red_picture(folder: Path) -> Path:
    """A file that would show, or whose bytes would be embedded, if somebody read it."""
    from PIL import Image

    file = folder / "canary.png"
    Image.new("RGB", (64, 64), (255, 0, 0)).save(file)
    return file


def shows_red(png: bytes) -> bool:
    import io

    from PIL import Image

    with Image.open(io.BytesIO(png)) as picture:
        return any(color == (255, 0, 0) for _, color in picture.convert("RGB").getcolors(1_000_000) or [])
