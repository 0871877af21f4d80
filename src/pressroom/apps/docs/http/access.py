"""Who may do what: reader, uploader and admin of an organisation are the scopes viewer, submitter and operator; the superadmin
is an admin of all organisations."""

from starlette.requests import Request

from pressroom.api.access import Caller, Scope
from pressroom.api.problems import HttpError
from pressroom.api.service import Service
from pressroom.apps.docs.errors import OrgNotFound

READER, UPLOADER, ADMIN = Scope.VIEWER, Scope.SUBMITTER, Scope.OPERATOR


async def require_role(service: Service, request: Request, org: str, role: Scope) -> Caller:
    """A caller with this role in the organisation. Another organisation does not exist for them."""
    caller = await service.gate.caller(request, role)
    if not caller.owns(org):
        raise OrgNotFound
    return caller


async def require_superadmin(service: Service, request: Request) -> Caller:
    caller = await service.gate.caller(request, Scope.ADMIN)
    if not caller.everywhere:
        raise HttpError(403, "forbidden", "organisations are created and deleted with a token made with --all-orgs")
    return caller
