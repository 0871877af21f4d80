"""Whoever drew an SVG, nothing in it runs and nothing in it is fetched."""

import time
from xml.etree import ElementTree

import pytest

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import Rendered
from pressroom.renderers.svg.allowlist import clean_css
from pressroom.renderers.svg.cleaner import clean_svg
from tests.renderers.drawing import codes as codes_of
from tests.renderers.drawing import draw as draw_with
from tests.renderers.drawing import listener, red_picture, refused, shows_red, text

OPEN = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 64 64">'
XHTML = 'xmlns="http://www.w3.org/1999/xhtml"'


def draw(body: str, output: str = "svg") -> Rendered:
    return draw_with("svg", f"{OPEN}{body}</svg>", output)


def cleaned(body: str) -> str:
    return draw(body).data.decode()


@pytest.mark.parametrize(
    "body",
    [
        "<script>alert(1)</script>",
        '<rect onclick="alert(1)"/>',
        '<a href="javascript:alert(1)"><rect/></a>',
        '<a xlink:href="java&#10;script:alert(1)"><rect/></a>',
        '<a href=" &#1;javascript:alert(1)"><rect/></a>'.replace("&#1;", "&#9;"),
        '<a href="vbscript:x"><rect/></a>',
        '<a href="Data:text/html,x"><rect/></a>',
        '<a href="#"><animate attributeName="href" values="javascript:alert(1)"/></a>',
        '<a href="#"><set attributeName="xlink:href" to="javascript:alert(1)"/></a>',
        f'<foreignObject><iframe {XHTML} src="javascript:alert(1)"/></foreignObject>',
        f'<foreignObject><div {XHTML} onmouseover="alert(1)">x</div></foreignObject>',
        f'<foreignObject><form {XHTML} action="javascript:alert(1)"/></foreignObject>',
        '<rect style="behavior:url(#x);-moz-binding:url(#x);width:expression(alert(1))"/>',
        '<handler xmlns="http://www.w3.org/2001/xml-events">alert(1)</handler>',
    ],
)
def test_nothing_runs(body: str) -> None:
    """X1, X4, X6"""
    root = ElementTree.fromstring(cleaned(body))

    written = ElementTree.tostring(root, encoding="unicode").lower()
    assert not any(word in written for word in ("alert", "script:", "<script", "iframe", "expression", "behavior", "text/html"))


@pytest.mark.parametrize(
    "body",
    [
        '<image href="{url}"/>',
        '<image xlink:href="{url}"/>',
        '<use href="{url}#x"/>',
        '<rect fill="url({url})"/>',
        "<rect style=\"fill: U\\72L( '{url}' )\"/>",
        '<style>@import "{url}";</style>',
        "<style>@\\69mport url({url});</style>",
        "<style>rect {{ fill: url(/*x*/{url}) }}</style>",
        '<style>rect {{ background: image-set("{url}" 1x) }}</style>',
        "<style>@font-face {{ font-family: x; src: url({url}) }}</style>",
        '<filter id="f"><feImage href="{url}"/></filter>',
        f'<foreignObject><img {XHTML} src="{{url}}"/></foreignObject>',
        f'<foreignObject><div {XHTML} style="background:url({{url}})">x</div></foreignObject>',
    ],
)
def test_nothing_is_fetched(body: str, tmp_path: object) -> None:
    """F1, N1: and the author is told."""
    with listener() as (url, calls):
        rendered = draw(body.format(url=url))
        draw(body.format(url=url), "png")
        draw(body.format(url=url), "pdf")

    assert url.encode() not in rendered.data
    assert "blocked_fetch" in codes_of(rendered)
    assert not calls


@pytest.mark.parametrize("scheme", ["", "file://", "FILE://", "file://localhost", "fIlE:"])
def test_no_file_is_read(scheme: str, tmp_path: object) -> None:
    """F1, F2: resvg would read an absolute path."""
    from pathlib import Path

    canary = red_picture(Path(str(tmp_path)))

    rendered = draw(f'<image href="{scheme}{canary}" width="64" height="64"/>', "png")

    assert not shows_red(rendered.data)
    assert "blocked_fetch" in codes_of(rendered)


def test_what_is_embedded_stays() -> None:
    pixel = (
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )

    rendered = draw(
        f'<image href="{pixel}" width="9" height="9"/><a href="https://example.com/?a=1&amp;b=2"><rect fill="url(#g)"/></a>'
    )

    assert pixel.encode() in rendered.data
    assert b'href="https://example.com/?a=1&amp;b=2"' in rendered.data
    assert b'fill="url(#g)"' in rendered.data
    assert codes_of(rendered) == {"no_title"}


