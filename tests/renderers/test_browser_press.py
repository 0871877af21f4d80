"""The browser works inside a press, where nothing may be written and no network is left, and it ends with the press."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pressroom.renderers.browser.pdf import HtmlBrowser
from pressroom.renderers.sandbox.engine_pools import EnginePools
from pressroom.renderers.sandbox.process_tree import process_tree
from tests.renderers.browser_canary import NEEDS_CHROMIUM

pytestmark = NEEDS_CHROMIUM


def browsers_of(pid: int) -> list[int]:
    return [member for member in process_tree(pid) if member != pid]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def test_a_press_prints_and_its_browser_ends_with_it(eventually: Callable[..., Any]) -> None:
    presses = EnginePools(1)
    try:
        rendered = await presses.render(HtmlBrowser, b"<img alt=x src=http://127.0.0.1/>", "pdf")
        pid = children_of_this_process()[-1]
        browsers = browsers_of(pid)
    finally:
        await presses.close()

    assert rendered.data.startswith(b"%PDF")
    assert "blocked_fetch" in [notice.code for notice in rendered.warnings]
    assert len(browsers) > 3
    await eventually(lambda: not any(map(alive, browsers)))


async def test_a_press_that_is_killed_takes_its_browser_with_it(eventually: Callable[..., Any]) -> None:
    presses = EnginePools(1)
    try:
        await presses.render(HtmlBrowser, b"<p>x", "pdf")
        pid = children_of_this_process()[-1]
        browsers = browsers_of(pid)
        os.kill(pid, signal.SIGKILL)
        await eventually(lambda: not any(map(alive, browsers)))

        assert (await presses.render(HtmlBrowser, b"<p>x", "pdf")).data
    finally:
        await presses.close()


def children_of_this_process() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
