"""What the tests of hostile sources share: presses that stay warm between tests, a canary, and the search for its traces."""

import asyncio
import base64
import functools
import io
import os
import re
import socket
import threading
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import PIL.Image
import pypdf
import pytest

from pressroom.errors import PressroomError, SourceInvalid, Timeout
from pressroom.renderers import Engine, Notice, Rendered, catalogue, documents
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.node import installation as node_places
from pressroom.renderers.sandbox.engine_pools import EnginePools
from tests.security import exposed

ANSWER_WITHIN = 600.0  # start of a press, the limit of a render and a busy machine together

SLOW = frozenset({"html-browser", "mermaid-browser", "d2", "plantuml", "bytefield", "vega", "vega-lite"})

SECRET = "canary-3b9e17-do-not-leak"
COLOUR = (254, 1, 220)  # of the secret picture; nobody else paints with it


@dataclass(frozen=True)
class Answer:
    """What came of a source: an output, or an error of our own family. Anything else is a bug, and is raised."""

    data: bytes = b""
    media_type: str = ""
    warnings: Sequence[Notice] = ()
    details: Mapping[str, Any] | None = None
    error: PressroomError | None = None

    @property
    def words(self) -> str:
        """Everything that is told besides the output."""
        error = self.error
        told = [repr(self.warnings), repr(self.details), str(error), str(getattr(error, "excerpt", ""))]
        return "\n".join(told)

    @property
    def codes(self) -> set[str]:
        return {warning.code for warning in self.warnings}

    @property
    def text(self) -> str:
        return self.data.decode()


