"""Every page of the dashboard and the apps with a day's work in it: `./dev screenshots desk`.

`pressroom demo` fills a database, `pressroom serve` shows it, and a browser photographs each page of the table below in light
and dark, wide and narrow. A page that is not there, or that says something in the console, is told and the others go on.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from pressroom import Pressroom
from pressroom.apps.packs.store import PackFilter
from pressroom.config import Settings
from pressroom.model import Job, Status
from tests.servers import free_ports

WIDTHS = (1440, 375)
THEMES = ("light", "dark")
READY_WITHIN = 60.0
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
GOOD = "flowchart LR\n  source[Source] --> press{Press} -->|bytes| artifact[(Artifact)]\n  press -.->|crash| source\n"
WRONG = "flowchart LR\n  source[Source] --> press{Press}\n  press -->| artifact\n"


@dataclass(frozen=True)
class Known:
    """What there is to be looked at."""

    running: str
    located: str
    pictured: str
    cancelled: str
    group: str
    webhook: str
    delivery: str
    diagram: str
    packs: dict[str, str]  # ids by the first word of the title
    batch: str
    pack_link: str
    builds: dict[str, str]  # ids of docs by project and state or ref, the newest: "api failed"


@dataclass(frozen=True)
class Shot:
    name: str
    path: str
    then: Callable[[Page], None] = lambda _: None


def shots(known: Known) -> list[Shot]:
    return [
        Shot("login", "/desk/login"),
        Shot("overview", "/desk"),
        Shot("jobs", "/desk/jobs"),
        Shot("jobs-failed", "/desk/jobs?status=failed"),
        Shot("jobs-none", "/desk/jobs?subject=nothing-of-the-kind"),
        Shot("job-running", f"/desk/jobs/{known.running}"),
        Shot("job-failed", f"/desk/jobs/{known.located}"),
        Shot("job-completed", f"/desk/jobs/{known.pictured}"),
        Shot("job-cancelled", f"/desk/jobs/{known.cancelled}"),
        Shot("job-clone", f"/desk/jobs/{known.located}/clone"),
        Shot("alerts", "/desk/alerts"),
        Shot("failures", "/desk/failures"),
        Shot("failure-group", f"/desk/failures/{known.group}"),
        Shot("bulk", "/desk/bulk?action=retry&status=failed"),
        Shot("queues", "/desk/queues"),
        Shot("workers", "/desk/workers"),
        Shot("schedules", "/desk/schedules"),
        Shot("webhooks", "/desk/webhooks"),
        Shot("webhook", f"/desk/webhooks/{known.webhook}"),
        Shot("delivery", f"/desk/webhooks/deliveries/{known.delivery}"),
        Shot("tokens", "/desk/tokens"),
        Shot("audit", "/desk/audit"),
        Shot("find", "/desk/find?q=nothing-of-the-kind"),
        Shot("playground", "/playground", _typed(GOOD)),
        Shot("playground-error", "/playground", _typed(WRONG)),
        Shot("names", "/playground/names"),
        Shot("compare", f"/playground/compare?name={known.diagram}"),
        Shot("library", "/library"),
        Shot("library-search", "/library?q=spring&status=failed"),
        Shot("library-none", "/library?q=nothing-of-the-kind"),
        Shot("library-deleted", "/library/deleted"),
        Shot("pack", f"/library/{known.packs['Anna']}?data=2"),
        Shot("pack-failed", f"/library/{known.packs['Ben']}"),
        Shot("pack-queued", f"/library/{known.packs['Carla']}"),
        Shot("pack-new", f"/library/{known.packs['Dario']}"),
        Shot("document", f"/library/{known.packs['Anna']}/offer"),
        Shot("document-failed", f"/library/{known.packs['Ben']}/offer"),
        Shot("document-compare", f"/library/{known.packs['Anna']}/offer/compare"),
        Shot("pack-by-link", f"/library/p/{known.pack_link}"),
        Shot("document-by-link", f"/library/p/{known.pack_link}/offer"),
        Shot("batches", "/library/batches"),
        Shot("batch", f"/library/batches/{known.batch}"),
        Shot("renders", "/library/renders?status=failed"),
        Shot("packs-settings", "/library/settings"),
        Shot("packs-settings-key", "/library/settings/template:offer"),
        Shot("packs-settings-document", "/library/settings/documents/offer"),
        Shot("packs-settings-new-document", "/library/settings/documents"),
        Shot("packs-settings-dry-run", "/library/settings/template:offer/1/dry-run"),
        Shot("nowhere-by-link", "/library/p/0000000000000"),
        Shot("sites", "/sites"),
        Shot("sites-none", "/sites?q=nothing-of-the-kind"),
        Shot("org", "/sites/acme"),
        Shot("org-settings", "/sites/acme/settings"),
        Shot("org-dry-run", "/sites/acme/settings", _dry_run),
        Shot("org-template", "/sites/acme/settings/template"),
        Shot("org-services", "/sites/acme/settings/services"),
        Shot("project-search", "/sites/acme/guide?search=chapter&in=2.0.0"),
        Shot("purgatory", "/sites/acme/purgatory"),
        Shot("project", "/sites/acme/guide?ref=tickets/GD-20"),
        Shot("project-failed", "/sites/acme/api?status=failed"),
        Shot("project-change", "/sites/acme/guide/change"),
        Shot("build", f"/sites/acme/guide/builds/{known.builds['guide completed']}"),
        Shot("build-broken-links", f"/sites/acme/guide/builds/{known.builds['guide main']}"),
        Shot("build-running", f"/sites/acme/guide/builds/{known.builds['guide processing']}"),
        Shot("build-failed", f"/sites/acme/api/builds/{known.builds['api failed']}"),
        Shot("build-compare", f"/sites/acme/guide/builds/{known.builds['guide completed']}/compare?with=1.0.0"),
        Shot("edition", "/sites/acme/guide/editions/stable"),
        Shot("edition-main", "/sites/acme/guide/editions/__main"),
        Shot("nowhere", "/desk/jobs/job_01JD0000000000000000000000"),
    ]


def _typed(text: str) -> Callable[[Page], None]:
    """As somebody types it, until the preview has answered."""

    def then(page: Page) -> None:
        with page.expect_response(lambda answer: "/playground/preview" in answer.url, timeout=15_000):
            page.locator("textarea").first.fill(text)
        page.wait_for_timeout(600)  # the picture is drawn when its frame has loaded, which no event of the page tells

    return then


def _dry_run(page: Page) -> None:
    """Of rules that would delete something."""
    rules = '[{"type": "build_history_orphan", "min_position": 1, "min_age_days": 0}]'
    page.get_by_label("Lifecycle rules, as JSON").fill(rules)
    page.get_by_role("button", name="Dry run of the lifecycle rules").click()
    page.get_by_role("heading", name="Dry run").wait_for()


def photograph(browser: Browser, url: str, known: Known, folder: Path, only: str | None) -> list[str]:
    """The troubles that were met."""
    troubles = []
    for theme in THEMES:
        for width in WIDTHS:
            context = browser.new_context(
                base_url=url,
                color_scheme="dark" if theme == "dark" else "light",
                viewport={"width": width, "height": 900},
                reduced_motion="reduce",
            )
            for shot in shots(known):
                if only is None or only in shot.name:
                    path = folder / f"{shot.name}-{theme}-{width}.png"
                    troubles += [f"{path.stem}: {trouble}" for trouble in _take(context, shot, path)]
            context.close()
    return troubles


def _take(context: BrowserContext, shot: Shot, path: Path) -> Iterator[str]:
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    try:
        answer = page.goto(shot.path, wait_until="load")
        status = 0 if answer is None else answer.status
        if status >= 400 and not shot.name.startswith("nowhere"):
            yield f"was answered with {status}"
        shot.then(page)
        page.screenshot(path=path, full_page=True)
        if (wide := page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")) > 0:
            yield f"is {wide} px too wide"
    except Exception as reason:
        yield str(reason).splitlines()[0]
    finally:
        page.close()
    if not shot.name.startswith("nowhere"):
        yield from said


async def look(home: Path) -> Known:
    async with Pressroom(settings=Settings(home=str(home)), workers=None) as press:

        async def first(fits: Callable[[Job], bool], **asked: object) -> str:
            jobs = (await press.list(limit=500, **asked)).jobs  # type: ignore[arg-type]
            return str(next((job for job in jobs if fits(job)), "none"))

        database = press.rendering.database
        async with database.transaction() as tx:
            groups = await tx.execute("SELECT print FROM job_failure GROUP BY print ORDER BY count(*) DESC LIMIT 1")
            diagrams = await tx.execute("SELECT diagram.name FROM diagram ORDER BY id LIMIT 1 OFFSET 2")
        library = press.app("packs").packs
        docs = press.app("docs").builds
        packs = {one.pack.title.split()[0]: one.pack.id for one in (await library.list(None, PackFilter()))[0]}
        hooks = await press.webhooks.list(None, after="", limit=50)
        deliveries = [
            one for hook in hooks for one in await press.webhooks.deliveries(hook, state="failed", before=1 << 60, limit=5)
        ]
        delivery = deliveries[0] if deliveries else None
        return Known(
            running=await first(lambda job: job.kind == "site.build", status=Status.IN_PROGRESS),
            located=await first(lambda job: job.kind == "render" and "line" in job.errors[-1], status=Status.FAILED),
            pictured=await first(_has_a_picture, status=Status.COMPLETED, kind="render"),
            cancelled=await first(lambda _: True, status=Status.CANCELLED),
            group=str(groups[0][0]) if groups else "none",
            webhook=f"wh_{delivery.webhook if delivery else hooks[0].uid}",
            delivery=delivery.uid if delivery else "none",
            diagram=str(diagrams[0][0]) if diagrams else "none",
            packs=packs,
            batch=await _make_batch(press),
            pack_link=(await library.make_link(None, packs["Anna"]))[1],
            builds={
                f"{project} {name}": build.uid
                for project in ("guide", "api")
                for build in reversed((await docs.list("acme", project))[0])
                for name in (build.status, build.git_ref)
            },
        )


async def _make_batch(press: Pressroom) -> str:
    async def lines() -> AsyncIterator[bytes]:
        yield b"title,person.name\nAnna,Anna Example\nBen,Ben Example\n"

    batches = press.app("packs").batches
    batch, _ = await batches.start(None, "csv", await batches.store_upload("csv", lines()), author="demo")
    return str(batch.id)


def _has_a_picture(job: Job) -> bool:
    return isinstance(job.result, dict) and job.result.get("media_type") == "image/svg+xml"


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Without workers, so that every picture shows the same moment."""
    (port,) = free_ports(1)
    url, log = f"http://127.0.0.1:{port}", home / "log.txt"
    command = [sys.executable, "-m", "pressroom", "serve", "--no-workers", "--home", str(home), "--listen", f"127.0.0.1:{port}"]
    environ = os.environ | {"PRESSROOM_IMPORTS": "pressroom.demo.kinds"}
    with log.open("wb") as output, subprocess.Popen(command, env=environ, stdout=output, stderr=output) as process:
        try:
            _wait_until_ready(url, log)
            yield url
        finally:
            process.terminate()


def _wait_until_ready(url: str, log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while True:
        try:
            with urllib.request.urlopen(f"{url}/livez"):
                return
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise RuntimeError(log.read_text()[-4000:]) from None
            time.sleep(0.05)


def fill(home: Path, jobs: int) -> None:
    shutil.rmtree(home, ignore_errors=True)
    command = [sys.executable, "-m", "pressroom", "demo", "--home", str(home), "--jobs", str(jobs)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev screenshots desk", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(".cache/screenshots/desk"))
    parser.add_argument("--only", help="pages with this in their name")
    parser.add_argument("--jobs", type=int, default=600, help="of the demonstration")
    parser.add_argument("--again", action="store_true", help="photograph the demonstration of the last time")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    home = args.out.parent / "demo"
    if not args.again:
        fill(home, args.jobs)
    known = asyncio.run(look(home))
    with sync_playwright() as playwright, served(home) as url:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        troubles = photograph(browser, url, known, args.out, args.only)
        browser.close()
    for path in sorted(args.out.glob("*.png")):
        print(path)
    for trouble in troubles:
        print(trouble, file=sys.stderr)


if __name__ == "__main__":
    main()
