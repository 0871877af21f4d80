"""`/admin/config`: versions of what packs are made with, over HTTP."""

import json
import re
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.paging import NUMBER, next_page_link, parse_cursor, parse_limit
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.packs.admin import openapi
from pressroom.apps.packs.admin.views import (
    ConfigKeys,
    ConfigTextView,
    ConfigVersions,
    DraftSent,
    PublishedView,
    TemplateFields,
    config_diff,
    config_fields,
    config_version_view,
)
from pressroom.apps.packs.config import versions
from pressroom.apps.packs.config.checks import require_key
from pressroom.apps.packs.config.versions import BEYOND, find_published
from pressroom.apps.packs.request_parts import actor_of, decode_body
from pressroom.errors import InvalidArgument, NotFound
from pressroom.web.line_diff import diff_lines_in_thread

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

NO_STORE = {"Cache-Control": "no-store"}


def add_routes(routes: Routes, service: Service, app: "PacksApp") -> None:
    api = ConfigApi(service, app)
    key, version = "/admin/config/{key}", "/admin/config/{key}/{number}"
    routes.add("/admin/config", api.list_config_keys, "GET", **openapi.LIST_KEYS)
    routes.add(key, api.list_config_versions, "GET", **openapi.LIST_VERSIONS)
    routes.add(f"{key}/draft", api.save_config_draft, "POST", **openapi.SAVE_DRAFT)
    routes.add(f"{key}/rollback", api.roll_back_config, "POST", small_body=True, **openapi.ROLL_BACK)
    routes.add(version, api.get_config_version, "GET", **openapi.GET_VERSION)
    routes.add(f"{version}/validate", api.validate_config_version, "POST", small_body=True, **openapi.VALIDATE)
    routes.add(f"{version}/dry-run", api.dry_run_config_version, "POST", small_body=True, **openapi.DRY_RUN)
    routes.add(f"{version}/publish", api.publish_config_version, "POST", small_body=True, **openapi.PUBLISH)
    routes.add(f"{version}/diff/{{other}}", api.diff_config_versions, "GET", **openapi.DIFF)
    routes.add(f"{version}/fields", api.list_template_fields, "GET", **openapi.LIST_FIELDS)


class ConfigApi:
    def __init__(self, service: Service, app: "PacksApp") -> None:
        self._service = service
        self._app = app

    async def list_config_keys(self, request: Request) -> Response:
        """Every key with its newest version."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        keys = await self._app.configuration.list_keys(caller.org_id)
        return reply(ConfigKeys([config_version_view(one) for one in keys]), headers=NO_STORE)

    async def list_config_versions(self, request: Request, key: str) -> Response:
        """The versions of a key, newest first, without their texts."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        limit, cursor = parse_limit(request), parse_cursor(request, NUMBER)
        before = BEYOND if cursor is None else int(cursor)
        org_id, database = caller.org_id or "", self._app.packs.database
        found = await database.read(partial(versions.list_versions, org_id, require_key(key), before=before, limit=limit + 1))
        published = await database.read(partial(find_published, org_id, key))
        following = str(found[limit - 1].number) if len(found) > limit else None
        shown = [config_version_view(one) for one in found[:limit]]
        headers = next_page_link(self._service, request, following) | NO_STORE
        return reply(ConfigVersions(key, published, shown, following), headers=headers)

    async def get_config_version(self, request: Request, key: str, number: str) -> Response:
        """A version with its text. A text never changes."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        version = await self._app.configuration.get(caller.org_id, require_key(key), parse_number(number))
        body = await self._app.configuration.read_body(caller.org_id, key, version.number)
        return reply(ConfigTextView(**config_fields(version), body=body), headers=NO_STORE)

    async def save_config_draft(self, request: Request, key: str) -> Response:
        """Save a text as the next version of a key. It is a draft, whatever it says."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        sent = decode_body(await request.body(), DraftSent)
        body = sent.body if isinstance(sent.body, str) else json.dumps(sent.body, indent=2, ensure_ascii=False)
        saved = await self._app.configuration.save(
            caller.org_id, key, body, author=caller.name, comment=sent.comment, actor=actor_of(request, caller)
        )
        location = f"{self._service.base_url}/admin/config/{key}/{saved.number}"
        return reply(config_version_view(saved), status=201, headers={"Location": location})

    async def validate_config_version(self, request: Request, key: str, number: str) -> Response:
        """Check a version against what is published now, and keep what was found."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        checked = await self._app.configuration.validate(
            caller.org_id, require_key(key), parse_number(number), actor=actor_of(request, caller)
        )
        return reply(config_version_view(checked))

    async def dry_run_config_version(self, request: Request, key: str, number: str) -> Response:
        """Make the documents that use a version, from the samples of the registry. Nothing is kept."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        asked = request.query_params
        doc_id, lang = asked.get("doc_id", ""), asked.get("lang", "")
        made = await self._app.dry_runs.run(caller.org_id, key, parse_number(number), doc_id=doc_id, lang=lang)
        return reply(made, headers=NO_STORE)

    async def publish_config_version(self, request: Request, key: str, number: str) -> Response:
        """Check a version and publish it. Documents that are being made use the versions that they were requested with."""
        caller = await self._service.gate.caller(request, Scope.ADMIN)
        published, previous = await self._app.configuration.publish(
            caller.org_id, require_key(key), parse_number(number), actor=actor_of(request, caller)
        )
        return reply(PublishedView(**config_fields(published), previous=previous))

    async def roll_back_config(self, request: Request, key: str) -> Response:
        """Publish the version that was published before."""
        caller = await self._service.gate.caller(request, Scope.ADMIN)
        published = await self._app.configuration.roll_back(caller.org_id, key, actor=actor_of(request, caller))
        return reply(config_version_view(published))

    async def diff_config_versions(self, request: Request, key: str, number: str, other: str) -> Response:
        """What differs between two versions, line by line."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        numbers = parse_number(number), parse_number(other)
        before, after = [await self._app.configuration.read_body(caller.org_id, require_key(key), one) for one in numbers]
        lines = await diff_lines_in_thread(before, after)
        return reply(config_diff(key, *numbers, lines), headers=NO_STORE)

    async def list_template_fields(self, request: Request, key: str, number: str) -> Response:
        """Every path of the data that a template reads, so that missing input is seen before a document is requested."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        if not require_key(key).startswith("template:"):
            raise InvalidArgument(f"{key} is no template; only templates read fields")
        body = await self._app.configuration.read_body(caller.org_id, key, parse_number(number))
        published = await self._app.configuration.read_published(caller.org_id)
        others = {name: text for name, text in published.items() if name.startswith("template:") and name != key}
        found = await self._app.packs.compositions.analyse_texts(body, others)
        view = TemplateFields(
            key=key, number=int(number), fields=found.fields, strings=found.strings, templates=found.templates
        )
        return reply(view, headers=NO_STORE)


def parse_number(text: str) -> int:
    """Of a version. Raises NotFound."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise NotFound(f"there is no version {text[:40]!r}; versions are whole numbers from 1")
    return int(text)
