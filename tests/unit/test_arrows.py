"""Who may import whom. The arrows of the design, held by a test."""

import ast
import re
from pathlib import Path

import pytest

import pressroom

ROOT = Path(pressroom.__file__).parent

# A part may import what is on a lower step. Parts on the same step do not import each other. The same list is in
# docs/architecture.md.
STEPS = [
    {"errors", "clock"},
    {"model", "ids", "failpoints", "tracing"},
    {"definitions"},
    {"base"},
    {"config", "registry"},
    {"sealing"},
    {"store", "delivery", "artifacts", "renderers", "notify", "client"},
    {"render_client"},
    {"submission", "artifact_lifecycle", "overview", "alerts", "backends"},
    {"worker", "queue"},
    {"kinds", "promote"},
    {"api"},
    {"web"},
    {"app"},
    {"cli.process_output"},
    {"cli.exits", "cli.output"},  # what commands of apps print, and how they end
    {"apps"},
    {"parts"},
    {"pressroom"},
    {"serving", "demo", "render_service"},
    {"cli"},
    {"__init__", "__main__", "testing"},
]
STEP_OF = {name: number for number, names in enumerate(STEPS) for name in names}


def part_of(path: Path) -> str:
    return _part(".".join(path.relative_to(ROOT).with_suffix("").parts))


def _part(module: str) -> str:
    """The part that a module belongs to: its package, unless it stands on a step of its own."""
    two = ".".join(module.split(".")[:2])
    return two if two in STEP_OF else module.split(".")[0]


def imported_parts(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {_part(name.removeprefix("pressroom.")) for name in names if name.startswith("pressroom.")}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path: Path) -> None:
    part = part_of(path)
    assert part in STEP_OF, (
        f"add {part!r} to STEPS in this file and to the table of docs/architecture.md, above all that it imports"
    )
    for other in imported_parts(path) - {part}:
        assert STEP_OF[other] < STEP_OF[part], (
            f"{part} is on step {STEP_OF[part] + 1} and may not import {other}, on step {STEP_OF[other] + 1}"
        )


def test_the_steps_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    documented = [{*re.findall(r"`([\w.]+)`", names)} for names in re.findall(r"^\| \d+ \| (.+) \|$", page, re.MULTILINE)]

    assert documented == STEPS, "make the table of docs/architecture.md the same as STEPS in this file"


@pytest.mark.parametrize("path", sorted((ROOT / "apps").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_apps_do_not_import_each_other(path: Path) -> None:
    own = path.relative_to(ROOT / "apps").parts[0]
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            assert not name.startswith("pressroom.apps.") or name.split(".")[2] == own, f"{own} may not import {name}"


def test_only_one_module_names_a_backend() -> None:
    backends = (
        *("pressroom.store.engine.sqlite", "pressroom.store.engine.postgres", "pressroom.delivery.embedded"),
        *("pressroom.artifacts.disk", "pressroom.artifacts.s3"),
    )
    for path in ROOT.rglob("*.py"):
        exempt = part_of(path) in ("delivery", "backends", "testing")  # one delivery may be made of another
        if exempt or path.name.startswith(("sqlite", "postgres")):
            continue
        for backend in backends:
            assert backend not in path.read_text(), f"{path.name} names {backend}"
