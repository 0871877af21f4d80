"""Check the links inside a site, in a process of its own: its pages come from strangers and may be many."""

import tempfile
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec

from pressroom.apps.docs.uploads.link_check_process import CheckedLinks
from pressroom.apps.docs.uploads.page_stream import ReadFile, pages_of, send_pages
from pressroom.errors import EngineCrashed, Timeout, TooLarge
from pressroom.renderers.sandbox.confined_run import run_confined
from pressroom.store.artifacts.artifacts import ArtifactFile

PROBLEMS = 200
MEMORY = 1024 * 1024 * 1024  # bytes
CHECK_FOR = 240.0  # seconds; what was found until then is the result
SECONDS = 300.0  # then the process is killed
ANSWER = 4 * 1024 * 1024  # bytes

_MODULE = "pressroom.apps.docs.uploads.link_check_process"


class LinkReport(msgspec.Struct, frozen=True, kw_only=True):
    """`problems` are the first of the `broken` links by page: `{"page": …, "link": …, "reason": …}`. `unchecked` says why not
    all pages were checked; empty if they were. A site is never refused for that."""

    broken: int
    problems: list[dict[str, Any]]
    pages: int
    unchecked: str = ""


async def check_links(files: Sequence[ArtifactFile], read: ReadFile, *, seconds: float = SECONDS) -> LinkReport:
    """`read` returns the bytes of a file; what it raises is raised."""
    pages = pages_of(files)
    if not pages:
        return LinkReport(broken=0, problems=[], pages=0)
    instructions = {"memory": MEMORY, "check_for": min(CHECK_FOR, seconds * 0.8), "problems": PROBLEMS}
    with tempfile.TemporaryDirectory(prefix="pressroom-links-") as folder:
        async with aclosing(send_pages([file.path for file in files], pages, read)) as stream:
            try:
                answer = await run_confined(_MODULE, instructions, stream, folder=Path(folder), seconds=seconds, output=ANSWER)
            except (Timeout, TooLarge, EngineCrashed) as failure:
                return LinkReport(broken=0, problems=[], pages=0, unchecked=f"the links were not checked: {failure}")
    checked = msgspec.json.decode(answer, type=CheckedLinks)
    return LinkReport(
        broken=checked.count,
        problems=[msgspec.to_builtins(link) for link in checked.broken],
        pages=checked.pages,
        unchecked=checked.unchecked,
    )
