"""`/forms/chromium/convert/html`, `/forms/chromium/convert/markdown` and `/forms/pdfengines/merge`."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.problems import HttpError, request_id_of
from pressroom.api.routes import Routes
from pressroom.artifacts.disposition import content_disposition
from pressroom.errors import InvalidArgument
from pressroom.render_service.answers import pdf_response
from pressroom.render_service.gotenberg.assets import AssetInliner
from pressroom.render_service.gotenberg.fields import DEFAULTS, MERGE_FIELDS, PRINT_FIELDS, read_fields
from pressroom.render_service.gotenberg.headers import shows_date, to_template
from pressroom.render_service.gotenberg.markdown_template import fill_template, markdown_files
from pressroom.render_service.multipart import parse_form
from pressroom.render_service.service import RenderService
from pressroom.renderers import Rendered, documents
from pressroom.renderers.browser.pdf import HtmlBrowser
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.pdf import pack_pdfs
from pressroom.renderers.sandbox.engine_pools import CallerEnginePools

INDEX, HEADER, FOOTER = "index.html", "header.html", "footer.html"

_DIGITS = re.compile(r"(\d+)")
_TRACE = re.compile(r"[A-Za-z0-9._:-]{1,128}")


@dataclass(frozen=True)
class PrintForm:
    """A form's fields, and its files by name."""

    fields: Mapping[str, str]
    files: Mapping[str, bytes]

    def index(self) -> str:
        if INDEX not in self.files:
            raise HttpError(400, "invalid_form", f"the form has no file named {INDEX}")
        try:
            return self.files[INDEX].decode()
        except UnicodeDecodeError as wrong:
            line = self.files[INDEX].count(b"\n", 0, wrong.start) + 1
            raise HttpError(400, "invalid_form", f"{INDEX} is not UTF-8 in line {line}") from None

    def assets(self) -> dict[str, bytes]:
        return {name: data for name, data in self.files.items() if name not in (INDEX, HEADER, FOOTER)}

    def print_options(self) -> dict[str, Any]:
        options = {**DEFAULTS, **read_fields(self.fields, PRINT_FIELDS)}
        options["tagged"] = options["tagged"] or options["outline"]  # Chromium makes an outline of the tags
        for option, name in (("header", HEADER), ("footer", FOOTER)):
            if name in self.files:
                options[option] = to_template(name, self.files[name])
                if shows_date(options[option]):
                    options["date"] = datetime.now(UTC).date().isoformat()
        return options


def router(service: RenderService) -> Routes:
    routes = Routes("gotenberg")
    api = GotenbergApi(service)
    routes.add("/forms/chromium/convert/html", api.convert_html, "POST")
    routes.add("/forms/chromium/convert/markdown", api.convert_markdown, "POST")
    routes.add("/forms/pdfengines/merge", api.merge, "POST")
    return routes


class GotenbergApi:
    def __init__(self, service: RenderService) -> None:
        self._service = service

    async def convert_html(self, request: Request) -> Response:
        return await self._print(request, is_template=False)

    async def convert_markdown(self, request: Request) -> Response:
        return await self._print(request, is_template=True)

    async def merge(self, request: Request) -> Response:
        """The files in the order of their names, in which 2 comes before 10."""
        form = await _read_form(self._service, request)
        options = read_fields(form.fields, MERGE_FIELDS)
        names = sorted(form.files, key=_natural_order)
        if not names:
            raise HttpError(400, "invalid_form", "the form has no file")
        wrong = [name for name in names if not name.lower().endswith(".pdf")]
        if wrong:
            raise HttpError(400, "invalid_form", f"{wrong[0]!r} is not named as a PDF")
        source = pack_pdfs([form.files[name] for name in names])
        return await _respond(request, await self._service.render(request, RenderRequest("pdf", "pdf", source, options)))

    async def _print(self, request: Request, *, is_template: bool) -> Response:
        form = await _read_form(self._service, request)
        source, options = form.index(), form.print_options()
        try:
            HtmlBrowser.check(b"", "pdf", options)
        except InvalidArgument as reason:
            raise HttpError(400, reason.code, str(reason)) from None
        presses = self._service.engine_pools_for(request)
        work = _print_page(presses, source, form.assets(), options, is_template=is_template)
        return await _respond(request, await self._service.run(request, HtmlBrowser.name, work))


async def _read_form(service: RenderService, request: Request) -> PrintForm:
    await service.admit(request)
    parts = parse_form(request.headers.get("content-type", ""), await request.body())
    files: dict[str, bytes] = {}
    for part in parts:
        if part.filename is None:
            continue
        if part.name in ("embeds", "watermark", "stamp"):
            raise HttpError(400, "unsupported_field", f"files of the field {part.name!r} are not supported here")
        if part.filename in files:
            raise HttpError(400, "invalid_form", f"two files are named {part.filename!r}")
        files[part.filename] = part.data
    return PrintForm({part.name: part.data.decode(errors="replace") for part in parts if part.filename is None}, files)


async def _print_page(
    presses: CallerEnginePools, source: str, assets: Mapping[str, bytes], options: dict[str, Any], *, is_template: bool
) -> Rendered:
    if is_template:
        source = await _fill_template(presses, source, assets)
    limit = HtmlBrowser.limits.source
    page = await asyncio.to_thread(AssetInliner(assets, limit).into_page, source) if assets else source
    request = RenderRequest("html", "pdf", page.encode(), options, HtmlBrowser.name)
    return await documents.render(presses, documents.make_plan(request))


async def _fill_template(presses: CallerEnginePools, source: str, assets: Mapping[str, bytes]) -> str:
    markup: dict[str, str] = {}
    for name in await asyncio.to_thread(markdown_files, source, assets):
        request = RenderRequest("markdown", "html", assets[name], {"theme": "light"})
        markup[name] = (await documents.render(presses, documents.prepare(request).plan)).data.decode()
    return await asyncio.to_thread(fill_template, source, markup, HtmlBrowser.limits.source)


async def _respond(request: Request, rendered: Rendered) -> Response:
    wanted = request.headers.get("gotenberg-output-filename", "")
    trace = request.headers.get("gotenberg-trace", "")
    headers = {
        "Content-Disposition": content_disposition(f"{wanted or request_id_of(request)}.pdf"),
        "Gotenberg-Trace": trace if _TRACE.fullmatch(trace) else request_id_of(request),
    }
    return await pdf_response(rendered, headers)


def _natural_order(name: str) -> list[tuple[bool, int, str]]:
    pieces = [piece for piece in _DIGITS.split(name) if piece]
    return [(not piece.isdecimal(), int(piece) if piece.isdecimal() else 0, piece) for piece in pieces]
