"""Mermaid as Mermaid itself draws it, in Chromium. Slower than merman by far; the measure of what is right."""

import base64
import html
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pressroom.errors import EngineMissing, TooLarge
from pressroom.renderers import MB, MEDIA_TYPES, Engine, Limits, Missing, Notice, Rendered, fonts
from pressroom.renderers.browser import assets as browser_assets
from pressroom.renderers.browser import binary as browser_binary
from pressroom.renderers.browser import pdf_bytes
from pressroom.renderers.browser.browser import Browser
from pressroom.renderers.browser.mermaid_errors import locate_error
from pressroom.renderers.browser.options import LARGEST, PER_INCH
from pressroom.renderers.browser.screenshot import set_viewport, take_screenshot
from pressroom.renderers.mermaid.engine import DARK_VARIABLES, REMOTE_IMAGE, images_left_out
from pressroom.renderers.node import installation as node_places
from pressroom.renderers.svg import finish
from pressroom.renderers.svg.cleaner import CleanSvg, clean_svg

_HERE = Path(__file__).parent
DRAW = (_HERE / "mermaid.js").read_text(encoding="utf-8")
BEFORE = (_HERE / "mermaid_before.js").read_text(encoding="utf-8")
BUNDLE = ("mermaid", "dist/mermaid.min.js")

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
HEAD = f'<!DOCTYPE html><html lang="en"><head><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
PAGE = f"{HEAD}</head><body></body></html>"
FAMILY = f"{fonts.SANS}, Arial, Helvetica, sans-serif"
NO_TODAY = Notice("no_today", "the line that marks today is left out, so that the same source always gives the same picture")

# In the place of pictures from elsewhere: a transparent pixel.
NO_PICTURE = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="

# What a diagram may not set for itself.
LOCKED = (
    "secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "suppressErrorRendering", "dompurifyConfig",
    "themeCSS", "fontFamily", "altFontFamily", "deterministicIds", "deterministicIDSeed", "handDrawnSeed", "legacyMathML",
    "forceLegacyMathML", "arrowMarkerAbsolute", "logLevel", "htmlLabels",
)  # fmt: skip
MAX_TEXT = 200_000  # characters; four times what Mermaid allows itself
MAX_EDGES = 2_000


