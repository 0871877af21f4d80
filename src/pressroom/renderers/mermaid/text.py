"""Tells merman how much room a text takes in our fonts.

Its own measures are those of the font that a browser falls back to. With them labels come out about an eighth too narrow for
Liberation Sans, and are cut off or wrapped where they should not be.
"""

from collections.abc import Iterator
from typing import Any

import merman  # type: ignore[import-untyped]

from pressroom.renderers.fonts import textwidth

BOLD = frozenset({"bold", "bolder", "600", "700", "800", "900"})

Operation = merman.MermanTextMeasurementOperation
Kind = merman.MermanTextMeasurementResultKind

LENGTHS = frozenset(
    {
        Operation.COMPUTED_LENGTH,
        Operation.SIMPLE_B_BOX_WIDTH,
        Operation.RAW_B_BOX_WIDTH,
        Operation.TSPAN_B_BOX_WIDTH,
        Operation.WRAP_PROBE_B_BOX_WIDTH,
        Operation.BOUNDING_CLIENT_RECT_WIDTH,
        Operation.CANVAS_MEASURE_TEXT_WIDTH,
    }
)
EXTENTS = frozenset({Operation.B_BOX_X, Operation.B_BOX_X_WITH_ASCII_OVERHANG, Operation.TITLE_B_BOX_X})
METRICS = frozenset({Operation.MEASURE, Operation.MERMAID_CALCULATE_TEXT_DIMENSIONS})


class TextMeasurer(merman.MermanTextMeasurer):  # type: ignore[misc]  # merman is untyped
    """Answers the questions that are about width. For the others None lets merman answer itself."""

    def measure(self, request: Any) -> Any:
        operation = request.operation
        if operation in LENGTHS:
            return _measurement(Kind.LENGTH, length=_text_width(request, " ".join(request.text.split())))
        if operation in EXTENTS:
            half = _text_width(request, request.text) / 2
            return _measurement(Kind.HORIZONTAL_EXTENTS, bbox_left=half, bbox_right=half)
        if operation in METRICS:
            lines = request.text.split("\n")
            height = len(lines) * request.font_size * textwidth.ASCENT_AND_DESCENT
            return _measurement(Kind.METRICS, width=_max_line_width(request, lines), height=height, line_count=len(lines))
        if operation is Operation.WRAPPED:
            return _measure_wrapped(request, Kind.METRICS)
        if operation is Operation.WRAPPED_WITH_RAW_WIDTH:
            return _measure_wrapped(
                request, Kind.WRAPPED_WITH_RAW_WIDTH, raw_width=_max_line_width(request, request.text.split("\n"))
            )
        return None


def _measure_wrapped(request: Any, kind: Any, **more: float) -> Any:
    """A label in HTML that must wrap is as wide as it may be; one in SVG is as wide as its longest line."""
    lines = request.text.split("\n")
    width, limit = _max_line_width(request, lines), request.max_width
    if limit and width > limit and request.white_space is not merman.MermanTextWhiteSpace.NOWRAP:
        lines = [part for line in lines for part in _wrap_lines(request, line, limit)]
        width = _max_line_width(request, lines)
        if request.wrap_mode is merman.MermanTextWrapMode.HTML_LIKE:
            width = max(width, limit)
    return _measurement(kind, width=width, height=len(lines) * request.line_height, line_count=len(lines), **more)


def _wrap_lines(request: Any, text: str, limit: float) -> Iterator[str]:
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and _text_width(request, longer) > limit:
            yield line
            line = word
        else:
            line = longer
    yield line


def _max_line_width(request: Any, lines: list[str]) -> float:
    return max(_text_width(request, line) for line in lines)


def _text_width(request: Any, text: str) -> float:
    family = (request.font_family or "").lower()
    mono = "mono" in family or "courier" in family
    em = textwidth.text_width(text, bold=request.font_weight in BOLD, italic=request.font_style == "italic", mono=mono)
    return em * float(request.font_size) + len(text) * float(request.letter_spacing)


def _measurement(kind: Any, **values: Any) -> Any:
    nothing = {
        "width": 0.0,
        "height": 0.0,
        "length": 0.0,
        "line_count": 0,
        "bbox_left": None,
        "bbox_right": None,
        "raw_width": None,
    }
    return merman.MermanTextMeasureResult(result_kind=kind, **(nothing | values))
