# ruff: noqa: E501 - a table keeps its rows
"""Nothing that runs gets into an output that is shown to people. Criteria X1-X6, X8, X9."""

import base64
import json
import re
from contextlib import suppress

import pytest

from pressroom.errors import SourceInvalid
from pressroom.renderers.sandbox.engine_pools import EnginePools
from tests.security.markup import offences_in_html, offences_in_svg
from tests.security.render_box import Box, engine

pytestmark = pytest.mark.sampled(8)

MARKDOWN = {
    "X1-script": "<script>alert(1)</script>\n\n<SCRIPT SRC=//x></SCRIPT>\n\na <script>alert(1)</script> b",
    "X1-split": "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "X1-onerror": "<img src=x onerror=alert(1)>\n\n<img/src=x/onerror=alert(1)>\n\n<img src='x'onerror=alert(1)>",
    "X1-svg": "<svg/onload=alert(1)>\n\n<svg><script>alert(1)</script></svg>\n\n<svg><a xlink:href='javascript:1'>x</a></svg>",
    "X1-math": '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
    "X1-mutation": '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">\n\n<noscript><p title="</noscript><img src=x '
    'onerror=alert(1)>">\n\n<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
    "X1-href": "<a href='javascript:alert(1)'>x</a> <a href='java\nscript:alert(1)'>x</a> <a href=' javascript:1'>x</a> "
    "<a href='&#106;avascript:1'>x</a> <a href='JaVaScRiPt:1'>x</a> <a href='vbscript:1'>x</a> "
    "<a href='Data:text/html,<script>1</script>'>x</a> <a href='\x01javascript:1'>x</a>",
    "X1-data": "<img src='data:text/html,<script>1</script>'> <a href='data:image/svg+xml,<svg onload=1>'>x</a> "
    "![x](data:text/html;base64,PHNjcmlwdD4=) [x](data:text/html,1) [y](DATA:image/svg+xml,x)",
    "X1-forms": "<form action=javascript:1><input type=submit formaction=javascript:1><button>x</button></form>"
    "<input type=text autofocus onfocus=1> <select><option>x</select><textarea>",
    "X1-frames": "<iframe srcdoc='<script>1</script>'></iframe><object data=javascript:1><embed src=x><base href=//x>"
    "<meta http-equiv=refresh content=0;//x><link rel=stylesheet href=//x><template><script>1</script></template>",
    "X1-links": "[x](javascript:alert(1)) [x](JAVASCRIPT:1) [x](java&Tab;script:1) [x](<java\tscript:1>) [x](vbscript:1) "
    "[x](javascript&colon;1) [x](&#x6A;avascript:1) ![x](javascript:1)",
    "X2-autolink": "<javascript:alert(1)> <JAVASCRIPT:alert(1)> <vbscript:x> <data:text/html,x>",
    "X2-reference": "[x] [y][z] ![w]\n\n[x]: javascript:1\n[z]: <java script:1>\n[w]: data:text/html,x\n",
    "X3-heading": '# "><img src=x onerror=alert(1)>\n# x\' onmouseover=\'1\n# `"><script>`\n# <b id="x" onclick=1>y</b>\n\n[TOC]',
    "X3-alt": '!["><script>alert(1)</script>](x) ![x" onerror="1](x "t\\" onload=1")',
    "X3-fence": '```"><script>alert(1)</script>\nx\n```\n\n```python" onclick="1\n</code></pre><script>1</script>\n```\n\n'
    "~~~ x onclick=1\ny\n~~~",
    "X3-table": '| a |\n|:--" onclick=1-:|\n| <script>1</script> |\n\n| a | b |\n|:-:|--:|\n| "><svg onload=1> | x |',
    "X3-footnote": 'x[^"><img onerror=1>] y[^a" onclick="1]\n\n[^"><img onerror=1>]: z\n[^a" onclick="1]: <script>1</script>',
    "X3-wiki": '[[javascript:alert(1)]] [[x" onclick="1|y]] [[javascript:1|<script>1</script>]]',
    "X3-math": '$<script>1</script>$ $$"><img onerror=1>$$ $`</code><script>1</script>`$',
    "X3-alert": '> [!NOTE] <script>1</script>\n> x\n\n> [!"><img onerror=1>]\n> y',
    "X3-language": "```<img/src/onerror=1>\n<\n```\n\n```html\n<script>alert(1)</script>\n```",
    "X3-mark": "<!--pressroom diagram 0-->\n\n```dot\ndigraph { a }\n```\n\n<!--pressroom diagram 1-->",
    "X3-list": '- [x" onclick=1] a\n- [ ] <input type=checkbox onclick=1>\n\nterm <script>\n\n: definition <img onerror=1>',
    "X6-css": "<p style='width: expression(alert(1)); behavior: url(x); -moz-binding: url(x)'>x</p>"
    "<style>@import '//x'; body { background: url(javascript:1) }</style>",
    "X9-polyglot": "<svg xmlns='http://www.w3.org/2000/svg'><!--\"><script>alert(1)</script>-->/*<![CDATA[*/<script>1</script>/*]]>*/",
}


