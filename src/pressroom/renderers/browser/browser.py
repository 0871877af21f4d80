"""One warm Chromium for many renders: started when first needed, replaced when worn, ended with its owner."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from pressroom.errors import EngineCrashed, EngineMissing, Timeout
from pressroom.renderers import MB, Limits
from pressroom.renderers.browser.launch import ChromiumProcess
from pressroom.renderers.browser.page import BrowserPage
from pressroom.renderers.browser.pipe import DevtoolsConnection, ProtocolError

MAX_RENDERS = 100  # as Gotenberg does; a browser that has drawn 1,300 diagrams holds 700 MB
MAX_MEMORY = 1024 * MB
CHECK_MEMORY_EVERY = 10
START_TIMEOUT = 120.0
ANSWER_TIMEOUT = 10.0

# What drawing a page costs at most. The engine process adds ours to the browser's.
PAGE_LIMITS = Limits(source=10 * MB, output=50 * MB, seconds=60.0, memory=2048 * MB)


class Browser:
    def __init__(self, *, renders: int = MAX_RENDERS, memory: int = MAX_MEMORY, network: bool = False) -> None:
        """`network` is for tests alone: it leaves out the namespace, to show that the other walls hold without it."""
        self._renders = renders
        self._memory = memory
        self._network = network
        self._process: ChromiumProcess | None = None
        self._shared_page: BrowserPage | None = None
        self._rendered = 0

    @contextlib.contextmanager
    def page(self, seconds: float, *, scripts: bool = False) -> Iterator[BrowserPage]:
        """An empty page in a context of its own, gone afterwards with all it knew."""
        with self._checked_connection(seconds) as connection:
            page = BrowserPage(connection, scripts=scripts)
            try:
                yield page
            finally:
                page.close()

    @contextlib.contextmanager
    def shared_page(self, seconds: float) -> Iterator[BrowserPage]:
        """The same page every time, for as long as this browser lives: for what is dear to load. Its user must wipe it."""
        with self._checked_connection(seconds) as connection:
            if self._shared_page is None:
                self._shared_page = BrowserPage(connection, scripts=True)
            yield self._shared_page

    @contextlib.contextmanager
    def _checked_connection(self, seconds: float) -> Iterator[DevtoolsConnection]:
        """A browser that crashed, hung or answered nonsense is not used again."""
        process = self._running_process()
        self._rendered += 1
        process.connection.deadline = time.monotonic() + seconds
        try:
            yield process.connection
        except ProtocolError as refusal:
            self.close()
            raise EngineCrashed(f"the browser refused: {refusal}") from None
        except (EngineCrashed, Timeout):
            self.close()
            raise

    @property
    def pid(self) -> int | None:
        return self._process.process.pid if self._process else None

    @property
    def sandboxed(self) -> bool:
        return self._process is not None and self._process.confinement.sandbox

    def close(self) -> None:
        if self._process:
            self._process.kill()
        self._process = self._shared_page = None
        self._rendered = 0

    def _running_process(self) -> ChromiumProcess:
        if self._process and (self._is_worn(self._process) or not _is_responsive(self._process, ANSWER_TIMEOUT)):
            self.close()
        if self._process is None:
            self._process = self._start()
        return self._process

    def _start(self) -> ChromiumProcess:
        process = ChromiumProcess(network=self._network)
        process.connection.deadline = time.monotonic() + START_TIMEOUT
        try:
            process.connection.call("Browser.getVersion")
        except EngineCrashed:
            stderr = process.read_stderr()
            process.kill()
            raise _start_error(stderr) from None
        except BaseException:
            process.kill()
            raise
        return process

    def _is_worn(self, process: ChromiumProcess) -> bool:
        if self._rendered >= self._renders:
            return True
        return (
            self._rendered % CHECK_MEMORY_EVERY == 0
            and self._rendered > 0
            and _process_memory(process.process.pid) > self._memory
        )


def _is_responsive(process: ChromiumProcess, seconds: float) -> bool:
    """Asked before each render, so that no source is blamed for a browser that died before it came."""
    process.connection.deadline = time.monotonic() + seconds
    try:
        process.connection.call("Browser.getVersion")
    except (EngineCrashed, Timeout):
        return False
    return True


def _start_error(stderr: str) -> EngineMissing | EngineCrashed:
    last = stderr.strip().splitlines()[-1:] or ["it said nothing"]
    if "No usable sandbox" in stderr or "without --no-sandbox" in stderr:
        return EngineMissing(f"Chromium's sandbox cannot be used here: {last[0]}")
    return EngineCrashed(f"Chromium did not start: {last[0]}")


def _process_memory(pid: int) -> int:
    """Bytes held by a process and all below it, without what they share with files. 0 where /proc cannot be read."""
    family = [pid]
    total = 0
    for member in family:
        with contextlib.suppress(OSError, ValueError):
            family += map(int, Path(f"/proc/{member}/task/{member}/children").read_text(encoding="utf-8").split())
            for line in Path(f"/proc/{member}/status").read_text(encoding="utf-8", errors="replace").splitlines():
                if line.startswith(("RssAnon:", "RssShmem:")):
                    total += int(line.split()[1]) * 1024
    return total
