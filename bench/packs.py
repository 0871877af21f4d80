"""Packs: how fast they are printed, and how their documents become one file."""

import io
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pikepdf

from bench import packs_rate
from bench.figure import Figure
from pressroom.renderers.html import Html, HtmlOptions
from pressroom.renderers.pdf import pack_pdfs
from pressroom.renderers.pdf.engine import Pdf
from pressroom.renderers.pdf.options import PdfOptions

DOCUMENTS, PAGES = 10, 3


@dataclass(frozen=True)
class PackSizes:
    rounds: int  # of merges
    packs: int  # in one round of rates
    rate_rounds: int
    batch: int  # packs that are printed in the background
    singles: int


FULL = PackSizes(rounds=60, packs=30, rate_rounds=3, batch=60, singles=20)
QUICK = PackSizes(rounds=10, packs=5, rate_rounds=1, batch=15, singles=5)


def rates(folder: Path, sizes: PackSizes) -> Iterator[Figure]:
    return packs_rate.rates(folder, sizes.packs, sizes.rate_rounds)


def interactive(folder: Path, sizes: PackSizes) -> Iterator[Figure]:
    return packs_rate.interactive(folder, sizes.batch, sizes.singles)


def merge(_: Path, sizes: PackSizes) -> Iterator[Figure]:
    """A plain merge by the engine and by pikepdf directly, which neither unpacks what is in the files to see whether it is
    damaged, nor puts links and outlines right. In processor time, as other work on the machine does not count in it.
    """
    documents = [_document(number) for number in range(DOCUMENTS)]
    engine, source = Pdf(), pack_pdfs(documents)
    ours, direct = [], []
    with warnings.catch_warnings(action="ignore"):
        for _ in range(sizes.rounds):
            ours.append(_cpu_seconds(lambda: engine.render(source, "pdf", PdfOptions())))
            direct.append(_cpu_seconds(lambda: _merge_directly(documents)))
    name = f"merge of {DOCUMENTS} documents of {PAGES} pages"
    yield Figure(name, median(ours) * 1000, median(direct) * 1000, "ms of CPU", "pikepdf directly", aim="<= 1.3")


def _document(number: int) -> bytes:
    text = "Lorem ipsum dolor sit amet, consetetur sadipscing elitr. " * 60
    pages = [
        f"<h1 id='s{page}' style='break-before: page'>{number}: page {page}</h1><p>{text}</p><p><a href='#s1'>Up</a></p>"
        for page in range(PAGES)
    ]
    source = f"<html lang='en'><title>Document {number}</title>{''.join(pages)}</html>"
    return Html().render(source, "pdf", HtmlOptions()).data


def _merge_directly(documents: list[bytes]) -> bytes:
    with pikepdf.new() as merged:
        opened = [pikepdf.open(io.BytesIO(document)) for document in documents]
        for pdf in opened:
            merged.pages.extend(pdf.pages)
        stream = io.BytesIO()
        merged.save(stream, deterministic_id=True)
        for pdf in opened:
            pdf.close()
    return stream.getvalue()


def _cpu_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
