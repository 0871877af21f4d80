"""`pressroom render`: one document, here and now or through a server. What is said and how it ends is the same."""

import json
import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pressroom.cli import exits
from pressroom.cli.commands import Commands
from pressroom.cli.output import Output, format_progress_bar
from pressroom.errors import InvalidArgument, InvalidSettings, PressroomError, SourceInvalid

if TYPE_CHECKING:
    from pressroom.client import AsyncHandle, RemoteEvent
    from pressroom.renderers import Notice, Rendered
    from pressroom.renderers.documents import RenderRequest

# The longest ending wins, so that .vl.json is not just any JSON.
ENDINGS = {
    ".bytefield": "bytefield", ".d2": "d2", ".dbml": "dbml", ".dot": "graphviz", ".gv": "graphviz", ".htm": "html",
    ".html": "html", ".j2": "jinja", ".jinja": "jinja", ".markdown": "markdown", ".md": "markdown", ".mermaid": "mermaid",
    ".mmd": "mermaid", ".nomnoml": "nomnoml", ".pikchr": "pikchr", ".plantuml": "plantuml", ".puml": "plantuml",
    ".bob": "svgbob", ".svg": "svg", ".vg.json": "vega", ".vl.json": "vega-lite", ".wavedrom": "wavedrom",
}  # fmt: skip


def add_commands(commands: Commands) -> None:
    parser = commands.add("render", render, "render one file, here and now, or through a server", reads_settings=False)
    parser.add_argument("file", help="the source; - is standard input")
    parser.add_argument(
        "-o", "--out", metavar="FILE", help="where to write it; its ending says what to make (default: standard output)"
    )
    parser.add_argument("--from", dest="language", metavar="LANGUAGE", help="what the source is, if its name does not tell")
    parser.add_argument("--to", dest="output", metavar="OUTPUT", help="html, svg, png or pdf, if OUT does not tell")
    parser.add_argument("--engine", help="another engine than the usual one; see `pressroom engines`")
    parser.add_argument(
        "--server",
        metavar="URL",
        default=os.environ.get("PRESSROOM_URL"),
        help="have this service render it, with the token in PRESSROOM_TOKEN (default: PRESSROOM_URL, or here)",
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the engine; may be repeated"
    )


async def render(args: Namespace, output: Output) -> int:
    import asyncio

    asked = _read_arguments(args)
    try:
        rendered = await (_render_on_server(args.server, asked) if args.server else _render_in_process(asked))
    except PressroomError as error:
        _print_source_error(args.file, error, output)
        return exits.exit_code_for(error)
    await asyncio.to_thread(_write_output, args.out, rendered.data)
    _show_warnings(args, rendered, output)
    return exits.OK


async def _render_in_process(request: "RenderRequest") -> "Rendered":
    from pressroom.renderers import documents
    from pressroom.renderers.sandbox.engine_pools import EnginePools

    presses = EnginePools(1)
    try:
        return await documents.render(presses, documents.make_plan(request))
    finally:
        await presses.close()


async def _render_on_server(server: str, request: "RenderRequest") -> "Rendered":
    """Through the queue of a server. An interrupt ends the waiting and not the job."""
    try:
        import asyncio

        from pressroom.client import AsyncClient
    except ImportError:
        raise InvalidSettings(["--server: needs the package httpx; pip install 'pressroom[client]'"]) from None
    async with AsyncClient(server) as client:
        job = await client.render(
            request.language, request.source, request.output, options=request.options, engine=request.engine, tier="interactive"
        )
        try:
            await _print_events(job)
            data = await job.result()
            return _read_result(data, await client.wait(job))
        except asyncio.CancelledError:
            print(f"pressroom: {job} goes on at {client.url}/jobs/{job}", file=sys.stderr)
            raise


async def _print_events(job: "AsyncHandle") -> None:
    """Show the progress of the job if standard error is a terminal."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return
    try:
        async for event in job.events():
            sys.stderr.write(f"\r\x1b[K{_describe_event(event)}")
            sys.stderr.flush()
    finally:
        sys.stderr.write("\r\x1b[K")


def _describe_event(event: "RemoteEvent") -> str:
    words = (
        format_progress_bar(event.data) if "total" in event.data else f"{event.type} {event.data.get('phase') or ''}".rstrip()
    )
    return "".join(letter for letter in words if letter.isprintable())


def _read_result(data: bytes, response: Any) -> "Rendered":
    from pressroom.renderers import Notice, Rendered

    warnings = [msgspec.convert(warning, Notice) for warning in response.get("warnings", ())]
    return Rendered(data, response.get("media_type", ""), warnings)


def _read_arguments(args: Namespace) -> "RenderRequest":
    from pressroom.renderers.documents import RenderRequest

    language = args.language or _language_of(args.file)
    made = args.output or _output_of(args.out)
    options = dict(map(_parse_option, args.option))
    if language == "markdown" and made == "html":
        options.setdefault("page", True)  # a file is opened by itself; a fragment is for embedding in another page
    return RenderRequest(language, made, _read_source(args.file), options, args.engine)


def _language_of(file: str) -> str:
    for ending, language in sorted(ENDINGS.items(), key=lambda pair: -len(pair[0])):
        if file.lower().endswith(ending):
            return language
    raise InvalidArgument(f"the name {file!r} does not tell what it is; say --from LANGUAGE")


def _output_of(out: str | None) -> str:
    if out is None or not (ending := Path(out).suffix):
        raise InvalidArgument("say what to make: --to html, svg, png or pdf, or -o with a name that tells")
    return ending[1:].lower()


def _parse_option(text: str) -> tuple[str, Any]:
    name, found, value = text.partition("=")
    if not found:
        raise InvalidArgument(f"--option {text!r} is not NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _read_source(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as reason:
        raise InvalidArgument(f"{file}: cannot be read: {reason.strerror}") from None


def _write_output(out: str | None, data: bytes) -> None:
    if out is None or out == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        Path(out).write_bytes(data)
    except OSError as reason:
        raise InvalidArgument(f"{out}: cannot be written: {reason.strerror}") from None


def _print_source_error(file: str, error: PressroomError, output: Output) -> None:
    place = ""
    if isinstance(error, SourceInvalid) and error.line is not None:
        place = f":{error.line}:{error.column}" if error.column is not None else f":{error.line}"
    if output.as_json:
        described = {"code": error.code, "message": str(error)}
        if isinstance(error, SourceInvalid):
            described |= {"line": error.line, "column": error.column, "excerpt": error.excerpt}  # type: ignore[dict-item]
        output.data(described)
        return
    print(f"{file}{place}: error: {error} [{error.code}]", file=sys.stderr)
    if isinstance(error, SourceInvalid) and error.excerpt:
        print(f"    {error.excerpt}", file=sys.stderr)
        if error.column is not None:
            print(f"    {' ' * (error.column - 1)}^", file=sys.stderr)


def _show_warnings(args: Namespace, rendered: "Rendered", output: Output) -> None:
    if output.as_json and args.out not in (None, "-"):
        warnings = [{"code": notice.code, "message": notice.message, "line": notice.line} for notice in rendered.warnings]
        output.data({"file": args.out, "bytes": len(rendered.data), "media_type": rendered.media_type, "warnings": warnings})
        return
    for notice in rendered.warnings:
        print(f"{args.file}{_line_and_column(notice)}: warning: {notice.message} [{notice.code}]", file=sys.stderr)


def _line_and_column(notice: "Notice") -> str:
    return "" if notice.line is None else f":{notice.line}" + ("" if notice.column is None else f":{notice.column}")
