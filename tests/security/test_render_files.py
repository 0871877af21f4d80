# ruff: noqa: E501 - a table keeps its rows
"""No source gets at a file, though the wall around the files is down: the engines refuse by themselves. F1-F6, D1-D7."""

import json
from typing import Any

import pytest

from tests.security.render_box import SLOW, Box, Canary, assert_untouched, engine

pytestmark = pytest.mark.sampled(8)

# How HTML travels: language, output, engine, options.
ROADS: dict[str, tuple[str, str, str | None, dict[str, Any]]] = {
    "markdown": ("markdown", "html", None, {}),
    "markdown-pdf": ("markdown", "pdf", None, {}),
    "markdown-raw-pdf": ("markdown", "pdf", None, {"sanitise": False}),
    "html": ("html", "pdf", None, {}),
    "html-png": ("html", "png", None, {}),
    "html-browser": ("html", "pdf", "html-browser", {}),
}

HTML = {
    "F1-iframe": "<iframe src='file://SVG' width=64 height=64></iframe>",
    "F1-img": "<img src='file://PNG' width=64 height=64><img src='file://SVG'>",
    "F1-link": "<link rel=stylesheet href='file://CSS'>",
    "F1-object": "<object data='file://SVG' type='image/svg+xml'>x</object><object data='file://PNG'></object>",
    "F1-embed": "<embed src='file://SVG'><embed src='file://PNG' type=image/png>",
    "F1-script": "<script src='file://TXT'></script>",
    "F1-css-url": "<style>body { background: url(file://PNG); list-style-image: url('file://SVG') }</style><ul><li>x</ul>",
    "F1-css-inline": "<div style='background: url(file://PNG); width: 64px; height: 64px'>x</div>",
    "F1-css-content": "<style>p::before { content: url(file://PNG) } p::after { content: url(file://SVG) }</style><p>x",
    "F1-import": "<style>@import 'file://CSS'; @import url(file://CSS);</style>",
    "F1-font-face": "<style>@font-face { font-family: x; src: url(file://TXT) } body { font-family: x }</style>",
    "F1-svg": "<svg width=64 height=64><image href='file://PNG' width=64 height=64 /><use href='file://SVG#a' /></svg>",
    "F1-nested-svg": '<img src=\'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/'
    'xlink" width="64" height="64"%3E%3Cimage x:href="file://PNG" href="file://PNG" width="64" height="64"/%3E%3C/svg%3E\'>',
    "F1-media": "<video src='file://TXT' poster='file://PNG'></video><input type=image src='file://PNG'>"
    "<picture><source srcset='file://PNG'><img src='file://PNG'></picture><body background='file://PNG'>",
    "F1-base": "<base href='file:///'><img src='PNG'><img src='.PNG'><base href='file://PNG'><img src=secret.png>",
    "F2-upper": "<img src='FILE://PNG'><iframe src='FILE://SVG'></iframe>",
    "F2-mixed": "<img src='fIlE://PNG'>",
    "F2-localhost": "<img src='file://localhostPNG'><img src='file://127.0.0.1PNG'>",
    "F2-backslashes": "<img src='file:\\\\PNG'><img src='file:\\PNG'>",
    "F2-view-source": "<iframe src='view-source:file://TXT'></iframe><img src='view-source:file://PNG'>",
    "F2-escaped": "<img src='%66ile://PNG'><img src='&#102;ile://PNG'><img src='fi\tle://PNG'><img src=' file://PNG'>",
    "F2-bare": "<img src='PNG'><img src='//PNG'><img src='../../../../../../PNG'><link rel=stylesheet href='CSS'>",
    "F3-proc": "<img src='file:///proc/self/environ'><iframe src='file:///proc/self/environ'></iframe>"
    "<link rel=stylesheet href='file:///proc/self/environ'>",
    "F3-devices": "<img src='file:///dev/zero'><link rel=stylesheet href='file:///dev/zero'><img src='file:///dev/stdin'>",
    "F3-fifo": "<img src='file://FIFO'><link rel=stylesheet href='file://FIFO'><iframe src='file://FIFO'></iframe>",
    "F5-attachment": "<link rel=attachment href='file://TXT'><a rel=attachment href='file://TXT'>x</a>",
}
TOLD = {"F1-img", "F1-link", "F1-css-url", "F1-import", "F3-fifo"}


def page_of(markup: str) -> str:
    return f"<!DOCTYPE html><html lang=en><head><title>T</title></head><body>before {markup} after</body></html>"


