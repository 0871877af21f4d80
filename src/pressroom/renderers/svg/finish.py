"""What the diagram engines have in common: their options, and the way from a clean SVG to each output."""

import hashlib
import re
from dataclasses import replace
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import MEDIA_TYPES, Limits, Notice, Rendered
from pressroom.renderers.source_errors import line_and_column, source_error
from pressroom.renderers.svg import convert as svgdraw
from pressroom.renderers.svg import size as svgsize
from pressroom.renderers.svg.cleaner import CleanSvg, write_attributes

PAPER = {"light": "#ffffff", "dark": "#0f1419"}
NO_TITLE = Notice("no_title", "a picture without a title says nothing to a screen reader; give the option `title`")

UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

type Text = Annotated[str, Meta(max_length=1000)]
type Color = Annotated[str, Meta(pattern=r"^(transparent|#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})|[a-zA-Z]{3,20})$")]


class PictureOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of every picture.

    title        What the picture shows, for those who cannot see it. The source may carry it too; this one wins.
    description  The same at length.
    background   A CSS colour name, a hexadecimal colour or `transparent`. By default an SVG has none, and PNG and PDF get
                 paper that suits the theme.
    scale        Pixels of a PNG for one pixel of the drawing.
    width        The width of a PNG in pixels; the height follows. It takes the place of `scale`.
    """

    title: Text | None = None
    description: Text | None = None
    background: Color | None = None
    scale: Annotated[float, Meta(ge=0.1, le=8)] = 2.0
    width: Annotated[int, Meta(ge=1, le=16_384)] | None = None


class ThemedOptions(PictureOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """theme  `auto` is an SVG that follows its reader's preference; a PNG or a PDF cannot, and is light."""

    theme: Literal["light", "dark", "auto"] = "light"


def require_drawable(source: str) -> str:
    """The source, if there is one that can stand in an SVG: XML has no way to write most control characters."""
    if not source.strip():
        raise SourceInvalid("the source is empty")
    if found := UNWRITABLE.search(source):
        message = f"the character U+{ord(found[0]):04X} cannot be drawn"
        raise source_error(source.encode(errors="replace").decode(), message, *line_and_column(source, found.start()))
    return source


def id_prefix(source: str) -> str:
    """What the ids of a picture begin with, so that two pictures on one page do not share any."""
    return "p" + hashlib.sha256(source.encode(errors="replace")).hexdigest()[:8]


def themes_to_draw(output: str, options: ThemedOptions) -> tuple[Literal["light", "dark"], ...]:
    """The themes to draw for an output: one, or both for an SVG that follows its reader."""
    if options.theme == "auto":
        return ("light", "dark") if output == "svg" else ("light",)
    return (options.theme,)


def finish_picture(
    pictures: list[CleanSvg], output: str, options: PictureOptions, limits: Limits, label: str, *more: Notice
) -> Rendered:
    """`pictures` is one clean SVG, or the light one and the dark one."""
    first = pictures[0]
    title = options.title or first.title
    notices = [*first.notices, *more, *([] if title else [NO_TITLE])]
    data = _encode_picture(pictures, output, options, limits, label)
    details = {"width": round(first.width, 3), "height": round(first.height, 3), "title": title}
    return Rendered(check_output_size(data, limits), MEDIA_TYPES[output], notices, details)


def check_output_size(data: bytes, limits: Limits) -> bytes:
    if len(data) > limits.output:
        raise TooLarge(f"the picture has {len(data):,} bytes; the limit is {limits.output:,}")
    return data


def background_color(output: str, options: PictureOptions) -> str | None:
    """What lies behind a picture, or nothing."""
    if options.background is not None:
        return None if options.background == "transparent" else options.background
    return None if output == "svg" else PAPER["dark" if getattr(options, "theme", "light") == "dark" else "light"]


def png_scale(width: float, height: float, options: PictureOptions, limits: Limits) -> float:
    """How much larger than the drawing its PNG is. Raises TooLarge before a pixel of it exists."""
    scale = options.width / width if options.width else options.scale
    svgsize.raster_size(width, height, scale, limits)
    return scale


def _encode_picture(pictures: list[CleanSvg], output: str, options: PictureOptions, limits: Limits, label: str) -> bytes:
    first, backdrop = pictures[0], background_color(output, options)
    if len(pictures) > 1:
        return _combine_themes(*pictures, label=label, background=backdrop).encode()
    svg = first.to_svg(label=label, background=backdrop)
    match output:
        case "png":
            return svgdraw.to_png(svg, png_scale(first.width, first.height, options, limits))
        case "pdf":
            return svgdraw.to_pdf(svg)
        case _:
            return svg.encode()


def _combine_themes(light: CleanSvg, dark: CleanSvg, *, label: str, background: str | None) -> str:
    """Both in one file, of which a style shows one: the way that works for every engine, at twice the bytes."""
    style = (
        f"#{label}-dark{{display:none}}"
        f"@media (prefers-color-scheme:dark){{#{label}-light{{display:none}}#{label}-dark{{display:inline}}}}"
    )
    x, y, width, height = (f"{side:g}" for side in light.box)
    place = {"x": x, "y": y, "width": width, "height": height}
    both = "".join(
        f'<g id="{label}-{shade}"><svg {write_attributes(picture.root | place)}>{picture.body}</svg></g>'
        for shade, picture in (("light", light), ("dark", dark))
    )
    root = {name: light.root[name] for name in ("width", "height", "viewBox")}
    combined = replace(light, body=f"<style>{style}</style>{both}", root=root)
    return combined.to_svg(label=label, background=background)
