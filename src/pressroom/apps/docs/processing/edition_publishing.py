"""Bring what editions show to where readers get it, by the publishers of their organisation."""

from functools import partial

import msgspec

from pressroom.apps.docs.dashboards.dashboards import Dashboards
from pressroom.apps.docs.model import Edition, Org, Project
from pressroom.apps.docs.publishing import Publication
from pressroom.apps.docs.publishing.publishers import Publishers
from pressroom.apps.docs.store import builds as build_rows
from pressroom.apps.docs.store import editions as rows
from pressroom.apps.docs.store import orgs as org_rows
from pressroom.apps.docs.store.projects import get_project_by_id
from pressroom.model import Work
from pressroom.store import Database


class ProjectPlace(msgspec.Struct, frozen=True):
    org: Org
    project: Project


class EditionPublishing:
    def __init__(self, publishers: Publishers, dashboards: Dashboards) -> None:
        self._publishers = publishers
        self._dashboards = dashboards

    async def publish(self, publication: Publication) -> None:
        """By one publisher after the other: caches are told when what they ask is in its place."""
        for publisher in await self._publishers.of(publication.org):
            await publisher.publish(publication)

    async def publish_again(self, database: Database, edition_id: str) -> bool:
        """Publish what an edition shows now, or that it shows nothing any more, and note it. False if it moved meanwhile.

        For what lags behind: a deleted or restored edition, or one whose publisher failed. Raises what publishers raise."""
        publication = await database.read(partial(find_publication, edition_id))
        await self.publish(publication)
        return await database.run(partial(rows.mark_published, edition_id, publication.seq), name="docs")

    async def render_dashboard(self, place: ProjectPlace) -> None:
        """Render the files of a project once its editions are where they are (Q23), and publish them."""
        await self._dashboards.render(place.project.id)
        read_files = partial(self._dashboards.read, place.project.id)
        for publisher in await self._publishers.of(place.org):
            await publisher.publish_dashboard(place.org, place.project, read_files)


def find_place(project_id: str) -> Work[ProjectPlace]:
    project = yield from get_project_by_id(project_id)
    return ProjectPlace((yield from org_rows.get_org(project.org)), project)


def find_publication(edition_id: str) -> Work[Publication]:
    """What an edition shows now. One that is deleted, or whose project is, shows nothing. Raises EditionNotFound."""
    edition = yield from rows.get_edition_by_id(edition_id)
    place = yield from find_place(edition.project)
    return (yield from publication_of(place, edition))


def publication_of(place: ProjectPlace, edition: Edition) -> Work[Publication]:
    is_gone = edition.date_deleted is not None or place.project.date_deleted is not None
    shows = None if is_gone or edition.build is None else (yield from build_rows.get_build_by_uid(edition.build))
    return Publication(org=place.org, project=place.project, edition=edition, build=shows, seq=edition.publish_seq)
