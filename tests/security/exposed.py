"""Every engine, hurried where a test says so, and with no wall around the files: what it refuses, it refuses itself.

A press loads these by name, so they are made when they are asked for: `exposed.engine("svg")` here, `Exposed_svg` inside.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pressroom.renderers import Engine, Limits, Rendered, catalogue
from pressroom.renderers.html import Html
from pressroom.renderers.markdown.engine import Markdown

HURRIED = 2.5  # seconds: what hangs is waited for so long
TO_LOAD = {"mermaid-browser": 10.0}  # Mermaid itself is loaded within the limit, while other tests keep the machine busy

_hurries = False


@contextmanager
def hurry() -> Iterator[None]:
    """For sources that may hang. The others have the time that users have: the machine may have other things to do."""
    global _hurries
    _hurries = True
    yield
    _hurries = False


@contextmanager
def unhurried() -> Iterator[None]:
    """Inside of `hurry`: for sources that must be drawn, however slow the machine is. What hangs reaches the usual limit."""
    global _hurries
    before, _hurries = _hurries, False
    yield
    _hurries = before


class _Limits:
    """As they are now: who waits for a press reads them for every render."""

    def __init__(self, real: type[Engine]) -> None:
        self._real = real

    def __get__(self, _: object, kind: type[Engine]) -> Limits:
        limits = self._real.limits
        return replace(limits, seconds=TO_LOAD.get(self._real.name, HURRIED)) if _hurries else limits


@cache
def engine(name: str) -> type[Engine]:
    kind = catalogue._ENGINES[name].partition(":")  # the real one, even while a test has put these in its place
    real = getattr(__import__(f"pressroom.renderers.{kind[0]}", fromlist=[kind[2]]), kind[2])
    changes = {
        "__module__": __name__,
        "limits": _Limits(real),
        "reads": classmethod(lambda cls: [*real.reads(), Path("/")]),
    }
    return type("Exposed_" + name.replace("-", "_"), (real,), changes)


def __getattr__(name: str) -> Any:
    if name.startswith("Exposed_"):
        return engine(name.removeprefix("Exposed_").replace("_", "-"))
    raise AttributeError(name)


class Credulous(Html):
    """What the checks must catch: it fetches whatever a document asks for."""

    name = "credulous"

    @classmethod
    def reads(cls) -> Sequence[Path]:
        return [Path("/")]

    def __init__(self) -> None:
        super().__init__()
        pluto = self._pluto

        class Fetcher(pluto.ResourceFetcher):  # type: ignore[misc]
            notices = ()

            def fetch_url(self, url: str) -> Any:
                kind = "text/css" if url.endswith(".css") else "image/png"
                return pluto.ResourceData(Path(url.removeprefix("file://")).read_bytes(), kind, "utf-8")

        self._fetcher = Fetcher


class Unwashed(Markdown):
    """What the checks must catch: it believes that nobody would write a script."""

    name = "unwashed"

    def clean(self, body: str) -> str:
        return body


class Talkative(Engine):
    """What the checks must catch: it reads the file that its source names, and says so in its error."""

    name = "talkative"
    title = "Talkative"
    takes = "talkative"
    makes = ("txt",)
    sample = "/dev/null"

    @classmethod
    def reads(cls) -> Sequence[Path]:
        return [Path("/")]

    def render(self, source: str, output: str, options: Any) -> Rendered:
        from pressroom.errors import SourceInvalid

        text = Path(source).read_text()
        if text:
            raise SourceInvalid(f"cannot make sense of {text}")
        return Rendered(b"nothing", "text/plain")