@pytest.mark.parametrize("flavour", ["full", "gfm", "commonmark", "page"])
@pytest.mark.parametrize("attack", MARKDOWN)
def test_markdown_lets_no_script_through(box: Box, attack: str, flavour: str) -> None:
    options = {"page": True, "toc": True} if flavour == "page" else {"flavour": flavour}

    answer = box.make("markdown", MARKDOWN[attack], "html", **options, **({} if flavour != "page" else {"diagrams": True}))

    assert answer.error is None
    assert offences_in_html(answer.text, page=flavour == "page") == []
    box.assert_well(engine("markdown"))


@pytest.mark.parametrize(
    "text",
    ["</title><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style><script>1</script>", "{page}</div>"],
)
def test_x8_titles_headers_and_footers_are_text(box: Box, text: str) -> None:
    matter = json.dumps(text)

    given = box.make("markdown", "# x", "html", page=True, title=text, lang='en" onload="1')
    written = box.make("markdown", f"---\ntitle: {matter}\nlang: {matter}\n---\nx", "html", page=True)
    printed = box.make("markdown", f"# {text}", "pdf", header=text, footer=text + "{title}")
    drawn = box.draw(engine("svg"), engine("svg").sample, title=text, description=text)

    assert offences_in_html(given.text, page=True) == []
    assert offences_in_html(written.text, page=True) == []
    assert printed.data.startswith(b"%PDF")
    assert not re.search(rb"/(JavaScript|JS|Launch|OpenAction|EmbeddedFile)\b", printed.data)
    assert offences_in_svg(drawn.data) == []


def test_a_diagram_in_a_page_is_a_picture_and_a_broken_one_is_text(box: Box) -> None:
    fence = '```dot\ndigraph { a [label="</svg><script>alert(1)</script>" URL="javascript:1"] }\n```\n\n'
    broken = "```dot\ndigraph { </pre><script>alert(1)</script>\n```\n"

    answer = box.make("markdown", fence + broken, "html", diagrams=True)

    assert offences_in_html(answer.text) == []
    assert "diagram_failed" in answer.codes
    (carried,) = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", answer.text)
    assert offences_in_svg(base64.b64decode(carried)) == []


SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"'
XHTML = 'xmlns="http://www.w3.org/1999/xhtml"'

