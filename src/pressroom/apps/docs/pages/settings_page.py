"""The settings of an organisation: addresses, rules with a dry run, retention, what builds create, and its deletion."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from pressroom.apps.docs.model import Org
from pressroom.apps.docs.pages.form_fields import DAY, as_json, auto_create_of, days_of, form_values, rules_of, text_of
from pressroom.apps.docs.pages.paths import org_path
from pressroom.apps.docs.pages.project_page import changed_fields, chosen_auto_create
from pressroom.apps.docs.pages.sites_page import may_create_orgs, refused_form
from pressroom.apps.docs.pages.views import FilledForm, get_own_org, render_page
from pressroom.apps.docs.requests import OrgChanges
from pressroom.apps.docs.store.lifecycle import ProjectPlan, plan_org
from pressroom.errors import PressroomError, Refused
from pressroom.model import Work
from pressroom.web.site import PageRequest, page_error

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

SHOWN_DELETIONS = 100  # of each project


class OrgSettingsPages:
    def __init__(self, app: "DocsApp") -> None:
        self._app = app

    async def show(self, request: PageRequest, org: str) -> Response:
        return await self._settings_page(request, await get_own_org(request, self._app, org))

    async def _settings_page(
        self,
        request: PageRequest,
        org: Org,
        form: FilledForm | None = None,
        problem: PressroomError | None = None,
        plans: Sequence[ProjectPlan] | None = None,
    ) -> Response:
        return render_page(
            request,
            "org_settings.html",
            problem=problem,
            org=org,
            form=form or FilledForm(_form_values_of(org)),
            may_delete=may_create_orgs(request),
            plans=plans,
            shown_deletions=SHOWN_DELETIONS,
        )

    async def dry_run(self, request: PageRequest, org: str) -> Response:
        """What lifecycle rules would delete if those of the form were saved. The form stays as it was typed."""
        owner = await get_own_org(request, self._app, org)
        try:
            plans = await request.read(partial(plan_new_rules, org, rules_of(request.form, "lifecycle_rules")))
        except Refused as refusal:
            return await self._settings_page(request, owner, refused_form(request, "change", refusal), refusal)
        return await self._settings_page(request, owner, FilledForm(form_values(request.form)), plans=plans)

    async def change(self, request: PageRequest, org: str) -> Response:
        owner = await get_own_org(request, self._app, org)
        try:
            changes = _org_changes(request, owner)
            changed = await self._app.orgs.change(org, changes, may_share_domain=request.caller.everywhere)
        except Refused as refusal:
            return await self._settings_page(request, owner, refused_form(request, "change", refusal), refusal)
        before, after = changed_fields(owner, changed)
        await request.record_audit("docs.org.change", f"organisation {org}", before=before, after=after)
        return request.redirect(f"{org_path(org)}/settings", "The settings are saved.")

    async def delete(self, request: PageRequest, org: str) -> Response:
        owner = await get_own_org(request, self._app, org)
        if not may_create_orgs(request):
            raise page_error("only an admin of all organisations deletes one", status=403, code="forbidden")
        try:
            await self._app.orgs.delete(org)
        except Refused as refusal:
            filled = FilledForm(_form_values_of(owner), refused_form(request, "delete", refusal).problem)
            return await self._settings_page(request, owner, filled, refusal)
        await request.record_audit("docs.org.delete", f"organisation {org}", before=msgspec.to_builtins(owner))
        return request.redirect("/sites", f"The organisation {org} is deleted.")


def plan_new_rules(org: str, rules: Sequence[dict[str, Any]]) -> Work[list[ProjectPlan]]:
    """What would be deleted now if these were the organisation's rules. A project's own rules hold as they are."""
    new = yield from plan_org(org, rules=rules)
    stored = yield from plan_org(org)
    inheriting = [plan for plan in new if plan.project.lifecycle_rules is None]
    return inheriting + [plan for plan in stored if plan.project.lifecycle_rules is not None]


def _org_changes(request: PageRequest, org: Org) -> OrgChanges:
    form = request.form
    return OrgChanges(
        title=text_of(form, "title"),
        base_domain=text_of(form, "base_domain"),
        url_scheme=text_of(form, "url_scheme"),
        root_path_prefix=text_of(form, "root_path_prefix"),
        slug_rewrite_rules=rules_of(form, "slug_rewrite_rules"),
        lifecycle_rules=rules_of(form, "lifecycle_rules"),
        auto_create=auto_create_of(form),
        purgatory_retention=days_of(form, "purgatory_retention", org.purgatory_retention),
        is_private=form.get("is_private") == "yes",
    )


def _form_values_of(org: Org) -> dict[str, str]:
    return {
        "title": org.title,
        "base_domain": org.base_domain,
        "url_scheme": org.url_scheme,
        "root_path_prefix": org.root_path_prefix,
        "slug_rewrite_rules": as_json(org.slug_rewrite_rules),
        "lifecycle_rules": as_json(org.lifecycle_rules),
        "auto_create": chosen_auto_create(org.auto_create),
        "purgatory_retention": str(org.purgatory_retention // DAY),
        "is_private": "yes" if org.is_private else "",
    }
