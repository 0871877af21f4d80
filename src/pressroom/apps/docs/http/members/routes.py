"""`/orgs/{org}/members`: the tokens of an organisation."""

from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Caller, Scope
from pressroom.api.problems import HttpError, request_id_of
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.api.tokens import Tokens
from pressroom.apps.docs.http.access import ADMIN, require_role
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.members import openapi
from pressroom.apps.docs.http.members.views import ROLES, MemberDraft, created_member_view, member_view
from pressroom.apps.docs.http.replies import collection, created, resource
from pressroom.apps.docs.http.request_parts import MisplacedValue, decode_body, parse_limit, parse_uid_cursor
from pressroom.errors import NotFound
from pressroom.ids import parse_uid
from pressroom.store.access.tokens import Token
from pressroom.store.operators import lookup
from pressroom.store.operators.audit import AuditEntry, record

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

_DAY = 24 * 3600 * 1000  # milliseconds


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = MembersApi(service, app)
    routes.add("/orgs/{org}/members", api.list_members, "GET", **openapi.LIST_MEMBERS)
    routes.add("/orgs/{org}/members", api.create_member, "POST", small_body=True, **openapi.CREATE_MEMBER)
    routes.add("/orgs/{org}/members/{member}", api.get_member, "GET", **openapi.GET_MEMBER)
    routes.add("/orgs/{org}/members/{member}", api.delete_member, "DELETE", small_body=True, **openapi.DELETE_MEMBER)
    return routes


class MemberNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__("the organisation has no such member")


class MembersApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._orgs = app.orgs
        self._database = app.core.database
        self._clock = app.core.clock

    @property
    def _tokens(self) -> Tokens:
        """The gate has others, which notice a revocation within seconds."""
        return Tokens(self._database, self._clock)

    async def list_members(self, request: Request, org: str) -> Response:
        """Tokens that are valid, newest first."""
        await self._require_admin(request, org)
        limit, before, urls = (
            parse_limit(request),
            parse_uid_cursor(request) or lookup.NEWEST_TOKEN,
            ApiUrls.of(self._service, request),
        )
        unit = partial(lookup.list_tokens, org, only_valid=True, before=before, limit=limit + 1)
        found = await self._database.read(unit)
        cursor = found[limit - 1].uid if len(found) > limit else None
        views = [member_view(token, org, urls) for token in found[:limit]]
        return collection(self._service, request, views, cursor=cursor)

    async def create_member(self, request: Request, org: str) -> Response:
        """A token for this organisation. An admin of it is an operator: no token made here reaches further."""
        caller = await self._require_admin(request, org)
        draft = await decode_body(request, MemberDraft)
        if draft.role not in ROLES:
            raise MisplacedValue(422, "invalid_argument", f"role is one of {', '.join(ROLES)}", ["body", "role"])
        ttl = None if draft.expires_in_days is None else draft.expires_in_days * _DAY
        made = await self._tokens.create(ROLES[draft.role], org=org, name=draft.name, ttl_ms=ttl)
        fields = {"id": made.token.uid, "name": made.token.name, "scope": made.token.scope, "of": org}
        await self._record(request, caller, "token.create", made.token, after=fields)
        view = created_member_view(made.token, made.secret, org, ApiUrls.of(self._service, request))
        response = created(view, view.self_url)
        response.headers["Cache-Control"] = "no-store"
        return response

    async def get_member(self, request: Request, org: str, member: str) -> Response:
        """A token, without its secret."""
        await self._require_admin(request, org)
        return resource(request, member_view(await self._find(org, member), org, ApiUrls.of(self._service, request)))

    async def delete_member(self, request: Request, org: str, member: str) -> Response:
        """Revoke a token. It is refused within seconds."""
        caller = await self._require_admin(request, org)
        token = await self._find(org, member)
        if Scope[token.scope.upper()] > caller.scope:
            raise HttpError(403, "forbidden", f"the token has the scope {token.scope}; revoking it needs that too")
        await self._tokens.revoke(token.uid)
        await self._record(request, caller, "token.revoke", token, before={"state": "valid"}, after={"state": "revoked"})
        return Response(status_code=204)

    async def _require_admin(self, request: Request, org: str) -> Caller:
        caller = await require_role(self._service, request, org, ADMIN)
        await self._orgs.get(org)  # a token can be older than its organisation
        return caller

    async def _find(self, org: str, member: str) -> Token:
        """`member` is an id in any spelling."""
        try:
            uid = parse_uid(member)
        except NotFound:
            raise MemberNotFound from None
        found = await self._database.read(partial(lookup.find_tokens, uid, org))
        valid = [token for token in found if token.uid == uid and token.revoked_at is None]
        if not valid:
            raise MemberNotFound
        return valid[0]

    async def _record(self, request: Request, caller: Caller, action: str, token: Token, **changes: Any) -> None:
        entry = AuditEntry(
            who=caller.name,
            action=action,
            target=token.prefix,
            org_id=caller.audit_org,
            request_id=request_id_of(request),
            **changes,
        )
        await self._database.run(partial(record, entry), name="audit")
