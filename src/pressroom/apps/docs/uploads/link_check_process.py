"""The process that checks the links of one site: confined, without network, with limits on memory and time.

Reads pages from its standard input (page_stream.py). Writes one message of JSON to its standard output.
"""

import os
import sys
import time
from typing import Any, BinaryIO

import msgspec

from pressroom.apps.docs.domain.links import BrokenLink, SiteLinks
from pressroom.apps.docs.uploads.html_page import read_links
from pressroom.apps.docs.uploads.page_stream import receive_pages
from pressroom.renderers.sandbox.confinement import confine, limit_memory


class CheckedLinks(msgspec.Struct, frozen=True):
    """`unchecked`: why pages were left out, if any were."""

    count: int
    broken: list[BrokenLink]
    pages: int
    unchecked: str = ""


def main(instructions: dict[str, Any]) -> None:
    confine(instructions["reads"], instructions["writes"])
    limit_memory(instructions["memory"])
    out = os.dup(1)
    os.dup2(2, 1)
    answer = check_pages(sys.stdin.buffer, seconds=instructions["check_for"], limit=instructions["problems"])
    with os.fdopen(out, "wb") as file:
        file.write(msgspec.json.encode(answer))


def check_pages(stream: BinaryIO, *, seconds: float, limit: int) -> CheckedLinks:
    paths, pages = receive_pages(stream)
    site = SiteLinks(paths)
    until = time.monotonic() + seconds
    read, skipped, unchecked = 0, 0, ""
    try:
        for path, page in pages:
            if time.monotonic() > until:
                unchecked = "the time for checking links was over"
                break
            if page:
                site.add_page(path, read_links(page))
                read += 1
            else:
                skipped += 1
    except MemoryError:
        unchecked = "the site has more links than fit into the memory for checking them"
    if skipped and not unchecked:
        unchecked = f"pages that are empty or too large: {skipped:,}"
    return CheckedLinks(site.count, site.broken(limit), read, unchecked)
