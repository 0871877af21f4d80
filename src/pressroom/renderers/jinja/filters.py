"""What templates can do with data, for one render: formats, strings, Markdown, QR codes and bar codes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import segno
from jinja2.exceptions import FilterArgumentError
from markupsafe import Markup, escape

from pressroom.errors import PressroomError, SourceInvalid
from pressroom.renderers import Notice
from pressroom.renderers.jinja.barcode import barcode_svg
from pressroom.renderers.jinja.formatting import LocaleFilters, find_locale
from pressroom.renderers.jinja.strings import Strings
from pressroom.renderers.markdown.engine import DIAGRAM_MARK, Markdown, MarkdownOptions, diagram_mark

if TYPE_CHECKING:
    from pressroom.renderers.jinja.engine import JinjaOptions

MOST_NOTICES = 50
_CORRECTION = ("L", "M", "Q", "H")


class RenderFilters:
    def __init__(self, options: "JinjaOptions", markdown: Markdown, markdown_options: MarkdownOptions) -> None:
        locale = find_locale(options.lang)
        if locale is None:
            raise SourceInvalid(f"option lang: CLDR knows no language {options.lang!r}")
        self.locale = locale
        self._formats = LocaleFilters(locale, options.currency, options.timezone)
        self._markdown = markdown
        self._markdown_options = markdown_options
        self.strings = Strings(options.strings, options.lang, self._formats.plural_category)
        self.diagrams: list[dict[str, Any]] = []
        self.notices: list[Notice] = []

    def filters(self) -> dict[str, Callable[..., Any]]:
        return self._formats.filters() | {
            "markdown": self.markdown,
            "nl2br": nl2br,
            "qr": qr,
            "barcode": barcode,
            "safe": self.safe,
        }

    def markdown(self, value: Any) -> Markup:
        """As safe as a page of the Markdown engine: it is the same code. Their own engines draw the diagrams, at marks."""
        try:
            rendered = self._markdown.render(_text(value), "html", self._markdown_options)
        except PressroomError as error:
            raise FilterArgumentError(f"markdown: {error}") from None
        first = len(self.diagrams)
        self.diagrams += [
            {"language": diagram["language"], "source": diagram["source"]} for diagram in rendered.details.get("diagrams", ())
        ]
        self.notices += [
            Notice(notice.code, notice.message) for notice in rendered.warnings[: MOST_NOTICES - len(self.notices)]
        ]
        body = rendered.data.decode()
        if len(self.diagrams) > first:
            numbers = iter(range(first, len(self.diagrams)))
            body = DIAGRAM_MARK.sub(lambda _: diagram_mark(next(numbers)), body)
        return Markup(body)  # noqa: S704 - cleaned by the engine

    def safe(self, value: Any) -> Markup:
        """What the template itself made stays; text of the data keeps its formatting and loses what could do harm."""
        return value if isinstance(value, Markup) else Markup(self._markdown.clean(_text(value)))  # noqa: S704


def nl2br(value: Any) -> Markup:
    text = escape(_text(value) if not hasattr(value, "__html__") else value)
    return Markup("<br>\n").join(Markup(line) for line in str(text).splitlines())  # noqa: S704 - the whole was escaped


def qr(value: Any, scale: float = 4, correction: str = "M", border: int = 4) -> Markup:
    text = _text(value)
    if correction not in _CORRECTION:
        raise FilterArgumentError("qr: correction is one of L, M, Q, H")
    _check_size("qr", "scale", scale, 50)
    _check_size("qr", "border", border, 50, least=0)
    try:
        code = segno.make(text, error=correction, micro=False, boost_error=False)
    except ValueError as reason:
        raise FilterArgumentError(f"qr: {reason}") from None
    return Markup(  # noqa: S704 - segno's own markup, and it escapes the title
        code.svg_inline(scale=scale, border=border, light="#fff", svgclass="qr", lineclass=None, title=text[:200])
    )


def barcode(value: Any, kind: str = "code128", height: int = 50, text: bool = True) -> Markup:
    _check_size("barcode", "height", height, 1_000)
    try:
        return Markup(barcode_svg(_text(value), str(kind), height=int(height), text=bool(text)))  # noqa: S704 - escaped there
    except ValueError as reason:
        raise FilterArgumentError(f"barcode: {reason}") from None


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise FilterArgumentError(f"{str(value)[:50]!r} is not a text")
    return str(value)


def _check_size(filter: str, name: str, size: Any, most: int, least: int = 1) -> None:
    if isinstance(size, bool) or not isinstance(size, int | float) or not least <= size <= most:
        raise FilterArgumentError(f"{filter}: {name} is a number from {least} to {most}")
