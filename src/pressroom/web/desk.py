"""What all pages share: how a handler is reached, how a page is made of a template, and how trouble is told to a person."""

import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode, urlsplit

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from pressroom.api.access import Caller, Scope
from pressroom.api.problems import HttpError, describe, request_id_of
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.api.tokens import Tokens
from pressroom.errors import PressroomError, Unavailable
from pressroom.model import VERSION, Work
from pressroom.store.jobs import queries
from pressroom.store.operators.audit import EVERYWHERE, AuditEntry, record
from pressroom.store.operators.lookup import LookupResult, Viewer
from pressroom.web import forms, static, words
from pressroom.web.cookies import decode_text, encode_text, read_cookie
from pressroom.web.door import Browser, Door
from pressroom.web.forms import Form
from pressroom.web.navigation import DASHBOARD, Pages
from pressroom.webhooks import Webhooks

log = logging.getLogger("pressroom.web")

THEMES = ("auto", "light", "dark")
NOTICE = "pressroom_notice"
THEME = "pressroom_theme"

# A terminal's control characters mean nothing to a browser, but what is copied from a page ends in terminals.
_CONTROLS = {chr(number): chr(0x2400 + number) for number in range(32) if chr(number) not in "\t\n\f\r"}
_CONTROLS |= {chr(number): "\ufffd" for number in range(0x7F, 0xA0)}
_ONE_BYTE = bytes(ord(control) for control in _CONTROLS if control.isascii())
_TWO_BYTES = re.compile(rb"\xc2[\x80-\x9f]")  # U+0080 to U+009F in UTF-8

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Vary": "Cookie, HX-Request",
}


@dataclass
class Visit:
    """One request of a browser, and who sits before it."""

    desk: "Desk"
    request: Request
    browser: Browser
    form: Form = field(default_factory=lambda: Form([]))
    last_event: int = 0  # when the page was begun: what comes later is news to it

    @property
    def caller(self) -> Caller:
        assert self.browser.caller is not None
        return self.browser.caller

    @property
    def org_id(self) -> str | None:
        """Whose rows exist for them: None are everybody's, "" those of nobody's organisation."""
        return None if self.caller.everywhere else self.caller.org_id or ""

    def may(self, scope: Scope) -> bool:
        return self.browser.caller is not None and self.browser.caller.scope >= scope

    def require(self, scope: Scope) -> None:
        """For what a handler does only when it is asked to. Raises HttpError for who may not."""
        self.desk.door.admit(self.request, self.browser, scope)

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        return self.desk.page(self, template, status=status, **values)

    def go(self, path: str, notice: str = "") -> Response:
        """To another page, after a form. The notice is shown there, once."""
        response = RedirectResponse(self.desk.prefix + path, 303)
        if notice:
            response.set_cookie(NOTICE, encode_text(notice), max_age=60, path="/", httponly=True, samesite="lax")
        return response

    def deed(self, action: str, target: str, *, before: Any = None, after: Any = None) -> Work[None]:
        """The note of what is done here, to be written with it."""
        caller = self.caller
        return record(
            AuditEntry(
                who=caller.name,
                org_id=EVERYWHERE if caller.everywhere else caller.org_id,
                action=action,
                target=target,
                before=before,
                after=after,
                request_id=request_id_of(self.request),
            )
        )

    async def note(self, action: str, target: str, *, before: Any = None, after: Any = None) -> None:
        """For what cannot be noted in the transaction that does it."""
        unit = self.deed(action, target, before=before, after=after)
        await self.desk.service.rendering.database.run(lambda: unit, name="audit")


type Handler = Callable[..., Awaitable[Response]]
type Finder = Callable[[str, Viewer], Work[list[LookupResult]]]


