"""Login, logout, and the choice of a light or dark theme."""

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.errors import PressroomError
from pressroom.web import forms
from pressroom.web.site import THEME_COOKIE, THEMES, PageRequest, Site, page_error

_YEAR_SECONDS = 365 * 24 * 3600


def router(site: Site) -> Routes:
    routes = Routes()
    pages = LoginPages(site)
    routes.add("/desk/login", pages.show_login, "GET", "HEAD")
    routes.add("/desk/login", pages.log_in, "POST", small_body=True)
    site.post(routes, "/desk/logout", pages.log_out, needs=Scope.VIEWER)
    site.post(routes, "/desk/theme", pages.choose_theme, needs=Scope.VIEWER)
    return routes


class LoginPages:
    def __init__(self, site: Site) -> None:
        self._site = site

    async def show_login(self, http: Request) -> Response:
        session = await self._site.sessions.browser(http)
        request = PageRequest(self._site, http, session)
        return_path = self._site.sessions.safe_return_path(http.query_params.get("next", ""))
        if session.has_session:
            return request.redirect(return_path)
        response = request.page("login.html", next=return_path, wrong=False)
        self._site.sessions.set_cookie_if_new(http, session, response)
        return response

    async def log_in(self, http: Request) -> Response:
        session = await self._site.sessions.browser(http)
        request = PageRequest(self._site, http, session)
        try:
            request.form = await forms.read_form(http)
            self._site.sessions.check_form_token(http, session, request.form.get("form_token"))
            return_path = self._site.sessions.safe_return_path(request.form.get("next"))
            new_session = await self._site.sessions.log_in(http, request.form.get("token"))
        except PressroomError as error:
            return self._site.error_page(request, error)
        if new_session is None:
            return request.page("login.html", status=401, next=return_path, wrong=True)
        if session.has_session:
            await self._site.sessions.log_out(session)
        response = request.redirect(return_path)
        self._site.sessions.set_cookie_if_new(http, new_session, response)
        return response

    async def log_out(self, request: PageRequest) -> Response:
        new_session = await self._site.sessions.log_out(request.session)
        response = request.redirect("/desk/login", "You are logged out.")
        self._site.sessions.set_cookie_if_new(request.http, new_session, response)
        return response

    async def choose_theme(self, request: PageRequest) -> Response:
        theme = request.form.get("theme")
        if theme not in THEMES:
            raise page_error(f"a theme is one of {', '.join(THEMES)}")
        back = urlsplit(request.http.headers.get("referer", ""))
        path = back.path.removeprefix(self._site.prefix) + (f"?{back.query}" if back.query else "")
        response = RedirectResponse(self._site.prefix + self._site.sessions.safe_return_path(path), 303)
        response.set_cookie(THEME_COOKIE, theme, max_age=_YEAR_SECONDS, path="/", httponly=True, samesite="lax")
        return response
