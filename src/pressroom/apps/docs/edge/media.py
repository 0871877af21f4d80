"""Media types of a site's files, and which of them are worth compressing."""

import re

from pressroom.apps.docs.uploads import media_types

OCTET_STREAM = "application/octet-stream"
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+(; ?[\w-]+=[\w.-]+)*", re.ASCII)
_COMPRESSIBLE = re.compile(
    r"text/.*|application/(javascript|json|xml|wasm|manifest\+json|.*\+json|.*\+xml)|image/(svg\+xml|bmp)|font/(ttf|otf)"
)
PAGES = ("text/html", "application/xhtml+xml", "application/pdf")  # what search engines list


def media_type_of(path: str, stored: str) -> str:
    """What a browser is told. Text is UTF-8 unless it says otherwise."""
    if stored == OCTET_STREAM or not _MEDIA_TYPE.fullmatch(stored):
        stored = media_types.media_type_of(path)  # it may not have been known yet when the file was uploaded
    return f"{stored}; charset=utf-8" if stored.startswith("text/") and "charset" not in stored else stored


def is_compressible(media_type: str) -> bool:
    return _COMPRESSIBLE.fullmatch(media_type.partition(";")[0].lower()) is not None


def is_page(media_type: str) -> bool:
    return media_type.partition(";")[0].lower() in PAGES


def accepted_encodings(header: str) -> set[str]:
    """`gzip` and `br`, as far as an Accept-Encoding allows them."""
    accepted: set[str] = set()
    refused: set[str] = set()
    for part in header.split(",")[:20]:
        name, _, parameters = part.partition(";")
        is_refused = re.fullmatch(r"q=0(\.0{0,3})?", parameters.strip().lower()) is not None
        (refused if is_refused else accepted).add(name.strip().lower())
    both = {"gzip", "br"}
    return (accepted & both) | (both - refused if "*" in accepted else set())
