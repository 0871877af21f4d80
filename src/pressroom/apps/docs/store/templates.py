"""Dashboard templates that are bound to git repositories: units of work."""

import msgspec

from pressroom.apps.docs.errors import TemplateNotFound
from pressroom.ids import new_uid
from pressroom.model import Row, Statement, Work
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import ArtifactDraft
from pressroom.store.jobs.transitions import now

PROJECTS_AT_ONCE = 500


class TemplatePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of a repository at a branch or tag."""

    git_url: str
    git_ref: str
    root_path: str


class TemplateBinding(msgspec.Struct, frozen=True):
    """Of one project, or with `project` None of all of an organisation that have none of their own.

    `artifact` is the last good template, `commit_sha` and `tree_sha` what it was read from; a sync that fails leaves them."""

    id: str
    org: str
    project: str | None
    git_url: str
    git_ref: str
    root_path: str
    commit_sha: str | None
    tree_sha: str | None
    artifact: str | None
    sync_status: str  # "pending", "syncing", "synced" or "failed"
    sync_error: str | None
    job_uid: str | None
    date_created: int
    date_changed: int
    date_synced: int | None

    @property
    def place(self) -> TemplatePlace:
        return TemplatePlace(git_url=self.git_url, git_ref=self.git_ref, root_path=self.root_path)


class SyncedTree(msgspec.Struct, frozen=True):
    commit: str
    tree: str


class StaleDashboard(msgspec.Struct, frozen=True):
    """A project whose dashboard shows an older state than its own."""

    project: str
    slug: str


def find_binding(org: str, project: str | None) -> Work[TemplateBinding | None]:
    """The template of a project (its id), or with None that of the organisation."""
    rows = yield Statement("docs.find_template", {"org": org, "project": project or ""})
    return TemplateBinding(*rows[0]) if rows else None


def get_binding(org: str, project: str | None) -> Work[TemplateBinding]:
    """Raises TemplateNotFound."""
    binding = yield from find_binding(org, project)
    if binding is None:
        raise TemplateNotFound
    return binding


def get_binding_by_id(id: str) -> Work[TemplateBinding]:
    rows: list[Row] = yield Statement("docs.find_template_by_id", {"id": id})
    if not rows:
        raise TemplateNotFound
    return TemplateBinding(*rows[0])


def list_bindings_of_repository(repository: str, git_ref: str = "") -> Work[list[TemplateBinding]]:
    """Those of one branch or tag, or of all if `git_ref` is ""."""
    rows = yield Statement("docs.list_templates_of_repository", {"repository": repository, "git_ref": git_ref})
    return [TemplateBinding(*row) for row in rows]


def bind(org: str, project: str | None, place: TemplatePlace, repository: str) -> Work[TemplateBinding]:
    """The template that is in use stays until the first sync of the new place."""
    moment = yield from now()
    known = yield from find_binding(org, project)
    fields = {**msgspec.to_builtins(place), "repository": repository, "now": moment}
    if known is None:
        yield Statement("docs.insert_template", {**fields, "id": new_uid(), "org": org, "project": project})
    elif known.place != place:
        yield Statement("docs.change_template", {**fields, "id": known.id})
    return (yield from get_binding(org, project))


def move_repository(old_repository: str, git_url: str, repository: str) -> Work[int]:
    moment = yield from now()
    fields = {"old_repository": old_repository, "git_url": git_url, "repository": repository, "now": moment}
    return len((yield Statement("docs.move_templates_to_repository", fields)))


def start_sync(id: str, job_uid: str) -> Work[TemplateBinding]:
    """Raises TemplateNotFound for a binding that was deleted meanwhile."""
    yield Statement("docs.start_template_sync", {"id": id, "job_uid": job_uid})
    return (yield from get_binding_by_id(id))


def save_synced(binding: TemplateBinding, tree: SyncedTree, draft: ArtifactDraft | None) -> Work[bool]:
    """`draft` is a new template, and None says that the known one is still right. False if the binding was changed meanwhile.

    Every dashboard that the template makes is stale from now on."""
    moment = yield from now()
    fields = {
        **msgspec.to_builtins(binding.place),
        "id": binding.id,
        "commit_sha": tree.commit,
        "tree_sha": tree.tree,
        "artifact": None if draft is None else draft.uid,
        "now": moment,
    }
    if not (yield Statement("docs.save_template", fields)):
        return False
    if draft is not None:
        yield from artifacts.release(template_holder(binding.id))
        yield from artifacts.record(draft, org_id=binding.org, holder=template_holder(binding.id))
        yield from touch_projects(binding.org, binding.project)
    return True


def fail_sync(id: str, job_uid: str, error: str) -> Work[None]:
    """Only while it is the sync of this job."""
    yield Statement("docs.fail_template_sync", {"id": id, "job_uid": job_uid, "error": error})


def unbind(binding: TemplateBinding) -> Work[None]:
    yield from artifacts.release(template_holder(binding.id))
    yield Statement("docs.delete_template", {"id": binding.id})
    yield from touch_projects(binding.org, binding.project)


def find_synced_template(org: str, project: str) -> Work[str | None]:
    """The artifact of the template that a project is rendered with. None: the built-in one."""
    rows = yield Statement("docs.find_synced_template", {"org": org, "project": project})
    return rows[0][0] if rows else None


def list_stale_dashboards(org: str, project: str | None) -> Work[list[StaleDashboard]]:
    """Of one project (its id), or of an organisation."""
    found: list[StaleDashboard] = []
    place = {"org": org, "project": project or "", "limit": PROJECTS_AT_ONCE}
    while rows := (yield Statement("docs.list_stale_dashboards", {**place, "after": found[-1].project if found else ""})):
        found += [StaleDashboard(*row) for row in rows]
    return found


def template_holder(id: str) -> str:
    return f"docs:template:{id}"


def touch_projects(org: str, project: str | None = None) -> Work[None]:
    """The dashboards of all projects of an organisation, or of one, are stale from now on."""
    yield Statement("docs.touch_projects", {"org": org, "project": project or ""})
