"""An organisation with two projects for `pressroom demo`: releases, drafts, broken links, a failed build, and one that runs."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pressroom.apps.docs.model import EditionKind, TrackingMode, TrackingParams
from pressroom.apps.docs.operations.build_jobs import KIND as BUILD_KIND
from pressroom.apps.docs.requests import BuildDraft, EditionChanges, EditionDraft, OrgDraft, ProjectDraft, Rollback
from pressroom.store.jobs import claiming, endings
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement
from pressroom.worker.context import RunningJob
from pressroom.worker.judge import judge
from pressroom.worker.run import Attempt
from pressroom.worker.threads import HandlerThreads

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

AUTHOR = "demo"
LEASE_MS = 600_000
ROUNDS = 20  # jobs submit others, but not for ever
ORG = OrgDraft(
    slug="acme",
    title="Acme Instruments",
    slug_rewrite_rules=[
        {"type": "ignore", "glob": "dependabot/*"},
        {"type": "prefix_strip", "prefix": "tickets/"},
        {"type": "regex", "pattern": r"v(?P<slug>\d+\.\d+\.\d+)$", "edition_kind": "release"},
    ],
    lifecycle_rules=[
        {"type": "draft_inactivity", "max_days_inactive": 30},
        {"type": "build_history_orphan", "min_position": 5, "min_age_days": 30},
    ],
)
PROJECTS = (
    ProjectDraft(slug="guide", title="Spectrometer guide", source_url="https://git.example.org/acme/guide"),
    ProjectDraft(slug="api", title="Python API", source_url="https://git.example.org/acme/api", on_broken_links="hold"),
)
STYLE = "body { font: 17px/1.6 system-ui, sans-serif; margin: 3rem auto; max-width: 42rem } nav a { margin-right: 1rem }\n"
CHAPTERS = ("install", "calibrate", "measure", "export", "trouble")


async def fill_demo(app: "DocsApp") -> None:
    await app.orgs.create(ORG)
    for draft in PROJECTS:
        await app.projects.create(ORG.slug, draft)
    await _upload(app, "guide", "v1.0.0", _site("1.0.0", CHAPTERS[:3]))
    await _upload(app, "guide", "v1.1.0", _site("1.1.0", CHAPTERS[:4]))
    await _upload(app, "guide", "main", _site("2.0 (in work)", CHAPTERS))
    await _work_off(app)
    await _upload(app, "guide", "v2.0.0", _site("2.0.0", CHAPTERS))
    await _upload(app, "guide", "main", _site("2.1 (in work)", CHAPTERS, broken=("measure", "nowhere")))
    await _upload(app, "guide", "tickets/GD-17", _site("GD-17", CHAPTERS[:2]))
    await _upload(app, "api", "main", _site("main", ("client", "errors")))
    await _upload(app, "api", "tickets/API-4", _site("API-4", ("client",)), outside="../client.html")
    await _work_off(app)
    await _roll_back(app)
    await _delete_draft(app)
    await _work_off(app)
    await _upload(app, "guide", "v2.0.1", _site("2.0.1", CHAPTERS))
    await _begin_build(app)
    await _upload(app, "api", "v0.9.0", _site("0.9.0", ("client", "errors")))


async def _roll_back(app: "DocsApp") -> None:
    """An edition that a person has put back to where it was, and that stays there."""
    draft = EditionDraft(
        slug="stable", title="Newest release", kind=EditionKind.RELEASE, tracking_mode=TrackingMode.SEMVER_RELEASE
    )
    await app.editions.create(ORG.slug, "guide", draft)
    builds = [(await app.editions.get(ORG.slug, "guide", slug)).build for slug in ("1.1.0", "2.0.0")]
    for build in filter(None, builds):
        await app.editions.change(ORG.slug, "guide", draft.slug, EditionChanges(build=build), actor=AUTHOR)
        await _work_off(app)
    if builds[0] is not None:
        await app.editions.roll_back(ORG.slug, "guide", draft.slug, Rollback(build=builds[0]), actor=AUTHOR)


async def _delete_draft(app: "DocsApp") -> None:
    draft = EditionDraft(slug="GD-9", tracking_params=TrackingParams(git_ref="tickets/GD-9"))
    await app.editions.create(ORG.slug, "guide", draft)
    await app.editions.delete(ORG.slug, "guide", draft.slug, actor=AUTHOR, reason="merged")


def _site(version: str, chapters: tuple[str, ...], *, broken: tuple[str, ...] = ()) -> dict[str, str]:
    """A page for each chapter. `broken` are links to pages that it does not have."""
    links = "".join(f'<a href="{name}.html">{name.capitalize()}</a>' for name in ("index", *chapters, *broken))
    pages = {f"{name}.html": _page(name.capitalize(), version, links) for name in chapters}
    return {"index.html": _page("Contents", version, links), "_static/site.css": STYLE, **pages}


def _page(title: str, version: str, links: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<link rel="stylesheet" href="_static/site.css"><nav>{links}</nav><h1>{title}</h1>'
        f"<p>This is the chapter “{title.lower()}” of version {version}.</p></html>\n"
    )


async def _upload(app: "DocsApp", project: str, git_ref: str, files: Mapping[str, str], *, outside: str | None = None) -> None:
    """As a CI job does. `outside` is an entry that no archive may have."""
    archive = _archive({**files, **({outside: ""} if outside else {})})
    digest = hashlib.sha256(archive).hexdigest()
    annotations = {"commit_sha": hashlib.sha1(archive, usedforsecurity=False).hexdigest(), "ci_platform": "example-ci"}
    draft = BuildDraft(git_ref=git_ref, content_hash=f"sha256:{digest}", annotations=annotations)
    announced = await app.builds.announce(ORG.slug, project, draft, uploader="ci", base_url="")
    if announced.upload_url is not None:
        await app.staging.receive(announced.build.uid, _chunks(archive), app.settings.max_upload)
        await app.builds.start(ORG.slug, project, announced.build.uid, actor="ci")


def _archive(files: Mapping[str, str]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(plain.getvalue(), mtime=0)


async def _chunks(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def _work_off(app: "DocsApp") -> None:
    """Run what is queued: a demonstration is filled without workers."""
    for _ in range(ROUNDS):
        claims = await _claim(app, [kind.name for kind in app.kinds])
        for claim in claims:
            await _run(app, claim)
        if not claims:
            return


async def _claim(app: "DocsApp", kinds: list[str]) -> Any:
    unit = partial(claiming.claim, AUTHOR, kinds, FreeSlots(50, 50), LEASE_MS)
    return await app.core.database.run(unit, name="turn", durable=False)


async def _run(app: "DocsApp", claim: Any) -> None:
    database, kinds = app.core.database, app.core.queue.kinds
    job = RunningJob(claim, database, lambda _: None)
    attempt = Attempt(claim, kinds[claim.kind], job, HandlerThreads())
    outcome = judge(claim, kinds[claim.kind], await attempt.run(), 0.5)
    settle = partial(endings.settle, [Settlement(claim, outcome)], kinds)
    await database.run(settle, name="turn", durable=False)


async def _begin_build(app: "DocsApp") -> None:
    """A build that is being processed; once its lease is over, a worker does the rest."""
    for claim in await _claim(app, [BUILD_KIND]):
        job = RunningJob(claim, app.core.database, lambda _: None)
        await job.phase("inventory", message="Reading the archive")
        await job.phase("tracking", message="Finding the editions of v2.0.1")
        await job.items("editions", ["2", "2.0"], message="Publishing")
        await job.item_completed("2")
