"""What the search box finds of the docs app: a build by its id, an organisation by its name, projects by how they begin."""

import re

from pressroom.apps.docs.errors import OrgNotFound
from pressroom.apps.docs.pages.paths import named_project_path, org_path
from pressroom.apps.docs.store.orgs import get_org
from pressroom.errors import NotFound
from pressroom.ids import parse_uid
from pressroom.model import Statement, Work
from pressroom.store.operators.lookup import SHOWN, LookupResult, Viewer

_SLUGS = re.compile(r"(?:(?P<org>[a-z0-9-]{2,64})/)?(?P<begin>[a-z0-9][a-z0-9-]{0,127})")


def find_sites(text: str, viewer: Viewer) -> Work[list[LookupResult]]:
    """`org/project` looks in that organisation."""
    found = yield from _find_build(text, viewer)
    slugs = _SLUGS.fullmatch(text.lower())
    if found or slugs is None:
        return found
    if not slugs["org"]:
        found += yield from _find_org(slugs["begin"], viewer)
    return found + (yield from _find_projects(slugs["org"], slugs["begin"], viewer))


def _find_build(text: str, viewer: Viewer) -> Work[list[LookupResult]]:
    try:
        uid = parse_uid(text)
    except NotFound:
        return []
    rows = yield Statement("docs.find_named_build", {"uid": uid})
    return [
        LookupResult(
            what="build",
            name=uid,
            about=f"{git_ref} in {org}/{slug}",
            path=f"{named_project_path(org, slug, id)}/builds/{uid}",
        )
        for org, slug, id, git_ref in rows
        if viewer.org_id in (None, org)
    ]


def _find_org(slug: str, viewer: Viewer) -> Work[list[LookupResult]]:
    if viewer.org_id not in (None, slug):
        return []
    try:
        org = yield from get_org(slug)
    except OrgNotFound:
        return []
    return [LookupResult(what="organisation", name=org.slug, about=org.title, path=org_path(org.slug))]


def _find_projects(org: str | None, begin: str, viewer: Viewer) -> Work[list[LookupResult]]:
    if org is not None and viewer.org_id not in (None, org):
        return []
    asked = viewer.org_id if org is None else org
    place = {"org": asked, "begin": begin, "limit": SHOWN}
    rows = yield Statement("docs.find_projects_by_prefix", place)
    return [
        LookupResult(what="project", name=f"{org}/{slug}", about=title, path=named_project_path(org, slug, id))
        for org, slug, id, title in rows
    ]
