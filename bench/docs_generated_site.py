"""A generated site, of the shape that Sphinx makes: pages with the same navigation, their sources, and assets.

Of ten files six are pages of 6 to 20 KB with fifty links and eight anchors, three are their sources, one is an asset, half of
which do not compress. All of it is made from numbers, so that a run has the same bytes as the one before.
"""

import gzip
import io
import random
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

_WORDS = [
    f"{stem}{ending}"
    for stem in ("build", "deploy", "edit", "index", "link", "load", "render")
    for ending in ("", "s", "ed", "ing", "er")
]
_PAGES_OF_A_SECTION = 50
_NAVIGATION = 40  # links on each page


@dataclass(frozen=True)
class Site:
    """`revisions`: by the number of a page, how often its text was changed. `version` stands on every page if it is given."""

    files: int
    revisions: dict[int, int] = field(default_factory=dict)
    version: str = ""

    @property
    def pages(self) -> int:
        return max(1, self.files * 6 // 10)

    def contents(self) -> Iterator[tuple[str, bytes]]:
        sources, assets = self.files * 3 // 10, self.files
        for number in range(self.pages):
            yield page_path(number), self._page(number)
            if number < sources:
                yield f"_sources/{page_path(number)}.txt", "\n\n".join(self._paragraphs(number)).encode()
        for number in range(assets - self.pages - min(sources, self.pages)):
            yield f"_static/asset-{number}.{'js' if number % 2 else 'png'}", _asset(number)

    def _page(self, number: int) -> bytes:
        first = number - number % _PAGES_OF_A_SECTION
        links = [*range(first, min(first + 30, self.pages)), *range(0, self.pages, max(1, self.pages // 10))][:_NAVIGATION]
        up = "" if number == 0 else "../"
        navigation = "".join(f'<li><a class="reference" href="{up}{page_path(to)}">Page {to}</a></li>' for to in links)
        body = "".join(
            f'<section id="part-{part}"><h2>Part {part} <a class="headerlink" href="#part-{part}">#</a></h2>'
            f"<p>{text}</p></section>"
            for part, text in enumerate(self._paragraphs(number))
        )
        title = f"Page {number} {self.version}".strip()
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<link rel="stylesheet" href="{up}_static/asset-1.js"></head><body><nav><ul>{navigation}</ul></nav>'
            f"<main><h1>{title}</h1>{body}</main></body></html>\n"
        ).encode()

    def _paragraphs(self, number: int) -> list[str]:
        chosen = random.Random(f"{number}/{self.revisions.get(number, 0)}")
        return [_PARAGRAPHS[chosen.randrange(len(_PARAGRAPHS))] for _ in range(2 + number % 7 * 2)]


def page_path(number: int) -> str:
    return "index.html" if number == 0 else f"section-{number // _PAGES_OF_A_SECTION}/page-{number}.html"


def revised(site: Site, share: float, seed: int) -> Site:
    """The same site with the text of so many of its pages changed; their sources too, so that it is that share of all files."""
    chosen = random.Random(seed).sample(range(site.pages), max(1, round(site.pages * share)))
    changes = {number: site.revisions.get(number, 0) + 1 for number in chosen}
    return Site(site.files, site.revisions | changes, site.version)


def versions(files: int, count: int, *, version_on_pages: bool) -> list[Site]:
    """As a project releases them: each changes the text of 15 % of the pages of the one before."""
    made = [Site(files, version="1.0" if version_on_pages else "")]
    for number in range(1, count):
        following = revised(made[-1], 0.15, seed=number)
        made.append(replace(following, version=f"1.{number}" if version_on_pages else ""))
    return made


def packed(site: Site, path: Path) -> Path:
    """As a tar.gz in a file, which is made once."""
    if path.exists():
        return path
    with (
        path.open("wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", filename="", compresslevel=1, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w|") as archive,
    ):
        for name, data in site.contents():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def _asset(number: int) -> bytes:
    """A script that compresses, or a picture that does not."""
    size = 4_000 + number % 10 * 4_000
    if number % 2:
        return (f"/* {number} */\n" + "export const value = 1;\n" * (size // 24)).encode()
    return random.Random(number).randbytes(size)


def _paragraph(number: int) -> str:
    chosen = random.Random(number)
    words = [chosen.choice(_WORDS) + (str(chosen.randrange(500)) if chosen.random() < 0.2 else "") for _ in range(110)]
    return " ".join(words)


_PARAGRAPHS = [_paragraph(number) for number in range(2_000)]
