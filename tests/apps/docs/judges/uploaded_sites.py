"""Sites that are uploaded as `pressroom docs upload` does it, and served by `pressroom docs edge` in a process of its own."""

import asyncio
import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pressroom import Pressroom
from pressroom.apps.docs.app import DocsApp
from pressroom.apps.docs.commands.local_upload import LocalUpload
from pressroom.apps.docs.commands.site_archive import list_site, pack_site
from pressroom.apps.docs.requests import BuildDraft, OrgDraft, ProjectDraft
from pressroom.apps.docs.settings import DocsSettings
from pressroom.model import Status
from tests.servers import free_ports, running, wait_until

ORG = "acme"


@dataclass(frozen=True)
class ServedProject:
    """`url` is where `__main` is, `own_host_url` the same with a host name of its own: some sites expect to be at the root."""

    url: str
    own_host_url: str
    home: Path


@contextmanager
def served_project(
    home: Path, project: str, versions: Mapping[str, Path], *, main_mode: str = "git_ref", port: int | None = None
) -> Iterator[ServedProject]:
    """`versions`: the folder of each ref's site, in the order of the uploads."""
    port = port or free_ports(1)[0]
    with ThreadPoolExecutor(1) as elsewhere:  # where a browser is driven, this thread has a loop already
        elsewhere.submit(lambda: asyncio.run(_upload(home, project, versions, main_mode, port))).result()
    with _edge(home, port) as url:
        yield ServedProject(f"{url}/{ORG}/{project}/", f"http://{project}.localhost:{port}/", home)


async def _upload(home: Path, project: str, versions: Mapping[str, Path], main_mode: str, port: int) -> None:
    sections = {"docs": DocsSettings(listen=f"127.0.0.1:{port}")}
    async with Pressroom(database_of(home), workers=2, apps=["docs"], sections=sections, home=str(home)) as press:
        app = press.app("docs")
        assert isinstance(app, DocsApp)
        await app.orgs.create(OrgDraft(slug=ORG))
        main = {"tracking_mode": main_mode} | ({"tracking_params": {"git_ref": "main"}} if main_mode == "git_ref" else {})
        await app.projects.create(ORG, ProjectDraft(slug=project, default_edition_config=main))
        for ref, folder in versions.items():
            await upload_folder(app, project, ref, folder)


def database_of(home: Path) -> str:
    return f"sqlite:///{home / 'pressroom.db'}"


async def upload_folder(app: DocsApp, project: str, ref: str, folder: Path) -> None:
    target = LocalUpload(app, ORG, project)
    with tempfile.TemporaryFile() as archive:
        packed = pack_site(list_site(folder), archive)
        upload = await target.announce(BuildDraft(git_ref=ref, content_hash=packed.content_hash))
        await target.send(upload, archive, packed.archive_size)
    ended = await target.read_end(await target.start(upload))
    assert ended.status is Status.COMPLETED, ended


@contextmanager
def _edge(home: Path, port: int) -> Iterator[str]:
    plain = {name: value for name, value in os.environ.items() if not re.match("PRESSROOM_(?!ENGINES)", name)}
    command = [sys.executable, "-m", "pressroom", "docs", "edge", "--listen", f"127.0.0.1:{port}"]
    log = home / "edge.log"
    with running(command, log, environ=plain | {"PRESSROOM_HOME": str(home)}) as process:
        wait_until(lambda: _listens(port), process, log)
        yield f"http://127.0.0.1:{port}"


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=10):
        return True
    return False
