"""From a request to a document: which engines it takes, in which order, and how their work is put together.

Most requests are one engine's work. Markdown and templates take more: the diagrams in them are drawn by their own engines, each
in its own engine process, and a PDF is printed from the page that came out.
"""

import asyncio
import base64
import html
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from pressroom.errors import InvalidArgument, PressroomError, SourceInvalid, TooLarge
from pressroom.renderers import Engine, Notice, Rendered, catalogue
from pressroom.renderers.jinja.engine import Jinja
from pressroom.renderers.markdown.engine import DIAGRAM_MARK, DIAGRAMS, Markdown, diagram_mark
from pressroom.renderers.sandbox.engine_pools import CallerEnginePools, EnginePools

MOST_DIAGRAMS = 200
PRINTERS = ("html", "html-browser")

_FENCE = re.compile(r"\n[ >\t*+\-\d.]*(?:```+|~~~+)[ \t]*([\w-]+)")  # a newline is found faster than the start of a line
_BOX = re.compile(r'<svg\b[^>]*?\bviewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"')


class RenderRequest(msgspec.Struct, frozen=True):
    """What to render. `engine` may name another than the one that is used by default."""

    language: str
    output: str
    source: bytes
    options: Mapping[str, Any] = {}
    engine: str | None = None


type Draw = Callable[[RenderRequest], Awaitable[Rendered]]


class RenderPlan(NamedTuple):
    """The engine that reads the source, and the one that prints its page, if one does."""

    request: RenderRequest
    reader: type[Engine]
    output: str
    options: dict[str, Any]
    printer: type[Engine] | None = None
    print_options: dict[str, Any] | None = None


class PreparedRender(msgspec.Struct, frozen=True):
    """A request that was planned and checked, once; the look-up in the cache, the submit and the preview are handed this."""

    request: RenderRequest
    plan: RenderPlan
    engines: dict[str, str]  # by name, the version of each that has a part in it
    inputs: dict[str, Any]  # everything that the output depends on: the fields of its fingerprint


def prepare(request: RenderRequest) -> PreparedRender:
    """Raises InvalidArgument and TooLarge: an unknown language, output, engine or option, a source past its limit."""
    planned = make_plan(request)
    planned.reader.check(request.source, planned.output, planned.options)
    options = [_with_defaults(planned.reader.Options, planned.options)]
    if planned.printer is not None:
        planned.printer.check(b"", "pdf", planned.print_options or {})
        options.append(_with_defaults(planned.printer.Options, planned.print_options or {}))
    engines = engines_of(planned)
    inputs = {
        "language": planned.reader.takes,
        "output": request.output,
        "source": request.source,
        "options": options,
        "engines": engines,
    }
    return PreparedRender(request, planned, engines, inputs)


def _with_defaults(options: type[msgspec.Struct], given: Mapping[str, Any]) -> Any:
    """An option that is left out counts as its default."""
    return msgspec.to_builtins(msgspec.convert(given, options))


def make_plan(request: RenderRequest) -> RenderPlan:
    """Which engines make the output. Raises InvalidArgument where none does; the options and the source are not checked yet."""
    language = catalogue.ALIASES.get(request.language, request.language)
    options = dict(request.options)
    page_maker = PAGE_MAKERS.get(language)
    if page_maker is not None:
        if request.output == "pdf":
            return _plan_printed(request, page_maker, options)
        if request.engine in PRINTERS:
            title = page_maker.engine.title
            raise InvalidArgument(f"{request.engine} prints; for {title} it makes pdf, not {request.output[:100]!r}")
    engine = catalogue.engine_for(language, request.output) if request.engine is None else catalogue.get_engine(request.engine)
    if engine.takes != language:
        raise InvalidArgument(f"{engine.name} takes {engine.takes}, not {language[:100]!r}")
    if engine is Markdown and options.get("flavour", "full") == "full":
        options.setdefault("diagrams", True)
    return RenderPlan(request, engine, request.output, options)


class PageMaker(NamedTuple):
    """An engine whose page can be printed. An option that the printer has too is the printer's, except for the `kept` ones; of
    these, the `shared` ones are given to both.
    """

    engine: type[Engine]
    defaults: dict[str, Any]
    fixed: dict[str, Any]
    kept: frozenset[str]
    shared: frozenset[str]


