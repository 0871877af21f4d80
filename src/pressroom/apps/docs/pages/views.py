"""What the pages share: whose organisation it is, the addresses of pages, and how things are named on them."""

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from pressroom.apps.docs.errors import OrgNotFound, ProjectNotFound
from pressroom.apps.docs.model import Build, Edition, EditionKind, Org, Project, TrackingMode, TrackingParams
from pressroom.apps.docs.pages.paths import build_path, edition_path, org_path, project_path
from pressroom.apps.docs.store.projects import get_project_by_id
from pressroom.errors import PressroomError
from pressroom.ids import parse_uid
from pressroom.model import from_ms
from pressroom.web.site import PageRequest, page_error

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

PAGE_SIZE = 50
_PROJECT_ID = re.compile(r"[0-9A-Z]{26}")

KIND_TITLES = {
    EditionKind.MAIN: "Main",
    EditionKind.RELEASE: "Releases",
    EditionKind.MAJOR: "Major versions",
    EditionKind.MINOR: "Minor versions",
    EditionKind.ALTERNATE: "Alternates",
    EditionKind.DRAFT: "Drafts",
}
MODE_TITLES = {
    TrackingMode.GIT_REF: "a git ref",
    TrackingMode.ALTERNATE_GIT_REF: "a git ref, with an alternate name",
    TrackingMode.SEMVER_RELEASE: "the newest release",
    TrackingMode.SEMVER_MAJOR: "releases of a major version",
    TrackingMode.SEMVER_MINOR: "releases of a minor version",
    TrackingMode.LSST_DOC: "LSST document versions",
    TrackingMode.EUPS_MAJOR_RELEASE: "EUPS releases",
    TrackingMode.EUPS_WEEKLY_RELEASE: "EUPS weeklies",
    TrackingMode.EUPS_DAILY_RELEASE: "EUPS dailies",
    TrackingMode.MANUAL: "nothing, it is set by hand",
}
TRIGGERS = {
    "build": "build",
    "patch": "set by hand",
    "rollback": "rolled back",
    "restore": "restored",
}
STATUS_CLASSES = {
    "pending": "queued",
    "processing": "in_progress",
    "publishing": "in_progress",
    "published": "completed",
    "completed": "completed",
    "failed": "failed",
    "syncing": "in_progress",
    "synced": "completed",
}


class FormProblem(msgspec.Struct, frozen=True):
    """Why a form was refused: it is shown again with what was typed. `field` is the one that is wrong, if that is known."""

    form: str
    message: str
    code: str
    field: str = ""


class FilledForm(msgspec.Struct, frozen=True):
    """The fields of a form as they are shown. `problem` belongs to this form."""

    values: Mapping[str, str] = {}
    problem: FormProblem | None = None

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")


EMPTY_FORM = FilledForm()


def render_page(request: PageRequest, template: str, *, problem: PressroomError | None = None, **values: Any) -> Response:
    """`problem` decides the status of a form that is shown again."""
    return request.page(
        f"docs/{template}",
        status=200 if problem is None else problem.status,
        moment=from_ms,
        org_path=org_path,
        project_path=project_path,
        build_path=build_path,
        edition_path=edition_path,
        build_title=build_title,
        tracking_text=tracking_text,
        web_link=web_link,
        kind_titles=KIND_TITLES,
        mode_titles=MODE_TITLES,
        triggers=TRIGGERS,
        empty_form=EMPTY_FORM,
        status_classes=STATUS_CLASSES,
        **values,
    )


async def get_own_org(request: PageRequest, app: "DocsApp", slug: str) -> Org:
    """Raises OrgNotFound, in the same words for another's."""
    if not request.caller.owns(slug):
        raise OrgNotFound
    return await app.orgs.get(slug)


async def get_own_project(request: PageRequest, app: "DocsApp", org: str, ref: str) -> tuple[Org, Project]:
    """By its slug, or by its id. Raises OrgNotFound and ProjectNotFound."""
    if not request.caller.owns(org):
        raise OrgNotFound
    if not _PROJECT_ID.fullmatch(ref):
        return await app.projects.get_with_org(org, ref)
    project = await request.read(partial(get_project_by_id, ref))
    if project.org != org or project.date_deleted is not None:
        raise ProjectNotFound
    return await app.orgs.get(org), project


def build_title(build: Build) -> str:
    name = build.git_ref + (f" ({build.alternate_name})" if build.alternate_name else "")
    return f"Build {build.number} of {name}" if build.number else f"Build of {name}"


def tracking_text(edition: Edition) -> str:
    """Which builds the edition follows, in words."""
    return describe_tracking(edition.tracking_mode, edition.tracking_params)


def describe_tracking(mode: TrackingMode, params: TrackingParams) -> str:
    match mode:
        case TrackingMode.GIT_REF:
            return f"builds of {params.git_ref}"
        case TrackingMode.ALTERNATE_GIT_REF:
            return f"builds of {params.git_ref} as {params.alternate_name}"
        case TrackingMode.SEMVER_RELEASE:
            return "the newest release"
        case TrackingMode.SEMVER_MAJOR:
            return f"the newest release {params.major_version}.x"
        case TrackingMode.SEMVER_MINOR:
            return f"the newest release {params.major_version}.{params.minor_version}.x"
        case TrackingMode.LSST_DOC:
            return "the newest LSST document version, main until there is one"
        case TrackingMode.EUPS_MAJOR_RELEASE:
            return "the newest EUPS release"
        case TrackingMode.EUPS_WEEKLY_RELEASE:
            return "the newest EUPS weekly"
        case TrackingMode.EUPS_DAILY_RELEASE:
            return "the newest EUPS daily"
        case TrackingMode.MANUAL:
            return "no builds: it is set by hand"


def web_link(address: Any) -> str | None:
    """An address of the web that a page may link to; uploaders may write anything into annotations."""
    is_web = isinstance(address, str) and re.match(r"https?://[^\s/]", address) and len(address) <= 2_000
    return address if is_web else None


def parse_build_id(text: str) -> str | None:
    """In any spelling. None for what is no id."""
    try:
        return parse_uid(text)
    except PressroomError:
        return None


def read_query(request: PageRequest, name: str, longest: int = 200) -> str:
    text = request.http.query_params.get(name, "").strip()
    if len(text) > longest or not text.isprintable():
        raise page_error(f"{name} is one line of at most {longest} printable characters")
    return text
