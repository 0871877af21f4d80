"""Programs that read a site's `objects.inv` over HTTP: Sphinx, for links from other sites, and sphobjinv."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.apps.docs.judges import released_sites
from tests.apps.docs.judges.judge_programs import judges_python, run_judge
from tests.apps.docs.judges.released_sites import ReleasedSite
from tests.apps.docs.judges.uploaded_sites import served_project

type Reached = Callable[..., Any]

CONF = """project = "Reader"
extensions = ["sphinx.ext.intersphinx"]
nitpicky = True
intersphinx_mapping = {mapping}
"""
PAGE = """Reader
======

:external+newest:py:func:`more_itertools.windowed` and :external+old:py:func:`more_itertools.chunked`
"""


@pytest.mark.deep
def test_inventories_are_read_through_the_edge(tmp_path: Path, reached: Reached) -> None:
    reached(judges_python)
    sites: list[ReleasedSite] = reached(lambda: list(released_sites.released_sites(released_sites.package("more_itertools"))))
    versions = {f"v{site.version}": site.folder for site in sites} | {"main": sites[-1].folder}
    with served_project(tmp_path, "tools", versions) as served:
        roots = {"newest": served.url, "old": f"{served.url}v/v{sites[0].version}/"}

        with httpx.Client(timeout=60) as http:
            for root, site in zip(roots.values(), (sites[-1], sites[0]), strict=True):
                check_answers(http, f"{root}objects.inv", (site.folder / "objects.inv").read_bytes())
        page = build_with_links(tmp_path, roots)
        counted = {
            name: run_judge("-c", f"import sphobjinv; print(sphobjinv.Inventory(url='{root}objects.inv').version)")
            for name, root in roots.items()
        }
        # It looks for the inventory above the page, one folder after the other.
        suggested = run_judge("-m", "sphobjinv", "suggest", "--url", f"{roots['old']}_modules/index.html", "windowed")

    assert f'href="{roots["newest"]}api.html#more_itertools.windowed"' in page
    assert f'href="{roots["old"]}api.html#more_itertools.chunked"' in page
    assert {name: version.strip() for name, version in counted.items()} == {"newest": "11.1.0", "old": "10.8.0"}
    assert ":py:function:`more_itertools.windowed`" in suggested


def check_answers(http: httpx.Client, url: str, data: bytes) -> None:
    whole = http.get(url, headers={"Accept-Encoding": "gzip, br"})
    part = http.get(url, headers={"Range": "bytes=0-30"})
    rest = http.get(url, headers={"Range": "bytes=31-", "If-Range": whole.headers["ETag"]})
    head = http.head(url)

    assert (whole.status_code, whole.content, whole.headers["Content-Type"]) == (200, data, "application/octet-stream")
    assert "Content-Encoding" not in whole.headers  # its body is compressed already
    assert whole.headers["ETag"] == f'"{hashlib.sha256(data).hexdigest()}"'
    assert (part.status_code, part.content) == (206, b"# Sphinx inventory version 2\n# ")
    assert part.content + rest.content == data
    assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(data)))


def build_with_links(folder: Path, roots: dict[str, str]) -> str:
    """The page of another site that links to objects of these. A link that is not resolved ends the build."""
    source = folder / "reader"
    source.mkdir()
    (source / "conf.py").write_text(CONF.format(mapping={name: (root, None) for name, root in roots.items()}))
    (source / "index.rst").write_text(PAGE)
    run_judge("-m", "sphinx", "-q", "-W", "-b", "html", source, folder / "built")
    return re.sub(r'" title="[^"]*"', '"', (folder / "built" / "index.html").read_text())
