"""Mermaid, drawn without a browser."""

import importlib.util
import re
from dataclasses import replace
from typing import Annotated, Any, Literal, Protocol

import msgspec
from msgspec import Meta

from pressroom.renderers import Engine, Notice, Rendered, fonts
from pressroom.renderers.source_errors import line_and_column
from pressroom.renderers.svg import convert as svgdraw
from pressroom.renderers.svg import finish
from pressroom.renderers.svg.cleaner import CleanSvg, clean_svg

# Where merman has no wheel, mmdr draws with the same core, and knows neither our fonts nor the line of a mistake.
PACKAGE = "merman" if importlib.util.find_spec("merman") or not importlib.util.find_spec("mmdr") else "mmdr"

# Arial has the same widths, for those who open the SVG where Liberation is not installed.
FAMILY = f"{fonts.SANS}, Arial, Helvetica, sans-serif"

# A title is drawn, but merman names the picture only after accTitle. In a flowchart `title` may well be a node.
TITLE = re.compile(r"^[ \t]*(?:pie[ \t]+(?:showData[ \t]+)?)?title:?[ \t]+(?P<text>[^\n]+?)[ \t]*$", re.MULTILINE)
GRAPHS = re.compile(r"^[ \t]*(?:flowchart|graph|classDiagram|stateDiagram|erDiagram|mindmap|block|kanban)\b", re.MULTILINE)
FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n(?P<text>.*?)\n---[ \t]*\n", re.DOTALL)

REMOTE_IMAGE = re.compile(r"\bimg:[ \t]*[\"']?(?!data:)(?P<url>[^\s\"',}]+)")
TODAY_LINE = re.compile(r'<g class="today">.*?</g>', re.DOTALL)
NO_TODAY = Notice("no_today", "the line that marks today is left out, so that the same source always gives the same picture")

PALETTES = {"light": "default", "dark": "dark"}

# Mermaid's dark theme draws slices and branches in near black on black. These keep white text readable (4.5:1 or better).
ON_DARK = ("#3f6fa8", "#7a5195", "#3d7a4c", "#9a5a2a", "#27777a", "#9c3f5f", "#6b6a2a", "#5a5aa8")
DARK_VARIABLES = {
    "pieStrokeColor": "#c9d1d9",
    "pieOuterStrokeColor": "#c9d1d9",
    "pieSectionTextColor": "#ffffff",
    **{f"pie{n}": color for n, color in enumerate(ON_DARK, 1)},
    **{f"cScale{n}": color for n, color in enumerate(ON_DARK)},
    **{f"cScaleLabel{n}": "#ffffff" for n in range(len(ON_DARK))},
    "git0": ON_DARK[0],
    "gitBranchLabel0": "#ffffff",
}

type Variable = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9]{0,40}$")]
type Value = Annotated[str, Meta(pattern=r"^[#A-Za-z0-9 .%-]{1,40}$")]


class MermaidOptions(finish.ThemedOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of Mermaid. What the source itself says in a directive or in its front matter goes before them.

    look       `handDrawn` sketches, and draws the same sketch every time.
    palette    Mermaid's own name for a theme, in place of the one that `theme` chooses.
    curve      How the edges of a flowchart bend.
    labels     `text` draws labels as text alone, for programs that show SVG but no HTML inside it. A PNG or PDF always does.
    wrap       Whether long messages and notes of a sequence diagram are broken into lines.
    variables  Mermaid's themeVariables, such as {"primaryColor": "#ffd"}.
    """

    look: Literal["classic", "neo", "handDrawn"] = "classic"
    palette: Literal["default", "neutral", "forest", "base", "dark", "neo", "neo-dark", "redux", "redux-dark"] | None = None
    curve: Literal["basis", "linear", "cardinal", "monotoneX", "monotoneY", "natural", "step", "rounded"] | None = None
    labels: Literal["html", "text"] = "html"
    wrap: bool = False
    variables: Annotated[dict[Variable, Value], Meta(max_length=50)] = msgspec.field(default_factory=dict)


class Drawer(Protocol):
    def draw(self, source: str, config: dict[str, Any], label: str, *, plain: bool) -> str:
        """An SVG whose ids begin with `label`. If it must be `plain`, no label of it is HTML."""
        ...


class Mermaid(Engine):
    name = "mermaid"
    title = "Mermaid"
    takes = "mermaid"
    makes = ("svg", "png", "pdf")
    sample = "flowchart LR\n  accTitle: How a job travels\n  source[Source] --> press{Press} --> artifact[Artifact]\n"
    Options = MermaidOptions
    packages = (PACKAGE, *svgdraw.PACKAGES)
    uses_fonts = True

    def __init__(self) -> None:
        self._drawer = _drawer(self.limits.seconds)

    def render(self, source: str, output: str, options: Any) -> Rendered:
        label = finish.id_prefix(finish.require_drawable(source))
        plain = output != "svg" or options.labels == "text"
        drawings = [
            self._drawer.draw(source, configuration(options, shade), f"{label}-{shade[0]}", plain=plain)
            for shade in finish.themes_to_draw(output, options)
        ]
        notices = [*images_left_out(source), *([NO_TODAY] if TODAY_LINE.search(drawings[0]) else [])]
        pictures = [self._clean_drawing(drawing, source, options) for drawing in drawings]
        return finish.finish_picture(pictures, output, options, self.limits, label, *notices)

    def _clean_drawing(self, drawing: str, source: str, options: MermaidOptions) -> CleanSvg:
        found = clean_svg(TODAY_LINE.sub("", drawing), title=options.title, description=options.description)
        others = tuple(notice for notice in found.notices if not notice.message.startswith("an image"))
        return replace(found, title=found.title or title_of(source), notices=others)


def title_of(source: str) -> str | None:
    front = FRONT_MATTER.match(source)
    found = (front and TITLE.search(front["text"])) or (None if GRAPHS.search(source) else TITLE.search(source))
    return found["text"].strip("\"'") if found else None


def images_left_out(source: str) -> list[Notice]:
    """Told from the source, which knows the line, and because a picture without HTML labels has lost them already."""
    return [
        Notice(
            "blocked_fetch",
            f"an image was left out because it is not embedded: {found['url'][:100]}",
            *line_and_column(source, found.start()),
        )
        for found in REMOTE_IMAGE.finditer(source)
    ][:20]


def configuration(options: MermaidOptions, shade: str) -> dict[str, Any]:
    """Mermaid's configuration, made from what may be chosen and from nothing else."""
    config: dict[str, Any] = {
        "theme": options.palette or PALETTES[shade],
        "look": options.look,
        "handDrawnSeed": 1,
        "deterministicIds": True,
        "fontFamily": FAMILY,
        "themeVariables": {"fontFamily": FAMILY} | (DARK_VARIABLES if shade == "dark" and not options.palette else {}),
        "flowchart": {},
        "sequence": {"wrap": options.wrap},
    }
    config["themeVariables"] |= options.variables
    if options.curve:
        config["flowchart"]["curve"] = options.curve
    return config


def _drawer(seconds: float) -> Drawer:
    if PACKAGE == "mmdr":
        from pressroom.renderers.mermaid.mmdr import Mmdr

        return Mmdr()
    from pressroom.renderers.mermaid.merman import Merman

    return Merman(seconds)
