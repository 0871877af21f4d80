"""Projects in the database: units of work."""

from pressroom.apps.docs.errors import ProjectNotFound, SlugTaken
from pressroom.apps.docs.model import Project
from pressroom.apps.docs.store.editions import NewEdition, insert_edition
from pressroom.apps.docs.store.rows import encoded, project_of_row
from pressroom.ids import new_uid
from pressroom.model import Row, Statement, Work
from pressroom.store.jobs.transitions import now

LAST_ID = "Z"  # sorts behind every id, in any collation: those begin with a digit


def insert_project(project: Project, main: NewEdition) -> Work[Project]:
    """With its edition `__main`. Raises SlugTaken."""
    moment = yield from now()
    id = new_uid()
    if not (yield Statement("docs.insert_project", {**_fields(project), "id": id, "org": project.org, "now": moment})):
        raise SlugTaken("project", project.slug)
    yield from insert_edition(id, main)
    return (yield from get_project(project.org, project.slug))


def get_project(org: str, slug: str) -> Work[Project]:
    """Raises ProjectNotFound, also for a deleted one."""
    return _project_of((yield Statement("docs.find_project", {"org": org, "slug": slug})))


def get_project_by_id(id: str) -> Work[Project]:
    """Also a deleted one. Raises ProjectNotFound."""
    return _project_of((yield Statement("docs.find_project_by_id", {"id": id})))


def lock_project(id: str) -> Work[Project]:
    """No other transaction numbers builds or changes editions of it until this one ends. Raises ProjectNotFound."""
    moment = yield from now()
    return _project_of((yield Statement("docs.lock_project", {"id": id, "now": moment})))


def list_projects(org: str, *, text: str = "", after: str = "", limit: int = 100) -> Work[list[Project]]:
    """By slug, after `after`: those with `text` in their slug or title, or all if it is ""."""
    place = {"org": org, "text": _pattern(text), "after": after, "limit": limit}
    return [project_of_row(row) for row in (yield Statement("docs.list_projects", place))]


def list_newest_projects(org: str, *, text: str = "", before: str = "", limit: int = 100) -> Work[list[Project]]:
    """Created last first, as in `list_projects`; from the first one if `before` is ""."""
    place = {"org": org, "text": _pattern(text), "before": before or LAST_ID, "limit": limit}
    return [project_of_row(row) for row in (yield Statement("docs.list_newest_projects", place))]


def count_projects(org: str, *, text: str = "") -> Work[int]:
    return int((yield Statement("docs.count_projects", {"org": org, "text": _pattern(text)}))[0][0])


def save_project(project: Project) -> Work[Project]:
    moment = yield from now()
    yield Statement("docs.save_project", {**_fields(project), "id": project.id, "now": moment})
    return (yield from get_project_by_id(project.id))


def touch_editions(id: str) -> Work[int]:
    """Note that what the dashboard shows has changed. Returns the new version."""
    return int((yield Statement("docs.touch_editions", {"id": id}))[0][0])


def _project_of(rows: list[Row]) -> Project:
    if not rows:
        raise ProjectNotFound
    return project_of_row(rows[0])


def _pattern(text: str) -> str:
    """For LIKE: what contains the text, in any case."""
    if not text:
        return ""
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _fields(project: Project) -> dict[str, str | int | None]:
    return {
        "slug": project.slug,
        "title": project.title,
        "source_url": project.source_url,
        "git_url": project.git_url,
        "slug_rewrite_rules": encoded(project.slug_rewrite_rules),
        "lifecycle_rules": encoded(project.lifecycle_rules),
        "auto_create": encoded(project.auto_create),
        "purgatory_retention": project.purgatory_retention,
        "on_broken_links": project.on_broken_links,
        "noindex": encoded(project.noindex),
    }
