"""What comes out of the browser: pages of the size that was asked for, tagged, titled, and the same bytes every time."""

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pypdf
import pytest
from PIL import Image

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers.browser import pdf_bytes as browser_pdf_bytes
from pressroom.renderers.browser.options import DocumentOptions
from pressroom.renderers.browser.pdf import HtmlBrowser
from tests.renderers.browser_canary import NEEDS_CHROMIUM

REPORT = """<!DOCTYPE html><html lang=en><head><title>A (small) report: é, 漢</title><style>
.cards { display: grid; grid-template-columns: 1fr 1fr; gap: 1em } section { break-before: page }</style></head><body>
<h1>One</h1><div class=cards><div>left</div><div>right</div></div><h2>node00000001</h2>
<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>
<section><h1>Two</h1><p>text <a href="https://example.com/">link</a></p></section></body></html>"""


@pytest.fixture(scope="module")
def engine() -> Iterator[HtmlBrowser]:
    if missing := HtmlBrowser.missing():
        pytest.skip(f"{missing.what}: {missing.install}")
    engine = HtmlBrowser()
    yield engine
    engine.close()


def read(pdf: bytes) -> Any:  # whose types say of everything in a PDF that it might be anything
    return pypdf.PdfReader(io.BytesIO(pdf), strict=True)


def test_a_document_carries_its_title_language_tags_and_outline(engine: HtmlBrowser) -> None:
    rendered = engine.render(REPORT, "pdf", DocumentOptions())

    pdf = read(rendered.data)
    catalogue = pdf.trailer["/Root"]
    assert pdf.metadata is not None
    assert pdf.metadata.title == "A (small) report: é, 漢"
    assert catalogue["/Lang"] == "en"
    assert catalogue["/MarkInfo"]["/Marked"]
    assert [pdf.outline[0]["/Title"], pdf.outline[1][0]["/Title"], pdf.outline[2]["/Title"]] == ["One", "node00000001", "Two"]
    assert len(pdf.pages) == rendered.details["pages"] == 2
    assert rendered.media_type == "application/pdf"
    assert rendered.warnings == []


def test_an_outline_can_be_had_without_tags_and_tags_without_an_outline(engine: HtmlBrowser) -> None:
    bare = read(engine.render(REPORT, "pdf", DocumentOptions(outline=False, tagged=False)).data)
    tagged = read(engine.render(REPORT, "pdf", DocumentOptions(outline=False)).data)

    assert bare.outline == []
    assert "/StructTreeRoot" not in bare.trailer["/Root"]
    assert "/StructTreeRoot" in tagged.trailer["/Root"]


@pytest.mark.parametrize("output", ["pdf", "png"])
def test_the_same_source_gives_the_same_bytes_in_two_browsers_and_twice_in_one(engine: HtmlBrowser, output: str) -> None:
    other = HtmlBrowser()
    options = DocumentOptions(header="{title}", footer="{page}/{pages} {date}", date="1 May")

    first = engine.render(REPORT, output, options).data
    again = engine.render(REPORT, output, options).data
    elsewhere = other.render(REPORT, output, options).data
    other.close()

    assert first == again == elsewhere


def test_the_clock_is_nowhere_in_the_document(engine: HtmlBrowser) -> None:
    pdf = read(engine.render(REPORT, "pdf", DocumentOptions(header="<span class=date></span>{date}")).data)

    assert pdf.metadata is not None
    assert pdf.metadata.creation_date is not None
    assert pdf.metadata.modification_date is not None
    assert pdf.metadata.creation_date.year == pdf.metadata.modification_date.year == 1970
    assert "20" not in pdf.pages[0].extract_text().replace("http", "")


@pytest.mark.parametrize(
    ("options", "points"),
    [
        (DocumentOptions(), (595, 842)),
        (DocumentOptions(page="Letter"), (612, 792)),
        (DocumentOptions(page="Legal"), (612, 1008)),
        (DocumentOptions(page="A3"), (842, 1191)),
        (DocumentOptions(page="A5", landscape=True), (595, 420)),
        (DocumentOptions(width="10cm", height="288pt"), (283, 288)),
    ],
)
def test_a_page_has_the_size_that_was_asked_for(engine: HtmlBrowser, options: DocumentOptions, points: tuple[int, int]) -> None:
    box = read(engine.render("<p>x", "pdf", options).data).pages[0].mediabox

    assert (float(box.width), float(box.height)) == pytest.approx(points, abs=1.0)


def test_a_document_may_choose_its_own_paper_when_it_is_let(engine: HtmlBrowser) -> None:
    source = "<style>@page { size: 100mm 50mm; margin: 5mm }</style><p>x"

    box = read(engine.render(source, "pdf", DocumentOptions(css_page_size=True)).data).pages[0].mediabox

    assert (float(box.width), float(box.height)) == pytest.approx((283.5, 141.7), abs=1.0)


def test_headers_and_footers_are_filled_in_on_every_page(engine: HtmlBrowser) -> None:
    options = DocumentOptions(title="Title <b>", header="<b>{title}</b> of {date}", footer="{page} / {pages}", date="May 1")

    pages = [page.extract_text() for page in read(engine.render(REPORT, "pdf", options).data).pages]

    assert all("Title <b> of May 1" in page for page in pages)
    assert "1 / 2" in pages[0]
    assert "2 / 2" in pages[1]


def test_page_numbers_need_no_template(engine: HtmlBrowser) -> None:
    pages = read(engine.render(REPORT, "pdf", DocumentOptions(page_numbers=True)).data).pages

    assert "2 / 2" in pages[1].extract_text()
    assert "1 / 2" not in read(engine.render(REPORT, "pdf", DocumentOptions()).data).pages[0].extract_text()


