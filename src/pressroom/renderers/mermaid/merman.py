"""Mermaid by merman: typed errors that know their place, limits, a deadline, and labels as wide as our fonts make them."""

import json
import re
from typing import Any

import merman  # type: ignore[import-untyped]

from pressroom.errors import AttemptError, EngineCrashed, SourceInvalid, Timeout, TooLarge
from pressroom.renderers.mermaid.text import TextMeasurer
from pressroom.renderers.source_errors import line_and_column, offset_of_byte, source_error

# "constrained" refuses eleven diagrams of Mermaid's own documentation for the work that their layout is. So that one limit is
# the one of "interactive", and the deadline stands behind it. Requests may only tighten what is set here.
RESOURCES = {
    "profile": "interactive",
    "limits": {
        "max_source_bytes": 1_048_576,
        "max_model_items": 16_000,
        "max_svg_bytes": 20_971_520,
        "max_svg_elements": 125_000,
    },
}
BASELINE = {
    "version": 2,
    "fixed_today": "1970-01-01",  # no clock: the same source must give the same picture tomorrow
    "fixed_local_offset_minutes": 0,
    "resources": RESOURCES,
}

LIMITS = {
    "max_source_bytes": "bytes of source",
    "max_model_items": "nodes and edges",
    "max_model_text_bytes": "bytes of text",
    "max_model_nesting_depth": "levels of nesting",
    "max_layout_work_units": "steps of layout",
    "max_svg_bytes": "bytes of SVG",
    "max_svg_elements": "elements of SVG",
}
SUBJECT = re.compile(r"^Diagram parse error \((?P<kind>[\w-]+)\): ")
COLON = re.compile(r":\s*")  # what follows one may be quoted from the source


class Merman:
    def __init__(self, seconds: float) -> None:
        self._milliseconds = int(seconds * 1000)
        self._engine = merman.MermanEngine(
            options_json=json.dumps(BASELINE), services=merman.MermanEngineServices().with_text_measurer(TextMeasurer())
        )

    def draw(self, source: str, config: dict[str, Any], label: str, *, plain: bool) -> str:
        svg = {"diagram_id": label, "pipeline": "resvg-safe" if plain else "parity"}
        request = merman.MermanOperationRequestV4(
            operation_id="svg",
            source=source,
            uri=None,
            options_json=json.dumps({"site_config": config, "svg": svg}),
            control=merman.MermanOperationControl(self._milliseconds),
        )
        try:
            drawn = str(self._engine.execute(request).data, "utf-8")
        except merman.MermanError.Binding as error:
            raise translate_error(source, error) from None
        except merman.merman_uniffi.InternalError as error:
            raise EngineCrashed("the engine gave up on this source") from error
        # The nested <svg> around a label cuts off what is a hair wider than measured.
        return drawn.replace("overflow:hidden", "overflow:visible") if plain else drawn


def translate_error(source: str, error: Any) -> AttemptError:
    if error.cancellation is not None:
        return Timeout()
    if error.resource is not None:
        unit = LIMITS.get(error.resource.limit_id, error.resource.limit_id)
        return TooLarge(f"the diagram takes {error.resource.actual:,} {unit}; the limit is {error.resource.max:,}")
    if error.code_name not in (
        "MERMAN_PARSE_ERROR",
        "MERMAN_NO_DIAGRAM",
        "MERMAN_RENDER_ERROR",
        "MERMAN_UNSUPPORTED_OPERATION",
    ):
        return EngineCrashed(f"the engine failed: {error.message[:300]}")
    return _locate_error(source, SUBJECT.sub(r"\g<kind>: ", error.message)[:500], error.diagnostic)


def _locate_error(source: str, message: str, diagnostic: Any) -> SourceInvalid:
    if diagnostic is not None and diagnostic.span is not None:
        line, column = line_and_column(source, offset_of_byte(source, diagnostic.span.start))
        return source_error(source, message, *_move_to_text(source, line, column))
    for colon in COLON.finditer(message):
        at = source.find(message[colon.end() :].strip())
        if at >= 0 and len(message) - colon.end() >= 3:
            return source_error(source, message, *line_and_column(source, at))
    first = next((number for number, line in enumerate(source.split("\n"), 1) if line.strip()), 1)
    return source_error(source, message, first if "No Mermaid diagram" in message else None)


def _move_to_text(source: str, line: int, column: int) -> tuple[int, int]:
    """An end of input is told as the empty line after it. Its author looks for the last thing that was written."""
    lines = source.split("\n")
    while line > 1 and line <= len(lines) and not lines[line - 1].strip():
        line -= 1
        column = len(lines[line - 1]) + 1
    return line, column
