"""What all pages share: routing a request to its handler, rendering a template, and showing an error as a page."""

import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from http import HTTPStatus
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode, urlsplit

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from pressroom.api.access import Caller, Scope
from pressroom.api.problems import HttpError, describe
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.api.tokens import Tokens
from pressroom.errors import PressroomError, Unavailable
from pressroom.kinds.webhooks import Webhooks
from pressroom.model import VERSION, Job, Work
from pressroom.store.alerts import alerts
from pressroom.store.jobs import queries
from pressroom.store.operators.audit import AuditEntry, record
from pressroom.store.operators.lookup import LookupResult, Viewer
from pressroom.web import formatting, forms, static
from pressroom.web.control_characters import replace_control_characters
from pressroom.web.cookies import decode_text, encode_text, read_cookie
from pressroom.web.forms import Form
from pressroom.web.navigation import DASHBOARD, AppSection
from pressroom.web.sessions import BrowserSession, Sessions

log = logging.getLogger("pressroom.web")

THEMES = ("auto", "light", "dark")
NOTICE_COOKIE = "pressroom_notice"
THEME_COOKIE = "pressroom_theme"

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Vary": "Cookie, HX-Request",
}


@dataclass
class PageRequest:
    """One request of a browser, with the session that it belongs to."""

    site: "Site"
    http: Request
    session: BrowserSession
    form: Form = field(default_factory=lambda: Form([]))
    last_event: int = 0  # the last event when the page was rendered: later ones are changes
    open_alerts: int = 0  # of those that the caller sees

    @property
    def caller(self) -> Caller:
        assert self.session.caller is not None
        return self.session.caller

    @property
    def org_id(self) -> str | None:
        """The organisation whose rows the caller sees. None: those of all; "": those of the default one."""
        return self.caller.org_filter

    async def read[T](self, unit: Callable[[], Work[T]]) -> T:
        return await self.site.service.rendering.database.read(unit)

    def cursor(self, pattern: str) -> str:
        """Where the page that is asked for begins. Empty for the first one. Raises HttpError."""
        cursor = self.http.query_params.get("cursor", "")
        if cursor and not re.fullmatch(pattern, cursor):
            raise page_error("that is not a cursor; follow the link to the next page")
        return cursor

    def may(self, scope: Scope) -> bool:
        return self.session.caller is not None and self.session.caller.scope >= scope

    def require(self, scope: Scope) -> None:
        """For a part of a handler that needs a higher scope than its route. Raises HttpError."""
        self.site.sessions.admit(self.http, self.session, scope)

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        return self.site.page(self, template, status=status, **values)

    def redirect(self, path: str, notice: str = "") -> Response:
        """Redirect to another page after a form. The notice is shown there, once."""
        response = RedirectResponse(self.site.prefix + path, 303)
        if notice:
            response.set_cookie(NOTICE_COOKIE, encode_text(notice), max_age=60, path="/", httponly=True, samesite="lax")
        return response

    def audit_entry(self, action: str, target: str, *, before: Any = None, after: Any = None) -> Work[None]:
        """An entry of the audit log, to be written in the transaction of the change."""
        return record(self.make_audit_entry(action, target, before=before, after=after))

    def make_audit_entry(self, action: str, target: str, *, before: Any = None, after: Any = None) -> AuditEntry:
        caller = self.caller
        return AuditEntry(
            who=caller.name,
            org_id=caller.audit_org,
            action=action,
            target=target,
            before=before,
            after=after,
            request_id=self.http.state.request_id,
        )

    async def record_audit(self, action: str, target: str, *, before: Any = None, after: Any = None) -> None:
        """Write an entry of the audit log after a change, where it cannot be part of the transaction."""
        unit = self.audit_entry(action, target, before=before, after=after)
        await self.site.service.rendering.database.run(lambda: unit, name="audit")


type Handler = Callable[..., Awaitable[Response]]
type Finder = Callable[[str, Viewer], Work[list[LookupResult]]]
type JobSubjectFinder = Callable[[Job], Work[list[LookupResult]]]


@cache
def _make_environment(apps: tuple[tuple[str, str], ...]) -> Environment:
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
    templates.filters.update(formatting.FILTERS)
    templates.globals.update(version=VERSION, Scope=Scope)
    return templates


def compile_templates(apps: Sequence[tuple[str, str]], stopping: Callable[[], bool] = lambda: False) -> None:
    """All of them, for a site with these apps: compiling one during its first request would block the event loop."""
    templates = _make_environment(tuple(apps))
    for name in templates.list_templates(extensions=["html"]):
        if stopping():
            break
        templates.get_template(name)


