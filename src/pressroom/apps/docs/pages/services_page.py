"""Credentials of an organisation, which are written and never shown, and the services that use them."""

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from pressroom.apps.docs.credentials.model import CredentialDraft, NewSecret, ServiceDraft
from pressroom.apps.docs.credentials.providers import CREDENTIAL_FIELDS, SERVICE_PROVIDERS, SLOTS
from pressroom.apps.docs.model import Org
from pressroom.apps.docs.pages.form_fields import WrongField, text_of
from pressroom.apps.docs.pages.paths import org_path
from pressroom.apps.docs.pages.sites_page import refused_form
from pressroom.apps.docs.pages.views import EMPTY_FORM, FilledForm, get_own_org, render_page
from pressroom.apps.docs.requests import OrgChanges
from pressroom.errors import PressroomError, Refused
from pressroom.web.forms import Form
from pressroom.web.site import PageRequest

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

SECRET_FIELDS = tuple(dict.fromkeys(field for fields in CREDENTIAL_FIELDS.values() for field in fields))


class ServicesPages:
    def __init__(self, app: "DocsApp") -> None:
        self._app = app

    async def show(self, request: PageRequest, org: str) -> Response:
        return await self._services_page(request, await get_own_org(request, self._app, org))

    async def _services_page(
        self, request: PageRequest, org: Org, form: FilledForm = EMPTY_FORM, problem: PressroomError | None = None
    ) -> Response:
        services = await self._app.services.list(org.slug)
        return render_page(
            request,
            "services.html",
            problem=problem,
            org=org,
            credentials=await self._app.credentials.list(org.slug),
            services=services,
            providers=CREDENTIAL_FIELDS,
            secret_fields=SECRET_FIELDS,
            service_providers=SERVICE_PROVIDERS,
            slots={slot: [one for one in services if one.category in categories] for slot, categories in SLOTS.items()},
            form=form,
        )

    async def create_credential(self, request: PageRequest, org: str) -> Response:
        owner = await get_own_org(request, self._app, org)
        try:
            provider = text_of(request.form, "provider", 40)
            draft = CredentialDraft(
                label=text_of(request.form, "label", 64), provider=provider, credentials=_secret_of(request.form, provider)
            )
            await self._app.credentials.create(org, draft, actor=request.caller.name)
        except Refused as refusal:
            return await self._refused(request, owner, "credential", refusal)
        return request.redirect(_base(org), f"The credential {draft.label} is stored. It is not shown again.")

    async def replace_credential(self, request: PageRequest, org: str, label: str) -> Response:
        owner = await get_own_org(request, self._app, org)
        try:
            known = await self._app.credentials.get(org, label)
            secret = NewSecret(credentials=_secret_of(request.form, known.provider))
            await self._app.credentials.replace(org, label, secret, actor=request.caller.name)
        except Refused as refusal:
            return await self._refused(request, owner, "credentials", refusal)
        return request.redirect(_base(org), f"The secret of {label} is replaced.")

    async def delete_credential(self, request: PageRequest, org: str, label: str) -> Response:
        owner = await get_own_org(request, self._app, org)
        try:
            await self._app.credentials.delete(org, label, actor=request.caller.name)
        except Refused as refusal:
            return await self._refused(request, owner, "credentials", refusal)
        return request.redirect(_base(org), f"The credential {label} is deleted.")

    async def create_service(self, request: PageRequest, org: str) -> Response:
        owner = await get_own_org(request, self._app, org)
        form = request.form
        try:
            draft = ServiceDraft(
                label=text_of(form, "label", 64),
                provider=text_of(form, "provider", 40),
                config=_config_of(form),
                credential_label=text_of(form, "credential_label", 64) or None,
            )
            await self._app.services.create(org, draft, actor=request.caller.name)
        except Refused as refusal:
            return await self._refused(request, owner, "service", refusal)
        return request.redirect(_base(org), f"The service {draft.label} is saved.")

    async def delete_service(self, request: PageRequest, org: str, label: str) -> Response:
        owner = await get_own_org(request, self._app, org)
        try:
            await self._app.services.delete(org, label, actor=request.caller.name)
        except Refused as refusal:
            return await self._refused(request, owner, "services", refusal)
        return request.redirect(_base(org), f"The service {label} is deleted.")

    async def choose_slots(self, request: PageRequest, org: str) -> Response:
        """Which service publishes, which purges caches."""
        owner = await get_own_org(request, self._app, org)
        chosen = {slot: text_of(request.form, slot, 64) for slot in SLOTS}
        slots = {slot: label for slot, label in chosen.items() if label}
        try:
            await self._app.orgs.change(org, OrgChanges(slots=slots))
        except Refused as refusal:
            return await self._refused(request, owner, "slots", refusal)
        await request.record_audit("docs.org.change", f"organisation {org}", before=owner.slots, after=slots)
        return request.redirect(_base(org), "The services in use are saved.")

    async def _refused(self, request: PageRequest, org: Org, form: str, refusal: Refused) -> Response:
        """The form with what was typed, but for what is secret."""
        filled = refused_form(request, form, refusal)
        shown = {name: value for name, value in filled.values.items() if name not in SECRET_FIELDS}
        return await self._services_page(request, org, FilledForm(shown, filled.problem), refusal)


def _base(org: str) -> str:
    return f"{org_path(org)}/settings/services"


def _secret_of(form: Form, provider: str) -> dict[str, Any]:
    """The fields that the provider takes. A key file has lines, so that nothing but its ends is cut off."""
    return {name: form.get(name).strip() for name in CREDENTIAL_FIELDS.get(provider, ())}


def _config_of(form: Form) -> dict[str, Any]:
    try:
        config = json.loads(form.get("config").strip() or "{}")
    except (ValueError, RecursionError):
        raise WrongField("config", "the configuration is not JSON") from None
    if not isinstance(config, dict):
        raise WrongField("config", "the configuration is a JSON object")
    return config
