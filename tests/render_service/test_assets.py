"""Files that come with a page are put into it: what is found, what is left alone, and what hostile pages cost."""

import base64
from collections.abc import Callable

import pytest

from pressroom.errors import TooLarge
from pressroom.render_service.gotenberg.assets import AssetInliner
from pressroom.render_service.gotenberg.headers import to_template
from pressroom.render_service.gotenberg.markdown_template import fill_template, markdown_files
from pressroom.render_service.multipart import parse_form
from tests.cost import cpu_of

ASSETS = {"a.png": b"A", "b c.svg": b"<svg/>", "style.css": b"p { background: url('a.png') }", "x.js": b"1 </script> 2"}
A = f"data:image/png;base64,{base64.b64encode(b'A').decode()}"


def filled(page: str, limit: int = 100_000) -> str:
    return AssetInliner(ASSETS, limit).into_page(page)


@pytest.mark.parametrize(
    ("page", "made"),
    [
        ('<img src="a.png">', f'<img src="{A}">'),
        ("<IMG alt=x SRC=./a.png>", f'<IMG alt=x SRC="{A}">'),
        ("<img src='b%20c.svg#part'>", f'<img src="data:image/svg+xml;base64,{base64.b64encode(b"<svg/>").decode()}#part">'),
        ('<img srcset="a.png 1x, a.png 2x">', f'<img srcset="{A} 1x, {A} 2x">'),
        ('<p style="background: url(a.png)">', f'<p style="background: url({A})">'),
        ("<style>p { background: url( 'a.png' ) }</style>", f"<style>p {{ background: url({A}) }}</style>"),
        ("<script defer src=x.js></script>", "<script defer >1 <\\/script> 2</script>"),
        # Left alone: what was not sent, links, text, and other attributes.
        ('<img src="other.png">', '<img src="other.png">'),
        ('<img src="../a.png">', '<img src="../a.png">'),
        ('<a href="a.png">a.png</a>', '<a href="a.png">a.png</a>'),
        ("<p>url(a.png)</p>", "<p>url(a.png)</p>"),
        ('<img data-src="a.png">', '<img data-src="a.png">'),
    ],
)
def test_what_is_filled_in(page: str, made: str) -> None:
    assert filled(page) == made


def test_a_style_sheet_brings_its_own_pictures_along() -> None:
    page = filled('<link rel="stylesheet" href="style.css">')

    sheet = base64.b64decode(page.partition("base64,")[2].partition('"')[0]).decode()
    assert sheet == f"p {{ background: url({A}) }}"


def test_style_sheets_that_import_each_other_come_to_an_end() -> None:
    circle = {"a.css": b"@import 'b.css'; p { color: red }", "b.css": b'@import url("a.css");'}
    page = AssetInliner(circle, 1_000_000).into_page('<link rel="stylesheet" href="a.css">')

    assert page.startswith('<link rel="stylesheet" href="data:text/css;base64,')


def test_a_file_that_is_shown_ten_thousand_times_is_refused() -> None:
    with pytest.raises(TooLarge):
        AssetInliner({"a.png": bytes(100_000)}, 10_000_000).into_page('<img src="a.png">' * 10_000)
    with pytest.raises(TooLarge):
        fill_template("{{ toHTML `a` }}" * 10_000, {"a": "x" * 100_000}, 10_000_000)


def form(middle: bytes) -> list:
    try:
        return parse_form("multipart/form-data; boundary=x", middle)
    except Exception as refused:
        return [refused]


@pytest.mark.parametrize(
    ("work", "piece"),
    [
        (filled, "<img "),
        (filled, "<img src='"),
        (filled, "<script src="),
        (filled, "<style>url("),
        (filled, "style='"),
        (filled, '<img srcset="a'),
        (filled, "<img a=b src = "),
        (lambda text: to_template("header.html", text[:100_000].encode()), "<p class "),
        (lambda text: to_template("header.html", text[:100_000].encode()), "<p class=a>  "),
        (lambda text: markdown_files(text, ["a"]), "{{ toHTML `a` }} "),
        (lambda text: fill_template(text, {"a": ""}, 10**9), "{{ toHTML `a` }} "),
        (lambda text: form(text.encode()), "--x\r\n"),
        (lambda text: form(b"--x\r\n" + text.encode() + b"\r\n--x--"), 'name="'),
        (lambda text: form(b"--x\r\nContent-Disposition: " + text[:8000].encode() + b"\r\n\r\n\r\n--x--"), '; name="\\'),
    ],
)
def test_hostile_text_costs_no_more_than_its_length(work: Callable[[str], object], piece: str) -> None:
    """Twice the text is about twice the work; the square of it would be four times."""
    short, long = piece * (200_000 // len(piece)), piece * (800_000 // len(piece))

    assert cpu_of(lambda: work(long)) < 9 * cpu_of(lambda: work(short)) + 0.02
