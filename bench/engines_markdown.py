"""Markdown beside the libraries that Python programs use for it, on the same pages and the same core.

"Parsed" is what the libraries do too: GitHub's Markdown to HTML, raw HTML and all. "Finished" is what Pressroom gives unasked:
cleaned, with anchors, code in colours and a list of headings.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from bench import engines_cores, engines_sources
from bench.engines import EngineSizes
from bench.figure import Figure, say
from pressroom.renderers.markdown.engine import Markdown, MarkdownOptions

PEERS = {
    "markdown-it-py": "commonmark, tables and strikethrough",
    "mistune": "with tables, tasks and links",
    "Python-Markdown": "with extra",
}
PROGRAM = Path(__file__).parent / "peers" / "markdown_rate.py"


def against_peers(folder: Path, sizes: EngineSizes) -> Iterator[Figure]:
    python = os.environ.get("PRESSROOM_PEERS_PYTHON")
    if python is None:
        say("  PRESSROOM_PEERS_PYTHON names no interpreter with the peers; `./dev bench` sets it. Leaving them out.")
        return
    engine, finished, plain = Markdown(), MarkdownOptions(), MarkdownOptions(flavour="gfm")
    for name, length in engines_sources.LENGTHS.items():
        page = folder / "page.md"
        page.write_text(engines_sources.markdown(length))
        rates: dict[str, list[float]] = {who: [] for who in ("parsed", "finished", *PEERS)}
        with engines_cores.only(1):
            for _ in range(sizes.slow_rounds):
                rates["parsed"].append(_rate(partial(engine.to_html, page.read_text(), plain), sizes.seconds))
                rates["finished"].append(_rate(partial(engine.render, page.read_text(), "html", finished), sizes.seconds))
                for peer in PEERS:
                    rates[peer].append(_their_rate(python, peer, page, sizes.seconds))
        for what in ("parsed", "finished"):
            for peer, how in PEERS.items():
                yield Figure(
                    f"Markdown {name}, {what}", median(rates[what]), median(rates[peer]), "renders/s", f"{peer}, {how}"
                )


def _rate(render: Callable[[], object], seconds: float) -> float:
    done = 0
    started = time.perf_counter()
    while done == 0 or time.perf_counter() - started < seconds:
        render()
        done += 1
    return done / (time.perf_counter() - started)


def _their_rate(python: str, peer: str, page: Path, seconds: float) -> float:
    command = [python, str(PROGRAM), peer, str(page), str(seconds)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