@pytest.mark.parametrize("attack", HTML)
@pytest.mark.parametrize("road", ROADS)
def test_html_brings_no_file_with_it(box: Box, canary: Canary, road: str, attack: str) -> None:
    language, output, by, options = ROADS[road]
    printer = engine(by or "html")
    source = canary.fill(HTML[attack] if language == "markdown" else page_of(HTML[attack]))

    answer = box.make(language, source, output, by, **options)

    assert_untouched(canary, answer)
    assert by or answer.error is None
    if language == "html" and attack in TOLD and answer.error is None:
        assert "blocked_fetch" in answer.codes
    box.assert_well(printer)


@pytest.mark.parametrize(
    "source",
    [
        "![x](file://PNG)",
        "![x](FILE://PNG)",
        "![x](PNG)",
        "![x](../../../../../../../..PNG)",
        "![x][y]\n\n[y]: <file://PNG>",
        "--8<-- 'TXT'",
        '--8<-- "TXT"\n\n{!TXT!}\n\n{% include "TXT" %}\n\n!!!include(TXT)!!!\n\n@[TXT]\n\n:[x](TXT)\n\n![[TXT]]\n\n[[TXT]]',
        "```{include} TXT\n```\n\n```{literalinclude} TXT\n```\n\n.. include:: TXT",
        "---\ntitle: !!python/object/apply:open ['TXT']\n---\n# x",
        "---\ntitle: !include TXT\ncss: file://CSS\nbibliography: TXT\n---\n# x",
        '```plantuml\n!include TXT\nA -> B\n```\n\n```d2\nx: @TXT\n```\n\n```dot\ndigraph { a [image="PNG"] }\n```',
    ],
)
@pytest.mark.parametrize("output", ["html", "pdf"])
def test_f6_markdown_includes_nothing(box: Box, canary: Canary, source: str, output: str) -> None:
    engine("plantuml")

    answer = box.make("markdown", canary.fill(source), output)

    assert_untouched(canary, answer)
    if source.lower().startswith("![x](file:") and output == "html":
        assert "blocked_fetch" in answer.codes
    box.assert_well(engine("markdown"))


@pytest.mark.parametrize("printer", ["html", "html-browser"])
def test_f4_nothing_of_another_press_is_seen(box: Box, canary: Canary, printer: str) -> None:
    other = engine("svg")
    box.assert_well(other)
    private = box.presses.pools()["svg"].processes[0].folder / "private"
    for name in ("secret.png", "secret.svg", "secret.css"):
        (private / name).write_bytes((canary.folder / name).read_bytes())

    markup = f"<img src='file://{private}/secret.png'><link rel=stylesheet href='file://{private}/secret.css'>"
    answer = box.draw(engine(printer), page_of(markup + f"<iframe src='file://{private}/secret.svg'></iframe>"), "png")

    assert_untouched(canary, answer)


XLINK = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="90" height="90"'


def vega(marks: list[Any], **more: Any) -> str:
    return json.dumps({"width": 90, "height": 90, "marks": marks, **more})


def vega_image(url: Any) -> dict[str, Any]:
    places = {"x": {"value": 0}, "y": {"value": 0}, "width": {"value": 64}, "height": {"value": 64}}
    return {"type": "image", "encode": {"enter": {"url": url, **places}}}


def lite(**spec: Any) -> str:
    return json.dumps({"data": {"values": [{"n": 1}]}, "mark": "bar", "encoding": {"x": {"field": "n"}}, **spec})


IMAGE_MARK = {"type": "image", "width": 64, "height": 64}

