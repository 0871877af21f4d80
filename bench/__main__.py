"""`python -m bench queue|engines|http|web|wiki|packs|docs [--json] [--quick] [--only NAME ...]`: measure and print figures."""

import argparse
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import (
    against_peers,
    claims,
    docs,
    docs_sites,
    engines,
    engines_box,
    engines_conformance,
    engines_markdown,
    engines_mermaid,
    engines_pdf,
    flood,
    http,
    memory,
    packs,
    pickup,
    place,
    scale,
    throughput,
    web,
    wiki,
)
from bench.docs import DocsSizes
from bench.engines import EngineSizes
from bench.figure import Figure, as_json, as_table, say
from bench.http import HttpSizes
from bench.packs import PackSizes
from bench.sizes import FULL, QUICK, Sizes
from bench.web import WebSizes
from bench.wiki import WikiSizes

type Measure = Callable[[Path], Iterator[Figure]]

QUEUE: dict[str, Callable[[Path, Sizes], Iterator[Figure]]] = {
    "submits": throughput.submits,
    "drain": throughput.drain,
    "peers": against_peers.drain,
    "pickup": pickup.idle,
    "flood": flood.interactive,
    "claims": claims.cost,
    "memory": memory.of_a_worker,
}

ENGINES: dict[str, Callable[[Path, EngineSizes], Iterator[Figure]]] = {
    "box": engines_box.markdown,
    "mermaid-box": engines_box.mermaid,
    "markdown": engines_markdown.against_peers,
    "mermaid": engines_mermaid.against_the_browser,
    "pdf": engines_pdf.against_a_cold_start,
    "conformance": engines_conformance.shares,
}

HTTP: dict[str, Callable[[Path, HttpSizes], Iterator[Figure]]] = {
    "submits": http.submits,
    "hits": http.hits,
    "bytes": http.picture,
    "sync": http.sync,
    "streams": http.streams,
}

WEB: dict[str, Callable[[Path, WebSizes], Iterator[Figure]]] = {
    "sqlite": web.on_sqlite,
    "postgres": web.on_postgres,
}

WIKI: dict[str, Callable[[Path, WikiSizes], Iterator[Figure]]] = {
    "rates": wiki.rates,
    "saves": wiki.saves,
    "many": wiki.many,
}
PACKS: dict[str, Callable[[Path, PackSizes], Iterator[Figure]]] = {
    "merge": packs.merge,
    "rates": packs.rates,
    "interactive": packs.interactive,
}
DOCS: dict[str, Callable[[Path, DocsSizes], Iterator[Figure]]] = {
    "builds": docs.builds,
    "writers": docs.writers,
    "editions": docs.editions,
    "storage": docs.storage,
    "memory": docs.memory,
    "pages": docs.pages,
    "released": docs_sites.stored,
}

NAMES = {
    "queue": QUEUE.keys(),
    "engines": ENGINES.keys(),
    "http": HTTP.keys(),
    "web": WEB.keys(),
    "wiki": WIKI.keys(),
    "packs": PACKS.keys(),
    "docs": DOCS.keys(),
}


def main() -> None:
    arguments = _arguments()
    logging.getLogger("pressroom").setLevel(logging.ERROR)  # that a flood was left behind is no news here
    measures = _measures(arguments.what, arguments.quick)
    figures: list[Figure] = []
    with place.scratch() as folder:
        for name in arguments.only or measures:
            figures += _measure(name, measures[name], folder)
    print(as_json(figures) if arguments.json else as_table(figures))


def _measures(what: str, quick: bool) -> dict[str, Measure]:
    if what == "engines":
        engines.find_packages()
        return _sized(ENGINES, engines.QUICK if quick else engines.FULL)
    if what == "http":
        return _sized(HTTP, http.QUICK if quick else http.FULL)
    if what == "web":
        return _sized(WEB, web.QUICK if quick else web.FULL)
    if what == "wiki":
        engines.find_packages()
        return _sized(WIKI, wiki.QUICK if quick else wiki.FULL)
    if what == "packs":
        return _sized(PACKS, packs.QUICK if quick else packs.FULL)
    if what == "docs":
        return _sized(DOCS, docs.QUICK if quick else docs.FULL)
    return _sized(QUEUE, QUICK if quick else FULL)


def _sized[S](measures: dict[str, Callable[[Path, S], Iterator[Figure]]], sizes: S) -> dict[str, Measure]:
    def sized(measure: Callable[[Path, S], Iterator[Figure]]) -> Measure:
        return lambda folder: measure(folder, sizes)

    return {name: sized(measure) for name, measure in measures.items()}


def _measure(name: str, measure: Measure, folder: Path) -> list[Figure]:
    say(f"measuring {name} ... (load {os.getloadavg()[0]:.1f})")
    started = time.monotonic()
    figures = list(measure(folder))
    say(f"  took {time.monotonic() - started:.0f} s")
    return figures


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Measure Pressroom beside its limits and its peers.")
    parser.add_argument("what", choices=[*NAMES])
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, in under a minute: for trying, not for quoting")
    names = "; ".join(f"{what}: {', '.join(known)}" for what, known in NAMES.items())
    parser.add_argument("--only", nargs="+", metavar="NAME", help=names)
    arguments = parser.parse_args()
    known = NAMES[arguments.what]
    if unknown := set(arguments.only or ()) - known:
        parser.error(f"there is no {min(unknown)!r} to measure; there are {', '.join(known)}")
    return arguments


if __name__ == "__main__":
    if sys.argv[1:2] == ["scale"]:  # its arguments are its own
        scale.main(sys.argv[2:])
    else:
        main()
