"""The size of a page as a reader sees it, after cropping and rotation, and its place in the coordinates of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name

from pressroom.renderers.pdf.destinations import Destination, finite_number

type Box = tuple[float, float, float, float]

_MAX_TREE_DEPTH = 50
_LETTER = (0.0, 0.0, 612.0, 792.0)


@dataclass(frozen=True)
class ShownPage:
    """A page as a reader sees it: its size after rotation in points, and where that lies in its own coordinates."""

    width: float
    height: float
    box: tuple[float, float, float, float]
    rotation: int
    unit: float

    @classmethod
    def of(cls, page: pikepdf.Page) -> "ShownPage":
        left, bottom, right, top = crop_box(page)
        rotation, unit = rotation_of(page), _unit_of(page)
        width, height = (right - left) * unit, (top - bottom) * unit
        if rotation in (90, 270):
            width, height = height, width
        return cls(width, height, (left, bottom, right, top), rotation, unit)

    def matrix_for(self, placed: Sequence[float]) -> tuple[float, ...]:
        """A placement on the page as it is seen, in coordinates of the page itself."""
        left, bottom, right, top = self.box
        scale = 1 / self.unit
        turned = {
            0: (scale, 0.0, 0.0, scale, left, bottom),
            90: (0.0, scale, -scale, 0.0, right, bottom),
            180: (-scale, 0.0, 0.0, -scale, right, top),
            270: (0.0, -scale, scale, 0.0, left, top),
        }[self.rotation]
        a, b, c, d, e, f = placed
        g, h, i, j, k, m = turned
        return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def crop_box(page: pikepdf.Page) -> Box:
    """What is shown of a page: the crop box within the media box, its corners in order."""
    media = _box(inherited(page, Name.MediaBox)) or _LETTER
    crop = _box(inherited(page, Name.CropBox)) or media
    left, bottom = max(crop[0], media[0]), max(crop[1], media[1])
    right, top = min(crop[2], media[2]), min(crop[3], media[3])
    return (left, bottom, right, top) if left < right and bottom < top else media


def inherited(page: pikepdf.Page, key: Name) -> Any:
    """What a page says itself, or else what the part of the tree that it is in says."""
    holder: Any = page.obj
    for _ in range(_MAX_TREE_DEPTH):
        if not isinstance(holder, Dictionary) or key in holder:
            break
        holder = holder.get(Name.Parent)
    return holder.get(key) if isinstance(holder, Dictionary) else None


def rotation_of(page: pikepdf.Page) -> int:
    rotation = finite_number(inherited(page, Name.Rotate))
    return int(rotation) % 360 if rotation is not None and rotation % 90 == 0 else 0


def top_of(pages: Sequence[pikepdf.Page], index: int) -> Destination:
    """The upper left corner of a page as it is seen, at the magnification that the reader has."""
    left, bottom, right, top = crop_box(pages[index])
    corner = {0: (left, top), 90: (left, bottom), 180: (right, bottom), 270: (right, top)}[rotation_of(pages[index])]
    return Destination(index, ("/XYZ", *corner, None))


def _unit_of(page: pikepdf.Page) -> float:
    unit = finite_number(page.obj.get(Name.UserUnit))
    return unit if unit is not None and 0 < unit < 100_000 else 1.0


def _box(value: Any) -> Box | None:
    numbers = [finite_number(one) for one in value] if isinstance(value, Array) and len(value) == 4 else [None]
    if any(one is None for one in numbers):
        return None
    x0, y0, x1, y1 = (one for one in numbers if one is not None)
    found = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    return found if found[0] < found[2] and found[1] < found[3] else None
