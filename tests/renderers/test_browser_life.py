"""A browser starts shut in, is replaced when it is worn or broken, and never outlives the one that started it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from pressroom.errors import EngineCrashed, EngineMissing, Timeout
from pressroom.renderers.browser import binary as browser_binary
from pressroom.renderers.browser import browser as browser_module
from pressroom.renderers.browser import launch as browser_launch
from pressroom.renderers.browser.browser import Browser
from pressroom.renderers.browser.launch import Confinement, choose_confinement
from pressroom.renderers.browser.options import DocumentOptions
from pressroom.renderers.browser.pdf import HtmlBrowser
from tests.renderers.browser_canary import NEEDS_CHROMIUM

PLAIN = DocumentOptions()
SCRIPTED = DocumentOptions(javascript=True)

# Renders once, tells the browser's number and then waits to be killed.
HOLDER = """
import sys, time
from pressroom.renderers.browser.pdf import DocumentOptions, HtmlBrowser
engine = HtmlBrowser()
engine.render("<p>x", "pdf", DocumentOptions())
print(engine._browser.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


def family(pid: int) -> list[int]:
    members = [pid]
    for member in members:
        for children in Path(f"/proc/{member}/task").glob("*/children"):
            with suppress(FileNotFoundError):  # a thread that ended between the two looks
                members += map(int, children.read_text().split())
    return members


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], within: float = 60.0) -> None:
    end = time.monotonic() + within
    while not condition():
        assert time.monotonic() < end, f"did not become true within {within} s"
        time.sleep(0.01)


@NEEDS_CHROMIUM
def test_a_browser_that_was_killed_between_two_renders_is_replaced(browser: Browser) -> None:
    engine = HtmlBrowser(browser)
    engine.render("<p>x", "pdf", PLAIN)
    first = browser.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: not alive(first))

    assert engine.render("<p>x", "pdf", PLAIN).data
    assert browser.pid != first


@NEEDS_CHROMIUM
def test_a_page_that_crashes_is_told_and_the_next_render_works(browser: Browser) -> None:
    engine = HtmlBrowser(browser)
    engine.render("<p>x", "pdf", PLAIN)

    with pytest.raises(EngineCrashed), browser.page(300) as page:
        page.call("Page.crash")

    assert engine.render("<p>x", "pdf", PLAIN).data


@NEEDS_CHROMIUM
def test_a_browser_that_dies_during_a_render_is_told_and_the_next_render_works(browser: Browser) -> None:
    engine = HtmlBrowser(browser)

    def show_in_a_dead_browser() -> None:
        with browser.page(300) as page:
            assert browser.pid is not None
            os.kill(browser.pid, signal.SIGKILL)
            page.show("<p>x")

    with pytest.raises(EngineCrashed):
        show_in_a_dead_browser()

    assert engine.render("<p>x", "pdf", PLAIN).data


@NEEDS_CHROMIUM
@pytest.mark.parametrize("script", ["while (true);", "for (let a = [];;) a.push(a.length)"])
def test_a_page_that_never_ends_is_given_up_and_leaves_nothing(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    engine = HtmlBrowser(browser)
    engine.render("<p>x", "pdf", PLAIN)
    monkeypatch.setattr(engine, "limits", replace(HtmlBrowser.limits, seconds=1.0), raising=False)
    assert browser.pid is not None
    processes = family(browser.pid)

    with pytest.raises((Timeout, EngineCrashed)):
        engine.render(f"<script>{script}</script>", "pdf", SCRIPTED)

    wait_until(lambda: not any(map(alive, processes)))
    monkeypatch.undo()
    assert engine.render("<p>x", "pdf", PLAIN).data


@NEEDS_CHROMIUM
def test_a_browser_is_replaced_after_so_many_renders_or_when_it_is_heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_module, "CHECK_MEMORY_EVERY", 2)
    for browser in (Browser(renders=2), Browser(memory=1)):
        seen = set()
        for _ in range(3):
            with browser.page(300) as page:
                page.show("<p>x")
            seen.add(browser.pid)
        browser.close()

        assert len(seen) == 2


