"""Organisations in the database: units of work."""

from collections.abc import Sequence

import msgspec

from pressroom.apps.docs.errors import OrgInUse, OrgNotFound, SlugTaken
from pressroom.apps.docs.model import Org
from pressroom.apps.docs.store.rows import encoded, org_of_row
from pressroom.apps.docs.store.templates import find_binding, unbind
from pressroom.definitions import Schedule
from pressroom.model import Statement, Work
from pressroom.store.jobs.schedules import save_schedule
from pressroom.store.jobs.transitions import now


def insert_org(org: Org, schedules: Sequence[Schedule]) -> Work[Org]:
    """With the schedules of the app: where there is no organisation, nothing needs them."""
    moment = yield from now()
    if not (yield Statement("docs.insert_org", {**_fields(org), "now": moment})):
        raise SlugTaken("organisation", org.slug)
    for schedule in schedules:
        yield from save_schedule(schedule)
    return (yield from get_org(org.slug))


def save_schedules_if_used(schedules: Sequence[Schedule]) -> Work[None]:
    """A newer version may have other times."""
    if (yield from list_orgs(limit=1)):
        for schedule in schedules:
            yield from save_schedule(schedule)


def get_org(slug: str) -> Work[Org]:
    """Raises OrgNotFound."""
    rows = yield Statement("docs.find_org", {"slug": slug})
    if not rows:
        raise OrgNotFound
    return org_of_row(rows[0])


def list_orgs(only: str | None = None, *, after: str = "", limit: int = 100) -> Work[list[Org]]:
    """By slug, after `after`. `only` is the one organisation that a caller may see; None is all of them."""
    rows = yield Statement("docs.list_orgs", {"only": only or "", "after": after, "limit": limit})
    return [org_of_row(row) for row in rows]


def save_org(org: Org) -> Work[Org]:
    moment = yield from now()
    yield Statement("docs.save_org", {**_fields(org), "now": moment})
    return (yield from get_org(org.slug))


def delete_org(slug: str) -> Work[None]:
    """Raises OrgInUse while it has projects, deleted ones among them."""
    yield from get_org(slug)
    if (yield Statement("docs.any_project_of_org", {"org": slug})):
        raise OrgInUse
    if (template := (yield from find_binding(slug, None))) is not None:
        yield from unbind(template)
    yield Statement("docs.delete_org", {"slug": slug})


def _fields(org: Org) -> dict[str, str | int | None]:
    return {
        "slug": org.slug,
        "title": org.title,
        "base_domain": org.base_domain,
        "url_scheme": org.url_scheme,
        "root_path_prefix": org.root_path_prefix,
        "slug_rewrite_rules": encoded(org.slug_rewrite_rules),
        "lifecycle_rules": encoded(org.lifecycle_rules),
        "auto_create": encoded(msgspec.to_builtins(org.auto_create)),
        "default_edition": encoded(org.default_edition),
        "purgatory_retention": org.purgatory_retention,
        "is_private": int(org.is_private),
        "slots": encoded(org.slots),
    }
