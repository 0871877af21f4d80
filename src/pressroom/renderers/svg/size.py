"""How large an SVG says it is, in CSS pixels, and whether that is a size we draw."""

import math
import re

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import Limits

type Box = tuple[float, float, float, float]

LENGTH = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([a-zA-Z]*|%)\s*")
PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6}
PIXELS |= {"em": 16.0, "rem": 16.0, "ex": 8.0}
REPLACED = (300.0, 150.0)  # what a browser makes of a picture that does not say
ABSURD = 1e6  # pixels: no drawing is that large, and arithmetic with it overflows somewhere


def parse_view_box(value: str | None) -> Box | None:
    if value is None or not value.strip():
        return None
    try:
        x, y, width, height = (float(part) for part in re.split(r"[\s,]+", value.strip()))
    except ValueError:
        raise SourceInvalid(f"viewBox={value[:60]!r} is not four numbers") from None
    if not all(map(math.isfinite, (x, y, width, height))) or width <= 0 or height <= 0:
        raise SourceInvalid(f"viewBox={value[:60]!r} has no area")
    return x, y, width, height


def picture_size(width: str | None, height: str | None, box: Box | None) -> tuple[float, float]:
    """A missing side follows the shape of the viewBox; without one, it is what a browser would take."""
    wide, high = _parse_length("width", width), _parse_length("height", height)
    shape = box[2:] if box else REPLACED
    if wide is None and high is None:
        wide, high = shape
    elif wide is None:
        wide = (high or 0) * shape[0] / shape[1]
    elif high is None:
        high = wide * shape[1] / shape[0]
    if max(wide, high or 0) > ABSURD:
        raise TooLarge(f"the picture is {wide:.4g} by {high:.4g} pixels; no side may be over {ABSURD:,.0f}")
    return wide, high or 0.0


def raster_size(width: float, height: float, scale: float, limits: Limits) -> tuple[int, int]:
    """The pixels that a picture of this size takes, known before any of them is paid for."""
    wide, high = max(1, math.ceil(width * scale - 1e-6)), max(1, math.ceil(height * scale - 1e-6))
    if max(wide, high) > limits.side:
        raise TooLarge(f"the picture would be {wide:,} by {high:,} pixels; a side may have {limits.side:,}")
    if wide * high > limits.pixels:
        raise TooLarge(f"the picture would have {wide * high:,} pixels ({wide:,} by {high:,}); the limit is {limits.pixels:,}")
    return wide, high


def _parse_length(name: str, value: str | None) -> float | None:
    if value is None or value.strip().lower() in ("", "auto"):
        return None
    found = LENGTH.fullmatch(value)
    if not found or (found[2] != "%" and found[2].lower() not in PIXELS):
        raise SourceInvalid(f"{name}={value[:60]!r} is not a length")
    if found[2] == "%":
        return None
    pixels = float(found[1]) * PIXELS[found[2].lower()]
    if not math.isfinite(pixels) or pixels <= 0:
        raise SourceInvalid(f"{name}={value[:60]!r} is not a positive length")
    return pixels
