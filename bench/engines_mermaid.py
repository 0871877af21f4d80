"""Mermaid by its default engine, beside a browser that is warm and beside the program that starts one for each diagram."""

import asyncio
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench import engines_sources, place
from bench.engines import EngineSizes, here
from bench.figure import Figure, say
from pressroom.renderers import catalogue
from pressroom.renderers.browser import binary as browser_binary
from pressroom.renderers.sandbox.engine_pools import EnginePools

CLI = "@mermaid-js/mermaid-cli@11.17.0"  # the last that runs on Node 20
TYPICAL = 5  # of the examples, spread over the types
LIGHT = {"theme": "light"}


def against_the_browser(folder: Path, sizes: EngineSizes) -> Iterator[Figure]:
    sources = engines_sources.mermaid()
    sources = sources[:: len(sources) // TYPICAL][:TYPICAL]
    browser = here("mermaid-browser")
    cli = _mermaid_cli(folder) if browser else None
    ours, warm, cold = asyncio.run(_rounds(sources, browser, cli, folder, sizes))
    if warm:
        yield Figure("Mermaid SVG, one after another", median(ours), median(warm), "1/s", "mermaid-browser, warm")
    if cold:
        yield Figure("Mermaid SVG, one after another", median(ours), median(cold), "1/s", "mermaid-cli, started for each")
        yield Figure("Mermaid SVG by mermaid-browser", median(warm), median(cold), "1/s", "mermaid-cli, started for each")


async def _rounds(
    sources: list[str], browser: bool, cli: list[str] | None, folder: Path, sizes: EngineSizes
) -> tuple[list[float], list[float], list[float]]:
    ours, warm, cold = [], [], []
    presses = EnginePools(1)
    try:
        for name in ("mermaid", *(["mermaid-browser"] if browser else [])):
            await _rate(presses, name, sources)  # not what it takes to start
        for _ in range(sizes.slow_rounds):
            ours.append(await _rate(presses, "mermaid", sources))
            if browser:
                warm.append(await _rate(presses, "mermaid-browser", sources))
            if cli:
                cold.append(_rate_of_cli(cli, sources, folder))
    finally:
        await presses.close()
    return ours, warm, cold


async def _rate(presses: EnginePools, name: str, sources: list[str]) -> float:
    started = time.perf_counter()
    for source in sources:
        await presses.render(catalogue.get_engine(name), source.encode(), "svg", LIGHT)
    return len(sources) / (time.perf_counter() - started)


def _rate_of_cli(cli: list[str], sources: list[str], folder: Path) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as own:
        files = [Path(own, f"{number}.mmd") for number in range(len(sources))]
        for file, source in zip(files, sources, strict=True):
            file.write_text(source)
        started = time.perf_counter()
        for file in files:
            subprocess.run([*cli, "-i", str(file), "-o", str(file.with_suffix(".svg"))], check=True, capture_output=True)
        return len(sources) / (time.perf_counter() - started)


def _mermaid_cli(folder: Path) -> list[str] | None:
    """Installed once from npm, and told to use the browser that is here instead of one of its own."""
    home = place.ROOT / ".cache" / "mermaid-cli"
    program = home / "node_modules" / ".bin" / "mmdc"
    settings = folder / "puppeteer.json"
    settings.write_text(json.dumps({"executablePath": str(browser_binary.find_chromium()), "args": ["--no-sandbox"]}))
    command = [str(program), "--quiet", "--puppeteerConfigFile", str(settings)]
    try:
        if not program.exists():
            say(f"  installing {CLI}, which takes a minute and half a gigabyte")
            npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(home), CLI]
            subprocess.run(npm, check=True, capture_output=True, timeout=600, env=_without_downloads())
        _rate_of_cli(command, ["flowchart LR\n  A --> B"], folder)
    except (OSError, subprocess.SubprocessError) as reason:
        said = getattr(reason, "stderr", None) or str(reason)
        say(f"  mermaid-cli does not run here, so it is left out: {str(said)[-300:]}")
        return None
    return command


def _without_downloads() -> dict[str, str]:
    return os.environ | {"PUPPETEER_SKIP_DOWNLOAD": "1"}