PAGE_MAKERS = {
    Markdown.takes: PageMaker(
        Markdown, {"diagrams": True, "theme": "light"}, {"page": True}, kept=frozenset({"title"}), shared=frozenset()
    ),
    Jinja.takes: PageMaker(Jinja, {}, {}, kept=frozenset({"title", "lang"}), shared=frozenset({"title", "lang"})),
}


def _plan_printed(request: RenderRequest, page_maker: PageMaker, options: dict[str, Any]) -> RenderPlan:
    reader = page_maker.engine
    name = request.engine or PRINTERS[0]
    if name not in PRINTERS:
        raise InvalidArgument(f"{name[:100]!r} does not print {reader.title}; {' and '.join(PRINTERS)} do")
    printer = catalogue.get_engine(name)
    known = [*reader.Options.__struct_fields__, *printer.Options.__struct_fields__]
    if unknown := options.keys() - set(known):
        raise InvalidArgument(
            f"{reader.name}: there is no option `{min(unknown)}`; there are {', '.join(dict.fromkeys(known))}"
        )
    its_own = options.keys() & set(printer.Options.__struct_fields__) - page_maker.kept
    shared = options.keys() & set(printer.Options.__struct_fields__) & page_maker.shared
    print_options = {field: options[field] for field in options if field in its_own | shared}
    read_options = {field: value for field, value in options.items() if field not in its_own}
    return RenderPlan(request, reader, "html", page_maker.defaults | read_options | page_maker.fixed, printer, print_options)


def engines_of(plan: RenderPlan) -> dict[str, str]:
    """Every engine that has a part in it, with its version. One that is missing counts as such."""
    engines = [plan.reader, *([plan.printer] if plan.printer else [])]
    if plan.reader is Jinja or (plan.reader is Markdown and plan.options.get("diagrams")):
        words = {word.lower() for text in _markdown_of(plan) for word in _FENCE.findall("\n" + text)}
        engines += [catalogue.engine_for(DIAGRAMS[word], "svg") for word in sorted(words & DIAGRAMS.keys())]
    return {engine.name: "missing" if engine.missing() else engine.version() for engine in engines}


def _markdown_of(plan: RenderPlan) -> Iterator[str]:
    """Every text in which a diagram may be fenced: of a template, the template and whatever it is given."""
    yield plan.request.source.decode(errors="replace")
    if plan.reader is Jinja:
        yield from _texts_in([plan.options.get(name) for name in ("templates", "data", "strings")])


def _texts_in(values: list[Any]) -> Iterator[str]:
    while values:
        match values.pop():
            case str() as text:
                yield text
            case list() as items:
                values += items
            case dict() as items:
                values += items.values()


async def render(presses: EnginePools | CallerEnginePools, plan: RenderPlan, draw: Draw | None = None) -> Rendered:
    """`draw` renders the diagrams in a page; by default in the same engine processes."""
    rendered = await presses.render(plan.reader, plan.request.source, plan.output, plan.options)
    if plan.options.get("diagrams") or plan.reader is Jinja:
        draw = draw or partial(render_directly, presses)
        theme = "light" if plan.reader is Jinja else plan.options.get("theme", "auto")
        rendered = await _insert_diagrams(draw, rendered, str(theme))
    if plan.printer is None:
        return rendered
    printed = await presses.render(plan.printer, rendered.data, "pdf", plan.print_options)
    warnings = [*rendered.warnings, *_without_known(printed.warnings, rendered.warnings)]
    return Rendered(printed.data, printed.media_type, warnings, rendered.details | printed.details)


def _without_known(warnings: Any, before: Any) -> list[Notice]:
    """The page that is printed is ours: what is wrong with it was said when the source was read, with its line."""
    said = {warning.code for warning in before}
    return [warning for warning in warnings if warning.code not in said | {"no_alt"}]


async def render_directly(presses: EnginePools | CallerEnginePools, diagram: RenderRequest) -> Rendered:
    engine = catalogue.engine_for(diagram.language, diagram.output)
    return await presses.render(engine, diagram.source, diagram.output, dict(diagram.options))


