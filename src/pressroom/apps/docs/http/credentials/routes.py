"""`/orgs/{org}/credentials` and `/orgs/{org}/services`. For admins of the organisation."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.docs.credentials.model import CredentialDraft, NewSecret, ServiceChanges, ServiceDraft
from pressroom.apps.docs.http.access import ADMIN, require_role
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.credentials import openapi
from pressroom.apps.docs.http.credentials.views import credential_view, service_view
from pressroom.apps.docs.http.replies import collection, created, resource
from pressroom.apps.docs.http.request_parts import decode_body

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

CREDENTIALS, SERVICES = "/orgs/{org}/credentials", "/orgs/{org}/services"


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = CredentialsApi(service, app)
    credential, kept = f"{CREDENTIALS}/{{label}}", f"{SERVICES}/{{label}}"
    routes.add(CREDENTIALS, api.list_credentials, "GET", **openapi.LIST_CREDENTIALS)
    routes.add(CREDENTIALS, api.create_credential, "POST", small_body=True, **openapi.CREATE_CREDENTIAL)
    routes.add(credential, api.get_credential, "GET", **openapi.GET_CREDENTIAL)
    routes.add(credential, api.replace_credential, "PUT", small_body=True, **openapi.REPLACE_CREDENTIAL)
    routes.add(credential, api.delete_credential, "DELETE", small_body=True, **openapi.DELETE_CREDENTIAL)
    routes.add(SERVICES, api.list_services, "GET", **openapi.LIST_SERVICES)
    routes.add(SERVICES, api.create_service, "POST", small_body=True, **openapi.CREATE_SERVICE)
    routes.add(kept, api.get_service, "GET", **openapi.GET_SERVICE)
    routes.add(kept, api.change_service, "PATCH", small_body=True, **openapi.CHANGE_SERVICE)
    routes.add(kept, api.delete_service, "DELETE", small_body=True, **openapi.DELETE_SERVICE)
    return routes


class CredentialsApi:
    """The names of the handlers are titles in the OpenAPI document. Secrets come in and never go out; a request with one is not
    kept for its `Idempotency-Key`."""

    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._credentials = app.credentials
        self._services = app.services

    async def list_credentials(self, request: Request, org: str) -> Response:
        """What is known of the secrets of an organisation. Never the secrets."""
        await require_role(self._service, request, org, ADMIN)
        urls = ApiUrls.of(self._service, request)
        found = [credential_view(one, urls) for one in await self._credentials.list(org)]
        return collection(self._service, request, found, total=len(found))

    async def create_credential(self, request: Request, org: str) -> Response:
        """Keep a secret, encrypted. It cannot be read again."""
        caller = await require_role(self._service, request, org, ADMIN)
        draft = await decode_body(request, CredentialDraft)
        view = credential_view(
            await self._credentials.create(org, draft, actor=caller.name), ApiUrls.of(self._service, request)
        )
        return created(view, view.self_url)

    async def get_credential(self, request: Request, org: str, label: str) -> Response:
        """What is known of a secret."""
        await require_role(self._service, request, org, ADMIN)
        found = await self._credentials.get(org, label)
        return resource(request, credential_view(found, ApiUrls.of(self._service, request)))

    async def replace_credential(self, request: Request, org: str, label: str) -> Response:
        """Another secret under the same label, for the services that use it."""
        caller = await require_role(self._service, request, org, ADMIN)
        new = await decode_body(request, NewSecret)
        replaced = await self._credentials.replace(org, label, new, actor=caller.name)
        return reply(credential_view(replaced, ApiUrls.of(self._service, request)))

    async def delete_credential(self, request: Request, org: str, label: str) -> Response:
        """Delete a secret that no service uses."""
        caller = await require_role(self._service, request, org, ADMIN)
        await self._credentials.delete(org, label, actor=caller.name)
        return Response(status_code=204)

    async def list_services(self, request: Request, org: str) -> Response:
        """What an organisation publishes to."""
        await require_role(self._service, request, org, ADMIN)
        urls = ApiUrls.of(self._service, request)
        found = [service_view(one, urls) for one in await self._services.list(org)]
        return collection(self._service, request, found, total=len(found))

    async def create_service(self, request: Request, org: str) -> Response:
        """A service with its configuration. It is used once it is in a slot of the organisation."""
        caller = await require_role(self._service, request, org, ADMIN)
        draft = await decode_body(request, ServiceDraft)
        view = service_view(await self._services.create(org, draft, actor=caller.name), ApiUrls.of(self._service, request))
        return created(view, view.self_url)

    async def get_service(self, request: Request, org: str, label: str) -> Response:
        """A service."""
        await require_role(self._service, request, org, ADMIN)
        return resource(request, service_view(await self._services.get(org, label), ApiUrls.of(self._service, request)))

    async def change_service(self, request: Request, org: str, label: str) -> Response:
        """Change the configuration of a service, or the credential that it uses."""
        caller = await require_role(self._service, request, org, ADMIN)
        changes = await decode_body(request, ServiceChanges)
        changed = await self._services.change(org, label, changes, actor=caller.name)
        return reply(service_view(changed, ApiUrls.of(self._service, request)))

    async def delete_service(self, request: Request, org: str, label: str) -> Response:
        """Delete a service that is in no slot."""
        caller = await require_role(self._service, request, org, ADMIN)
        await self._services.delete(org, label, actor=caller.name)
        return Response(status_code=204)