class Site:
    """`apps` are the names and packages of the apps, whose templates and static files may be shown here."""

    def __init__(
        self, service: Service, sessions: Sessions, tokens: Tokens, webhooks: Webhooks, apps: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.service = service
        self.sessions = sessions
        self.tokens = tokens
        self.webhooks = webhooks
        self.prefix = urlsplit(service.base_url).path
        self.sections: list[AppSection] = [DASHBOARD]
        self.finders: list[Finder] = []  # of the apps, for the search box
        self.job_subject_finders: list[JobSubjectFinder] = []  # of the apps, for the page of a job
        self.assets = static.load_assets(tuple(apps))
        self._templates = _make_environment(tuple(apps))

    def add_section(self, pages: AppSection) -> None:
        """An app's pages, in the navigation before the dashboard."""
        self.sections.insert(-1, pages)
        self.sessions.return_prefixes.append(pages.path)

    def get(self, routes: Routes, path: str, handle: Handler, *, needs: Scope = Scope.VIEWER) -> None:
        async def answer(request: Request, **path_params: str) -> Response:
            return await self._handle_request(request, handle, path_params, needs)

        routes.add(path, answer, "GET", "HEAD")

    def get_public(self, routes: Routes, path: str, handle: Handler) -> None:
        """A page without a login: its handler decides by itself what may be read, as by a link that only its holders know.

        `PageRequest.caller` is not to be used there.
        """

        async def answer(request: Request, **path_params: str) -> Response:
            return await self._handle_request(request, handle, path_params, None)

        routes.add(path, answer, "GET", "HEAD")

    def post(self, routes: Routes, path: str, handle: Handler, *, needs: Scope = Scope.OPERATOR, small: bool = True) -> None:
        """A route that changes something: its handler gets only forms of this site, from callers with the scope `needs`.

        A form that holds whole texts is not `small`.
        """

        async def answer(request: Request, **path_params: str) -> Response:
            return await self._handle_request(request, handle, path_params, needs, posts=True)

        routes.add(path, answer, "POST", small_body=small)

    async def _handle_request(
        self, http: Request, handle: Handler, path_params: Mapping[str, str], needs: Scope | None, *, posts: bool = False
    ) -> Response:
        session = await self.sessions.browser(http)
        request = PageRequest(self, http, session)
        try:
            if needs is not None:
                self.sessions.admit(http, session, needs)
            unit = partial(_page_facts, request.org_id if session.caller else "")
            request.last_event, request.open_alerts = await self.service.rendering.database.read(unit)
            if posts:
                request.form = await forms.read_form(http)
                self.sessions.check_form_token(http, session, request.form.get("form_token"))
            response = await handle(request, **path_params)
        except PressroomError as error:
            response = self.error_page(request, error)
        if needs is not None:
            self.sessions.set_cookie_if_new(http, session, response)
        return response

    def page(self, request: PageRequest, template: str, *, status: int = 200, **values: Any) -> Response:
        http, nonce = request.http, secrets.token_urlsafe(16)
        theme = read_cookie(http, THEME_COOKIE) or "auto"
        notice = decode_text(read_cookie(http, NOTICE_COOKIE))
        text = self._templates.get_template(template).render(
            request=request,
            site=self,
            here=self.prefix + http.url.path,
            sections=[section for section in self.sections if request.may(section.needs)],
            section=next((one for one in self.sections if one.is_at(http.url.path)), None),
            nonce=nonce,
            theme=theme if theme in THEMES else "auto",
            notice=notice,
            url=self.url,
            static=self._static_url,
            **values,
        )
        response = Response(
            replace_control_characters(text),
            status,
            _HEADERS | {"Content-Security-Policy": _content_security_policy(nonce)},
            "text/html; charset=utf-8",
        )
        if notice:
            response.delete_cookie(NOTICE_COOKIE, path="/")
        return response

    def _static_url(self, name: str) -> str:
        return self.prefix + static.asset_path(name, self.assets)

    def url(self, path: str, **query: Any) -> str:
        """A URL of this site. Empty values are left out of the query."""
        fields = [
            (name, one)
            for name, value in query.items()
            for one in (value if isinstance(value, list | tuple) else [value])
            if one not in (None, "")
        ]
        return f"{self.prefix}{path}{'?' + urlencode(fields) if fields else ''}"

    def error_page(self, request: PageRequest, error: PressroomError) -> Response:
        """An error as a page. A GET without a login is redirected to the login page."""
        if error.status == 401 and request.http.method in ("GET", "HEAD") and "hx-request" not in request.http.headers:
            return_path = request.http.url.path + (f"?{request.http.url.query}" if request.http.url.query else "")
            return RedirectResponse(self.url("/desk/login", next=return_path), 303)
        problem = describe(request.http, error)
        if isinstance(error, Unavailable):
            log.warning("request %s: %s", problem.request_id, error)
        response = self.page(
            request, "error.html", status=problem.status, problem=problem, title=_status_phrase(problem.status)
        )
        response.headers.update(getattr(error, "headers", {}))
        return response


def _page_facts(org_id: str | None) -> Work[tuple[int, int]]:
    """What every page shows: the last event, and how many alerts are open."""
    return (yield from queries.last_event_id()), (yield from alerts.count_open(org_id))


def _content_security_policy(nonce: str) -> str:
    """Only what the page itself names may run, and nothing comes from elsewhere. Frames are our own, and sandboxed."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "font-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def _status_phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Trouble"


def page_error(message: str, *, status: int = 422, code: str = "invalid_argument") -> HttpError:
    return HttpError(status, code, message)
