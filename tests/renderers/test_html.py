"""HTML to PDF without a browser."""

import io
import subprocess
import sys
from typing import Any

import pypdf
import pytest

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import Limits, Rendered
from pressroom.renderers.html import Html, HtmlOptions

PAGE = "<!DOCTYPE html><html lang='en'><head><title>Report</title></head><body>{}</body></html>"


@pytest.fixture(scope="module")
def engine() -> Html:
    return Html()


@pytest.fixture
def render(engine: Html) -> Any:
    def do(source: str, output: str = "pdf", **options: Any) -> Rendered:
        return engine.render(source, output, HtmlOptions(**options))

    return do


def read(rendered: Rendered) -> pypdf.PdfReader:
    return pypdf.PdfReader(io.BytesIO(rendered.data))


@pytest.mark.parametrize(("page", "size"), [("A4", (595, 842)), ("Letter", (612, 792)), ("A5", (420, 595))])
@pytest.mark.parametrize("landscape", [False, True])
def test_paper(render: Any, page: str, size: tuple[int, int], landscape: bool) -> None:
    box = read(render(PAGE.format("x"), page=page, landscape=landscape)).pages[0].mediabox
    assert (round(box.width), round(box.height)) == (size[::-1] if landscape else size)


def test_header_footer_page_numbers_and_title(render: Any) -> None:
    rendered = render(PAGE.format("<p>text</p>" * 200), header="{title} draft", page_numbers=True)
    pdf = read(rendered)
    assert rendered.details["pages"] == len(pdf.pages) > 1
    last = pdf.pages[-1].extract_text()
    assert "Report draft" in last
    assert f"{len(pdf.pages)} / {len(pdf.pages)}" in last
    assert pdf.metadata is not None
    assert pdf.metadata.title == "Report"


def test_what_stands_in_a_header_cannot_leave_it(render: Any) -> None:
    """X8."""
    text = read(render(PAGE.format("x"), header='"} body { display: none } "\\')).pages[0].extract_text()
    assert "body { display: none }" in text
    assert text.rstrip().endswith("x") or "x" in text


def test_links_inside_the_document_stay_inside(render: Any) -> None:
    pdf = read(render(PAGE.format("<a href='#end'>go</a><h1 id='end'>End</h1>")))
    annotations = [one.get_object() for one in pdf.pages[0]["/Annots"]]  # type: ignore[union-attr]
    assert [one.get("/Dest") for one in annotations] == ["end"]


@pytest.mark.parametrize("dashes", ["0", "0,0", "0 0px", "0.0"])
def test_dashes_of_no_length_do_not_blank_the_document(render: Any, dashes: str) -> None:
    svg = f"<svg width='90' height='90'><path d='M0 0L80 80' style='stroke:red;stroke-dasharray:{dashes}'/></svg>"
    pdf = read(render(PAGE.format(svg + "<p>text</p>" * 200)))
    assert "text" in pdf.pages[-1].extract_text()


def test_what_is_missing_for_those_who_cannot_see_is_told(render: Any) -> None:
    codes = [(one.code, one.line) for one in render("<p>x</p>\n<img src='data:,'>").warnings]
    assert codes[:3] == [("no_title", None), ("no_lang", None), ("no_alt", 2)]


def test_grid_is_told_to_be_unknown(render: Any) -> None:
    notices = [
        one for one in render(PAGE.format("\n<div style='display: grid'>x</div>")).warnings if one.code == "unsupported_css"
    ]
    assert [one.line for one in notices] == [2]
    assert "html-browser" in notices[0].message


def test_nothing_is_fetched_and_that_is_told(render: Any, tmp_path: Any) -> None:
    """F1, N1."""
    (tmp_path / "secret.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>hunter2</text></svg>")
    source = PAGE.format(
        f"<img alt='' src='file://{tmp_path}/secret.svg'><link rel=stylesheet href='http://127.0.0.1:9/x.css'>"
    )
    rendered = render(source)
    assert {one.code for one in rendered.warnings} == {"blocked_fetch"}
    assert "hunter2" not in read(rendered).pages[0].extract_text()


def test_empty_and_endless_documents_are_refused(render: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceInvalid, match="empty"):
        render(" \n")
    monkeypatch.setattr(Html, "limits", Limits(pages=3))
    with pytest.raises(TooLarge, match="the limit is 3"):
        render(PAGE.format("<p>text</p>" * 1000))


def test_a_picture_of_a_document(render: Any) -> None:
    assert render(PAGE.format("x"), "png").data.startswith(b"\x89PNG")


def test_the_same_source_gives_the_same_bytes_in_another_process(render: Any) -> None:
    script = (
        "import sys\nfrom pressroom.renderers.html import *\n"
        "sys.stdout.buffer.write(Html().render(sys.argv[1], 'pdf', HtmlOptions(page_numbers=True)).data)"
    )
    source = PAGE.format("<h1>Hi</h1><p>text</p>")
    there = subprocess.run([sys.executable, "-c", script, source], capture_output=True, check=True).stdout
    assert there == render(source, page_numbers=True).data
