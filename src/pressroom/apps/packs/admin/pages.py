"""`/library/settings`: what packs are made with, as pages. For operators; an admin publishes."""

from typing import TYPE_CHECKING

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.apps.packs.access import SCOPES
from pressroom.apps.packs.admin.overlays import Overlays, OverlaySent
from pressroom.apps.packs.admin.page_parts import actor_of, key_address
from pressroom.apps.packs.admin.registry_pages import RegistryPages
from pressroom.apps.packs.config.checks import require_key
from pressroom.apps.packs.config.versions import ConfigVersion, NotPublishable
from pressroom.apps.packs.library.views import parse_number, render_page
from pressroom.errors import PressroomError
from pressroom.web.line_diff import DiffLine, diff_lines_in_thread
from pressroom.web.site import PageRequest, Site

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

SHOWN = 100  # versions of a key
_FLAGS = {"yes": True, "no": False}


def router(site: Site, app: "PacksApp") -> Routes:
    """These addresses come before those of packs, which would match some of them."""
    routes = Routes()
    pages = SettingsPages(app)
    key = "/library/settings/{key}"
    site.get(routes, "/library/settings", pages.show, needs=Scope.OPERATOR)
    site.post(routes, "/library/settings/overlays", pages.save_overlay)
    site.post(routes, "/library/settings/overlays/delete", pages.delete_overlay)
    documents = RegistryPages(app)
    site.get(routes, "/library/settings/documents", documents.show_new, needs=Scope.OPERATOR)
    site.post(routes, "/library/settings/documents", documents.save, small=False)
    site.post(routes, "/library/settings/documents/remove", documents.remove)
    site.get(routes, "/library/settings/documents/{doc_id}", documents.show, needs=Scope.OPERATOR)
    site.get(routes, key, pages.show_key, needs=Scope.OPERATOR)
    site.post(routes, f"{key}/draft", pages.save_draft, small=False)
    site.post(routes, f"{key}/validate", pages.validate)
    site.post(routes, f"{key}/publish", pages.publish, needs=Scope.ADMIN)
    site.post(routes, f"{key}/rollback", pages.roll_back, needs=Scope.ADMIN)
    site.get(routes, f"{key}/{{number}}/dry-run", pages.dry_run, needs=Scope.OPERATOR)
    return routes


class SettingsPages:
    def __init__(self, app: "PacksApp") -> None:
        self._app = app
        self._overlays = Overlays(app.packs.database, app.settings)

    async def show(self, request: PageRequest) -> Response:
        """Every key, and the registry with its overlays. `key` in the query leads to that key, also to a new one."""
        if key := request.http.query_params.get("key", "").strip():
            return request.redirect(key_address(require_key(key)))
        org_id = request.caller.org_id
        keys = await self._app.configuration.list_keys(org_id)
        documents, truncated = await self._overlays.list(org_id)
        return render_page(request, "settings.html", keys=keys, documents=documents, truncated=truncated, scopes=SCOPES)

    async def show_key(self, request: PageRequest, key: str) -> Response:
        """The versions of a key, one of them in the editor, and what differs from another."""
        return await self._render_key(request, require_key(key))

    async def _render_key(
        self, request: PageRequest, key: str, *, error: PressroomError | None = None, text: str | None = None
    ) -> Response:
        org_id, asked = request.caller.org_id, request.http.query_params
        versions = await self._app.configuration.list_versions(org_id, key, limit=SHOWN)
        shown: ConfigVersion | None = versions[0] if versions else None
        if "version" in asked:
            shown = await self._app.configuration.get(org_id, key, parse_number(asked["version"]))
        body = "" if shown is None else await self._app.configuration.read_body(org_id, key, shown.number)
        compared: int | None = None
        lines: list[DiffLine] | None = None
        if "from" in asked and shown is not None:
            compared = parse_number(asked["from"])
            before = await self._app.configuration.read_body(org_id, key, compared)
            lines = await diff_lines_in_thread(before, body)
        return render_page(
            request,
            "settings_key.html",
            status=200 if error is None else error.status,
            key=key,
            address=key_address(key),
            versions=versions,
            shown=shown,
            text=body if text is None else text,
            compared=compared,
            lines=lines,
            error=error,
        )

    async def save_draft(self, request: PageRequest, key: str) -> Response:
        """Save the text as a draft and check it: its problems are shown beside it."""
        text = request.form.get("text").replace("\r\n", "\n")
        actor = actor_of(request)
        try:
            saved = await self._app.configuration.save(
                request.caller.org_id, key, text, author=actor.name, comment=request.form.get("comment").strip(), actor=actor
            )
        except PressroomError as error:
            return await self._render_key(request, require_key(key), error=error, text=text)
        checked = await self._app.configuration.validate(request.caller.org_id, key, saved.number, actor=actor)
        return request.redirect(
            f"{key_address(key)}?version={saved.number}", f"Version {saved.number} saved: {checked.status}."
        )

    async def validate(self, request: PageRequest, key: str) -> Response:
        number = parse_number(request.form.get("number"))
        checked = await self._app.configuration.validate(
            request.caller.org_id, require_key(key), number, actor=actor_of(request)
        )
        return request.redirect(f"{key_address(key)}?version={number}", f"Version {number} checked: {checked.status}.")

    async def publish(self, request: PageRequest, key: str) -> Response:
        number = parse_number(request.form.get("number"))
        try:
            await self._app.configuration.publish(request.caller.org_id, require_key(key), number, actor=actor_of(request))
        except NotPublishable as error:
            return await self._render_key(request, key, error=error)
        return request.redirect(f"{key_address(key)}?version={number}", f"Version {number} published.")

    async def roll_back(self, request: PageRequest, key: str) -> Response:
        back = await self._app.configuration.roll_back(request.caller.org_id, key, actor=actor_of(request))
        return request.redirect(f"{key_address(key)}?version={back.number}", f"Version {back.number} published again.")

    async def dry_run(self, request: PageRequest, key: str, number: str) -> Response:
        """What the documents that use a version would be, from the samples of the registry."""
        version = parse_number(number)
        made = await self._app.dry_runs.run(request.caller.org_id, key, version)
        return render_page(request, "settings_dry_run.html", key=key, address=key_address(key), made=made)

    async def save_overlay(self, request: PageRequest) -> Response:
        form = request.form
        scope, doc_id = form.get("scope"), form.get("doc_id")
        sent = OverlaySent(
            scope=scope if scope in SCOPES else "all",  # type: ignore[arg-type]
            scope_id=form.get("scope_id").strip()[:200],
            enabled=_FLAGS.get(form.get("enabled")),
            unlocked=_FLAGS.get(form.get("unlocked")),
            tier={"free": "free", "paid": "paid"}.get(form.get("tier")),  # type: ignore[arg-type]
            reason=form.get("reason").strip()[:2_000],
        )
        await self._overlays.save(request.caller.org_id, doc_id, sent, actor_of(request))
        return request.redirect("/library/settings", f"Overlay of {doc_id} saved.")

    async def delete_overlay(self, request: PageRequest) -> Response:
        place = [request.form.get(name) for name in ("doc_id", "scope", "scope_id")]
        await self._overlays.delete(request.caller.org_id, place[0], place[1], place[2], actor_of(request))
        return request.redirect("/library/settings", f"Overlay of {place[0]} deleted.")
