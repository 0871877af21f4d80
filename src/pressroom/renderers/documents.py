"""From a request to a document: which engines it takes, in which order, and how their work is put together.

Most requests are one engine's work. Markdown takes more: the diagrams in it are drawn by their own engines, each in its own
press, and a PDF is printed from the page that came out.
"""

import asyncio
import base64
import html
import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from pressroom.errors import InvalidArgument, PressroomError, SourceInvalid, TooLarge
from pressroom.renderers import Engine, Notice, Rendered, catalogue
from pressroom.renderers.box.presses import CallerPresses, Presses
from pressroom.renderers.markdown.engine import DIAGRAM_MARK, DIAGRAMS, Markdown, diagram_mark

MOST_DIAGRAMS = 200
PRINTERS = ("html", "html-browser")

_FENCE = re.compile(r"\n[ >\t*+\-\d.]*(?:```+|~~~+)[ \t]*([\w-]+)")  # a newline is found faster than the start of a line
_BOX = re.compile(r'<svg\b[^>]*?\bviewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"')


class Asked(msgspec.Struct, frozen=True):
    """What to render. `engine` may name another than the one that is used by default."""

    language: str
    output: str
    source: bytes
    options: Mapping[str, Any] = {}
    engine: str | None = None


type Draw = Callable[[Asked], Awaitable[Rendered]]


class Plan(NamedTuple):
    """The engine that reads the source, and the one that prints its page, if one does."""

    reader: type[Engine]
    output: str
    options: dict[str, Any]
    printer: type[Engine] | None = None
    printing: dict[str, Any] | None = None


def plan(asked: Asked) -> Plan:
    """Raises InvalidArgument for what nobody can make, before anything is begun."""
    language = catalogue.ALIASES.get(asked.language, asked.language)
    options = dict(asked.options)
    if language == Markdown.takes:
        if asked.output == "pdf":
            return _printed(asked, options)
        if asked.engine in PRINTERS:
            raise InvalidArgument(f"{asked.engine} prints; for Markdown it makes pdf, not {asked.output[:100]!r}")
    engine = catalogue.engine_for(language, asked.output) if asked.engine is None else catalogue.engine(asked.engine)
    if engine.takes != language:
        raise InvalidArgument(f"{engine.name} takes {engine.takes}, not {language[:100]!r}")
    if engine is Markdown and options.get("flavour", "full") == "full":
        options.setdefault("diagrams", True)
    return Plan(engine, asked.output, options)


def _printed(asked: Asked, options: dict[str, Any]) -> Plan:
    name = asked.engine or PRINTERS[0]
    if name not in PRINTERS:
        raise InvalidArgument(f"{name[:100]!r} does not print Markdown; {' and '.join(PRINTERS)} do")
    printer = catalogue.engine(name)
    printing = {
        field: options.pop(field) for field in printer.Options.__struct_fields__ if field in options and field != "title"
    }
    known = [*Markdown.Options.__struct_fields__, *printer.Options.__struct_fields__]
    if unknown := options.keys() - set(known):
        raise InvalidArgument(f"markdown: there is no option `{min(unknown)}`; there are {', '.join(dict.fromkeys(known))}")
    reading = {"diagrams": True, "theme": "light"} | options | {"page": True}
    return Plan(Markdown, "html", reading, printer, printing)


def engines_of(asked: Asked) -> dict[str, str]:
    """Every engine that has a part in it, with its version: part of the fingerprint. One that is missing counts as such."""
    made = plan(asked)
    engines = [made.reader, *([made.printer] if made.printer else [])]
    if made.reader is Markdown and made.options.get("diagrams"):
        words = {word.lower() for word in _FENCE.findall("\n" + asked.source.decode(errors="replace"))}
        engines += [catalogue.engine_for(DIAGRAMS[word], "svg") for word in sorted(words & DIAGRAMS.keys())]
    return {engine.name: "missing" if engine.missing() else engine.version() for engine in engines}


async def render(presses: Presses | CallerPresses, asked: Asked, draw: Draw | None = None) -> Rendered:
    """`draw` is how the diagrams in it are drawn: directly, unless somebody knows better."""
    made = plan(asked)
    rendered = await presses.render(made.reader, asked.source, made.output, made.options)
    if made.options.get("diagrams"):
        draw = draw or partial(directly, presses)
        rendered = await _with_diagrams(draw, rendered, str(made.options.get("theme", "auto")))
    if made.printer is None:
        return rendered
    printed = await presses.render(made.printer, rendered.data, "pdf", made.printing)
    warnings = [*rendered.warnings, *_only_new(printed.warnings, rendered.warnings)]
    return Rendered(printed.data, printed.media_type, warnings, rendered.details | printed.details)


def _only_new(warnings: Any, before: Any) -> list[Notice]:
    """The page that is printed is ours: what is wrong with it was said when the source was read, with its line."""
    said = {warning.code for warning in before}
    return [warning for warning in warnings if warning.code not in said | {"no_alt"}]


