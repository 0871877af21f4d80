"""Files that came with a page, put into it: a printer fetches nothing.

A file is found by the name under which it was sent. Pictures, fonts and style sheets become `data:` URLs. Scripts are written
into the page, because its policy runs no others.
"""

import base64
import re
from collections.abc import Callable, Mapping
from urllib.parse import unquote

from pressroom.errors import TooLarge

DEEPEST_IMPORT = 8  # style sheets that import style sheets

_MEDIA_TYPES = {
    "avif": "image/avif",
    "bmp": "image/bmp",
    "css": "text/css",
    "gif": "image/gif",
    "ico": "image/x-icon",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "otf": "font/otf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "ttf": "font/ttf",
    "webp": "image/webp",
    "woff": "font/woff",
    "woff2": "font/woff2",
}

# None of these looks past the next "<" or the next quotation mark.
_TAG = re.compile(r"<(img|image|use|link|script|source|video|audio|input|body|table|td|th)(?=[\s/])([^<>]*)>", re.IGNORECASE)
_ADDRESS = re.compile(
    r"""(?<![\w:-])(src|href|xlink:href|poster|background|srcset)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'<>]+)""", re.IGNORECASE
)
_STYLE_ATTRIBUTE = re.compile(r"""(?<![\w:-])style\s*=\s*(?:"[^"]*"|'[^']*')""", re.IGNORECASE)
_STYLE_ELEMENT = re.compile(r"<(/?)style\b", re.IGNORECASE)
_IN_CSS = re.compile(r"""url\(\s*("[^"]*"|'[^']*'|[^"'()\s]*)\s*\)|@import\s+("[^"]*"|'[^']*')""", re.IGNORECASE)


class AssetInliner:
    """For one page. `limit` is for the characters that are put into it."""

    def __init__(self, assets: Mapping[str, bytes], limit: int) -> None:
        self._assets = assets
        self._left = self._limit = limit

    def into_page(self, page: str) -> str:
        """Raises TooLarge."""
        if not self._assets:
            return page
        page = _TAG.sub(self._fill_tag, page)
        page = _STYLE_ATTRIBUTE.sub(lambda found: self._into_css(found[0], 0), page)
        return _each_style_sheet(page, lambda sheet: self._into_css(sheet, 0))

    def _fill_tag(self, tag: re.Match[str]) -> str:
        if tag[1].lower() != "script":
            return f"<{tag[1]}{_ADDRESS.sub(self._fill_address, tag[2])}>"
        address = next((found for found in _ADDRESS.finditer(tag[2]) if found[1].lower() == "src"), None)
        script = None if address is None else self._find(_unquoted(address[3]))
        if address is None or script is None:
            return tag[0]
        others = tag[2][: address.start()] + tag[2][address.end() :]
        text = re.sub(r"</(?=script)", r"<\\/", script.decode(errors="replace"), flags=re.IGNORECASE)
        return self._spend(f"<script{others}>{text}")

    def _fill_address(self, attribute: re.Match[str]) -> str:
        value = _unquoted(attribute[3])
        if attribute[1].lower() == "srcset":
            candidates = [one.strip().split(maxsplit=1) for one in value.split(",")]
            filled = [" ".join([self._data_url(one[0], 0) or one[0], *one[1:]]) for one in candidates if one]
            return f'{attribute[1]}="{", ".join(filled)}"'
        found = self._data_url(value, 0)
        return attribute[0] if found is None else f'{attribute[1]}="{found}"'

    def _into_css(self, sheet: str, depth: int) -> str:
        def fill(found: re.Match[str]) -> str:
            url = self._data_url(_unquoted(found[1] if found[1] is not None else found[2]), depth + 1)
            if url is None:
                return found[0]
            return f"url({url})" if found[1] is not None else f"@import url({url})"

        return _IN_CSS.sub(fill, sheet)

    def _data_url(self, address: str, depth: int) -> str | None:
        data = self._find(address)
        if data is None or depth > DEEPEST_IMPORT:
            return None
        path, _, fragment = address.partition("#")
        extension = path.partition("?")[0].rpartition(".")[2].lower()
        if extension == "css":
            data = self._into_css(data.decode(errors="replace"), depth).encode()
        media_type = _MEDIA_TYPES.get(extension, "application/octet-stream")
        url = self._spend(f"data:{media_type};base64,{base64.b64encode(data).decode()}")
        return f"{url}#{fragment}" if fragment else url

    def _find(self, address: str) -> bytes | None:
        path = address.strip().partition("#")[0].partition("?")[0]
        return self._assets.get(unquote(path).removeprefix("./"))

    def _spend(self, text: str) -> str:
        self._left -= len(text)
        if self._left < 0:
            raise TooLarge(f"the page with its files is too long: they may add {self._limit:,} bytes")
        return text


def _each_style_sheet(page: str, change: Callable[[str], str]) -> str:
    made, begin = [], 0
    is_inside = False
    for mark in _STYLE_ELEMENT.finditer(page):
        piece = page[begin : mark.start()]
        made.append(change(piece) if is_inside else piece)
        begin, is_inside = mark.start(), mark[1] == ""
    return "".join([*made, page[begin:]])


def _unquoted(value: str) -> str:
    return value[1:-1] if value[:1] in "\"'" and value[:1] else value
