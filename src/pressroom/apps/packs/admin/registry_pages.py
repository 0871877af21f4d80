"""A document of the registry as a form. Saving makes a draft of the whole registry, which an admin publishes."""

import json
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from pressroom.apps.packs.admin.page_parts import actor_of, key_address
from pressroom.apps.packs.config import registry_edits
from pressroom.apps.packs.config.registry import KEY, RegistryEntry
from pressroom.apps.packs.library.views import parse_number, render_page
from pressroom.errors import InvalidArgument
from pressroom.web.site import PageRequest

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

TEXTS = ("doc_id", "title", "description", "tier", "template", "style", "engine")
FIELDS = (*TEXTS, "is_enabled", "required", "options", "sample", "place")
ENGINES = {"html": "the default engine", "html-browser": "a browser"}


class RegistryPages:
    def __init__(self, app: "PacksApp") -> None:
        self._configuration = app.configuration

    async def show(self, request: PageRequest, doc_id: str) -> Response:
        document, place = registry_edits.find_document(await self._newest_text(request), doc_id)
        return self._form_page(request, _fields_of(document, place), replaces=doc_id)

    async def show_new(self, request: PageRequest) -> Response:
        return self._form_page(request, _fields_of({}, None), replaces=None)

    async def save(self, request: PageRequest) -> Response:
        """The form is shown again with what is wrong in it."""
        form = request.form
        replaces = form.get("replaces") or None
        try:
            entry = _read_entry(request)
            place = parse_number(form.get("place"), "a place in the list") if form.get("place").strip() else None
            text = registry_edits.save_document(await self._newest_text(request), entry, replaces=replaces, place=place)
        except InvalidArgument as error:
            return self._form_page(request, {name: form.get(name) for name in FIELDS}, replaces=replaces, error=error)
        return await self._save_draft(request, text, f"{entry.doc_id} {'changed' if replaces else 'added'}")

    async def remove(self, request: PageRequest) -> Response:
        doc_id = request.form.get("doc_id")
        text = registry_edits.remove_document(await self._newest_text(request), doc_id)
        return await self._save_draft(request, text, f"{doc_id} removed")

    async def _save_draft(self, request: PageRequest, text: str, comment: str) -> Response:
        actor, org_id = actor_of(request), request.caller.org_id
        saved = await self._configuration.save(org_id, KEY, text, author=actor.name, comment=comment, actor=actor)
        checked = await self._configuration.validate(org_id, KEY, saved.number, actor=actor)
        note = "An admin publishes it." if checked.status == "valid" else "It has problems."
        return request.redirect(
            f"{key_address(KEY)}?version={saved.number}", f"{comment}: version {saved.number} is saved as a draft. {note}"
        )

    async def _newest_text(self, request: PageRequest) -> str:
        """Of the newest version, published or not: edits follow each other."""
        org_id = request.caller.org_id
        versions = await self._configuration.list_versions(org_id, KEY, limit=1)
        return await self._configuration.read_body(org_id, KEY, versions[0].number) if versions else "[]"

    def _form_page(
        self, request: PageRequest, fields: dict[str, str], *, replaces: str | None, error: InvalidArgument | None = None
    ) -> Response:
        return render_page(
            request,
            "settings_document.html",
            status=200 if error is None else error.status,
            fields=fields,
            replaces=replaces,
            engines=ENGINES,
            error=error,
        )


def _read_entry(request: PageRequest) -> RegistryEntry:
    form = request.form
    given: dict[str, Any] = {name: form.get(name).strip() for name in TEXTS}
    given["is_enabled"] = form.get("is_enabled") == "yes"
    given["required"] = form.get("required").split()
    for name in ("options", "sample"):
        given[name] = _parse_object(name, form.get(name))
    try:
        return msgspec.convert(given, RegistryEntry)
    except msgspec.ValidationError as error:
        raise InvalidArgument(str(error)) from None


def _parse_object(name: str, text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{name} is not JSON: {error}") from None


def _fields_of(document: dict[str, Any], place: int | None) -> dict[str, str]:
    """The texts of the form's fields."""
    fields = {name: str(document.get(name) or "") for name in TEXTS}
    fields["is_enabled"] = "" if document.get("is_enabled") is False else "yes"
    required = document.get("required")
    fields["required"] = "\n".join(map(str, required)) if isinstance(required, list) else ""
    for name in ("options", "sample"):
        value = document.get(name)
        fields[name] = json.dumps(value, indent=2, ensure_ascii=False) if value else ""
    fields["place"] = "" if place is None else str(place)
    return fields
