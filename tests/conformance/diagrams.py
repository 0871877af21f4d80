"""Diagrams from the documentation and the test suites of others, language by language."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.conformance import registries
from tests.conformance.registries import OutOfReach

FENCED = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>```+|~~~+)[ \t]*(?P<word>mermaid|d2)\b[^\n]*\n(?P<text>.*?)^[ \t]*(?P=fence)", re.M | re.S
)
EXAMPLES_AS_JSON = """
import(process.argv[1]).then(({ diagramData }) => console.log(JSON.stringify(
  diagramData.flatMap(({ id, examples }) => examples.map(({ title, code }) => [`${id}: ${title}`, code])))))
"""


@dataclass(frozen=True)
class Diagram:
    name: str
    source: str


@cache
def mermaid() -> list[Diagram]:
    """Mermaid's own examples of every type, the pages it ships, and the test suite of another renderer."""
    return _unique([*_mermaid_examples(), *_mermaid_pages(), *_merm()])


@cache
def graphviz() -> list[Diagram]:
    """The examples of its documentation, and the graphs of its regression tests as pydot ships them."""
    documentation = _files(registries.debian("graphviz-doc"), "graphviz-doc", ".gv")
    pydot = registries.pypi_source("pydot", "4.0.1", "c2148f681c4a33e08bf0e26a9e5f8e4099a82e0e2a068098f32ce86577364ad5")
    return _unique([*documentation, *_files(pydot / "pydot-4.0.1" / "test" / "graphs", "pydot", ".dot")])


@cache
def d2() -> list[Diagram]:
    """No package ships D2's own examples. These are what erdantic must write, and the examples of packages that draw D2."""
    erdantic = registries.pypi_source("erdantic", "1.2.1", "9105fc51260ee58b531690d1ef87db81f849257e73e106cd8f2a7f8a26d8d9b0")
    pages = [
        registries.npm("remark-d2", "0.2.3"),
        registries.npm("remark-kroki", "0.3.8"),
        registries.npm("vitepress-plugin-d2", "1.1.0"),
        registries.pypi_source("markdown_kroki", "0.4.0", "cb5452c4a5841a7cfb525b292e5b7e7717c7483d70a63c85d9be95fcefb733f4"),
        registries.pypi_source("mkdocs_d2_plugin", "1.7.0", "607462a3bf3d28b0574214d400820f86c0c9f43466fdf73243e7f9f2e3d21584"),
        registries.pypi_source("py_d2", "1.0.1", "36b1a81f9acf3b21923a359439c5ed631768c54eee7c9740ca270bd0ee08874b"),
    ]
    written = _files(erdantic / "erdantic-1.2.1" / "tests", "erdantic", ".d2")
    return _unique([*written, *(diagram for folder in pages for diagram in _fenced(folder, "d2"))])


def _mermaid_examples() -> Iterator[Diagram]:
    module = registries.npm("@mermaid-js/examples", "2.0.0") / "package" / "dist" / "mermaid-examples.core.mjs"
    if shutil.which("node") is None:
        raise OutOfReach("the program node is not installed")
    said = subprocess.run(["node", "-e", EXAMPLES_AS_JSON, str(module)], check=True, capture_output=True, text=True).stdout
    for name, code in json.loads(said):
        yield Diagram(f"examples/{name}", code)


def _mermaid_pages() -> Iterator[Diagram]:
    return _fenced(registries.npm("mermaid", "12.3.0", keep="*.md"), "mermaid")


def _merm() -> Iterator[Diagram]:
    merm = registries.pypi_source("merm", "0.1.5", "32ec2d1b582621a482295811c35a445072355d13b9f9da6136d63cfd9d3b4cfd")
    return _files(merm / "merm-0.1.5" / "tests" / "fixtures", "merm", ".mmd")


def _files(folder: Path, corpus: str, ending: str) -> Iterator[Diagram]:
    for path in sorted(folder.rglob(f"*{ending}")):
        data = path.read_bytes()
        try:
            source = data.decode()
        except UnicodeDecodeError:
            source = data.decode("latin-1")
        yield Diagram(f"{corpus}/{path.relative_to(folder).as_posix().rpartition('examples/graphs/')[2]}", source)


def _fenced(folder: Path, language: str) -> Iterator[Diagram]:
    for page in sorted(folder.rglob("*.md")):
        found = (one for one in FENCED.finditer(page.read_text()) if one["word"] == language)
        for number, one in enumerate(found, 1):
            lines = [line.removeprefix(one["indent"]) for line in one["text"].splitlines()]
            yield Diagram(f"{folder.name.split('-', 1)[1]}/{page.name} {number}", "\n".join(lines) + "\n")


def _unique(diagrams: Iterable[Diagram]) -> list[Diagram]:
    return list({diagram.source.strip(): diagram for diagram in reversed(list(diagrams))}.values())[::-1]