def test_what_a_reader_who_cannot_see_would_miss_is_told(engine: HtmlBrowser) -> None:
    source = "<img src='data:,'><img src='data:,'><img alt='' src='data:,'>"

    told = {notice.code: notice.message for notice in engine.render(source, "pdf", DocumentOptions()).warnings}

    assert told.keys() == {"no_lang", "no_title", "no_alt"}
    assert told["no_alt"].startswith("2 pictures")
    assert not engine.render("x", "pdf", DocumentOptions(title="T", lang="de-CH")).warnings


def test_print_and_screen_styles_are_chosen_by_the_output_or_by_name(engine: HtmlBrowser) -> None:
    source = (
        "<style>@media print { .s { display: none } } @media screen { .p { display: none } }</style><p class=p>P<p class=s>S"
    )

    assert read(engine.render(source, "pdf", DocumentOptions()).data).pages[0].extract_text() == "P"
    assert read(engine.render(source, "pdf", DocumentOptions(media="screen")).data).pages[0].extract_text() == "S"


def test_a_picture_shows_the_whole_page_or_the_window(engine: HtmlBrowser) -> None:
    source = "<!DOCTYPE html><body style='margin: 0'><div style='height: 1500px; background: red'></div>"

    def size(**options: object) -> tuple[int, int]:
        rendered = engine.render(source, "png", msgspec.convert(options, DocumentOptions))
        assert rendered.media_type == "image/png"
        return Image.open(io.BytesIO(rendered.data)).size

    assert size() == (1280, 1500)
    assert size(full_page=False) == (1280, 800)
    assert size(width="400px", height="300px", full_page=False, scale=2.0) == (800, 600)
    assert size(width="400px", scale=0.5) == (200, 750)


def test_a_picture_may_have_no_background(engine: HtmlBrowser) -> None:
    bare = Image.open(io.BytesIO(engine.render("<p>x", "png", DocumentOptions(background=False)).data))
    white = Image.open(io.BytesIO(engine.render("<p>x", "png", DocumentOptions()).data))

    assert bare.convert("RGBA").getpixel((0, 0)) == (0, 0, 0, 0)
    assert white.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


def test_s4_a_picture_that_would_be_too_large_is_refused_before_it_is_drawn(engine: HtmlBrowser) -> None:
    for source, options in (
        ("<div style='height: 1e9px'>", DocumentOptions()),
        ("<div style='width: 1e9px'>x", DocumentOptions()),
        ("<p>x", DocumentOptions(width="9000px", height="9000px", full_page=False)),
        ("<p>x", DocumentOptions(width="5000px", scale=4.0)),
    ):
        with pytest.raises(TooLarge, match="pixels"):
            engine.render(source, "png", options)


def test_too_many_pages_bytes_or_letters_are_refused(engine: HtmlBrowser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "limits", replace(HtmlBrowser.limits, pages=1), raising=False)
    with pytest.raises(TooLarge, match="2 pages"):
        engine.render(REPORT, "pdf", DocumentOptions())

    monkeypatch.setattr(engine, "limits", replace(HtmlBrowser.limits, output=1000), raising=False)
    for output in HtmlBrowser.makes:
        with pytest.raises(TooLarge, match="bytes"):
            engine.render(REPORT, output, DocumentOptions())

    monkeypatch.undo()
    with pytest.raises(TooLarge, match="10,485,760"):
        engine.render("x" * (10 * 1024 * 1024 + 1), "pdf", DocumentOptions())


def test_options_that_make_no_sense_are_refused() -> None:
    for wrong in (
        {"page": "A9"},
        {"colour": "red"},
        {"margin_left": "20"},
        {"margin_left": "-1mm"},
        {"margin_left": "150mm", "margin_right": "100mm"},
        {"width": "0mm"},
        {"height": "99999mm"},
        {"scale": 9},
        {"lang": "en' onclick='"},
    ):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(wrong, DocumentOptions)


def test_a_scale_that_only_a_picture_can_have_is_refused_for_paper(engine: HtmlBrowser) -> None:
    with pytest.raises(SourceInvalid, match="scale"):
        engine.render("x", "pdf", DocumentOptions(scale=3.0))


@pytest.mark.parametrize(
    "source", ["", "\0", "<", "<!DOCTYPE", "\ud800", "\u202e", "<frameset>", "<plaintext>", "e\u0301" * 10_000]
)
def test_m9_whatever_is_not_quite_a_document_becomes_one(engine: HtmlBrowser, source: str) -> None:
    assert engine.render(source, "pdf", DocumentOptions()).data.startswith(b"%PDF")


def test_the_sample_renders(engine: HtmlBrowser) -> None:
    for output in HtmlBrowser.makes:
        assert engine.render(HtmlBrowser.sample, output, DocumentOptions()).data


@NEEDS_CHROMIUM
def test_the_version_names_the_browser_and_the_fonts() -> None:
    assert "chromium 1" in HtmlBrowser.version()
    assert "fonts" in HtmlBrowser.version()


def test_only_the_names_of_nodes_are_renumbered_and_their_order_stays() -> None:
    tags = b"/ID (node00000310)>> [(node00000007) 1 0 R (node00000310) 2 0 R] /Headers [(node00000007) (node00000310)]"

    assert browser_pdf_bytes.with_nodes_renumbered(tags + b" /Title (node00000310)") == (
        b"/ID (node00000002)>> [(node00000001) 1 0 R (node00000002) 2 0 R] /Headers [(node00000001) (node00000002)]"
        b" /Title (node00000310)"
    )
