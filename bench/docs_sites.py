"""Documentation: what several released versions of a real site take when they are stored together."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure, say
from pressroom import Pressroom
from pressroom.apps.docs.app import DocsApp
from pressroom.apps.docs.requests import OrgDraft, ProjectDraft
from tests.apps.docs.judges.released_sites import PACKAGES, ReleasedSite, released_sites
from tests.apps.docs.judges.uploaded_sites import ORG, upload_folder
from tests.conformance.registries import OutOfReach

AGAINST = "the sum of their sizes"


def stored(folder: Path, sizes: object) -> Iterator[Figure]:
    """Each project in a database of its own; in the last row all of them in one."""
    del sizes
    every: list[ReleasedSite] = []
    for package in PACKAGES:
        try:
            sites = list(released_sites(package))
        except OutOfReach as reason:
            say(f"docs: {package.name} is left out: {reason}")
            continue
        every += sites
        yield _figure(f"{package.name} ({package.theme}), {len(sites)} versions", folder / package.name, sites)
    if every:
        yield _figure(f"all {len(every)} versions of all projects", folder / "every", every)


def _figure(name: str, home: Path, sites: list[ReleasedSite]) -> Figure:
    home.mkdir()
    asyncio.run(_upload(home, sites))
    whole = sum(_bytes_in(site.folder) for site in sites)
    say(f"docs: {name}")
    return Figure(name, _bytes_in(home / "pressroom.artifacts" / "blobs") / 1e6, whole / 1e6, "MB", AGAINST)


async def _upload(home: Path, sites: list[ReleasedSite]) -> None:
    async with Pressroom(f"sqlite:///{home / 'pressroom.db'}", workers=2, apps=["docs"], home=str(home)) as press:
        app = press.app("docs")
        assert isinstance(app, DocsApp)
        await app.orgs.create(OrgDraft(slug=ORG))
        for name in dict.fromkeys(site.package.name for site in sites):
            await app.projects.create(ORG, ProjectDraft(slug=name.replace("_", "-")))
        for site in sites:
            await upload_folder(app, site.package.name.replace("_", "-"), f"v{site.version}", site.folder)


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
