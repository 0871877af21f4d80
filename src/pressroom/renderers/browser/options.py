"""What may be asked of a document that the browser prints or pictures."""

import re
from typing import Annotated, Literal

import msgspec

LENGTH = r"^\d{1,5}(\.\d{1,4})?(mm|cm|in|pt|px)$"

type Length = Annotated[str, msgspec.Meta(pattern=LENGTH, examples=["20mm", "8.5in"])]
type Template = Annotated[str, msgspec.Meta(max_length=100_000)]
type Words = Annotated[str, msgspec.Meta(max_length=1_000)]

PAPERS = {  # inches
    "A3": (11.693, 16.535),
    "A4": (8.268, 11.693),
    "A5": (5.827, 8.268),
    "Letter": (8.5, 11.0),
    "Legal": (8.5, 14.0),
}
PER_INCH = {"mm": 25.4, "cm": 2.54, "in": 1.0, "pt": 72.0, "px": 96.0}
LARGEST = 200.0  # inches: what a PDF reader shows at most


def inches(length: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)([a-z]+)", length).groups()  # type: ignore[union-attr]
    return float(number) / PER_INCH[unit]


def pixels(length: str) -> int:
    return round(inches(length) * PER_INCH["px"])


class DocumentOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`width` and `height` are the paper's for a PDF, the window's for a picture.

    A header or footer is plain markup; {page}, {pages}, {title} and {date} are filled in. The date is the one that is given
    here, never today's: the same source must give the same document tomorrow.
    """

    page: Literal["A3", "A4", "A5", "Letter", "Legal"] = "A4"
    width: Length | None = None
    height: Length | None = None
    landscape: bool = False
    margin_top: Length = "20mm"
    margin_right: Length = "15mm"
    margin_bottom: Length = "20mm"
    margin_left: Length = "15mm"
    css_page_size: bool = False  # let the document's own @page size decide
    header: Template = ""
    footer: Template = ""
    page_numbers: bool = False
    date: Words = ""
    background: bool = True
    scale: Annotated[float, msgspec.Meta(ge=0.1, le=4.0)] = 1.0
    outline: bool = True
    tagged: bool = True
    title: Words = ""
    lang: Annotated[str, msgspec.Meta(pattern=r"^([A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*)?$", max_length=64)] = ""
    javascript: bool = False
    media: Literal["print", "screen"] | None = None  # the one that suits the output
    full_page: bool = True

    def __post_init__(self) -> None:
        width, height = self.paper
        if not (0 < width <= LARGEST and 0 < height <= LARGEST):
            raise ValueError(f"a page must be between 0 and {LARGEST:g} inches wide and high")
        if inches(self.margin_left) + inches(self.margin_right) >= width:
            raise ValueError("the margins leave no room across the page")
        if inches(self.margin_top) + inches(self.margin_bottom) >= height:
            raise ValueError("the margins leave no room down the page")

    @property
    def paper(self) -> tuple[float, float]:
        """Width and height in inches, turned if it lies on its side."""
        width, height = PAPERS[self.page]
        width = inches(self.width) if self.width else width
        height = inches(self.height) if self.height else height
        return (height, width) if self.landscape else (width, height)
