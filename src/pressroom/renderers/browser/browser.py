"""One warm Chromium for many renders: started when first needed, replaced when worn, ended with whoever holds it."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from pressroom.errors import EngineCrashed, EngineMissing, Timeout
from pressroom.renderers import MB, Limits
from pressroom.renderers.browser.launch import Launched
from pressroom.renderers.browser.page import Page
from pressroom.renderers.browser.pipe import Connection, ProtocolError

RENDERS = 100  # as Gotenberg does; a browser that has drawn 1,300 diagrams holds 700 MB
MEMORY = 1024 * MB
WEIGH_EVERY = 10
START_WITHIN = 120.0
ANSWER_WITHIN = 10.0

# What drawing a page costs at most. The press adds ours to the browser's.
PAGE_LIMITS = Limits(source=10 * MB, output=50 * MB, seconds=60.0, memory=2048 * MB)


class Browser:
    def __init__(self, *, renders: int = RENDERS, memory: int = MEMORY, network: bool = False) -> None:
        """`network` is for tests alone: it leaves out the namespace, to show that the other walls hold without it."""
        self._renders = renders
        self._memory = memory
        self._network = network
        self._launched: Launched | None = None
        self._lasting: Page | None = None
        self._rendered = 0

    @contextlib.contextmanager
    def page(self, seconds: float, *, scripts: bool = False) -> Iterator[Page]:
        """An empty page in a context of its own, gone afterwards with all it knew."""
        with self._trusted(seconds) as connection:
            page = Page(connection, scripts=scripts)
            try:
                yield page
            finally:
                page.close()

    @contextlib.contextmanager
    def lasting_page(self, seconds: float) -> Iterator[Page]:
        """The same page every time, for as long as this browser lives: for what is dear to load. Its user must wipe it."""
        with self._trusted(seconds) as connection:
            if self._lasting is None:
                self._lasting = Page(connection, scripts=True)
            yield self._lasting

    @contextlib.contextmanager
    def _trusted(self, seconds: float) -> Iterator[Connection]:
        """A browser that crashed, hung or answered nonsense is not used again."""
        launched = self._running()
        self._rendered += 1
        launched.connection.deadline = time.monotonic() + seconds
        try:
            yield launched.connection
        except ProtocolError as refusal:
            self.close()
            raise EngineCrashed(f"the browser refused: {refusal}") from None
        except (EngineCrashed, Timeout):
            self.close()
            raise

    @property
    def pid(self) -> int | None:
        return self._launched.process.pid if self._launched else None

    @property
    def sandboxed(self) -> bool:
        return self._launched is not None and self._launched.confinement.sandbox

    def close(self) -> None:
        if self._launched:
            self._launched.kill()
        self._launched = self._lasting = None
        self._rendered = 0

    def _running(self) -> Launched:
        if self._launched and (self._is_worn(self._launched) or not _answers(self._launched, ANSWER_WITHIN)):
            self.close()
        if self._launched is None:
            self._launched = self._start()
        return self._launched

    def _start(self) -> Launched:
        launched = Launched(network=self._network)
        launched.connection.deadline = time.monotonic() + START_WITHIN
        try:
            launched.connection.call("Browser.getVersion")
        except EngineCrashed:
            said = launched.last_words()
            launched.kill()
            raise _why_it_did_not_start(said) from None
        except BaseException:
            launched.kill()
            raise
        return launched

    def _is_worn(self, launched: Launched) -> bool:
        if self._rendered >= self._renders:
            return True
        return self._rendered % WEIGH_EVERY == 0 and self._rendered > 0 and _weight(launched.process.pid) > self._memory


def _answers(launched: Launched, seconds: float) -> bool:
    """Asked before each render, so that no source is blamed for a browser that died before it came."""
    launched.connection.deadline = time.monotonic() + seconds
    try:
        launched.connection.call("Browser.getVersion")
    except (EngineCrashed, Timeout):
        return False
    return True


def _why_it_did_not_start(said: str) -> EngineMissing | EngineCrashed:
    last = said.strip().splitlines()[-1:] or ["it said nothing"]
    if "No usable sandbox" in said or "without --no-sandbox" in said:
        return EngineMissing(f"Chromium's sandbox cannot be used here: {last[0]}")
    return EngineCrashed(f"Chromium did not start: {last[0]}")


def _weight(pid: int) -> int:
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
