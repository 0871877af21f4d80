"""What sites have beside pages, from the archive of an upload to the reader: odd names, odd types, files for programs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import httpx

from pressroom.api import serve as server
from pressroom.apps.docs.edge.making import make_edge
from tests.apps.docs.flow_stage import docs_flow
from tests.apps.docs.judges.uploaded_sites import upload_folder

OCTETS = "application/octet-stream"
TEXT = "text/plain; charset=utf-8"
JAVASCRIPT = "text/javascript; charset=utf-8"
# The media type of each file. The bytes of a file are its name.
SITE = {
    ".nojekyll": OCTETS,
    ".well-known/security.txt": TEXT,
    "404.html": "text/html; charset=utf-8",
    "CNAME": OCTETS,
    "_sources/index.rst.txt": TEXT,
    "_static/app.4f3a9c.js.map": "application/json",
    "_static/captions.vtt": "text/vtt; charset=utf-8",
    "_static/model.glb": "model/gltf-binary",
    "_static/fonts/a.woff2": "font/woff2",
    "_static/fonts/b.eot": "application/vnd.ms-fontobject",
    "a b/100%.html": "text/html; charset=utf-8",
    "a b/c%20d.html": "text/html; charset=utf-8",
    "a+b&c=d;e,f@g.html": "text/html; charset=utf-8",
    "what?#.html": "text/html; charset=utf-8",
    "übung/日本語.html": "text/html; charset=utf-8",
    "e\N{COMBINING ACUTE ACCENT}.html": "text/html; charset=utf-8",
    "index.html": "text/html; charset=utf-8",
    "lite/pyodide.asm.wasm": "application/wasm",
    "lite/service-worker.js": JAVASCRIPT,
    "lite/worker.cjs": JAVASCRIPT,
    "lite/numpy-2.0-cp313-pyodide.whl": OCTETS,
    "manifest.webmanifest": "application/manifest+json",
    "objects.inv": OCTETS,
    "robots.txt": TEXT,
    "searchindex.js": JAVASCRIPT,
    "sitemap.xml": "application/xml",
    "sitemap.xml.gz": "application/gzip",
}


@asynccontextmanager
async def published(database: str, folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The site of a folder, uploaded as the command does it and served. Paths are those of the project."""
    async with docs_flow(database) as flow:
        await upload_folder(flow.app, "guide", "main", folder)
        listener, closing = server.listen("127.0.0.1", 0), asyncio.Event()
        edge = make_edge(flow.app.core, flow.app.dashboards)
        served = server.run_server(edge, flow.press.settings, listener, closing, grace=5, max_connections=9)
        serving = asyncio.create_task(served)
        try:
            address = f"http://127.0.0.1:{listener.getsockname()[1]}/acme/guide/"
            async with httpx.AsyncClient(base_url=address, timeout=120, headers={"Accept-Encoding": "identity"}) as http:
                yield http
        finally:
            closing.set()
            await serving
            listener.close()


async def test_files_of_every_name_and_type_reach_the_reader(file: str, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    for name in SITE:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "latest.html").symlink_to("index.html")
    (folder / "lib").symlink_to("_static")

    async with published(file, folder) as http:
        found = {name: await http.get(quote(name)) for name in SITE}
        linked = [(await http.get(path)).text for path in ("latest.html", "lib/fonts/a.woff2")]
        unencoded = await http.get("a+b&c=d;e,f@g.html?digest=1")
        missing = await http.get("no/such/page.html")

    assert {name: (one.status_code, one.text) for name, one in found.items()} == {name: (200, name) for name in SITE}
    assert {name: one.headers["Content-Type"] for name, one in found.items()} == SITE
    assert linked == ["index.html", "_static/fonts/a.woff2"]
    assert unencoded.status_code == 200
    assert missing.status_code == 404


async def test_a_page_keeps_the_encoding_that_it_names(file: str, tmp_path: Path) -> None:
    """Older Javadoc and Doxygen write ISO-8859-1, and a header would go before what the page says."""
    meta = '<meta http-equiv="Content-Type" content="text/html; charset={}"><p>\u00fcber'
    pages = {
        "old.html": meta.format("ISO-8859-1").encode("latin-1"),
        "new.html": '<!doctype html><meta charset="UTF-8"><p>\u00fcber'.encode(),
        "wrong.html": b"<!doctype html><meta charset=UTF-16>",
        "late.html": b"<!doctype html>" + b" " * 1024 + b"<meta charset=koi8-r>",
        "broken.html": b"<meta charset='\xff'>",
    }
    for name, data in pages.items():
        (tmp_path / "site").mkdir(exist_ok=True)
        (tmp_path / "site" / name).write_bytes(data)

    async with published(file, tmp_path / "site") as http:
        found = {name: await http.get(name) for name in pages}

    assert {name: one.headers["Content-Type"].rpartition("=")[2] for name, one in found.items()} == {
        "old.html": "iso-8859-1",
        "new.html": "utf-8",
        "wrong.html": "utf-8",
        "late.html": "utf-8",
        "broken.html": "utf-8",
    }
    assert found["old.html"].text.endswith("\u00fcber")
    assert found["new.html"].text.endswith("\u00fcber")