DRAWN: dict[str, list[str]] = {
    "svg": [
        f"{SVG} onload='alert(1)'><script>alert(1)</script><script href='//x'/></svg>",
        f"{SVG}><foreignObject><body {XHTML} onload='1'><script>1</script><iframe src='javascript:1'/></body></foreignObject></svg>",
        f"{SVG}><use href='data:image/svg+xml,x#a'/><use xlink:href='http://x/#a'/><image href='javascript:1'/></svg>",
        f"{SVG}><a href='#x'><animate attributeName='href' to='javascript:1'/><set attributeName='xlink:href' to='javascript:1'/>"
        "<text>x</text></a><set attributeName='onclick' to='1'/></svg>",
        f"{SVG}><a xlink:href='javascript:1'><text>x</text></a><a href='java&#9;script:1'/><a href=' &#1;javascript:1'/></svg>",
        f"{SVG}><style>@import '//x'; * {{ behavior: url(x); width: expression(1); -moz-binding: url(//x) }}</style></svg>",
        f"{SVG}><style><![CDATA[ </style><script>alert(1)</script> ]]></style></svg>",
        f"{SVG}><title>&lt;/title>&lt;script>1&lt;/script></title><text>]]&gt;<![CDATA[<script>1</script>]]></text></svg>",
        f"{SVG}><rect style='fill: u\\72 l(//x)' fill='url(javascript:1)' onclick='1' ONCLICK='1'/></svg>",
        f"{SVG}><handler type='application/ecmascript'>1</handler><listener event='x' handler='#a'/></svg>",
        f"<!--><script>alert(1)</script>-->{SVG}><desc><![CDATA[</svg><script>1</script>]]></desc></svg>",
        f"{SVG}><foreignObject><style {XHTML}>&lt;/style>&lt;img src=x onerror=1></style><p {XHTML}>x</p></foreignObject></svg>",
        f"{SVG}><foreignObject><math {XHTML}><mtext/></math><img {XHTML} src='x' onerror='1'/></foreignObject></svg>",
    ],
    "mermaid": [
        'flowchart LR\n A --> B\n click A href "javascript:alert(1)"\n click B call alert(1)',
        'flowchart LR\n A --> B\n click A "java\tscript:alert(1)" "tip<script>"\n click B alert',
        '%%{init: {"securityLevel": "loose", "htmlLabels": true}}%%\nflowchart LR\n A["<img src=x onerror=alert(1)>"] --> B',
        "flowchart LR\n A[\"<script>alert(1)</script>\"] -->|<iframe src='javascript:1'>| B",
        '%%{init: {"themeCSS": "</style><script>alert(1)</script>"}}%%\nflowchart LR\n A',
        '%%{init: {"fontFamily": "x;}</style><img src=x onerror=1>{"}}%%\nflowchart LR\n A',
        '%%{init: {"themeVariables": {"primaryColor": "red;}</style><script>1</script>"}}}%%\nflowchart LR\n A',
        "flowchart LR\n A --> B\n classDef x fill:red;}*{background:url(//x)\n class A x",
        "flowchart LR\n A --> B\n classDef x fill:red,stroke:expression(1)\n class A x\n style B fill:</style><script>1</script>",
        "sequenceDiagram\n A->>B: <script>1</script> $$x\\href{javascript:1}{y}$$\n link A: x @ javascript:alert(1)\n"
        ' links B: {"x": "javascript:1"}',
        'stateDiagram-v2\n a: <img src=x onerror=alert(1)>\n a --> b: "><script>1</script>\n note right of a\n <svg onload=1>\n end note',
        'classDiagram\n class A\n A : +<script>x()\n click A href "javascript:1"\n callback A "alert" "x"',
        "gantt\n title <script>1</script>\n section <img onerror=1>\n t <svg onload=1>: a, 2020-01-01, 1d\n click a href "
        '"javascript:1"',
        'pie title </title><script>1</script>\n "<img onerror=1>": 3',
        'architecture-beta\n service a(<img src=x onerror=1>)[x]\n',
        "mindmap\n root((<script>1</script>))\n  ::icon(\"><img src=x onerror=1>)",
        '---\ntitle: "</title><script>1</script>"\nconfig:\n  securityLevel: loose\n---\nflowchart LR\n A["<a href=\'javascript:1\'>x</a>"]',
        'flowchart LR\n accTitle: </title><script>1</script>\n accDescr: <img onerror=1>\n A',
        'block-beta\n a["<img src=x onerror=1>"]',
        'erDiagram\n A ||--o{ B : "<script>1</script>"',
        'journey\n title <script>1</script>\n section x\n  <img onerror=1>: 5: Me',
        'quadrantChart\n title <script>1</script>\n x-axis <img onerror=1> --> b',
        'timeline\n title <script>1</script>\n 2020 : <img src=x onerror=1>',
    ],
    "graphviz": [
        'digraph { a [URL="javascript:alert(1)", tooltip="\\"><script>1</script>", target="x\\" onclick=\\"1"] }',
        'digraph { a [label=<<TABLE HREF="javascript:1" TITLE="x"><TR><TD HREF="vbscript:1">x</TD></TR></TABLE>>] }',
        'digraph { a [class="x\\" onload=\\"1", id="y\\"><script>1</script>", label="</svg><script>1</script>"] }',
        'digraph { stylesheet="javascript:1"; a [fillcolor="url(//x)", style=filled, fontname="x\\"><script>"] }',
        'digraph "</title><script>1</script>" { "</title><script>" -> b [labelURL="javascript:1" label=x] }',
    ],
    "d2": [
        "x: {link: 'javascript:alert(1)'; tooltip: '<script>1</script>'}",
        "x: |md <script>alert(1)</script> <img src=x onerror=1> [a](javascript:1) |",
        "x: |md <iframe src=\"javascript:1\"></iframe><a href=\"javascript:1\">x</a> |",
        "x: '</text><script>1</script>'\ny: {class: 'z\" onload=\"1'}\nx -> y: <img onerror=1>",
        "x.style.fill: 'url(//x)'\ny.style.font-color: '</style><script>'",
        "x: |latex \\\\href{javascript:1}{x} |",
        "x: {style.animated: true; link: 'java\tscript:1'}\nx -> y: {style.animated: true}",
    ],
    "vega": [
        json.dumps({"width": 9, "height": 9, "title": "</title><script>1</script>", "marks": [
            {"type": "text", "encode": {"enter": {"text": {"value": "<script>1</script>"},
             "tooltip": {"value": "<img onerror=1>"}, "font": {"value": "x\" onload=\"1"}, "fill": {"value": "url(//x)"}}}}]}),
        json.dumps({"width": 9, "height": 9, "marks": [{"type": "rect", "encode": {"enter": {"href": {"signal":
            "'http:' + '//x/\"><script>1</script>'"}, "cursor": {"value": "url(//x)"}, "fill": {"value": "x\"/><script>1</script>"}}}}]}),
        json.dumps({"width": 9, "height": 9, "marks": [{"type": "path", "description": "\"><script>1</script>", "encode": {"enter":
            {"path": {"value": "M0,0\"/><script>1</script>"}, "stroke": {"value": "red\" onload=\"1"}}}}]}),
    ],
    "vega-lite": [
        json.dumps({"title": "</title><script>1</script>", "description": "\"><script>1</script>", "data": {"values": [{
            "n": 1, "h": "http://x/\"><script>1</script>", "t": "<script>1</script>"}]}, "mark": {"type": "text", "font": "x\" onload=\"1"},
            "encoding": {"text": {"field": "t"}, "href": {"field": "h"}, "x": {"field": "n"}}}),
        json.dumps({"data": {"values": [{"n": 1}]}, "mark": "bar", "encoding": {"x": {"field": "n", "title": "<img onerror=1>"}},
            "config": {"style": {"x": {"fill": "url(//x)"}}, "background": "\"><script>1</script>"}}),
    ],
    "plantuml": [
        "@startuml\nA -> B : [[javascript:alert(1) x]] <script>alert(1)</script>\nurl of A is [[javascript:1]]\n@enduml",
        "@startuml\nsprite s <svg onload=\"alert(1)\"><script>1</script></svg>\nA -> B : <$s>\n@enduml",
        "@startuml\ntitle </title><script>1</script>\nskinparam defaultFontName x\" onload=\"1\nA -> B : <font:x\" onclick=\"1>y\n@enduml",
        "@startuml\nA -> B : <color:red\" onload=\"1>x</color> <back:url(//x)>y</back>\n@enduml",
        "@startmindmap\n* <script>1</script>\n** [[javascript:1]]\n@endmindmap",
    ],
    "nomnoml": ['#font: x" onload="alert(1)\n[<b> a <script>alert(1)</script>]', "#title: </title><script>1</script>\n[a]",
                '#fill: red"/><script>1</script>; url(//x)\n[a]-[b]'],
    "dbml": ["Table a [url: 'javascript:alert(1)'] {\n id int [note: '<script>alert(1)</script>']\n}",
             "Table \"</title><script>1</script>\" {\n \"<img onerror=1>\" int\n}"],
    "wavedrom": [
        "{signal: [{name: ['script', {}, 'alert(1)'], wave: '01'}]}",
        "{signal: [{name: 'a', wave: '01'}], head: {text: ['foreignObject', {}, ['script', 'alert(1)']]}}",
        "{signal: [{name: ['a', {'xlink:href': 'javascript:alert(1)', onclick: 'alert(1)'}, 'x'], wave: '01'}]}",
        "{signal: [{name: ['animate', {attributeName: 'href', to: 'javascript:alert(1)'}], wave: '01'}]}",
        "{signal: [{name: '</text><script>1</script>', wave: '=', data: ['<img onerror=1>']}], foot: {text: '<script>'}}",
    ],
    "bytefield": ['(def svg-attrs {:onload "alert(1)"})\n(draw-box [:script {} "alert(1)"])',
                  '(draw-box "<script>alert(1)</script>")\n(wrap-link "javascript:alert(1)" (draw-box 1))'],
    "pikchr": ['box "</text><script>alert(1)</script>"', 'box "x" fill "url(//x)"', 'print "<script>1</script>"; box'],
    "svgbob": ["<script>alert(1)</script>", "{a}\n\n# Legend:\na = {\n fill: red}</style><script>1</script>;\n}", '"</text><script>"'],
}  # fmt: skip
DRAWN["mermaid-browser"] = DRAWN["mermaid"]


