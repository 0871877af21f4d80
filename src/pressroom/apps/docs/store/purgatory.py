"""What was deleted stays in purgatory until its retention is over, and can be restored until then: units of work.

The bytes are kept by a hold. Restoring gives the hold back to the edition or the build; purging releases it, and the collector
of artifacts deletes what nothing holds any more.
"""

import msgspec

from pressroom.apps.docs.errors import BuildInUse, BuildNotUsable, MainEditionStays, PurgatoryEntryNotFound, SlugTaken
from pressroom.apps.docs.model import Build, Edition, EditionKind, Org, Project, PublishStatus
from pressroom.apps.docs.store.builds import build_holder, get_build_by_uid, list_editions_showing
from pressroom.apps.docs.store.editions import edition_holder, get_edition_by_id, slug_key
from pressroom.apps.docs.store.projects import get_project_by_id, touch_editions
from pressroom.apps.docs.store.templates import find_binding, unbind
from pressroom.ids import new_uid
from pressroom.model import Statement, Work
from pressroom.store.artifacts import artifacts
from pressroom.store.jobs.transitions import now

LAST_ID = "Z"  # sorts behind every id, in any collation: those begin with a digit
BUILDS_AT_ONCE = 500


class PurgatoryEntry(msgspec.Struct, frozen=True):
    id: str
    org: str
    project: str
    what: str  # "project", "edition" or "build"
    subject: str  # its id
    name: str
    reason: str
    actor: str
    objects: int
    bytes: int
    date_entered: int
    purge_after: int


class Deleter(msgspec.Struct, frozen=True):
    """Who deletes, why, and for how many seconds it can be restored."""

    actor: str
    reason: str
    retention: int


def retention_of(org: Org, project: Project) -> int:
    return org.purgatory_retention if project.purgatory_retention is None else project.purgatory_retention


def delete_edition(project: Project, edition: Edition, deleter: Deleter) -> Work[bool]:
    """False if it is deleted already. Raises MainEditionStays. The project must be locked."""
    if edition.kind is EditionKind.MAIN:
        raise MainEditionStays
    moment = yield from now()
    if not (yield Statement("docs.mark_edition_deleted", {"id": edition.id, "now": moment})):
        return False
    build = None if edition.build is None else (yield from get_build_by_uid(edition.build))
    if build is not None and build.artifact is not None:
        yield from artifacts.hold(purgatory_holder(edition.id), build.artifact)
        yield from artifacts.release(edition_holder(edition.id))
    yield from _enter(project, "edition", edition.id, edition.slug, build, deleter)
    yield from touch_editions(project.id)
    return True


def delete_build(project: Project, build: Build, deleter: Deleter) -> Work[bool]:
    """False if it is deleted already. Raises BuildInUse while an edition shows it. The project must be locked."""
    if shown := (yield from list_editions_showing(build.uid)):
        raise BuildInUse(shown)
    moment = yield from now()
    if not (yield Statement("docs.mark_build_deleted", {"uid": build.uid, "now": moment})):
        return False
    if build.artifact is not None:
        yield from artifacts.hold(purgatory_holder(build.uid), build.artifact)
        yield from artifacts.release(build_holder(build.uid))
    yield from _enter(project, "build", build.uid, build.git_ref, build, deleter)
    return True


def delete_project(project: Project, deleter: Deleter) -> Work[None]:
    """With all that it has, which stays as it is until it is purged."""
    moment = yield from now()
    yield Statement("docs.mark_project_deleted", {"id": project.id, "now": moment})
    yield Statement("docs.advance_editions_of_project", {"project": project.id, "status": PublishStatus.PUBLISHED})
    yield from _enter(project, "project", project.id, project.slug, None, deleter)


def _enter(project: Project, what: str, subject: str, name: str, build: Build | None, deleter: Deleter) -> Work[None]:
    moment = yield from now()
    objects, size = (build.object_count or 0, build.total_size or 0) if build is not None else (0, 0)
    if what == "project":
        objects, size = (yield Statement("docs.measure_project", {"project": project.id}))[0]
    yield Statement(
        "docs.insert_purgatory",
        {
            "id": new_uid(),
            "org": project.org,
            "project": project.id,
            "what": what,
            "subject": subject,
            "name": name,
            "reason": deleter.reason,
            "actor": deleter.actor,
            "objects": int(objects),
            "bytes": int(size),
            "now": moment,
            "purge_after": moment + deleter.retention * 1000,
        },
    )


def list_entries(org: str, *, project: str = "", before: str = "", limit: int = 100) -> Work[list[PurgatoryEntry]]:
    """Entered last first; from the first one if `before` is "", and of all projects if `project` is ""."""
    place = {"org": org, "project": project, "before": before or LAST_ID, "limit": limit}
    return [PurgatoryEntry(*row) for row in (yield Statement("docs.list_purgatory", place))]


