"""The documents that are rendered: a page that nobody here wrote, in three lengths, and Mermaid's own examples."""

from pathlib import Path

from tests.conformance import diagrams, registries, specs

KB = 1_000
LENGTHS = {"2 KB": 2 * KB, "50 KB": 50 * KB, "1 MB": 1_000 * KB}


def markdown(length: int) -> str:
    """The specification of CommonMark, which is prose, headings, lists, links and much code. Repeated if it is too short."""
    folder = registries.pypi_source(*specs.MARKO)
    page = Path(folder, f"marko-{specs.MARKO[1]}", "tests", "spec", "commonmark.txt").read_text()
    page = page.partition("# Introduction")[2]
    return _cut((page * (length // len(page) + 1)), length)


def mermaid() -> list[str]:
    return [diagram.source for diagram in diagrams.mermaid() if diagram.name.startswith("examples/")]


def _cut(page: str, length: int) -> str:
    """At the end of the last paragraph that fits; a fence that is left open is closed."""
    part = page.encode()[: length - 40].decode(errors="ignore").rpartition("\n\n")[0]
    fence = specs.FENCE
    return f"{part}\n{fence}\n" if part.count(f"\n{fence}") % 2 else f"{part}\n"
