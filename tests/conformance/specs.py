"""The specifications of CommonMark and of GitHub's Markdown, example by example.

Both come in the source distribution of marko on PyPI, which needs no Node. Its commonmark.txt is byte for byte the spec.txt of
commonmark-spec 0.31.2 on npm; its gfm.txt is the test/spec.txt of cmark-gfm, GitHub's own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.conformance import registries

MARKO = ("marko", "2.2.4", "c042c66f835425673123d7536b39b4660de3b68e30078c70fd26245b31170683")
FENCE = "`" * 32


@dataclass(frozen=True)
class Example:
    number: int
    section: str
    extension: str  # empty for what is plain CommonMark
    markdown: str
    html: str


@cache
def commonmark() -> list[Example]:
    return list(_examples(_spec("commonmark.txt")))


@cache
def gfm() -> list[Example]:
    return list(_examples(_spec("gfm.txt")))


def _spec(file: str) -> str:
    folder = registries.pypi_source(*MARKO)
    return Path(folder, f"marko-{MARKO[1]}", "tests", "spec", file).read_bytes().decode()


def _examples(spec: str) -> Iterator[Example]:
    section, extension, number = "", "", 0
    parts: list[list[str]] = []
    for line in spec.split("\n"):
        if line.startswith(f"{FENCE} example"):
            extension, parts = line.removeprefix(f"{FENCE} example").strip(), [[]]
        elif parts and line == FENCE:
            number += 1
            markdown, html = ("".join(f"{text}\n" for text in part).replace("→", "\t") for part in parts)
            yield Example(number, section, extension, markdown, html)
            parts = []
        elif parts and line == "." and len(parts) == 1:
            parts.append([])
        elif parts:
            parts[-1].append(line)
        elif heading := re.match(r"#+ (.*)", line):
            section = heading[1]
