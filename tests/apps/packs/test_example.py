"""The example in `examples/packs`, in two languages, judged by pypdf, pdfminer.six, qpdf and Babel, which did not make it."""

import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pikepdf
import pypdf
import pytest
from babel.dates import format_date
from babel.numbers import format_currency
from pdfminer.high_level import extract_pages, extract_text
from pdfminer.pdfdocument import PDFDocument, PDFNoOutlines
from pdfminer.pdfparser import PDFParser

from tests.cli.conftest import Run, give, give_on_database

__all__ = ["give", "give_on_database"]

FOLDER = Path(__file__).parents[3] / "examples" / "packs"
DATA = json.loads((FOLDER / "data.json").read_text())
DOCUMENTS = ("offer", "invoice", "certificate")
PAGES = {"offer": 1, "invoice": 2, "certificate": 1}
TITLES = {
    "en": ["Contents", "Offer of employment", "Invoice", "Certificate"],
    "de": ["Inhalt", "Arbeitsangebot", "Rechnung", "Urkunde"],
}


def spoken(document: str, lang: str) -> list[str]:
    """Dates and amounts that a document has, as CLDR writes them."""
    invoice, course = DATA["invoice"], DATA["course"]
    dates = {"offer": [(DATA["start"], "long"), (DATA["start"], "full")], "certificate": [(course["ended"], "long")]}
    dates["invoice"] = [(invoice["date"], "long"), (invoice["due"], "long")]
    amounts = {"offer": [DATA["salary"]], "invoice": [invoice[name] for name in ("net", "tax", "total")], "certificate": []}
    written = [format_date(date.fromisoformat(day), width, locale=lang) for day, width in dates[document]]
    return written + [format_currency(Decimal(amount), "EUR", locale=lang) for amount in amounts[document]]


def plain(text: str) -> str:
    return " ".join(text.split())


def letters(text: str) -> Counter[str]:
    return Counter("".join(text.split()))


def outline_of(pdf: bytes) -> list[str]:
    try:
        return [title for _, title, *_ in PDFDocument(PDFParser(io.BytesIO(pdf))).get_outlines()]
    except PDFNoOutlines:
        return []


def problems_of(pdf: bytes) -> list[str]:
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        return list(opened.check_pdf_syntax())


def texts_of(pdf: bytes) -> list[str]:
    """By pypdf, after seeing that pdfminer.six reads the same letters. The two do not find the same gaps between words."""
    texts = [plain(page.extract_text()) for page in pypdf.PdfReader(io.BytesIO(pdf)).pages]
    assert letters(extract_text(io.BytesIO(pdf))) == letters("".join(texts))
    return texts


def test_the_totals_of_the_invoice_are_right() -> None:
    invoice = DATA["invoice"]

    net = sum((item["quantity"] * Decimal(item["price"]) for item in invoice["items"]), Decimal(0))

    assert (len(invoice["items"]), Decimal(invoice["net"])) == (40, net)
    assert Decimal(invoice["tax"]) == (net * Decimal("0.19")).quantize(Decimal("0.01"))
    assert Decimal(invoice["total"]) == net + Decimal(invoice["tax"])


@pytest.mark.parametrize("lang", ["en", "de"])
def test_the_example_is_printed_without_a_database(give: Run, tmp_path: Path, lang: str) -> None:
    """And the same input gives the same bytes."""
    for folder in ("first", "again"):
        code, out, error = give(
            *("packs", "make", str(FOLDER / "data.json"), "--templates", str(FOLDER)),
            *("--lang", lang, "-o", str(tmp_path / folder)),
        )
        assert (code, error, len(out.splitlines())) == (0, "", 3)

    for document in DOCUMENTS:
        pdf = (tmp_path / "first" / f"{document}.pdf").read_bytes()
        assert pdf == (tmp_path / "again" / f"{document}.pdf").read_bytes()
        assert problems_of(pdf) == []
        texts = texts_of(pdf)
        assert len(texts) == len(list(extract_pages(io.BytesIO(pdf)))) == PAGES[document]
        assert DATA["person"]["name"] in texts[0]
        for words in spoken(document, lang):
            assert plain(words) in " ".join(texts)


@pytest.mark.parametrize("lang", ["en", "de"])
def test_the_example_as_one_pdf(give_on_database: Run, tmp_path: Path, lang: str) -> None:
    """The same documents as without a database, behind a contents page, with an outline and numbers that run on."""

    def run(*arguments: str) -> str:
        code, out, error = give_on_database("packs", *arguments)
        assert (code, error) == (0, "")
        return out

    pack = run("new", str(FOLDER / "data.json"), "--title", "Anna Example", "--lang", lang).strip()
    run("import", str(FOLDER))
    run("render", pack, "--wait", "-o", "alone")
    for name in ("first.pdf", "again.pdf"):
        run("bundle", pack, "--wait", "-o", name)

    pdf = (tmp_path / "first.pdf").read_bytes()
    assert pdf == (tmp_path / "again.pdf").read_bytes()
    assert problems_of(pdf) == []
    assert outline_of(pdf) == TITLES[lang]
    reader = pypdf.PdfReader(io.BytesIO(pdf))
    assert [reader.get_destination_page_number(item) for item in top_level(reader.outline)] == [0, 1, 2, 4]
    assert [page.mediabox.width > page.mediabox.height for page in reader.pages] == [False] * 4 + [True]
    texts = texts_of(pdf)
    assert [text.endswith(f"{number} / 5") for number, text in enumerate(texts, 1)] == [True] * 5
    alone = [text for document in DOCUMENTS for text in texts_of((tmp_path / "alone" / f"{document}.pdf").read_bytes())]
    assert [text.removesuffix(f" {number} / 5") for number, text in enumerate(texts[1:], 2)] == alone


def top_level(outline: Sequence[Any]) -> Iterator[Any]:
    return (item for item in outline if not isinstance(item, list))