@pytest.mark.parametrize(("name", "number"), [(name, number) for name in DRAWN for number in range(len(DRAWN[name]))])
def test_x4_x5_no_diagram_carries_a_script(box: Box, name: str, number: int) -> None:
    kind = engine(name)

    answer = box.draw(kind, DRAWN[name][number], "svg")

    if answer.error is None:
        assert offences_in_svg(answer.data) == []
    else:
        assert answer.error.code in ("source_invalid", "too_large"), str(answer.error)
    box.assert_well(kind)


@pytest.mark.parametrize("name", ["vega", "vega-lite"])
async def test_x1_a_chart_whose_link_is_a_script_does_not_spoil_the_next(name: str) -> None:
    link = {"type": "rect", "encode": {"enter": {"href": {"value": "javascript:1"}}}}
    lite = {"data": {"values": [{"h": "javascript:1"}]}, "mark": "bar", "encoding": {"href": {"field": "h"}}}
    source = json.dumps(lite if name == "vega-lite" else {"width": 9, "height": 9, "marks": [link]})
    presses, kind = EnginePools(1), engine(name)
    try:
        with suppress(SourceInvalid):
            await presses.render(kind, source.encode(), "svg")
        assert (await presses.render(kind, kind.sample.encode(), "svg")).data
    finally:
        await presses.close()


@pytest.mark.parametrize("name", ["html", "html-browser"])
@pytest.mark.parametrize("attack", ["X1-href", "X1-script", "X1-svg", "X1-frames"])
def test_no_pdf_carries_a_script(box: Box, name: str, attack: str) -> None:
    answer = box.draw(engine(name), f"<!DOCTYPE html><title>T</title>{MARKDOWN[attack]}", "pdf")

    assert answer.data.startswith(b"%PDF")
    assert not re.search(rb"/(JavaScript|JS|Launch|OpenAction|EmbeddedFile)\b|javascript:|vbscript:", answer.data)
