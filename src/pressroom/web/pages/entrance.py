"""The way in and out, and the choice between light and dark."""

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.errors import PressroomError
from pressroom.web import forms
from pressroom.web.desk import THEME, THEMES, Desk, Visit, refuse

_A_YEAR = 365 * 24 * 3600


def router(desk: Desk) -> Routes:
    routes = Routes()

    @routes.on("GET", "HEAD", path="/desk/login")
    async def show_login(request: Request) -> Response:
        browser = await desk.door.browser(request)
        visit = Visit(desk, request, browser)
        to = desk.door.inside(request.query_params.get("next", ""))
        if browser.has_session:
            return visit.go(to)
        response = visit.page("login.html", next=to, wrong=False)
        desk.door.give_cookie(request, browser, response)
        return response

    @routes.post("/desk/login", small_body=True)
    async def log_in(request: Request) -> Response:
        browser = await desk.door.browser(request)
        visit = Visit(desk, request, browser)
        try:
            visit.form = await forms.read(request)
            desk.door.require_own_form(request, browser, visit.form.get("form_token"))
            to = desk.door.inside(visit.form.get("next"))
            entered = await desk.door.log_in(request, visit.form.get("token"))
        except PressroomError as error:
            return desk.trouble(visit, error)
        if entered is None:
            return visit.page("login.html", status=401, next=to, wrong=True)
        if browser.has_session:
            await desk.door.log_out(browser)
        response = visit.go(to)
        desk.door.give_cookie(request, entered, response)
        return response

    async def log_out(visit: Visit) -> Response:
        left = await desk.door.log_out(visit.browser)
        response = visit.go("/desk/login", "You are logged out.")
        desk.door.give_cookie(visit.request, left, response)
        return response

    async def choose_theme(visit: Visit) -> Response:
        chosen = visit.form.get("theme")
        if chosen not in THEMES:
            raise refuse(f"a theme is one of {', '.join(THEMES)}")
        back = urlsplit(visit.request.headers.get("referer", ""))
        path = back.path.removeprefix(desk.prefix) + (f"?{back.query}" if back.query else "")
        response = RedirectResponse(desk.prefix + desk.door.inside(path), 303)
        response.set_cookie(THEME, chosen, max_age=_A_YEAR, path="/", httponly=True, samesite="lax")
        return response

    desk.post(routes, "/desk/logout", log_out, needs=Scope.VIEWER)
    desk.post(routes, "/desk/theme", choose_theme, needs=Scope.VIEWER)
    return routes
