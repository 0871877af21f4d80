"""Dashboard templates from git: bind one to an organisation or a project, unbind it, fetch it now."""

from functools import partial

from pressroom.app import Core
from pressroom.apps.docs.git.addresses import parse_git_address, repository_name
from pressroom.apps.docs.git.refs import check_ref
from pressroom.apps.docs.git.sync_jobs import submit_stale, submit_sync
from pressroom.apps.docs.requests import TemplateDraft
from pressroom.apps.docs.store import templates as store
from pressroom.apps.docs.store.orgs import get_org
from pressroom.apps.docs.store.projects import get_project
from pressroom.apps.docs.store.templates import TemplateBinding, TemplatePlace
from pressroom.errors import InvalidArgument
from pressroom.model import Submitted, Work

LONGEST_PATH = 500


class Templates:
    """`org` is a slug, and so is `project`; None is the organisation itself, whose template all projects have that have none of
    their own. Raises OrgNotFound, ProjectNotFound and TemplateNotFound."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def get(self, org: str, project: str | None) -> TemplateBinding:
        return await self._core.database.read(partial(_get, org, project))

    async def put(
        self, org: str, project: str | None, draft: TemplateDraft, *, actor: str
    ) -> tuple[TemplateBinding, Submitted]:
        """Bind a template and fetch it. The one before stays in use until that has succeeded. Raises InvalidArgument and
        GitAddressRefused."""
        place = self._place_of(draft)

        def bind() -> Work[TemplateBinding]:
            id = yield from _project_id(org, project)
            return (yield from store.bind(org, id, place, repository_name(place.git_url)))

        async with self._core.queue.transaction() as transaction:
            binding = await transaction.run(bind, name="docs.bind_template")
            job = await submit_sync(self._core.queue, binding, actor=actor, within=transaction)
        return binding, job

    async def delete(self, org: str, project: str | None, *, actor: str) -> Submitted:
        """The dashboards are rendered again, with the organisation's template or the built-in one."""

        def unbind() -> Work[TemplateBinding]:
            binding = yield from _get(org, project)
            yield from store.unbind(binding)
            return binding

        async with self._core.queue.transaction() as transaction:
            binding = await transaction.run(unbind, name="docs.unbind_template")
            return await submit_stale(self._core.queue, binding.org, binding.project, actor=actor, within=transaction)

    async def sync(self, org: str, project: str | None, *, actor: str) -> Submitted:
        """Fetch it now."""
        async with self._core.queue.transaction() as transaction:
            binding = await transaction.run(partial(_get, org, project), name="docs.find_template")
            return await submit_sync(self._core.queue, binding, actor=actor, within=transaction)

    def _place_of(self, draft: TemplateDraft) -> TemplatePlace:
        url = draft.git_url
        if draft.owner or draft.repo:
            if url or not draft.owner or not draft.repo:
                raise InvalidArgument("give git_url, or owner and repo of a repository on GitHub")
            url = f"https://github.com/{draft.owner}/{draft.repo}.git"
        parse_git_address(url, self._core.app_settings.git_allow)
        return TemplatePlace(git_url=url, git_ref=check_ref(draft.ref), root_path=_clean_path(draft.root_path))


def _get(org: str, project: str | None) -> Work[TemplateBinding]:
    id = yield from _project_id(org, project)
    return (yield from store.get_binding(org, id))


def _project_id(org: str, project: str | None) -> Work[str | None]:
    yield from get_org(org)
    return None if project is None else (yield from get_project(org, project)).id


def _clean_path(path: str) -> str:
    """From the root of the repository: it begins with a slash and ends without one."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if len(path) > LONGEST_PATH or ".." in parts or not path.isprintable() or "\\" in path:
        raise InvalidArgument("root_path is a folder of the repository, such as / or /dashboard")
    return "/" + "/".join(parts)