class Box:
    """EnginePools on a loop of their own, in a thread: tests come and go, presses stay warm."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._samples: dict[str, Rendered] = {}
        self._asked: Counter[str] = Counter()
        self._harmless = True  # the last answer: drawn, or refused as a source
        self.presses = self.run(self._open())

    async def _open(self) -> EnginePools:
        return EnginePools(1, idle=20)

    def run[T](self, work: Coroutine[Any, Any, T], within: float = ANSWER_WITHIN) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(within)

    def draw(self, engine: type[Engine], source: str | bytes, output: str | None = None, **options: Any) -> Answer:
        """By one press."""
        return self._answer(self.presses.render(engine, _bytes(source), output or engine.makes[0], options))

    def make(self, language: str, source: str | bytes, output: str, engine: str | None = None, **options: Any) -> Answer:
        """By as many presses as it takes, as a request would."""
        with _exposed_catalogue():
            return self._answer(self._render(RenderRequest(language, output, _bytes(source), options, engine)))

    async def _render(self, request: RenderRequest) -> Rendered:
        return await documents.render(self.presses, documents.make_plan(request))

    def assert_well(self, engine: type[Engine]) -> None:
        """The press is alive, or there is another one, and it still draws what it drew before it met a stranger.

        Those that take long are asked after every fifth source, and after each that did them harm.
        """
        self._asked[engine.name] += 1
        if engine.name in SLOW and self._harmless and self._asked[engine.name] % 5:
            return
        try:
            drawn = self.run(self.presses.render(engine, engine.sample.encode(), engine.makes[0]))
        except Timeout:  # these have little time, and the machine may have had other things to do
            drawn = self.run(self.presses.render(engine, engine.sample.encode(), engine.makes[0]))
        assert drawn == self._samples.setdefault(engine.name, drawn)

    def close(self) -> None:
        self.run(self.presses.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _answer(self, work: Coroutine[Any, Any, Rendered]) -> Answer:
        try:
            made = self.run(work)
        except PressroomError as error:
            assert_worded(error)
            self._harmless = isinstance(error, SourceInvalid)
            return Answer(error=error)
        self._harmless = True
        return Answer(made.data, made.media_type, made.warnings, made.details)


@contextmanager
def _exposed_catalogue() -> Iterator[None]:
    """Whoever asks the catalogue gets the exposed ones: a document is printed and its diagrams are drawn by them."""
    catalogue.engine_for.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "get_engine", exposed.engine)
        yield
    catalogue.engine_for.cache_clear()


def _bytes(source: str | bytes) -> bytes:
    return source.encode() if isinstance(source, str) else source


def assert_worded(error: PressroomError) -> None:
    """It says what is wrong, to somebody outside: not the inside of a press."""
    assert type(error).code != PressroomError.code
    assert 5 < len(str(error)) < 3_000, str(error)[:500]
    assert not re.search(r"Traceback|pressroom-press-|\.py\b|0x[0-9a-f]{8}", str(error)), str(error)


class Canary:
    """What must not be reached: files with a secret, a pipe that never answers, and listeners that count who comes."""

    def __init__(self, folder: Path) -> None:
        self.hits = 0
        self.folder = folder
        self._write(folder)
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._listeners = [threading.Thread(target=hear, daemon=True) for hear in (self._hear_tcp, self._hear_udp)]
        for listener in self._listeners:
            listener.start()

    def fill(self, source: str) -> str:
        words = {
            "HOST": f"127.0.0.1:{self.port}",
            "PORT": str(self.port),
            **{name.upper(): str(self.folder / f"secret.{name}") for name in ("txt", "png", "svg", "css", "fifo", "json")},
        }
        return re.sub(r"\b(HOST|PORT|TXT|PNG|SVG|CSS|FIFO|JSON)\b", lambda found: words[found[0]], source)

    def close(self) -> None:
        with suppress(OSError):
            self._tcp.shutdown(socket.SHUT_RDWR)
        self._tcp.close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"end", ("127.0.0.1", self.port))
        for listener in self._listeners:
            listener.join(60)
        self._udp.close()

    @staticmethod
    def _write(folder: Path) -> None:
        colour = "#{:02x}{:02x}{:02x}".format(*COLOUR)
        (folder / "secret.txt").write_text(SECRET)
        (folder / "secret.json").write_text(f'[{{"secret": "{SECRET}", "n": 3}}]')
        (folder / "secret.css").write_text(f"html, body, svg {{ background: {colour}; fill: {colour} }}")
        (folder / "secret.svg").write_text(
            '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">'
            f'<rect id="a" width="64" height="64" fill="{colour}"/><text>{SECRET}</text></svg>'
        )
        PIL.Image.new("RGB", (32, 32), COLOUR).save(folder / "secret.png")
        os.mkfifo(folder / "secret.fifo")

    def _hear_tcp(self) -> None:
        with suppress(OSError):
            while True:
                visitor, _ = self._tcp.accept()
                self.hits += 1
                visitor.close()

    def _hear_udp(self) -> None:
        while self._udp.recv(2048) != b"end":
            self.hits += 1


def assert_untouched(canary: Canary, answer: Answer) -> None:
    found = traces(canary, answer)
    assert not found, found
    assert canary.hits == 0


def traces(canary: Canary, answer: Answer) -> list[str]:
    """Where the secret shows in an answer."""
    found = []
    if _tells(answer.words):
        found.append("told in a warning, a detail or an error")
    shown = answer.data.decode(errors="replace") if "svg" in answer.media_type or "text" in answer.media_type else ""
    if _tells(shown) or _tells("".join(_carried(shown))):
        found.append("written into the output")
    picture = base64.b64encode((canary.folder / "secret.png").read_bytes()).decode()
    if picture[:60] in shown or picture[:60] in "".join(_carried(shown)):
        found.append("embedded into the output")
    if answer.media_type == "image/png" and _is_painted(PIL.Image.open(io.BytesIO(answer.data))):
        found.append("painted into the picture")
    if answer.media_type == "application/pdf":
        found += _in_pdf(answer.data)
    return found


def _tells(text: str) -> bool:
    encoded = {base64.b64encode(b" " * shift + SECRET.encode()).decode()[4:24] for shift in range(3)}
    return SECRET in text or any(part in text for part in encoded)


def _carried(text: str) -> Iterator[str]:
    """What an output carries inside itself."""
    for body in re.findall(r"base64,([A-Za-z0-9+/=]{40,})", text):
        with suppress(ValueError):
            yield base64.b64decode(body + "==").decode(errors="replace")


def _is_painted(picture: PIL.Image.Image) -> bool:
    colours = picture.convert("RGB").getcolors(maxcolors=2**24) or []
    return any(colour == COLOUR for _, colour in colours)


def _in_pdf(data: bytes) -> list[str]:
    found = []
    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.attachments:
        found.append("a file is attached")
    if _tells("".join(page.extract_text() for page in reader.pages)):
        found.append("written on a page")
    r, g, b = (f"{part / 255:.3f}"[1:4] if part not in (0, 255) else str(part // 255) for part in COLOUR)
    painted = re.compile(rf"0?{re.escape(r)}\d* 0?{re.escape(g)}\d* 0?{re.escape(b)}\d* (rg|sc|scn)\b".encode())
    for number in range(1, len(reader.xref_objStm) + len(reader.xref.get(0, {})) + 1):
        with suppress(Exception):
            stream = reader.get_object(number).get_data()  # type: ignore[union-attr]
            if SECRET.encode() in stream or bytes(COLOUR) * 4 in stream or painted.search(stream):
                found.append(f"in object {number}")
    return found


@functools.cache
def is_missing(name: str) -> bool:
    """Whether an engine cannot work here. Node's packages are installed before it is asked for."""
    if name in _drawn_in_node():
        return node_places.find_node() is None
    return catalogue.get_engine(name).missing() is not None


def _drawn_in_node() -> frozenset[str]:
    return frozenset(name for name, place in catalogue._ENGINES.items() if place.startswith("node_engines:"))


def engine(name: str) -> type[Engine]:
    if is_missing(name):
        pytest.skip(f"{name} cannot work here")
    return exposed.engine(name)