@cache
def _templates(apps: tuple[tuple[str, str], ...]) -> Environment:
    """Shared by all sites of a process: to compile them takes longer than most pages. A template of an app is named with the
    app's name in front (`wiki/article.html`), so that no app can take the place of another's or of the core's."""
    loaders = {name: PackageLoader(package) for name, package in apps if (files(package) / "templates").is_dir()}
    templates = Environment(
        loader=ChoiceLoader([PackageLoader("pressroom.web"), PrefixLoader(loaders)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(words.FILTERS)
    templates.globals.update(version=VERSION, Scope=Scope)
    return templates


def compile_templates(apps: Sequence[tuple[str, str]], stopping: Callable[[], bool] = lambda: False) -> None:
    """All of them, for a site with these apps: each would hold its first visitor, and the event loop, for a while."""
    templates = _templates(tuple(apps))
    for name in templates.list_templates(extensions=["html"]):
        if stopping():
            break
        templates.get_template(name)


class Desk:
    """`apps` are the names and packages of the apps, whose templates and static files may be shown here."""

    def __init__(
        self, service: Service, door: Door, tokens: Tokens, webhooks: Webhooks, apps: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.service = service
        self.door = door
        self.tokens = tokens
        self.webhooks = webhooks
        self.prefix = urlsplit(service.base_url).path
        self.sections: list[Pages] = [DASHBOARD]
        self.finders: list[Finder] = []  # of the apps, for the search box
        self.assets = static.assets(tuple(apps))
        self._templates = _templates(tuple(apps))

    def add_section(self, pages: Pages) -> None:
        """An app's pages, in the navigation before the dashboard."""
        self.sections.insert(-1, pages)
        self.door.returns_to.append(pages.path)

    def get(self, routes: Routes, path: str, handle: Handler, *, needs: Scope = Scope.VIEWER) -> None:
        async def answer(request: Request, **found: str) -> Response:
            return await self._answer(request, handle, found, needs)

        routes.add(path, answer, "GET", "HEAD")

    def post(self, routes: Routes, path: str, handle: Handler, *, needs: Scope = Scope.OPERATOR, small: bool = True) -> None:
        """What changes something. A handler is reached only by a form of ours, sent by somebody who may.

        A form that holds whole texts is not `small`.
        """

        async def answer(request: Request, **found: str) -> Response:
            return await self._answer(request, handle, found, needs, posts=True)

        routes.add(path, answer, "POST", small_body=small)

    async def _answer(
        self, request: Request, handle: Handler, found: Mapping[str, str], needs: Scope, *, posts: bool = False
    ) -> Response:
        browser = await self.door.browser(request)
        visit = Visit(self, request, browser)
        try:
            self.door.admit(request, browser, needs)
            visit.last_event = await self.service.rendering.database.read(queries.last_event)
            if posts:
                visit.form = await forms.read(request)
                self.door.require_own_form(request, browser, visit.form.get("form_token"))
            response = await handle(visit, **found)
        except PressroomError as error:
            response = self.trouble(visit, error)
        self.door.give_cookie(request, browser, response)
        return response

    def page(self, visit: Visit, template: str, *, status: int = 200, **values: Any) -> Response:
        request, nonce = visit.request, secrets.token_urlsafe(16)
        theme = read_cookie(request, THEME) or "auto"
        notice = decode_text(read_cookie(request, NOTICE))
        text = self._templates.get_template(template).render(
            visit=visit,
            desk=self,
            here=self.prefix + request.url.path,
            sections=[section for section in self.sections if visit.may(section.needs)],
            section=next((one for one in self.sections if one.is_at(request.url.path)), None),
            nonce=nonce,
            theme=theme if theme in THEMES else "auto",
            notice=notice,
            url=self.url,
            static=self._static,
            **values,
        )
        response = Response(
            _without_controls(text), status, _HEADERS | {"Content-Security-Policy": _policy(nonce)}, "text/html; charset=utf-8"
        )
        if notice:
            response.delete_cookie(NOTICE, path="/")
        return response

    def _static(self, name: str) -> str:
        return self.prefix + static.address_of(name, self.assets)

    def url(self, path: str, **asked: Any) -> str:
        """An address of ours. What is empty is left out of the question."""
        fields = [
            (name, one)
            for name, value in asked.items()
            for one in (value if isinstance(value, list | tuple) else [value])
            if one not in (None, "")
        ]
        return f"{self.prefix}{path}{'?' + urlencode(fields) if fields else ''}"

    def trouble(self, visit: Visit, error: PressroomError) -> Response:
        """An error as a page. Strangers who only want to look are shown the way in."""
        if error.status == 401 and visit.request.method in ("GET", "HEAD") and "hx-request" not in visit.request.headers:
            asked = visit.request.url.path + (f"?{visit.request.url.query}" if visit.request.url.query else "")
            return RedirectResponse(self.url("/desk/login", next=asked), 303)
        problem = describe(visit.request, error)
        if isinstance(error, Unavailable):
            log.warning("request %s: %s", problem.request_id, error)
        response = self.page(visit, "trouble.html", status=problem.status, problem=problem, title=_title(problem.status))
        response.headers.update(getattr(error, "headers", {}))
        return response


def _without_controls(text: str) -> bytes:
    """In UTF-8. `str.translate` takes seconds for a page of some megabytes that is not ASCII; these look through it quickly."""
    page = text.encode(errors="replace")
    if len(page.translate(None, _ONE_BYTE)) == len(page) and not _TWO_BYTES.search(page):
        return page
    for control, shown in _CONTROLS.items():
        if control in text:
            text = text.replace(control, shown)
    return text.encode(errors="replace")


def _policy(nonce: str) -> str:
    """Only what the page itself names may run, and nothing comes from elsewhere. Frames are our own, and sandboxed."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "font-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def _title(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Trouble"


def refuse(message: str, *, status: int = 422, code: str = "invalid_argument") -> HttpError:
    return HttpError(status, code, message)