@NEEDS_CHROMIUM
def test_closing_leaves_no_process_and_no_folder(browser: Browser) -> None:
    HtmlBrowser(browser).render("<p>x", "pdf", PLAIN)
    launched = browser._process
    assert launched is not None
    processes = family(launched.process.pid)
    assert len(processes) > 3

    browser.close()

    wait_until(lambda: not any(map(alive, processes)))
    assert not launched.folder.exists()


@NEEDS_CHROMIUM
@pytest.mark.parametrize("stopped", [False, True])
def test_no_browser_outlives_a_press_that_is_killed(tmp_path: Path, stopped: bool) -> None:
    """Not even one that is stopped, and so cannot notice that its pipes are closed."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(tmp_path)}, text=True
    )
    assert holder.stdout is not None
    with holder.stdout:
        processes = family(int(holder.stdout.readline()))
    if stopped:
        os.kill(processes[0], signal.SIGSTOP)

    holder.kill()
    holder.wait()

    wait_until(lambda: not any(map(alive, processes)))


@NEEDS_CHROMIUM
def test_the_browser_has_its_own_sandbox_and_nothing_of_our_environment(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSROOM_CANARY", "a secret")
    HtmlBrowser(browser).render("<p>x", "pdf", PLAIN)
    assert browser.pid is not None

    assert browser.sandboxed
    assert b"PRESSROOM_CANARY" not in Path(f"/proc/{browser.pid}/environ").read_bytes()
    assert os.readlink(f"/proc/{browser.pid}/ns/net") != os.readlink("/proc/self/ns/net")
    renderers = [pid for pid in family(browser.pid) if "--type=renderer" in told_of(pid, "cmdline")]
    assert all("Seccomp:\t2" in status for pid in renderers if (status := told_of(pid, "status")))


def told_of(pid: int, what: str) -> str:
    """Nothing of a process that has just ended: a renderer comes and goes with its page."""
    try:
        return Path(f"/proc/{pid}/{what}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


@NEEDS_CHROMIUM
def test_one_page_knows_nothing_of_another(browser: Browser) -> None:
    with browser.page(300, scripts=True) as page:
        page.show("<script>window.name = 'left behind'; try { localStorage.x = 1 } catch {}</script>")
    with browser.page(300, scripts=True) as page:
        assert page.run("() => window.name") == ""


@pytest.mark.parametrize(
    ("user", "can_nest", "shut_in", "chosen"),
    [
        (0, True, False, Confinement(namespace=True, sandbox=True)),
        (0, True, True, Confinement(namespace=True, sandbox=True)),
        (1000, True, False, Confinement(namespace=True, sandbox=True)),
        (1000, True, True, Confinement(namespace=False, sandbox=True)),
        (65534, False, True, Confinement(namespace=False, sandbox=False)),
    ],
)
def test_the_sandbox_is_on_wherever_it_can_be(user: int, can_nest: bool, shut_in: bool, chosen: Confinement) -> None:
    assert choose_confinement(user, can_nest, shut_in) == chosen


@pytest.mark.parametrize("user", [0, 1000])
def test_without_any_walls_there_is_no_browser(user: int) -> None:
    with pytest.raises(EngineMissing, match="user namespaces"):
        choose_confinement(user, can_nest=False, in_sandbox=False)


def test_a_browser_that_is_not_there_is_told_with_the_command_that_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_CHROMIUM", "/no/such/browser")

    missing = HtmlBrowser.missing()
    assert missing is not None
    assert "/no/such/browser" in missing.what
    assert "chromium-headless-shell" in missing.install
    with pytest.raises(EngineMissing, match="chromium-headless-shell"):
        HtmlBrowser().render("<p>x", "pdf", PLAIN)

    monkeypatch.delenv("PRESSROOM_CHROMIUM")
    monkeypatch.setenv("PATH", "/no/such/folder")
    assert browser_binary.find_chromium() is None


def test_a_program_that_is_no_browser_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_CHROMIUM", "/bin/true")
    monkeypatch.setattr(browser_launch, "_can_create_user_namespace", lambda: True)

    with pytest.raises(EngineCrashed, match="did not start"):
        HtmlBrowser().render("<p>x", "pdf", PLAIN)


def test_root_is_never_given_write_access_to_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the kernel a root in a namespace still owns /proc/sys, so Landlock must not open it."""
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert browser_binary.writable_paths() == ()

    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert browser_binary.writable_paths() == (Path("/proc"),)
