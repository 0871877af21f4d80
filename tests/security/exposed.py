"""Every engine with a shorter time, and with the wall around the files taken down: what it then refuses, it refuses itself.

A press loads these by name, so they are made when they are asked for: `exposed.engine("svg")` here, `Exposed_svg` inside.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pressroom.renderers import Engine, Rendered, catalogue
from pressroom.renderers.html import Html
from pressroom.renderers.markdown.engine import Markdown

SECONDS = 2.5  # what hangs is waited for so long
TO_LOAD = {"mermaid-browser": 10.0}  # Mermaid itself is loaded within the limit, while other tests keep the machine busy


@cache
def engine(name: str) -> type[Engine]:
    kind = catalogue._ENGINES[name].partition(":")  # the real one, even while a test has put these in its place
    real = getattr(__import__(f"pressroom.renderers.{kind[0]}", fromlist=[kind[2]]), kind[2])
    changes = {
        "__module__": __name__,
        "limits": replace(real.limits, seconds=TO_LOAD.get(name, SECONDS)),
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

    def _clean(self, body: str) -> str:
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
