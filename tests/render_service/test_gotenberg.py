"""Clients of Gotenberg: an unchanged client from PyPI is the judge, and forms that are made by hand."""

import base64
import io
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import httpx
import pypdf
import pytest
from gotenberg_client import AsyncGotenbergClient, HttpStatusError
from gotenberg_client.options import Measurement, MeasurementUnitType, PageMarginsType, PageOrientation, PageSize

from pressroom.renderers.browser.pdf import HtmlBrowser
from tests.render_service.stage import HELLO, TOKEN, on_stage

needs_chromium = pytest.mark.skipif(HtmlBrowser.missing() is not None, reason="there is no Chromium here")
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")


def text_of(pdf: bytes) -> str:
    return "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages)


def size_of(pdf: bytes) -> tuple[int, int]:
    """Of the first page, in points."""
    box = pypdf.PdfReader(io.BytesIO(pdf)).pages[0].mediabox
    return round(box.width), round(box.height)


def pictures_in(pdf: bytes) -> int:
    return sum(len(page.images) for page in pypdf.PdfReader(io.BytesIO(pdf)).pages)


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def client(url: str) -> AsyncGotenbergClient:
    return AsyncGotenbergClient(url, auth=("anybody", TOKEN), timeout=600, http2=False, backend="httpx")


