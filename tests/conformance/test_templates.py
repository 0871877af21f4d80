"""Templates of packages on PyPI, which were written for other programs: each is read and rendered, or says where it is wrong.

Covered: that no template makes the engine fail, and that an error has a line. Not covered: what they look like; their filters,
functions and data belong to programs that are not here.
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pressroom.errors import SourceInvalid
from pressroom.renderers.jinja.engine import Jinja, JinjaOptions
from tests.conformance import registries

pytestmark = pytest.mark.deep

PACKAGES = {
    ("flask_admin", "2.2.1"): "08b4b6b63d2100598add70c1dc9a695f484e3c16c894c09ac70af26acb26a87d",
    ("flask_security", "5.9.2"): "215b1f978c203c646cfa87667e4a193b63aaf51a18403c49eccc9ff1b1bfad8f",
    ("nbconvert", "7.17.2"): "344a218e8595117ce37396ed025d994f146d076226ebac59255a2fa085ab24d8",
    ("openapi_python_client", "0.29.0"): "4ff439a63765aaef548e69c4eedd86dfad57891dc322709450af0c2c9a72a23e",
    ("pelican", "4.12.0"): "3983b5d2dc84c7bdf967154359077a2b78c0bbd2f7dcc55292133a7779609458",
}
ENDINGS = {".html", ".j2", ".jinja", ".jinja2", ".rst", ".tex", ".txt", ".xml"}


@cache
def engine() -> Jinja:
    return Jinja()


def templates_in(folder: Path) -> dict[str, str]:
    """By their names as their programs would ask for them: from the folder `templates` on."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in ENDINGS and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            if "{%" in text or "{{" in text:
                found[path.relative_to(folder).as_posix().partition("/templates/")[2] or path.name] = text
    return found


def outcome(source: str, output: str, templates: Mapping[str, str]) -> str:
    try:
        engine().render(source, output, JinjaOptions(templates=dict(templates)))
    except SourceInvalid as error:
        return "refused" if error.line else f"refused without a line: {error}"
    return "made"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package[0])
def test_templates_that_others_wrote_are_read_or_refused_with_a_line(
    package: tuple[str, str], fetched: Callable[..., Any]
) -> None:
    folder = fetched(lambda: registries.pypi_source(*package, PACKAGES[package]))
    templates = templates_in(folder)
    assert len(templates) > 20

    read = [outcome(source, "json", templates) for source in templates.values()]
    rendered = [outcome(source, "html", templates) for source in templates.values()]

    assert {*read, *rendered} == {"made", "refused"}
    assert read.count("made") >= 0.8 * len(templates)
    assert rendered.count("made") > 0
