"""A page as a PDF in a browser that is warm, beside a browser that is started for it."""

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench import engines_sources
from bench.engines import EngineSizes, here
from bench.figure import Figure
from pressroom.renderers import catalogue
from pressroom.renderers.browser import binary as browser_binary
from pressroom.renderers.markdown.engine import Markdown, MarkdownOptions
from pressroom.renderers.sandbox.engine_pools import EnginePools

PAGES = 5  # printed in one round


def against_a_cold_start(folder: Path, sizes: EngineSizes) -> Iterator[Figure]:
    if not here("html-browser"):
        return
    options = MarkdownOptions(page=True, title="A page", lang="en", theme="light")
    page = Markdown().render(engines_sources.markdown(engines_sources.LENGTHS["2 KB"]), "html", options).data
    warm, small, cold = asyncio.run(_rounds(page, folder, sizes))
    against = "chromium-headless-shell --print-to-pdf, started for each"
    yield Figure("PDF of one page by html-browser", median(warm), median(cold), "1/s", against)
    yield Figure("PDF of one page by html", median(small), median(cold), "1/s", against)


async def _rounds(page: bytes, folder: Path, sizes: EngineSizes) -> tuple[list[float], list[float], list[float]]:
    warm, small, cold = [], [], []
    presses = EnginePools(1)
    try:
        for name in ("html-browser", "html"):
            await _rate(presses, name, page)
        for _ in range(sizes.slow_rounds):
            warm.append(await _rate(presses, "html-browser", page))
            small.append(await _rate(presses, "html", page))
            cold.append(_cold_rate(page, folder))
    finally:
        await presses.close()
    return warm, small, cold


async def _rate(presses: EnginePools, name: str, page: bytes) -> float:
    started = time.perf_counter()
    for _ in range(PAGES):
        await presses.render(catalogue.get_engine(name), page, "pdf", {})
    return PAGES / (time.perf_counter() - started)


def _cold_rate(page: bytes, folder: Path) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as own:
        source, made = Path(own, "page.html"), Path(own, "page.pdf")
        source.write_bytes(page)
        command = [
            str(browser_binary.find_chromium()),
            "--headless",
            "--no-sandbox",
            f"--user-data-dir={own}/profile",
            f"--print-to-pdf={made}",
            source.as_uri(),
        ]
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        seconds = time.perf_counter() - started
        assert made.read_bytes().startswith(b"%PDF-")
    return 1 / seconds
