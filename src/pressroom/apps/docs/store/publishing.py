"""What is published, as far as the database knows: units of work for the reconciler."""

from typing import NamedTuple

from pressroom.apps.docs.errors import EditionNotFound, ProjectNotFound
from pressroom.apps.docs.model import Build, Edition, Org, Project
from pressroom.apps.docs.publishing import Publication, PublishedSite, ShownSites
from pressroom.apps.docs.store.editions import get_edition, mark_published
from pressroom.apps.docs.store.projects import get_project
from pressroom.apps.docs.store.rows import build_of_row, edition_of_row, project_of_row
from pressroom.model import Statement, Work


class ShownEdition(NamedTuple):
    """An edition that shows a build. `busy`: a job that has not ended publishes it."""

    publication: Publication
    is_published: bool
    busy: bool


class PublishingState(NamedTuple):
    shown: list[ShownEdition]
    removed: list[Publication]  # deleted editions that may still be published
    projects: set[str]  # slugs, deleted ones included

    @property
    def sites(self) -> ShownSites:
        busy = {one.publication.site for one in self.shown if one.busy}
        return ShownSites([one.publication for one in self.shown], busy, self.projects)


def read_state(org: Org) -> Work[PublishingState]:
    """Of all editions of an organisation's projects that are not deleted."""
    place = {"org": org.slug}
    projects = {row[0]: project_of_row(row) for row in (yield Statement("docs.list_all_projects", place))}
    builds = {row[0]: build_of_row(row) for row in (yield Statement("docs.list_builds_shown_by_org", place))}

    def publication(edition: Edition, build: Build | None) -> Publication:
        project = projects[edition.project]
        return Publication(org=org, project=project, edition=edition, build=build, seq=edition.publish_seq)

    shown: list[ShownEdition] = []
    for *row, busy in (yield Statement("docs.list_publications", place)):
        edition = edition_of_row(tuple(row))
        is_published = edition.published_seq >= edition.publish_seq
        shown.append(ShownEdition(publication(edition, builds[str(edition.build)]), is_published, bool(busy)))
    gone = [edition_of_row(row) for row in (yield Statement("docs.list_unpublished_deletions", place))]
    slugs = {project.slug for project in projects.values()}
    return PublishingState(shown, [publication(edition, None) for edition in gone], slugs)


def read_shown_sites(org: Org) -> Work[ShownSites]:
    return (yield from read_state(org)).sites


def find_shown_project(org: str, slug: str) -> Work[Project | None]:
    """None if there is none of this slug any more."""
    try:
        return (yield from get_project(org, slug))
    except ProjectNotFound:
        return None


def is_shown(org: str, site: PublishedSite) -> Work[bool]:
    """Whether an edition of these slugs shows a build."""
    project = yield from find_shown_project(org, site.project)
    try:
        return project is not None and (yield from get_edition(project.id, site.edition)).build is not None
    except EditionNotFound:
        return False


def settle(publication: Publication, error: str | None = None) -> Work[bool]:
    """The move is published, or has failed. False if a later move has taken its place."""
    if publication.build is not None:
        return (yield from mark_published(publication.edition.id, publication.seq, error))
    if error is not None:
        return False
    place = {"id": publication.edition.id, "seq": publication.seq}
    return bool((yield Statement("docs.mark_unpublished", place)))
