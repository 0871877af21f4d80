"""The Node engines inside of a real press: behind its walls, and gone when it is."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pressroom.errors import Timeout
from pressroom.renderers.sandbox.engine_pools import EnginePools
from tests.renderers.node_parts import ENGINES, needs_node
from tests.renderers.node_toys import Hurried

pytestmark = [needs_node, pytest.mark.usefixtures("node_packages")]


def sidecars_of_ours() -> list[int]:
    """Every Node that a press of this process started. Those of other tests are our own children."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"sidecar.mjs" in (folder / "cmdline").read_bytes() and os.getpid() in _ancestors(int(folder.name))[1:]:
                found.append(int(folder.name))
        except OSError:
            continue  # it has ended meanwhile
    return found


def _ancestors(pid: int) -> list[int]:
    parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return [parent, *(_ancestors(parent) if parent > 1 else [])]


ENDLESS = b"(doseq [n (range 1000000000000)] (+ n 1))"  # what only takes long may end where waiting for a core does not count


@pytest.mark.deep
async def test_every_engine_works_behind_the_walls(eventually: Callable[..., Any]) -> None:
    presses = EnginePools(1)
    try:
        for kind in ENGINES:
            assert (await presses.render(kind, kind.sample.encode(), "svg")).data.startswith(b"<svg")
            assert (await presses.render(kind, kind.sample.encode(), "pdf")).data.startswith(b"%PDF")
    finally:
        await presses.close()
    await eventually(lambda: not sidecars_of_ours())


async def test_d2_a_source_past_its_time_takes_its_node_along_and_the_next_is_drawn(eventually: Callable[..., Any]) -> None:
    presses = EnginePools(1)
    try:
        await presses.render(Hurried, Hurried.sample.encode(), "svg")
        (node,) = sidecars_of_ours()

        with pytest.raises(Timeout):
            await presses.render(Hurried, ENDLESS, "svg")

        await eventually(lambda: node not in sidecars_of_ours())
        assert (await presses.render(Hurried, Hurried.sample.encode(), "svg")).data
    finally:
        await presses.close()
    await eventually(lambda: not sidecars_of_ours())