async def _insert_diagrams(draw: Draw, rendered: Rendered, theme: str) -> Rendered:
    diagrams = rendered.details.get("diagrams", [])
    if not diagrams:
        return rendered
    drawn = await asyncio.gather(*[_draw_or_explain(draw, diagram, theme) for diagram in diagrams[:MOST_DIAGRAMS]])
    fill = partial(_replace_marks, rendered, diagrams, drawn)
    # A page with ten thousand fences takes most of a second, in which the event loop would be held.
    return await asyncio.to_thread(fill) if len(diagrams) > MOST_DIAGRAMS else fill()


def _replace_marks(rendered: Rendered, diagrams: list[dict[str, Any]], drawn: Sequence[tuple[str, list[Notice]]]) -> Rendered:
    details = {name: value for name, value in rendered.details.items() if name != "diagrams"}
    warnings = [*rendered.warnings, *(notice for _, notices in drawn for notice in notices)]
    figures = [markup for markup, _ in drawn]
    if over := diagrams[MOST_DIAGRAMS:]:
        too_many = InvalidArgument(f"a page has at most {MOST_DIAGRAMS} diagrams")
        figures += [_error_figure(diagram, too_many, diagram.get("line"))[0] for diagram in over]
        warnings.append(Notice("diagram_failed", str(too_many), over[0].get("line")))
    details["diagrams"] = [{"language": diagram["language"], "line": diagram.get("line")} for diagram in diagrams]
    return Rendered(_insert_figures(rendered.data.decode(), figures), rendered.media_type, warnings, details)


def _insert_figures(body: str, figures: list[str]) -> bytes:
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


async def _draw_or_explain(draw: Draw, diagram: dict[str, Any], theme: str) -> tuple[str, list[Notice]]:
    """A figure, or a box that says what is wrong: one bad diagram does not cost its reader the page."""
    line = diagram.get("line")
    try:
        engine = catalogue.engine_for(diagram["language"], "svg")
        drawn = await draw(RenderRequest(diagram["language"], "svg", diagram["source"].encode(), _theme_options(engine, theme)))
    except PressroomError as error:
        return _error_figure(diagram, error, line)
    notices = [_shift_notice(notice, line) for notice in drawn.warnings]
    return _figure_markup(drawn, diagram["language"]), notices


def _theme_options(engine: type[Engine], theme: str) -> dict[str, Any]:
    fields = engine.Options.__struct_fields__
    return {name: value for name, value in (("theme", theme), ("labels", "text")) if name in fields}


def _figure_markup(drawn: Rendered, language: str) -> str:
    """As a picture, not as markup: what is inside cannot reach the page, and its styles cannot either."""
    title = drawn.details.get("title") or f"{language} diagram"
    box = _BOX.search(drawn.data[:4096].decode(errors="replace"))
    size = f' width="{float(box[1]):.0f}" height="{float(box[2]):.0f}"' if box else ""
    carried = base64.b64encode(drawn.data).decode()
    picture = f'<img src="data:image/svg+xml;base64,{carried}" alt="{html.escape(str(title))}"{size}>'
    return f'<figure class="diagram">{picture}</figure>'


def _error_figure(diagram: dict[str, Any], error: PressroomError, line: int | None) -> tuple[str, list[Notice]]:
    place, column = line, None
    if isinstance(error, SourceInvalid) and error.line is not None and line is not None:
        place, column = line + error.line - 1, error.column
    where = f" (line {place})" if place else ""
    markup = (
        f'<div class="diagram-error"><p><strong>This {html.escape(diagram["language"])} diagram could not be drawn</strong>'
        f"{where}: {html.escape(str(error))}</p><pre><code>{html.escape(diagram['source'])}</code></pre></div>"
    )
    return markup, [Notice("diagram_failed", f"{diagram['language']}: {error}", place, column)]


def _shift_notice(notice: Notice, line: int | None) -> Notice:
    """A line of the diagram as a line of the page it stands in."""
    if line is None:
        return notice
    return msgspec.structs.replace(notice, line=line + (notice.line or 1) - 1)
