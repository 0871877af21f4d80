"""What is published, as far as the database knows: units of work for the reconciler."""

from typing import NamedTuple

from pressroom.apps.docs.model import Build, Edition, Org, Project
from pressroom.apps.docs.publishing import Publication, PublishedSite
from pressroom.apps.docs.store.builds import get_build_by_uid
from pressroom.apps.docs.store.editions import get_edition_by_id, mark_published
from pressroom.apps.docs.store.projects import get_project_by_id
from pressroom.model import Statement, Work


class ShownEdition(NamedTuple):
    """An edition that shows a build. `busy`: a job that has not ended publishes it."""

    publication: Publication
    is_published: bool
    busy: bool


class PublishingState(NamedTuple):
    shown: list[ShownEdition]
    removed: list[Publication]  # deleted editions that may still be published

    @property
    def expected(self) -> list[Publication]:
        return [one.publication for one in self.shown]

    @property
    def busy(self) -> set[PublishedSite]:
        return {one.publication.site for one in self.shown if one.busy}


def read_state(org: Org) -> Work[PublishingState]:
    """Of all editions of an organisation's projects that are not deleted."""
    projects: dict[str, Project] = {}
    shown: list[ShownEdition] = []
    for id, build, busy in (yield Statement("docs.list_publications", {"org": org.slug})):
        edition = yield from get_edition_by_id(id)
        publication = yield from _publication(org, edition, (yield from get_build_by_uid(build)), projects)
        shown.append(ShownEdition(publication, edition.published_seq >= edition.publish_seq, bool(busy)))
    removed: list[Publication] = []
    for (id,) in (yield Statement("docs.list_unpublished_deletions", {"org": org.slug})):
        removed.append((yield from _publication(org, (yield from get_edition_by_id(id)), None, projects)))
    return PublishingState(shown, removed)


def _publication(org: Org, edition: Edition, build: Build | None, projects: dict[str, Project]) -> Work[Publication]:
    if edition.project not in projects:
        projects[edition.project] = yield from get_project_by_id(edition.project)
    return Publication(org=org, project=projects[edition.project], edition=edition, build=build, seq=edition.publish_seq)


def settle(publication: Publication, error: str | None = None) -> Work[bool]:
    """The move is published, or has failed. False if a later move has taken its place."""
    if publication.build is not None:
        return (yield from mark_published(publication.edition.id, publication.seq, error))
    if error is not None:
        return False
    place = {"id": publication.edition.id, "seq": publication.seq}
    return bool((yield Statement("docs.mark_unpublished", place)))
