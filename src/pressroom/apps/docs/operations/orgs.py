"""Organisations: create, change, delete, and which edition a ref would make."""

from collections.abc import Sequence
from functools import partial
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from pressroom.app import Core
from pressroom.apps.docs.domain.lifecycle import LifecycleRules
from pressroom.apps.docs.domain.site_domains import SiteDomain
from pressroom.apps.docs.domain.slugs import RewriteRules, SlugPreview, check_slug
from pressroom.apps.docs.model import Org
from pressroom.apps.docs.operations import checks
from pressroom.apps.docs.requests import OrgChanges, OrgDraft
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import orgs as rows
from pressroom.apps.docs.store import projects as project_rows
from pressroom.apps.docs.store.credentials import check_slots
from pressroom.definitions import Schedule
from pressroom.errors import InvalidArgument
from pressroom.model import Work


def domain_of(org: Org) -> SiteDomain | None:
    return SiteDomain.of(org.base_domain, org.url_scheme)


class Orgs:
    """`schedules` are saved with the first organisation."""

    def __init__(self, core: Core, schedules: Sequence[Schedule] = ()) -> None:
        self._core = core
        self._schedules = schedules

    async def create(self, draft: OrgDraft) -> Org:
        """Raises InvalidArgument for a slug, rule or domain that cannot be, and SlugTaken."""
        check_slug("organisation", draft.slug)
        org = _checked(
            Org(
                slug=draft.slug,
                title=draft.title,
                base_domain=draft.base_domain,
                url_scheme=draft.url_scheme,
                root_path_prefix=draft.root_path_prefix,
                slug_rewrite_rules=draft.slug_rewrite_rules,
                lifecycle_rules=draft.lifecycle_rules,
                auto_create=draft.auto_create,
                default_edition=draft.default_edition_config,
                purgatory_retention=draft.purgatory_retention,
                is_private=draft.is_private,
                slots={},
                date_created=0,
                date_changed=0,
            )
        )
        return await self._core.database.run(partial(rows.insert_org, org, self._schedules), name="docs")

    async def get(self, slug: str) -> Org:
        """Raises OrgNotFound."""
        return await self._core.database.read(partial(rows.get_org, slug))

    async def list(self, only: str | None = None, *, after: str = "", limit: int = 100) -> Sequence[Org]:
        """By slug. `only`: the one organisation that a caller may see."""
        return await self._core.database.read(partial(rows.list_orgs, only, after=after, limit=limit))

    async def change(self, slug: str, changes: OrgChanges, *, may_share_domain: bool = True) -> Org:
        """Raises OrgNotFound, InvalidArgument, and ServiceNotFound and ProviderMismatch for what cannot be in a slot.

        `may_share_domain` is for callers who see all organisations: the sites of one would answer in place of another's."""

        def unit() -> Work[Org]:
            org = yield from rows.get_org(slug)
            changed = _checked(_with_changes(org, changes))
            if not may_share_domain and _place_of(changed) != _place_of(org):
                yield from self._refuse_shared_domain(changed)
            if changes.slots is not UNSET:
                yield from check_slots(slug, changed.slots)
            return (yield from rows.save_org(changed))

        return await self._core.database.run(unit, name="docs")

    def _refuse_shared_domain(self, org: Org) -> Work[None]:
        settings: DocsSettings = self._core.app_settings
        wanted = domain_of(org)
        shared = SiteDomain.of(urlsplit(settings.url).hostname or "", "path_prefix")
        taken = [shared] if shared is not None else []
        after = ""
        while page := (yield from rows.list_orgs(after=after)):
            taken += [one for other in page if other.slug != org.slug and (one := domain_of(other)) is not None]
            after = page[-1].slug
        if wanted is not None and any(wanted.overlaps(one) for one in taken):
            raise InvalidArgument(
                f"base_domain: other organisations have sites at {org.base_domain}; an admin of all organisations can share it"
            )

    async def delete(self, slug: str) -> None:
        """Raises OrgInUse while it has projects."""
        await self._core.database.run(partial(rows.delete_org, slug), name="docs")

    async def preview_slug(
        self, org: str, git_ref: str, *, project: str | None = None, alternate_name: str | None = None
    ) -> SlugPreview:
        """Which edition a build of this ref would make, and by which rule."""
        checks.check_ref(git_ref)
        checks.check_alternate_name(alternate_name)

        def unit() -> Work[RewriteRules]:
            found = yield from rows.get_org(org)
            of_project = None if project is None else (yield from project_rows.get_project(org, project))
            return RewriteRules.of(found, of_project)

        return (await self._core.database.read(unit)).preview(git_ref, alternate_name)


def _place_of(org: Org) -> tuple[str, str, str]:
    return org.base_domain, org.url_scheme, org.root_path_prefix


def _with_changes(org: Org, changes: OrgChanges) -> Org:
    given = {name: value for name in changes.__struct_fields__ if (value := getattr(changes, name)) is not UNSET}
    if "default_edition_config" in given:
        given["default_edition"] = given.pop("default_edition_config")
    return msgspec.structs.replace(org, **given)


def _checked(org: Org) -> Org:
    """With its values as they are kept. Raises InvalidArgument."""
    checks.check_json("slug_rewrite_rules", org.slug_rewrite_rules, checks.RULES_BYTES)
    checks.check_json("lifecycle_rules", org.lifecycle_rules, checks.RULES_BYTES)
    RewriteRules(org.slug_rewrite_rules, source="org")
    LifecycleRules(org.lifecycle_rules)
    checks.main_edition(org.default_edition)
    return msgspec.structs.replace(
        org,
        title=checks.check_title(org.title, org.slug),
        base_domain=checks.check_base_domain(org.base_domain),
        url_scheme=checks.check_url_scheme(org.url_scheme),
        root_path_prefix=checks.check_root_path_prefix(org.root_path_prefix),
        purgatory_retention=checks.check_retention("purgatory_retention", org.purgatory_retention),
        slots=checks.check_slots(org.slots),
    )
