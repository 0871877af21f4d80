"""SVG made safe, as a picture for a page, a PNG or a PDF."""

from typing import Any

from pressroom.renderers import Engine, Notice, Rendered
from pressroom.renderers.svg import convert as svgdraw
from pressroom.renderers.svg import finish
from pressroom.renderers.svg.cleaner import clean_svg

HTML_LEFT_OUT = Notice("html_left_out", "text in <foreignObject> is HTML, which only an SVG can carry; use <text>")


class Svg(Engine):
    name = "svg"
    title = "SVG"
    takes = "svg"
    makes = ("svg", "png", "pdf")
    sample = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60"><title>A sign</title>'
        '<rect width="120" height="60" rx="8" fill="#0a6"/><text x="40" y="37" fill="#fff">Hello</text></svg>'
    )
    Options = finish.PictureOptions
    packages = svgdraw.PACKAGES
    uses_fonts = True

    def render(self, source: str, output: str, options: Any) -> Rendered:
        drawn = clean_svg(
            finish.require_drawable(source), title=options.title, description=options.description, by_engine=False
        )
        notices = [HTML_LEFT_OUT] if drawn.has_html and output != "svg" else []
        return finish.finish_picture([drawn], output, options, self.limits, finish.id_prefix(source), *notices)