async def directly(presses: Presses | CallerPresses, diagram: Asked) -> Rendered:
    engine = catalogue.engine_for(diagram.language, diagram.output)
    return await presses.render(engine, diagram.source, diagram.output, dict(diagram.options))


async def _with_diagrams(draw: Draw, rendered: Rendered, theme: str) -> Rendered:
    diagrams = rendered.details.get("diagrams", [])
    if not diagrams:
        return rendered
    drawn = await asyncio.gather(*[_draw(draw, diagram, theme) for diagram in diagrams[:MOST_DIAGRAMS]])
    fill = partial(_with_figures, rendered, diagrams, drawn)
    # A page with ten thousand fences takes most of a second, in which the event loop would be held.
    return await asyncio.to_thread(fill) if len(diagrams) > MOST_DIAGRAMS else fill()


def _with_figures(rendered: Rendered, diagrams: list[dict[str, Any]], drawn: Sequence[tuple[str, list[Notice]]]) -> Rendered:
    details = {name: value for name, value in rendered.details.items() if name != "diagrams"}
    warnings = [*rendered.warnings, *(notice for _, notices in drawn for notice in notices)]
    figures = [markup for markup, _ in drawn]
    if over := diagrams[MOST_DIAGRAMS:]:
        too_many = InvalidArgument(f"a page has at most {MOST_DIAGRAMS} diagrams")
        figures += [_trouble(diagram, too_many, diagram.get("line"))[0] for diagram in over]
        warnings.append(Notice("diagram_failed", str(too_many), over[0].get("line")))
    details["diagrams"] = [{"language": diagram["language"], "line": diagram.get("line")} for diagram in diagrams]
    return Rendered(_filled(rendered.data.decode(), figures), rendered.media_type, warnings, details)


def _filled(body: str, figures: list[str]) -> bytes:
    """The page with each figure in its place, in one pass: it may be long, and this process has other work to do."""
    size = len(body) + sum(map(len, figures))
    if size > Markdown.limits.output:
        raise TooLarge(f"the page with its diagrams has {size:,} characters; the limit is {Markdown.limits.output:,}")
    waiting = deque(enumerate(figures))

    def fill(mark: re.Match[str]) -> str:
        if waiting and mark[0] == diagram_mark(waiting[0][0]):
            return waiting.popleft()[1]
        return mark[0]

    return DIAGRAM_MARK.sub(fill, body).encode()


async def _draw(draw: Draw, diagram: dict[str, Any], theme: str) -> tuple[str, list[Notice]]:
    """A figure, or a box that says what is wrong: one bad diagram does not cost its reader the page."""
    line = diagram.get("line")
    try:
        engine = catalogue.engine_for(diagram["language"], "svg")
        drawn = await draw(Asked(diagram["language"], "svg", diagram["source"].encode(), _options_of(engine, theme)))
    except PressroomError as error:
        return _trouble(diagram, error, line)
    notices = [_moved(notice, line) for notice in drawn.warnings]
    return _figure(drawn, diagram["language"]), notices


def _options_of(engine: type[Engine], theme: str) -> dict[str, Any]:
    fields = engine.Options.__struct_fields__
    return {name: value for name, value in (("theme", theme), ("labels", "text")) if name in fields}


def _figure(drawn: Rendered, language: str) -> str:
    """As a picture, not as markup: what is inside cannot reach the page, and its styles cannot either."""
    title = drawn.details.get("title") or f"{language} diagram"
    box = _BOX.search(drawn.data[:4096].decode(errors="replace"))
    size = f' width="{float(box[1]):.0f}" height="{float(box[2]):.0f}"' if box else ""
    carried = base64.b64encode(drawn.data).decode()
    picture = f'<img src="data:image/svg+xml;base64,{carried}" alt="{html.escape(str(title))}"{size}>'
    return f'<figure class="diagram">{picture}</figure>'


def _trouble(diagram: dict[str, Any], error: PressroomError, line: int | None) -> tuple[str, list[Notice]]:
    place, column = line, None
    if isinstance(error, SourceInvalid) and error.line is not None and line is not None:
        place, column = line + error.line - 1, error.column
    where = f" (line {place})" if place else ""
    markup = (
        f'<div class="diagram-error"><p><strong>This {html.escape(diagram["language"])} diagram could not be drawn</strong>'
        f"{where}: {html.escape(str(error))}</p><pre><code>{html.escape(diagram['source'])}</code></pre></div>"
    )
    return markup, [Notice("diagram_failed", f"{diagram['language']}: {error}", place, column)]


def _moved(notice: Notice, line: int | None) -> Notice:
    """A line of the diagram as a line of the page it stands in."""
    if line is None:
        return notice
    return msgspec.structs.replace(notice, line=line + (notice.line or 1) - 1)
