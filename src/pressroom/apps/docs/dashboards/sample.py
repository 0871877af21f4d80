"""A project that there is not: what a new template is tried with before it takes the place of the old one."""

from pressroom.apps.docs.model import (
    MAIN,
    AutoCreate,
    Build,
    BuildStatus,
    Edition,
    EditionKind,
    Org,
    Project,
    PublishStatus,
    TrackingMode,
    TrackingParams,
)
from pressroom.apps.docs.store.dashboards import DashboardFacts

MOMENT = 1_767_225_600_000  # 2026-01-01
_EDITIONS = (
    (MAIN, "Main", EditionKind.MAIN, "main"),
    ("v2.1.0", "v2.1.0", EditionKind.RELEASE, "v2.1.0"),
    ("v2.0.0", "v2.0.0", EditionKind.RELEASE, "v2.0.0"),
    ("2", "Latest 2.x", EditionKind.MAJOR, "v2.1.0"),
    ("2.1", "Latest 2.1.x", EditionKind.MINOR, "v2.1.0"),
    ("usdf--main", "usdf", EditionKind.ALTERNATE, "main"),
    ("feature-a", "feature-a", EditionKind.DRAFT, "feature/a"),
)


def sample_facts(org: Org | None = None) -> DashboardFacts:
    """With an edition of each kind."""
    owner = org or _org()
    builds = [_build(number, git_ref) for number, (*_, git_ref) in enumerate(_EDITIONS, 1)]
    editions = [
        _edition(number, slug, title, kind, build)
        for number, ((slug, title, kind, _), build) in enumerate(zip(_EDITIONS, builds, strict=True), 1)
    ]
    return DashboardFacts(org=owner, project=_project(owner), editions=editions, builds={build.uid: build for build in builds})


def _org() -> Org:
    return Org(
        slug="sample",
        title="Sample organisation",
        base_domain="docs.example.org",
        url_scheme="subdomain",
        root_path_prefix="/",
        slug_rewrite_rules=[],
        lifecycle_rules=[],
        auto_create=AutoCreate(),
        default_edition=None,
        purgatory_retention=0,
        is_private=False,
        slots={},
        date_created=MOMENT,
        date_changed=MOMENT,
    )


def _project(org: Org) -> Project:
    return Project(
        id="0" * 26,
        org=org.slug,
        slug="sample",
        title="Sample project",
        source_url="https://git.example.org/sample/sample",
        git_url="",
        slug_rewrite_rules=None,
        lifecycle_rules=None,
        auto_create=None,
        purgatory_retention=None,
        on_broken_links="warn",
        noindex=[],
        last_number=len(_EDITIONS),
        editions_version=1,
        dashboard=None,
        dashboard_version=0,
        date_created=MOMENT,
        date_changed=MOMENT,
        date_deleted=None,
    )


def _build(number: int, git_ref: str) -> Build:
    return Build(
        uid=f"{number:026}",
        project="0" * 26,
        number=number,
        git_ref=git_ref,
        alternate_name=None,
        content_hash=f"sha256:{'0' * 64}",
        status=BuildStatus.COMPLETED,
        uploader="sample",
        annotations={"commit_sha": "0123456789abcdef"},
        artifact="0" * 26,
        object_count=100,
        total_size=1_000_000,
        broken_links=0,
        error=None,
        job_uid=None,
        date_created=MOMENT,
        date_uploaded=MOMENT,
        date_completed=MOMENT,
        date_deleted=None,
    )


def _edition(number: int, slug: str, title: str, kind: EditionKind, build: Build) -> Edition:
    return Edition(
        id=f"{number:026}",
        project="0" * 26,
        slug=slug,
        title=title,
        kind=kind,
        tracking_mode=TrackingMode.GIT_REF,
        tracking_params=TrackingParams(git_ref=build.git_ref),
        lifecycle_exempt=kind is EditionKind.MAIN,
        pinned=False,
        build=build.uid,
        publish_status=PublishStatus.PUBLISHED,
        publish_seq=1,
        published_seq=1,
        publish_error=None,
        ref_missing_since=None,
        date_created=MOMENT,
        date_changed=MOMENT,
        date_deleted=None,
    )