def test_labels_in_html_are_kept_clean() -> None:
    svg = cleaned(f'<foreignObject width="9" height="9"><div {XHTML} class="l">a<br/><b>b</b><span/></div></foreignObject>')

    assert f'<div {XHTML} class="l">a<br/><b>b</b><span></span></div>' in svg


BILLION_LAUGHS = (
    '<!DOCTYPE svg [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {c} "{f"&{p};" * 10}">' for p, c in zip("abcdefghi", "bcdefghij", strict=True))
    + f"]>{OPEN}<text>&j;</text></svg>"
)


@pytest.mark.parametrize(
    "source",
    [
        BILLION_LAUGHS,
        f'<!DOCTYPE svg [<!ENTITY a "{"x" * 50_000}">]>{OPEN}<text>{"&a;" * 50_000}</text></svg>',
        f'<!DOCTYPE svg SYSTEM "http://127.0.0.1/x.dtd">{OPEN}</svg>',
        f'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>{OPEN}<text>&x;</text></svg>',
        f'<!DOCTYPE svg [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]>{OPEN}</svg>',
    ],
)
def test_declarations_are_refused_before_they_cost_anything(source: str) -> None:
    """S1, S2, S3"""
    started = time.thread_time()

    error = refused("svg", source)

    assert time.thread_time() - started < 0.1
    assert error.line == 1
    assert "DOCTYPE" in str(error)


def test_the_document_type_of_drawing_programs_is_accepted_and_left_out() -> None:
    public = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'

    assert "DOCTYPE" not in text("svg", f'<?xml version="1.0"?>\n{public}\n{OPEN}</svg>')


def test_a_style_sheet_and_an_inclusion_are_left_out() -> None:
    """S3"""
    rendered = draw_with(
        "svg",
        f'<?xml-stylesheet href="http://127.0.0.1/x.css"?>{OPEN}'
        '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd" parse="text"/></svg>',
    )

    assert b"127.0.0.1" not in rendered.data
    assert b"passwd" not in rendered.data
    assert "blocked_fetch" in codes_of(rendered)


USES = "".join(f'<g id="a{n}">{f"<use href='#a{n + 1}'/>" * 10}</g>' for n in range(9))
PATTERNS = "".join(
    f'<pattern id="p{n}" width="9" height="9">{f"<rect fill='url(#p{n + 1})'/>" * 10}</pattern>' for n in range(9)
)


@pytest.mark.parametrize(
    "source",
    [
        f"{OPEN}<defs>{USES}<rect id='a9'/></defs><use href='#a0'/></svg>",
        f"{OPEN}{PATTERNS}<rect id='p9' fill='url(#p0)'/></svg>",
        OPEN + "<g>" * 1_000_000 + "</g>" * 1_000_000 + "</svg>",
        OPEN + "<g/>" * 300_000 + "</svg>",
        OPEN.replace('viewBox="0 0 64 64"', 'width="1e9" height="1e9"') + "</svg>",
    ],
)
def test_what_would_cost_too_much_is_refused(source: str) -> None:
    """S4"""
    with pytest.raises(TooLarge):
        draw_with("svg", source, "png")


@pytest.mark.parametrize("box", ["0 0 NaN 1", "0 0 inf 1", "0 0 1e309 1", "0 0 0 0", "0 0 -1 1", "a b c d", "1 2"])
def test_a_box_without_a_size_is_refused(box: str) -> None:
    """S4"""
    with pytest.raises(SourceInvalid, match="viewBox"):
        clean_svg(OPEN.replace("0 0 64 64", box) + "</svg>")


def test_what_contains_itself_costs_nothing() -> None:
    """S4: a browser draws it once; resvg does not, and says so."""
    body = '<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g><rect width="9" height="9"/>'

    assert draw(body).data
    with pytest.raises(TooLarge):
        draw(body, "png")


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        (f"{OPEN}\n  <g></svg>", 2, 8),
        ("<svg>\n</svg>", 1, 1),
        (f"{OPEN}\n<rect a='1' a='2'/></svg>", 2, 13),
        ("nope", 1, 1),
        (f"{OPEN}\n<text>é &nbsp;</text></svg>", 2, 9),
    ],
)
def test_a_mistake_is_told_with_its_place(source: str, line: int, column: int) -> None:
    error = refused("svg", source)

    assert (error.line, error.column) == (line, column)
    assert error.excerpt == source.split("\n")[line - 1]


def test_css_escapes_cannot_hide_anything() -> None:
    blocked: list[str] = []

    css = clean_css("a{fill:\\000075\\72 l(http://x)}b{c:'\\22 '}", lambda _, target: blocked.append(target))

    assert "http" not in css
    assert blocked == ["http://x"]
