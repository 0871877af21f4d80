"""Clients written by others, with nothing changed but the base URL."""

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest

pytestmark = pytest.mark.deep

SVG = "{http://www.w3.org/2000/svg}svg"

PAGE = """# Diagrams

```kroki-graphviz
digraph G {Hello->World}
```

```kroki-mermaid theme=forest
graph TD; A[Café] --> B
```

```kroki-d2 layout=elk
x -> y: hello
```

```kroki-plantuml
@startuml
Bob -> Alice : hello
@enduml
```

```kroki-vegalite
{"data": {"values": [{"a": 1}]}, "mark": "bar", "encoding": {"x": {"field": "a", "type": "quantitative"}}}
```
"""

ARTICLE = """= Diagrams

[graphviz,layout=neato]
....
digraph G {Hello->World}
....

[mermaid,format=png,theme=forest]
....
graph TD; A[Café] --> B
....

[nomnoml]
....
[Author] writes -> [Source]
....

[d2,sketch=true]
....
x -> y
....
"""


def answered(server: str, method: str) -> int:
    """How many diagrams the server has given by this method, so that no client's own cache is mistaken for ours."""
    figures = httpx.get(server.replace("/kroki", "/metrics"), timeout=1200).text
    counts = re.findall(r"^pressroom_http_request_duration_seconds_count{(.*)} (\S+)$", figures, re.MULTILINE)
    wanted = (f'method="{method}"', 'route="/kroki/', 'status="200"')
    return int(sum(float(count) for labels, count in counts if all(label in labels for label in wanted)))


def build(
    mkdocs: Path, folder: Path, server: str, method: str, page: str = PAGE, *, fail_fast: bool = True
) -> subprocess.CompletedProcess[str]:
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text(page)
    (folder / "mkdocs.yml").write_text(
        f"site_name: Diagrams\nplugins:\n  - kroki:\n      server_url: {server}\n      http_method: {method}\n"
        f"      fail_fast: {str(fail_fast).lower()}\n      cache_dir: {folder / 'cache'}\n"
    )
    command = [str(mkdocs), "build", "--quiet", *(["--strict"] if fail_fast else []), "--site-dir", str(folder / "site")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1200)


def is_svg(data: bytes) -> bool:
    return ElementTree.fromstring(data).tag == SVG


def test_mkdocs_posts_its_diagrams_and_keeps_the_pictures(mkdocs: Path, server: str, tmp_path: Path):
    before = answered(server, "POST")

    done = build(mkdocs, tmp_path, server, "POST")

    assert done.returncode == 0, done.stderr
    assert answered(server, "POST") == before + 5
    page = (tmp_path / "site" / "index.html").read_text()
    shown = re.findall(r"kroki-generated-[0-9a-f-]+\.svg", page)
    pictures = {path.name: path.read_bytes() for path in (tmp_path / "site").glob("kroki-generated-*.svg")}
    assert len(set(shown)) == 5
    assert set(shown) == pictures.keys()
    assert all(map(is_svg, pictures.values()))
    assert any("Café".encode() in picture for picture in pictures.values())


def test_mkdocs_links_to_pictures_that_a_reader_gets(mkdocs: Path, server: str, tmp_path: Path):
    done = build(mkdocs, tmp_path, server, "GET")

    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "index.html").read_text()
    urls = [url.replace("&amp;", "&") for url in re.findall(rf'{re.escape(server)}/[^"\s]+', page)]
    answers = [httpx.get(url, timeout=120) for url in dict.fromkeys(urls)]
    assert len(answers) == 5
    assert all(answer.status_code == 200 and is_svg(answer.content) for answer in answers)


def test_mkdocs_shows_what_is_wrong_with_a_diagram(mkdocs: Path, server: str, tmp_path: Path):
    wrong = "```kroki-graphviz\ndigraph {\n a -> -> b\n}\n```\n"

    done = build(mkdocs, tmp_path, server, "POST", wrong, fail_fast=False)

    page = (tmp_path / "site" / "index.html").read_text()
    assert "Diagram error!" in done.stderr
    assert re.search(r"Error 400: .*line 2", page)


@pytest.mark.parametrize("method", ["get", "post"])
def test_asciidoctor_fetches_its_diagrams(asciidoctor: Path, server: str, tmp_path: Path, method: str):
    (tmp_path / "article.adoc").write_text(ARTICLE)
    attributes = {"kroki-server-url": server, "kroki-fetch-diagram": "", "kroki-http-method": method}
    options = [part for name, value in attributes.items() for part in ("-a", f"{name}={value}")]
    before = answered(server, method.upper())

    done = subprocess.run(
        [str(asciidoctor), "-r", "asciidoctor-kroki", "-S", "safe", *options, "article.adoc"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1200,
    )

    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "article.html").read_text()
    shown = re.findall(r'<img src="([^"]+)"', page)
    assert len(shown) == 4
    assert "kroki-error" not in page
    assert answered(server, method.upper()) == before + 4
    for name in shown:
        data = (tmp_path / name).read_bytes()
        assert data.startswith(b"\x89PNG") if name.endswith(".png") else is_svg(data)


def test_asciidoctor_embeds_its_diagrams(asciidoctor: Path, server: str, tmp_path: Path):
    (tmp_path / "article.adoc").write_text(ARTICLE)

    done = subprocess.run(
        [str(asciidoctor), "-r", "asciidoctor-kroki", "-a", f"kroki-server-url={server}", "-S", "safe", "article.adoc"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1200,
    )

    assert (done.returncode, done.stderr) == (0, "")
    urls = re.findall(r'<img src="([^"]+)"', (tmp_path / "article.html").read_text())
    pictures = [httpx.get(url.replace("&amp;", "&"), timeout=120) for url in urls]
    assert [picture.status_code for picture in pictures] == [200] * 4
    assert pictures[1].content.startswith(b"\x89PNG")