class MermaidBrowserOptions(finish.ThemedOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """palette  The colours of the light theme. A source that names its own theme keeps it."""

    palette: Literal["default", "neutral", "forest", "base"] = "default"
    look: Literal["classic", "neo", "handDrawn"] = "classic"


class MermaidBrowser(Engine):
    name = "mermaid-browser"
    title = "Mermaid, drawn by Chromium"
    takes = "mermaid"
    makes = ("svg", "png", "pdf")
    sample = "flowchart LR\n  A[Source] --> B[Document]"
    Options = MermaidBrowserOptions
    limits = Limits(memory=2048 * MB)

    def __init__(self, browser: Browser | None = None) -> None:
        self._browser = browser or Browser()
        self._prepared_for: int | None = None

    @classmethod
    def version(cls) -> str:
        mermaid = node_places.package_version("mermaid")
        return f"mermaid {mermaid}, {browser_binary.version()}, {fonts.fonts_version()}, edition {cls.edition}"

    @classmethod
    def missing(cls) -> Missing | None:
        return browser_binary.missing() or browser_assets.missing_bundle(*BUNDLE)

    @classmethod
    def reads(cls) -> Sequence[Path]:
        bundle = browser_assets.find_bundle(*BUNDLE)
        return (*browser_binary.readable_paths(), *((bundle.parents[1],) if bundle else ()))

    @classmethod
    def writes(cls) -> Sequence[Path]:
        return browser_binary.writable_paths()

    @classmethod
    def environment(cls) -> dict[str, str]:
        return node_places.node_environment() | browser_binary.chromium_environment()

    def render(self, source: str, output: str, options: MermaidBrowserOptions) -> Rendered:
        source = finish.require_drawable(source).encode(errors="replace").decode()  # half of a surrogate pair cannot be sent
        if len(source) > MAX_TEXT:
            raise TooLarge(f"the diagram has {len(source):,} characters; the limit is {MAX_TEXT:,}")
        label = finish.id_prefix(source)
        left_out = images_left_out(source)
        source = REMOTE_IMAGE.sub(_note_removed_image, source)
        drawn = [self._draw(source, f"{label}{shade[0]}", shade, options) for shade in finish.themes_to_draw(output, options)]
        pictures = [clean_svg(one["svg"], title=options.title, description=options.description) for one in drawn]
        more = [*left_out, *([NO_TODAY] if drawn[0]["today"] else [])]
        if output == "svg":
            return finish.finish_picture(pictures, output, options, self.limits, label, *more)
        data = self._picture(pictures[0], output, options, label)
        title = options.title or pictures[0].title
        notices = [*pictures[0].notices, *more, *([] if title else [finish.NO_TITLE])]
        details = {"width": round(pictures[0].width, 3), "height": round(pictures[0].height, 3), "title": title}
        return Rendered(finish.check_output_size(data, self.limits), MEDIA_TYPES[output], notices, details)

    def close(self) -> None:
        self._browser.close()

    def _draw(self, source: str, id: str, shade: str, options: MermaidBrowserOptions) -> dict[str, Any]:
        with self._browser.shared_page(self.limits.seconds) as page:
            if self._prepared_for != self._browser.pid:
                page.add_startup_script(_load_scripts())
                page.reset()
                self._prepared_for = self._browser.pid
            page.wait_until_reset()
            page.show(PAGE)
            result: dict[str, Any] = page.run(DRAW, source, id, _configuration(shade, options))
            # The next diagram gets a new world, made between two renders: Mermaid takes 200 ms to load.
            page.reset()
        if "error" in result:
            raise _translate_error(source, result)
        return result

    def _picture(self, drawing: CleanSvg, output: str, options: MermaidBrowserOptions, label: str) -> bytes:
        """By the browser as well: nothing else draws labels that are HTML. As an image, the SVG can neither load nor run."""
        width, height = drawing.width, drawing.height
        scale = finish.png_scale(width, height, options, self.limits) if output == "png" else 1.0
        svg = drawing.to_svg(label=label, background=finish.background_color(output, options))
        with self._browser.page(self.limits.seconds) as page:
            page.show(_as_image(svg, width, height, options.title or drawing.title or ""))
            if output == "png":
                set_viewport(page, self.limits, width, height, scale)
                return take_screenshot(page, self.limits, width, height, scale)
            return pdf_bytes.make_deterministic(
                page.stream(
                    "Page.printToPDF",
                    self.limits.output,
                    paperWidth=min(width / PER_INCH["px"], LARGEST),
                    paperHeight=min(height / PER_INCH["px"], LARGEST),
                    **dict.fromkeys(("marginTop", "marginRight", "marginBottom", "marginLeft"), 0),
                    pageRanges="1",
                    printBackground=True,
                    generateTaggedPDF=True,
                )
            )


def _note_removed_image(found: re.Match[str]) -> str:
    """The same, with nothing to fetch. What stands without quotes gets them: there is a comma in what takes its place."""
    before = found[0].removesuffix(found["url"])
    return before + (NO_PICTURE if before.endswith(("'", '"')) else f'"{NO_PICTURE}"')


def _configuration(shade: str, options: MermaidBrowserOptions) -> dict[str, Any]:
    return {
        "startOnLoad": False,
        "securityLevel": "strict",
        "secure": LOCKED,
        "suppressErrorRendering": True,
        "deterministicIds": True,
        "deterministicIDSeed": "pressroom",
        "handDrawnSeed": 1,
        "htmlLabels": True,
        "maxTextSize": MAX_TEXT + 1,
        "maxEdges": MAX_EDGES,
        "theme": "dark" if shade == "dark" else options.palette,
        "look": options.look,
        "fontFamily": FAMILY,
        "themeVariables": {"fontFamily": FAMILY} | (DARK_VARIABLES if shade == "dark" else {}),
        "logLevel": "fatal",
    }


def _translate_error(source: str, result: dict[str, Any]) -> Exception:
    message = result["error"]
    if "limit" in message.lower() and "exceeded" in message.lower():
        return TooLarge(f"the diagram has more than {MAX_EDGES:,} edges")
    return locate_error(source, message, result["line"], result["column"])


def _as_image(svg: str, width: float, height: float, alt: str) -> str:
    data = base64.b64encode(svg.encode()).decode()
    fit = min(1.0, LARGEST * PER_INCH["px"] / max(width, height))
    size = f'width="{width * fit:g}" height="{height * fit:g}"'
    return (
        f"{HEAD}<title>{html.escape(alt)}</title><style>html, body {{ margin: 0 }} img {{ display: block }}</style></head>"
        f'<body><img {size} alt="{html.escape(alt)}" src="data:image/svg+xml;base64,{data}"></body></html>'
    )


def _load_scripts() -> str:
    bundle = browser_assets.find_bundle(*BUNDLE)
    if bundle is None:
        raise EngineMissing(f"the npm package mermaid is not installed; {node_places.GET_PACKAGES}")
    return _join_scripts(bundle, bundle.stat().st_mtime_ns)


@cache
def _join_scripts(bundle: Path, _changed: int) -> str:
    return f"{BEFORE}\n{bundle.read_text(encoding='utf-8')}\n;globalThis.mermaid = mermaid; 0"
