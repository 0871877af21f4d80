"""The fields of a form, as options of the browser that prints. What cannot be honoured is refused by its name."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from pressroom.api.problems import HttpError

type ReadField = Callable[[str], dict[str, Any]]  # the text of a field to options; raises ValueError with what would be right

# What Gotenberg does where a field is left out.
DEFAULTS: Mapping[str, Any] = {
    "width": "8.5in",
    "height": "11in",
    "margin_top": "0.39in",
    "margin_bottom": "0.39in",
    "margin_left": "0.39in",
    "margin_right": "0.39in",
    "background": False,
    "outline": False,
    "tagged": False,
    "javascript": True,
}

_LENGTH = re.compile(r"(\d{1,5}(?:\.\d{1,10})?|\.\d{1,10})(pt|px|in|mm|cm|pc)?")
_PER_INCH = {"pt": 72.0, "px": 96.0, "in": 1.0, "mm": 25.4, "cm": 2.54, "pc": 6.0}
_FLAGS = {"true": True, "false": False}


def _length(option: str) -> ReadField:
    def read(text: str) -> dict[str, Any]:
        found = _LENGTH.fullmatch(text.strip())
        if found is None:
            raise ValueError("a length in inches, or with a unit: pt, px, in, mm, cm or pc")
        return {option: f"{float(found[1]) / _PER_INCH[found[2] or 'in']:.4f}in"}

    return read


def _flag(option: str) -> ReadField:
    return lambda text: {option: _read_flag(text)}


def _read_flag(text: str) -> bool:
    if text not in _FLAGS:
        raise ValueError("true or false")
    return _FLAGS[text]


def _scale(text: str) -> dict[str, Any]:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.1 <= value <= 2.0:
        raise ValueError("a number between 0.1 and 2")
    return {"scale": value}


def _media(text: str) -> dict[str, Any]:
    if text not in ("print", "screen"):
        raise ValueError("print or screen")
    return {"media": text}


def _title(text: str) -> dict[str, Any]:
    """Of the document's metadata a printer writes the title, and nothing that differs from day to day."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or told.keys() - {"Title"} or not isinstance(told.get("Title", ""), str):
        raise ValueError('an object with "Title", a text; other metadata is not written')
    return {"title": told["Title"]} if "Title" in told else {}


def _only(*values: str) -> ReadField:
    """For a field that cannot be honoured, but whose default some clients send."""

    def read(text: str) -> dict[str, Any]:
        if text not in values:
            raise ValueError(f"{' or '.join(repr(value) for value in values)}: anything else is not supported here")
        return {}

    return read


def _nothing(_: str) -> dict[str, Any]:
    """For a field about what is fetched: nothing is."""
    return {}


PRINT_FIELDS: Mapping[str, ReadField] = {
    "paperWidth": _length("width"),
    "paperHeight": _length("height"),
    "marginTop": _length("margin_top"),
    "marginBottom": _length("margin_bottom"),
    "marginLeft": _length("margin_left"),
    "marginRight": _length("margin_right"),
    "landscape": _flag("landscape"),
    "printBackground": _flag("background"),
    "preferCssPageSize": _flag("css_page_size"),
    "scale": _scale,
    "generateDocumentOutline": _flag("outline"),
    "generateTaggedPdf": _flag("tagged"),
    "emulatedMediaType": _media,
    "metadata": _title,
    "singlePage": _only("false"),
    "omitBackground": _only("false"),
    "nativePageRanges": _only(""),
    "failOnConsoleExceptions": _only("false"),
    "failOnResourceLoadingFailed": _only("false"),
    "pdfua": _only("false"),
    "flatten": _only("false"),
    "skipNetworkIdleEvent": _nothing,
    "skipNetworkAlmostIdleEvent": _nothing,
    "failOnHttpStatusCodes": _nothing,
    "failOnResourceHttpStatusCodes": _nothing,
    "ignoreResourceHttpStatusDomains": _nothing,
}

MERGE_FIELDS: Mapping[str, ReadField] = {
    "metadata": _title,
    "autoIndexBookmarks": _nothing,  # the bookmarks of the parts are always kept, each under the name of its part
    "flatten": _only("false"),
    "pdfua": _only("false"),
}


def read_fields(given: Mapping[str, str], known: Mapping[str, ReadField]) -> dict[str, Any]:
    """Raises HttpError 400 that names the field."""
    options: dict[str, Any] = {}
    for name, text in given.items():
        if name not in known:
            raise HttpError(
                400, "unsupported_field", f"{name[:100]!r} is not supported here; the fields are {', '.join(sorted(known))}"
            )
        try:
            options |= known[name](text)
        except ValueError as reason:
            raise HttpError(400, "invalid_field", f"{name} is {reason}, not {text[:100]!r}") from None
    return options
