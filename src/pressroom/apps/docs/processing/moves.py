"""Move an edition: pointer, history and hold in one transaction that checks the claim of the job, the guard asked again.

What is outside of the database follows afterwards (edition_publishing.py)."""

import msgspec

from pressroom.apps.docs.domain.tracking import refusal
from pressroom.apps.docs.errors import BuildNotUsable, EditionNotFound, ProjectNotFound
from pressroom.apps.docs.model import Build, BuildStatus, Edition
from pressroom.apps.docs.store import builds as build_rows
from pressroom.apps.docs.store import editions as rows
from pressroom.apps.docs.store.editions import EditionMove, ShownBuild
from pressroom.apps.docs.store.projects import get_project_by_id, touch_editions
from pressroom.model import Work


class MovedEdition(msgspec.Struct, frozen=True):
    """An edition shows the build, since its move `seq`."""

    edition: Edition
    seq: int
    is_published: bool  # everywhere, by an earlier attempt


class KeptEdition(msgspec.Struct, frozen=True):
    """An edition that something else has moved meanwhile, or that may not be moved any more."""

    edition: Edition
    reason: str


def shown_build(build: Build) -> ShownBuild:
    assert build.number is not None  # it was uploaded
    return ShownBuild(build.uid, build.git_ref, build.alternate_name, build.number)


def move_by_build(edition_id: str, build_uid: str, *, actor: str, job_uid: str) -> Work[MovedEdition | KeptEdition]:
    """The edition comes to show a build that it tracks, unless it may not by now. Done twice, it is done once."""
    edition = yield from rows.get_edition_by_id(edition_id)
    build = yield from build_rows.get_build_by_uid(build_uid)
    if build.date_deleted is not None:
        return KeptEdition(edition, "the build was deleted meanwhile")
    if (yield from get_project_by_id(edition.project)).date_deleted is not None:
        return KeptEdition(edition, "the project was deleted meanwhile")
    current = None if edition.build is None else (yield from build_rows.get_build_by_uid(edition.build))
    reason = refusal(edition, None if current is None else shown_build(current), shown_build(build))
    if reason is not None:
        return KeptEdition(edition, reason)
    if edition.build == build.uid:
        return _as_it_is(edition)
    return (yield from _move(edition, build, trigger="build", actor=actor, job_uid=job_uid, pinned=None))


def move_by_person(
    edition_id: str, build_uid: str, *, trigger: str, actor: str, job_uid: str, pinned: bool | None
) -> Work[MovedEdition | KeptEdition]:
    """The edition comes to show a build of its project, whatever it tracks (Q25). Raises EditionNotFound,
    ProjectNotFound and BuildNotUsable.

    Done twice by one job, it is done once: what others have moved since then stays."""
    edition = yield from rows.get_edition_by_id(edition_id)
    if edition.date_deleted is not None:
        raise EditionNotFound
    if (yield from get_project_by_id(edition.project)).date_deleted is not None:
        raise ProjectNotFound
    if (seq := (yield from rows.find_move_of_job(edition_id, job_uid))) is not None:
        return _as_it_is(edition) if seq == edition.publish_seq else KeptEdition(edition, "was moved again meanwhile")
    build = yield from build_rows.get_build_by_uid(build_uid)
    if build.project != edition.project or build.date_deleted is not None or build.status is not BuildStatus.COMPLETED:
        raise BuildNotUsable(f"the build {build.uid} was deleted, or is not a completed one of this project")
    if edition.build == build.uid:
        if pinned is not None and pinned != edition.pinned:
            edition = msgspec.structs.replace(edition, pinned=pinned)
            yield from rows.save_edition(edition)
            yield from touch_editions(edition.project)
        return _as_it_is(edition)
    return (yield from _move(edition, build, trigger=trigger, actor=actor, job_uid=job_uid, pinned=pinned))


def _as_it_is(edition: Edition) -> MovedEdition:
    return MovedEdition(edition, edition.publish_seq, edition.published_seq == edition.publish_seq)


def _move(edition: Edition, build: Build, *, trigger: str, actor: str, job_uid: str, pinned: bool | None) -> Work[MovedEdition]:
    assert build.artifact is not None  # its inventory is done
    seq = yield from rows.move_edition(
        EditionMove(
            edition=edition.id,
            expected_seq=edition.publish_seq,
            build=build.uid,
            artifact=build.artifact,
            trigger=trigger,
            actor=actor,
            job_uid=job_uid,
            pinned=pinned,
        )
    )
    assert seq is not None  # it was read in this transaction, which runs alone
    yield from touch_editions(edition.project)
    return MovedEdition((yield from rows.get_edition_by_id(edition.id)), seq, is_published=False)
