"""No source makes an engine knock anywhere. Criteria N1-N5, N7, N8, N10, D1, D6."""

import json

import pytest

from tests.security.render_box import SLOW, Answer, Box, Canary, assert_untouched, engine

pytestmark = pytest.mark.sampled(8)

ADDRESSES = {
    "N1-loopback": ["http://HOST/", "http://localhost:PORT/", "http://[::1]:PORT/", "http://0.0.0.0:PORT/"],
    "N2-numbers": ["http://2130706433:PORT/", "http://0x7f000001:PORT/", "http://0177.0.0.1:PORT/", "http://127.1:PORT/"],
    "N2-odd": ["http://localhost.:PORT/", "http://127.0.0.1.:PORT/", "http://１２７.0.0.1:PORT/"],
    "N3-mapped": ["http://[::ffff:127.0.0.1]:PORT/", "http://[::]:PORT/", "http://[::ffff:169.254.169.254]/"],
    "N4-tunnelled": ["http://[2002:7f00:1::]:PORT/", "http://[64:ff9b::7f00:1]:PORT/", "http://[fec0::1]:PORT/"],
    "N5-redirector": ["https://example.com/?to=http://HOST/", "HTTP://HOST/", "hTtP://HOST/"],
    "N10-schemes": ["ftp://HOST/", "gopher://HOST/", "dict://HOST/", "jar:http://HOST/!/", "blob:http://HOST/x", "ws://HOST/"],
    "N10-disguised": ["http://user@HOST/", "http://example.com#@HOST/", "//HOST/", "\\\\HOST\\x", "http:\\\\HOST/"],
    "N6-names": ["http://canary.invalid/", "http://metadata.google.internal/", "http://169.254.169.254/latest/"],
}

PAGES = {
    "N7-refresh": "<meta http-equiv=refresh content='0;url=http://HOST/'>",
    "N7-location": "<script>location = 'http://HOST/'; window.open('http://HOST/')</script>",
    "N7-form": "<form action='http://HOST/' id=f></form><script>f.submit()</script><body onload='f.submit()'>",
    "N7-srcdoc": "<iframe srcdoc=\"<img src='http://HOST/'><script>fetch('http://HOST/')</script>\"></iframe>",
    "N7-base": "<base href='http://HOST/'><img src=x.png><link rel=stylesheet href=x.css>",
    "N8-sockets": "<script>new WebSocket('ws://HOST/'); new EventSource('http://HOST/');"
    "navigator.sendBeacon('http://HOST/')</script>",
    "N8-hints": "<link rel=dns-prefetch href='//HOST'><link rel=preconnect href='http://HOST'><link rel=preload as=image "
    "href='http://HOST/'><link rel=prefetch href='http://HOST/'><link rel=manifest href='http://HOST/'>"
    "<link rel=icon href='http://HOST/'>",
    "N8-webrtc": "<script>new RTCPeerConnection({iceServers: [{urls: 'stun:HOST'}]}).createDataChannel('x')</script>",
    "N8-worker": "<script>navigator.serviceWorker.register('http://HOST/')</script>",
    "N8-has": "<style>body:has(input[value^=s]) { background: url(http://HOST/s) }</style><input value=secret>",
    "N8-css": "<style>@import url(http://HOST/); p { cursor: url(http://HOST/), auto; content: url(http://HOST/);"
    " background: image-set('http://HOST/' 1x); mask: url(http://HOST/) } @font-face { font-family: x;"
    " src: url(http://HOST/) } p { font-family: x }</style><p>x",
}
PRINTERS = ("html", "html-browser", "markdown")


def everywhere(address: str) -> str:
    """A page that wants one address in every way."""
    return (
        f"<img src='{address}'><link rel=stylesheet href='{address}'><iframe src='{address}'></iframe>"
        f"<div style='background: url({address})'>x</div><svg><image href='{address}' width=9 height=9 /></svg>"
        f"<object data='{address}'></object><video src='{address}' poster='{address}'></video>"
    )


@pytest.mark.parametrize("group", ADDRESSES)
@pytest.mark.parametrize("printer", PRINTERS)
def test_no_address_is_asked_for_a_page(box: Box, canary: Canary, printer: str, group: str) -> None:
    source = canary.fill("<!DOCTYPE html><title>T</title>\n" + "\n".join(map(everywhere, ADDRESSES[group])))

    answer = _printed(box, printer, source)

    assert_untouched(canary, answer)
    box.assert_well(engine(printer))


@pytest.mark.parametrize("attack", PAGES)
@pytest.mark.parametrize("printer", PRINTERS)
def test_n7_n8_no_page_goes_elsewhere(box: Box, canary: Canary, printer: str, attack: str) -> None:
    answer = _printed(box, printer, canary.fill(f"<!DOCTYPE html><title>T</title>\n{PAGES[attack]}"))

    assert_untouched(canary, answer)
    box.assert_well(engine(printer))


def _printed(box: Box, printer: str, source: str) -> Answer:
    engine(printer)
    if printer == "markdown":
        return box.make("markdown", source, "pdf", sanitise=False)
    return box.make("html", source, "pdf", printer)


SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">'

DRAWN = {
    "svg": SVG + "<image href='ADDRESS' xlink:href='ADDRESS' width='9' height='9'/><use href='ADDRESS#a'/>"
    "<style>@import 'ADDRESS'; rect { fill: url(ADDRESS) }</style><rect width='9' height='9' filter='url(ADDRESS#f)'/></svg>",
    "graphviz": 'digraph { stylesheet="ADDRESS"; a [image="ADDRESS", URL="ADDRESS"]; b [label=<<TABLE><TR><TD>'
    '<IMG SRC="ADDRESS"/></TD></TR></TABLE>>] }',
    "d2": 'x: {icon: "ADDRESS"; shape: image}\ny: |md ![a](ADDRESS) |\nz: {link: "ADDRESS"}',
    "mermaid": 'flowchart LR\n A@{ img: "ADDRESS", w: 60, h: 60 } --> B["<img src=\'ADDRESS\'/>"]\n style B fill:url(ADDRESS)',
    "vega": json.dumps({"width": 9, "height": 9, "data": [{"name": "t", "values": [{"u": "ADDRESS"}]}], "marks": [
        {"type": "image", "from": {"data": "t"}, "encode": {"enter": {"url": {"field": "u"}}}}]}),
    "vega-lite": json.dumps({"data": {"values": [{"u": "ADDRESS"}]}, "mark": {"type": "image", "width": 9, "height": 9},
                             "encoding": {"url": {"field": "u"}}}),
    "plantuml": "@startuml\nsprite s <svg><image href='ADDRESS'/></svg>\nA -> B : <img:ADDRESS> <$s> [[ADDRESS x]]\n@enduml",
    "nomnoml": "#font: url(ADDRESS)\n[a|<img src='ADDRESS'>]",
    "dbml": "Table a [note: '<IMG SRC=\"ADDRESS\"/>'] {\n id int [note: 'ADDRESS']\n}",
    "wavedrom": "{signal: [{name: ['image', {href: 'ADDRESS'}], wave: '01'}]}",
    "bytefield": '(append-svg [:image {:href "ADDRESS"}])(draw-box 1)',
    "pikchr": "box \"<image href='ADDRESS'/>\"",
    "svgbob": "{a}\n\n# Legend:\na = {\n fill: url(ADDRESS);\n}",
}  # fmt: skip
DRAWN["mermaid-browser"] = DRAWN["mermaid"]


@pytest.mark.parametrize("group", ["N1-loopback", "N3-mapped", "N10-disguised"])
@pytest.mark.parametrize("name", DRAWN)
def test_d1_d6_no_address_is_asked_for_a_diagram(box: Box, canary: Canary, name: str, group: str) -> None:
    kind = engine(name)

    for address in ADDRESSES[group][: 1 if name in SLOW else 3]:
        source = DRAWN[name].replace("ADDRESS", canary.fill(address).replace("\\", "/"))
        for output in ("svg",) if name in SLOW else ("svg", "png"):
            assert_untouched(canary, box.draw(kind, source, output))

    box.assert_well(kind)


@pytest.mark.parametrize(
    ("name", "source", "words"),
    [
        ("plantuml", "@startuml\n!includeurl http://HOST/\nA -> B\n@enduml", "outside of the source"),
        ("plantuml", '@startuml\n!$x = %load_json("http://HOST/")\nA -> B\n@enduml', "outside of the source"),
        ("vega-lite", '{"data": {"url": "http://HOST/x.json"}, "mark": "bar"}', "nothing is fetched"),
        ("vega", '{"data": [{"name": "t", "url": "http://HOST/x.json"}]}', "nothing is fetched"),
        ("vega", '{"marks": [{"type": "group", "marks": [{"type": "group", "data": [{"name": "t", "url": "http://HOST/"}]}]}]}',
         "nothing is fetched"),
        ("d2", "x: @TXT", "import"),
    ],
)  # fmt: skip
def test_a_refusal_says_that_nothing_is_fetched(box: Box, canary: Canary, name: str, source: str, words: str) -> None:
    answer = box.draw(engine(name), canary.fill(source))

    assert answer.error is not None
    assert answer.error.code == "source_invalid"
    assert words in str(answer.error)
    assert_untouched(canary, answer)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("html", "<!DOCTYPE html><title>T</title><img alt=x src='http://HOST/x.png'>"),
        ("html-browser", "<!DOCTYPE html><title>T</title><img alt=x src='http://HOST/x.png'>"),
        ("svg", SVG + "<image href='http://HOST/x.png' width='9' height='9'/></svg>"),
        ("mermaid", 'flowchart LR\n A@{ img: "http://HOST/x.png", w: 60, h: 60 }'),
        ("d2", "x: {icon: http://HOST/x.png}"),
        ("graphviz", 'digraph { a [image="http://HOST/x.png"] }'),
    ],
)
def test_what_is_left_out_is_told(box: Box, canary: Canary, name: str, source: str) -> None:
    answer = box.draw(engine(name), canary.fill(source))

    assert "blocked_fetch" in answer.codes
    assert_untouched(canary, answer)