@needs_chromium
async def test_html_with_files_a_header_and_page_properties(no_proxy: None, tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(PIXEL)
    page = (
        '<!DOCTYPE html><html lang="en"><head><title>Offer</title><link rel="stylesheet" href="style.css"></head>'
        '<body><h1>Offer</h1><img src="dot.png" alt="dot"><p class="later">Second page</p>'
        '<p id="out"></p><script src="./fill.js"></script></body></html>'
    )
    style = "@import 'more.css'; .later { break-before: page; background: url(dot.png) }"
    header = (
        '<html><head><style>p { color: red }</style></head><body><p>Page <span class="pageNumber"></span></p></body></html>'
    )
    async with on_stage(render_token=TOKEN) as stage, client(stage.url) as gotenberg, gotenberg.chromium.html_to_pdf() as route:
        answer = await (
            route.string_index(page)
            .resource(tmp_path / "dot.png")
            .string_resource(style, "style.css", "text/css")
            .string_resource("h1 { color: #000080 }", "more.css", "text/css")
            .string_resource("document.getElementById('out').textContent = 'by a script'", "fill.js")
            .string_header(header)
            .size(PageSize(width=Measurement(148, MeasurementUnitType.Millimeters), height=Measurement(8.27)))
            .orient(PageOrientation.Landscape)
            .margins(
                PageMarginsType(
                    top=Measurement(1), bottom=Measurement(0.5), left=Measurement(10, MeasurementUnitType.Millimeters)
                )
            )
            .scale(0.9)
            .background_graphics()
            .prefer_set_page_size()
            .media_type("screen")
            .generate_document_outline(generate_document_outline=True)
            .metadata(title="Another title")
            .skip_network_idle()
            .output_filename("my offer")
            .trace_id("trace-17")
            .run()
        )

    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-disposition"] == 'attachment; filename="my offer.pdf"'
    assert answer.headers["gotenberg-trace"] == "trace-17"
    assert answer.headers["pressroom-pages"] == "2"
    assert size_of(answer.content) == pytest.approx((595, 420), abs=1)
    assert pictures_in(answer.content) >= 1
    text = text_of(answer.content)
    assert "Page 1" in text
    assert "Page 2" in text
    assert "by a script" in text
    reader = pypdf.PdfReader(io.BytesIO(answer.content))
    assert reader.metadata is not None
    assert reader.metadata.title == "Another title"
    assert [entry.title for entry in reader.outline] == ["Offer"]


@needs_chromium
async def test_markdown_files_in_a_page(no_proxy: None, tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("# First\n\n*emphasis*, <script>alert(1)</script>")
    (tmp_path / "two.md").write_text("| a | b |\n|---|---|\n| 1 | second |")
    page = '<!doctype html><title>t</title>{{ toHTML "one.md" }}<hr>{{toHTML `two.md`}}'
    async with (
        on_stage(render_token=TOKEN) as stage,
        client(stage.url) as gotenberg,
        gotenberg.chromium.markdown_to_pdf() as route,
    ):
        answer = await route.string_index(page).markdown_files([tmp_path / "one.md", tmp_path / "two.md"]).run()

    text = text_of(answer.content)
    assert "First" in text
    assert "second" in text
    assert "toHTML" not in text
    assert size_of(answer.content) == (612, 792)  # Letter, as Gotenberg's default


async def test_merged_in_the_order_of_the_client(no_proxy: None, tmp_path: Path) -> None:
    async with on_stage(render_token=TOKEN) as stage:
        files = []
        async with stage.client(TOKEN) as http:
            for name in ("b", "a"):
                made = await http.post("/render", json={"html": f"<title>{name}</title><p>document {name}"})
                files.append(tmp_path / f"{name}.pdf")
                files[-1].write_bytes(made.content)
        async with client(stage.url) as gotenberg, gotenberg.merge.merge() as route:
            answer = await route.merge(files).run()
        async with stage.client(TOKEN) as http:
            numbered = {f"{number}_x.pdf": files[number % 2].read_bytes() for number in (10, 9)}
            sent = [("files", (name, data)) for name, data in numbered.items()]
            by_number = await http.post("/forms/pdfengines/merge", files=sent)

    assert text_of(answer.content).split("\n") == ["document b", "document a"]
    assert text_of(by_number.content).split("\n") == ["document a", "document b"]


@needs_chromium
async def test_what_a_client_asks_in_vain_is_named(no_proxy: None) -> None:
    async with on_stage(render_token=TOKEN) as stage, client(stage.url) as gotenberg, gotenberg.chromium.html_to_pdf() as route:
        with pytest.raises(HttpStatusError) as raised:
            await route.string_index(HELLO).render_wait(timedelta(seconds=1)).run()

    assert raised.value.response.status_code == 400
    assert "'waitDelay' is not supported here" in raised.value.response.json()["detail"]


async def post(
    path: str, files: Sequence[tuple[str, tuple[str, bytes]]], fields: dict[str, str] | None = None, **headers: str
) -> httpx.Response:
    async with on_stage() as stage, stage.client() as http:
        return await http.post(path, files=files, data=fields, headers=headers)


HTML, MARKDOWN, MERGE = "/forms/chromium/convert/html", "/forms/chromium/convert/markdown", "/forms/pdfengines/merge"
INDEX = ("files", ("index.html", HELLO.encode()))


@pytest.mark.parametrize(
    ("path", "files", "fields", "words"),
    [
        (HTML, [("files", ("page.html", b"<p>"))], {}, "no file named index.html"),
        (HTML, [("files", ("index.html", b"<p>\n\xff"))], {}, "not UTF-8 in line 2"),
        (HTML, [INDEX, INDEX], {}, "two files are named 'index.html'"),
        (HTML, [INDEX, ("embeds", ("a.txt", b""))], {}, "'embeds' are not supported"),
        (HTML, [INDEX], {"paperwidth": "8"}, "'paperwidth' is not supported here; the fields are"),
        (HTML, [INDEX], {"paperWidth": "wide"}, "paperWidth is a length in inches"),
        (HTML, [INDEX], {"paperWidth": "1" * 400}, "paperWidth is a length"),
        (HTML, [INDEX], {"landscape": "yes"}, "landscape is true or false, not 'yes'"),
        (HTML, [INDEX], {"scale": "nan"}, "scale is a number between 0.1 and 2"),
        (HTML, [INDEX], {"singlePage": "true"}, "singlePage is 'false'"),
        (HTML, [INDEX], {"metadata": '{"Author": "me"}'}, "metadata is an object with"),
        (HTML, [INDEX], {"metadata": "[" * 50_000}, "metadata is an object with"),
        (HTML, [INDEX], {"marginLeft": "8", "marginRight": "3"}, "margins leave no room"),
        (HTML, [INDEX], {"pdfa": "PDF/A-2b"}, "'pdfa' is not supported"),
        (MARKDOWN, [("files", ("index.html", b"<p>\n{{ .Title }}"))], {}, "line 2: the only action"),
        (MARKDOWN, [("files", ("index.html", b'{{ toHTML "../etc/passwd" }}'))], {}, "no file named '../etc/passwd'"),
        (MERGE, [("files", ("a.png", PIXEL))], {}, "'a.png' is not named as a PDF"),
    ],
)
async def test_a_form_that_is_wrong_is_told_where(path: str, files: list, fields: dict[str, str], words: str) -> None:
    if "chromium" in path and HtmlBrowser.missing() is not None:
        pytest.skip("there is no Chromium here")
    answer = await post(path, files, fields)

    assert answer.status_code == 400
    assert words in answer.json()["detail"]


async def test_a_merge_of_what_is_no_pdf_is_refused() -> None:
    answer = await post(MERGE, [("files", ("a.pdf", b"no pdf"))])

    assert (answer.status_code, answer.json()["code"]) == (422, "source_invalid")


@pytest.mark.parametrize(
    ("content_type", "body", "status"),
    [
        ("application/json", b"{}", 415),
        ("multipart/form-data", b"", 415),
        ("multipart/form-data; boundary=x", b"", 400),
        ("multipart/form-data; boundary=x", b"--x\r\n", 400),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n\r\nvalue\r\n--x--", 400),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nvalue', 400),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n' * 1002 + b"--x--",
            400,
        ),
        ("multipart/form-data; boundary=x", b"--x\r\nA: " + b"b" * 9000 + b"\r\n\r\n\r\n--x--", 400),
    ],
)
async def test_a_form_that_is_none_is_refused(content_type: str, body: bytes, status: int) -> None:
    async with on_stage() as stage, stage.client() as http:
        answer = await http.post(MERGE, content=body, headers={"Content-Type": content_type})

    assert answer.status_code == status
    assert "Traceback" not in answer.text


async def test_the_token_is_asked_for_before_the_form_is_read() -> None:
    async with on_stage(render_token=TOKEN) as stage, stage.client() as http:
        refused = await http.post(HTML, files=[INDEX], auth=("anybody", "wrong-password"))

    assert refused.status_code == 401