def get_entry(org: str, id: str) -> Work[PurgatoryEntry]:
    rows = yield Statement("docs.find_purgatory", {"org": org, "id": id})
    if not rows:
        raise PurgatoryEntryNotFound
    return PurgatoryEntry(*rows[0])


def restore(entry: PurgatoryEntry, actor: str) -> Work[None]:
    """Raises SlugTaken if its slug is another's by now, and BuildNotUsable if the build that an edition showed is deleted."""
    match entry.what:
        case "edition":
            yield from _restore_edition(entry.subject, actor)
        case "build":
            yield from _restore_build(entry.subject)
        case _:
            yield from _restore_project(entry.subject)
    yield Statement("docs.delete_purgatory", {"id": entry.id})


def _restore_edition(id: str, actor: str) -> Work[None]:
    edition = yield from get_edition_by_id(id)
    place = {"project": edition.project, "slug_key": slug_key(edition.slug)}
    if (yield Statement("docs.find_edition", place)):
        raise SlugTaken("edition", edition.slug)
    build = None if edition.build is None else (yield from get_build_by_uid(edition.build))
    if build is not None and build.date_deleted is not None:
        raise BuildNotUsable(f"the build {build.uid}, which the edition showed, is deleted; restore that first")
    moment = yield from now()
    ((seq,),) = yield Statement("docs.restore_edition", {"id": id, "now": moment})
    if build is not None:
        entry = {"trigger": "restore", "actor": actor, "job_uid": None, "now": moment}
        yield Statement("docs.insert_history", {"edition": id, "build": build.uid, "seq": int(seq), **entry})
        assert build.artifact is not None
        yield from artifacts.hold(edition_holder(id), build.artifact)
    yield from artifacts.release(purgatory_holder(id))
    yield from touch_editions(edition.project)


def _restore_build(uid: str) -> Work[None]:
    build = yield from get_build_by_uid(uid)
    yield Statement("docs.restore_build", {"uid": uid})
    if build.artifact is not None:
        yield from artifacts.hold(build_holder(uid), build.artifact)
        yield from artifacts.release(purgatory_holder(uid))


def _restore_project(id: str) -> Work[None]:
    project = yield from get_project_by_id(id)
    if (yield Statement("docs.find_project", {"org": project.org, "slug": project.slug})):
        raise SlugTaken("project", project.slug)
    moment = yield from now()
    yield Statement("docs.restore_project", {"id": id, "now": moment})
    yield Statement("docs.advance_editions_of_project", {"project": id, "status": PublishStatus.PENDING})


def list_orgs_with_due() -> Work[list[str]]:
    moment = yield from now()
    return [org for (org,) in (yield Statement("docs.list_orgs_with_due_purgatory", {"now": moment}))]


def list_due(org: str, limit: int) -> Work[list[PurgatoryEntry]]:
    moment = yield from now()
    rows = yield Statement("docs.list_due_purgatory", {"org": org, "now": moment, "limit": limit})
    return [PurgatoryEntry(*row) for row in rows]


def purge(entry: PurgatoryEntry) -> Work[None]:
    """Release what an entry keeps; the collector of artifacts deletes the bytes."""
    if entry.what != "project":
        yield from artifacts.release(purgatory_holder(entry.subject))
        if entry.what == "build":  # its inventory may have been recorded after it was deleted
            yield from artifacts.release(build_holder(entry.subject))
        yield Statement("docs.delete_purgatory", {"id": entry.id})
        return
    place = {"project": entry.subject}
    for (id,) in (yield Statement("docs.list_edition_ids", place)):
        yield from artifacts.release(edition_holder(id))
        yield from artifacts.release(purgatory_holder(id))
    after = ""
    while rows := (yield Statement("docs.list_build_uids", {**place, "after": after, "limit": BUILDS_AT_ONCE})):
        for (uid,) in rows:
            yield from artifacts.release(build_holder(uid))
            yield from artifacts.release(purgatory_holder(uid))
        after = rows[-1][0]
    yield from artifacts.release(dashboard_holder(entry.subject))
    if (template := (yield from find_binding(entry.org, entry.subject))) is not None:
        yield from unbind(template)
    yield Statement("docs.delete_purgatory_of_project", place)
    for statement in ("docs.delete_history_of_project", "docs.delete_editions_of_project", "docs.delete_builds_of_project"):
        yield Statement(statement, place)
    yield Statement("docs.delete_project", {"id": entry.subject})


def purgatory_holder(id: str) -> str:
    return f"docs:purgatory:{id}"


def dashboard_holder(project: str) -> str:
    return f"docs:dashboard:{project}"
