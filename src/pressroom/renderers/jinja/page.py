"""The page around what a template made: its styles in the head, and a minimal page where the template made none."""

import html
import re
from collections.abc import Sequence

from pressroom.errors import SourceInvalid

_IS_PAGE = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_END_OF_HEAD = re.compile(r"</head\s*>", re.IGNORECASE)
_AFTER = re.compile(r"<head\b[^<>]*>|<html\b[^<>]*>|<!doctype\b[^<>]*>", re.IGNORECASE)
_END_OF_STYLE = re.compile(r"</\s*style", re.IGNORECASE)
_HEADING = re.compile(r"<h1\b[^<>]*>", re.IGNORECASE)
_END_OF_HEADING = re.compile(r"</h1\b", re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^<>]*>([^<]*)</title", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
# What HTML cannot hold, and UTF-8 cannot either.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


def style_element(styles: Sequence[str]) -> str:
    for number, style in enumerate(styles, 1):
        if _END_OF_STYLE.search(style):
            raise SourceInvalid(f"style {number} of {len(styles)} contains </style>, which would end it")
    return "<style>\n{}\n</style>\n".format("\n".join(styles)) if styles else ""


def finish_page(body: str, style: str, *, lang: str, direction: str, title: str) -> tuple[str, str]:
    """The page and its title."""
    body = _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", body)
    if not _IS_PAGE.search(body):
        title = title or _first_heading(body)
        turned = ' dir="rtl"' if direction == "rtl" else ""
        head = f'<meta charset="utf-8">\n<title>{html.escape(title or "Untitled")}</title>\n{style}'
        start = f'<!DOCTYPE html>\n<html lang="{html.escape(lang)}"{turned}>\n<head>\n{head}</head>\n<body>\n'
        page = f"{start}{body}\n</body>\n</html>\n"
        return page, title
    named = _TITLE.search(body)
    title = title or (_text_of(named[1]) if named else "")
    if not style:
        return body, title
    if end := _END_OF_HEAD.search(body):
        return body[: end.start()] + style + body[end.start() :], title
    begins = max(_AFTER.finditer(body), key=lambda found: _rank(found[0]), default=None)
    place = begins.end() if begins else 0
    return body[:place] + style + body[place:], title


def _rank(tag: str) -> int:
    return ("<!d", "<ht", "<he").index(tag[:3].lower())


def _first_heading(body: str) -> str:
    begins = _HEADING.search(body)
    ends = _END_OF_HEADING.search(body, begins.end()) if begins else None
    return _text_of(body[begins.end() : ends.start()]) if begins and ends else ""


def _text_of(markup: str) -> str:
    return html.unescape(_TAG.sub("", markup)).strip()[:1_000]