DRAWN: dict[str, list[str]] = {
    "svg": [
        f"<svg {XLINK}><image href='file://PNG' xlink:href='file://PNG' width='64' height='64'/></svg>",
        f"<svg {XLINK}><image href='PNG' width='64' height='64'/><image xlink:href='PNG' width='64' height='64'/></svg>",
        f"<svg {XLINK}><image href='FILE://localhostPNG' width='64' height='64'/><use href='file://SVG#a'/></svg>",
        f"<svg {XLINK}><style>@import 'file://CSS'; rect {{ fill: url(file://SVG#a) }}</style><rect width='64' height='64'/></svg>",
        f"<svg {XLINK}><filter id='f'><feImage href='file://PNG'/></filter><rect width='64' height='64' filter='url(#f)'/></svg>",
        f"<svg {XLINK}><rect width='64' height='64' style='fill: u\\72l(file://SVG#a); mask: url(PNG)'/></svg>",
        f"<svg {XLINK}><style>@font-face {{ font-family: x; src: url(file://TXT) }}</style><text font-family='x'>x</text></svg>",
        f"<?xml-stylesheet href='file://CSS'?><svg {XLINK}><rect width='64' height='64'/></svg>",
        f"<svg {XLINK}><foreignObject width='64' height='64'><img xmlns='http://www.w3.org/1999/xhtml' src='file://PNG'/>"
        "</foreignObject></svg>",
        f"<svg {XLINK}><image href='file://FIFO' width='64' height='64'/><image href='/dev/zero' width='64' height='64'/></svg>",
        f'<svg {XLINK}><image href=\'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg"%3E%3Cimage href="file://PNG"'
        " width=\"64\" height=\"64\"/%3E%3C/svg%3E' width='64' height='64'/></svg>",
    ],
    "graphviz": [
        'digraph { a [image="PNG", shape=none, label=""] }',
        'digraph { a [image="file://PNG"]; b [image="SVG"] }',
        'digraph { graph [imagepath="/:/tmp"]; a [image="PNG"] }',
        'digraph { a [shapefile="PNG", shape=custom]; b [shape=epsf, shapefile="TXT"] }',
        'digraph { graph [fontpath="/etc", fontname="TXT", stylesheet="file://CSS"]; a [fontname="TXT"] }',
        'digraph { a [label=<<TABLE><TR><TD><IMG SRC="PNG"/></TD></TR></TABLE>>] }',
        'digraph { a [label=<<TABLE BACKGROUND="PNG" HREF="file://TXT"><TR><TD>x</TD></TR></TABLE>>] }',
        'digraph { graph [postscript="TXT", layout="TXT", _background="I 0 0 64 64 3 -PNG"]; a }',
        'digraph { a [image="FIFO"]; b [image="/dev/zero"] }',
        '#include "TXT"\ndigraph { a }',
    ],
    "d2": [
        "x: {icon: PNG}",
        "x: {icon: file://PNG; shape: image}",
        "x: {shape: image; icon: ./../../../../../..PNG}",
        "x.icon: PNG",
        'x: {"icon": PNG}',
        "x: {'icon': PNG; shape: image}",
        "x: {i\\con: PNG}",
        'x."icon": "PNG"',
        "vars: {p: PNG}\nx: {icon: ${p}}",
        "vars: {\n  p: PNG\n}\nx: {\n  icon: ${p}\n  shape: image\n}",
        "classes: {c: {icon: PNG}}\nx.class: c",
        "*.icon: PNG\nx",
        "x\n(x -> y)[0].icon: PNG",
        "x: @TXT",
        "...@TXT",
        'x: @"TXT"',
        "x: {...@TXT}",
        "vars: {...@JSON}\nx: ${secret}",
        "x: |md ![a](file://PNG) <img src='PNG'/> |",
        "x: |`md <img src='file://PNG'/> `|",
        "x: {icon: FIFO}",
        "x: {icon: /dev/zero}",
        "vars: {d2-config: {layout-engine: elk; theme-id: 0}}\nx: {icon: PNG}",
        "x: {link: layers.y}\nlayers: {y: @TXT}",
    ],
    "mermaid": [
        'flowchart LR\n A@{ img: "file://PNG", label: "x", w: 64, h: 64 } --> B',
        'flowchart LR\n A@{ img: "PNG", w: 64, h: 64 }',
        "flowchart LR\n A[\"<img src='file://PNG' width='64' height='64'/>\"] --> B",
        "flowchart LR\n A --> B\n style A fill:url(file://PNG)\n classDef x fill:url(file://SVG#a)\n class B x",
        '%%{init: {"themeCSS": "@import url(file://CSS); rect { fill: url(file://SVG#a) }"}}%%\nflowchart LR\n A --> B',
        'flowchart LR\n A --> B\n click A href "file://TXT"',
        "---\nconfig:\n  themeCSS: '@import url(file://CSS)'\n  fontFamily: 'x; src: url(file://TXT)'\n---\nflowchart LR\n A",
        "sequenceDiagram\n participant A as <img src='file://PNG'/>\n A->>A: <iframe src='file://SVG'>",
        "architecture-beta\n service a(file://PNG)[x]",
    ],
    "vega": [
        vega([], data=[{"name": "t", "url": "file://JSON"}]),
        vega([], data=[{"name": "t", "url": "JSON", "format": {"type": "json"}}]),
        vega([vega_image({"value": "file://PNG"})]),
        vega([vega_image({"value": "PNG"})]),
        vega([vega_image({"signal": "'file:' + '//PNG'"})]),
        vega([vega_image({"signal": "u"})], signals=[{"name": "u", "value": "file://PNG"}]),
        vega([{"type": "group", "marks": [{"type": "group", "data": [{"name": "t", "url": "file://JSON"}], "marks": []}]}]),
        vega([{**vega_image({"field": "u"}), "from": {"data": "t"}}], data=[{"name": "t", "values": [{"u": "file://PNG"}]}]),
        vega([], data=[{"name": "t", "url": {"signal": "'file://JSON'"}}]),
        vega([], data=[{"name": "t", "values": [1], "transform": [{"type": "formula", "as": "x", "expr": "open('TXT')"}]}]),
    ],
    "vega-lite": [
        lite(data={"url": "file://JSON"}),
        lite(data={"url": "JSON"}),
        lite(data={"url": "FILE://localhostJSON"}),
        lite(data={"url": "file://FIFO"}),
        lite(layer=[{"data": {"url": "file://JSON"}, "mark": "bar"}]),
        lite(transform=[{"lookup": "n", "from": {"data": {"url": "file://JSON"}, "key": "n", "fields": ["secret"]}}]),
        lite(mark=IMAGE_MARK, encoding={"url": {"value": "file://PNG"}, "x": {"field": "n"}}),
        lite(mark=IMAGE_MARK, data={"values": [{"u": "file://PNG"}]}, encoding={"url": {"field": "u"}}),
        lite(mark={**IMAGE_MARK, "url": "file://PNG"}),
        lite(datasets={"t": {"url": "file://JSON"}}, data={"name": "t"}),
    ],
    "plantuml": [
        "@startuml\n!include TXT\nA -> B\n@enduml",
        "@startuml\n!includesub TXT!x\n!include_many TXT\nA -> B\n@enduml",
        "@startuml\n!import TXT\nA -> B\n@enduml",
        '@startuml\n!$x = %load_json("JSON")\nA -> B : $x\n@enduml',
        '@startuml\nA -> B : %getenv("HOME") %file_exists("TXT")\n@enduml',
        "@startuml\nA -> B : <img:PNG> <img:file://PNG>\n@enduml",
        "@startuml\nskinparam backgroundImage PNG\nsprite s PNG\nsprite t <svg><image href='PNG'/></svg>\nA -> B : <$s> <$t>\n@enduml",
        "@startuml\n!theme x from TXT\nA -> B\n@enduml",
        "@startditaa\n{io TXT}\n@endditaa",
        "@startjson\n!include JSON\n@endjson",
    ],
    "nomnoml": [
        "#import: TXT\n[a]",
        "#font: url(file://PNG)\n[a|<img src='file://PNG'>]",
        "[<x> a]\n#.x: fill=url(file://SVG#a)",
    ],
    "dbml": [
        "Table a [note: 'x\"; image=\"PNG'] {\n id int\n}",
        "Table a [headercolor: 'x\" BACKGROUND=\"PNG'] {\n id int\n}",
        "Table a {\n id int [note: '''<IMG SRC=\"PNG\"/>''']\n}",
        "use * from 'TXT'\nTable a {\n id int\n}",
    ],
    "wavedrom": [
        "{signal: [{name: ['image', {href: 'file://PNG', width: 64, height: 64}], wave: '01'}]}",
        "{signal: [{name: ['use', {'xlink:href': 'file://SVG#a'}], wave: '01'}]}",
        "{signal: [{name: 'a', wave: '01'}], config: {skin: 'TXT'}}",
    ],
    "bytefield": [
        '(append-svg [:image {:href "file://PNG" :width 64 :height 64}])(draw-box 1)',
        '(slurp "TXT")',
        '(draw-box (js/require "TXT"))',
        '(load-file "TXT")',
        "(require '[cljs.nodejs :as node])",
    ],
    "pikchr": ["box \"<image href='file://PNG'/>\"", 'box "x" fill url(file://PNG)', 'include "TXT"', "print file(TXT)"],
    "svgbob": ["{a}\n\n# Legend:\na = {\n fill: url(file://SVG#a);\n}", "<image href='file://PNG' width='64' height='64'/>"],
}
DRAWN["mermaid-browser"] = DRAWN["mermaid"]


@pytest.mark.parametrize(("name", "number"), [(name, number) for name in DRAWN for number in range(len(DRAWN[name]))])
def test_d_f1_f2_f3_no_diagram_brings_a_file_with_it(box: Box, canary: Canary, name: str, number: int) -> None:
    kind, source = engine(name), canary.fill(DRAWN[name][number])
    outputs = ("svg",) if name in SLOW else ("svg", "png")  # an SVG would carry what a picture shows

    for output in outputs:
        assert_untouched(canary, box.draw(kind, source, output))

    box.assert_well(kind)
