# ruff: noqa: E501 - a table keeps its rows
"""Sources of every language, a few of each, with more in them than a sample has."""

import json

from pressroom.renderers import Engine, catalogue

RICHER: dict[str, list[str]] = {
    "markdown": [
        "---\ntitle: A page\ntags: [a, b]\n---\n# One\n\n[TOC]\n\n## Two *em* `code` ~~no~~\n\n| a | b |\n|:--|--:|\n| 1 | **2** |\n\n"
        "- [x] done\n- [ ] open\n  1. deep\n     > quote\n\nNote[^1] and $x^2$, [[Page|here]], <b>html</b> &amp; https://example.org\n\n"
        "[^1]: The *note*.\n\nterm\n\n: meaning\n\n> [!TIP]\n> Do.\n",
        "```python\ndef f(x: int) -> str:\n    return f'{x!r}'  # why\n```\n\n```json\n{\"a\": [1, 2e9, null]}\n```\n\n~~~\nplain\n~~~\n\n"
        "![alt](data:image/png;base64,iVBORw0KGgo=) [a][b] <https://example.org>\n\n[b]: /url 'title'\n\nSetext\n======\n\n***\n",
    ],
    "html": [
        "<!DOCTYPE html><html lang=en><head><title>Report</title><style>@page { size: A5; margin: 1cm } h1 { color: #036; "
        "page-break-before: always } table { border-collapse: collapse } td { border: 1px solid; padding: .2em }</style></head>"
        "<body><h1 id=a>One</h1><p style='columns: 2'>Text <b>bold</b> <a href='#a'>up</a> &eacute;</p><table><tr><td rowspan=2>1"
        "<td>2<tr><td>3</table><ul><li>x<ol><li>y</ol></ul><svg width=40 height=20><rect width=40 height=20 fill=red /></svg>"
        "<img alt=dot width=9 src='data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA='></body></html>",
    ],
    "jinja": [
        "{% set items = [{'n': 1, 'p': '2.50'}, {'n': 2, 'p': '10'}] %}{% macro row(i) %}<td>{{ i.n|number }}</td><td>{{ i.p|money('EUR') }}</td>"
        "{% endmacro %}<h1>{{ '2027-01-02'|date('long') }}</h1><table>{% for i in items if i.n %}<tr>{{ row(i) }}</tr>{% else %}none{% endfor %}"
        "</table>{% filter upper %}x{% endfilter %}{{ '*a* `b`'|markdown }}{{ 'a\nb'|nl2br }}{{ 'x'|qr }}{{ '123456'|barcode }}{{ t('k') }}"
        "{{ items|map(attribute='p')|join(', ') }}{{ 3|plural(one='{n} a', other='{n} b') }}{{ 'x' if items else 'y' }}{{ -1 ** 2 }}",
    ],
    "mermaid": [
        "sequenceDiagram\n  autonumber\n  participant A as Author\n  A->>+B: source\n  alt ok\n    B-->>-A: picture\n  else no\n"
        "    B--xA: error\n  end\n  Note over A,B: <b>done</b>\n",
        "gantt\n  title Plan\n  dateFormat YYYY-MM-DD\n  section One\n  a :a1, 2024-01-01, 30d\n  b :after a1, 20d\n",
        "classDiagram\n  class Job {\n    +int id\n    +claim() bool\n  }\n  Job <|-- Render\n  Job \"1\" --> \"*\" Attempt : has\n",
        "stateDiagram-v2\n  [*] --> queued\n  queued --> running: claim\n  state running {\n    a --> b\n  }\n  running --> [*]\n",
        "pie showData\n  title Share\n  \"pdf\" : 40.5\n  \"svg\" : 20\n",
        "%%{init: {\"theme\": \"forest\"}}%%\nflowchart TB\n  subgraph one\n    a1{{x}} -.-> a2[(db)]\n  end\n  one ==>|go| two((y))\n"
        "  classDef hot fill:#f96,stroke:#333\n  class a1 hot\n",
    ],
    "graphviz": [
        'digraph G {\n  graph [rankdir=LR, label="Jobs"]\n  node [shape=box, style="rounded,filled", fillcolor="#eef"]\n  subgraph cluster_a '
        '{ label=A; a -> b [label="x", color=red, style=dashed] }\n  b -> c:n -> {d e}\n  t [shape=plain, label=<<TABLE BORDER="1">'
        '<TR><TD PORT="p">1</TD><TD BGCOLOR="red"><B>2</B></TD></TR></TABLE>>]\n  r [shape=record, label="{a|<f> b|c}"]\n  t:p -> r:f\n}\n',
    ],
    "d2": [
        "direction: right\nvars: {\n  c: '#eef'\n}\nclasses: {\n  hot: {style.fill: red}\n}\nweb: Web {\n  shape: cloud\n  a -> b: x {style.animated: true}\n}\n"
        "db: |md\n  # DB\n  - one\n|\nweb.a -> db: reads {source-arrowhead: 1; target-arrowhead: * {shape: diamond}}\nt: {shape: sql_table; id: int "
        "{constraint: primary_key}}\ndb -> t\nweb.class: hot\n",
    ],
    "vega-lite": [
        json.dumps({"title": "T", "data": {"values": [{"d": "2024-01-01", "n": 3, "k": "a"}, {"d": "2024-02-01", "n": 5, "k": "b"}]},
                    "transform": [{"calculate": "datum.n * 2", "as": "m"}, {"filter": "datum.m > 1"}],
                    "layer": [{"mark": {"type": "line", "point": True}}, {"mark": "rule", "encoding": {"y": {"aggregate": "mean",
                     "field": "n"}}}], "encoding": {"x": {"field": "d", "type": "temporal"}, "y": {"field": "m", "type": "quantitative"},
                     "color": {"field": "k", "type": "nominal"}}}),
    ],
    "vega": [
        json.dumps({"width": 90, "height": 60, "signals": [{"name": "s", "value": 3, "update": "s * 2"}], "data": [{"name": "t",
                    "values": [{"x": 1, "y": 2}, {"x": 2, "y": 4}], "transform": [{"type": "formula", "expr": "datum.y * s", "as": "z"}]}],
                    "scales": [{"name": "x", "type": "band", "domain": {"data": "t", "field": "x"}, "range": "width"},
                               {"name": "y", "domain": {"data": "t", "field": "z"}, "nice": True, "range": "height"}],
                    "marks": [{"type": "rect", "from": {"data": "t"}, "encode": {"enter": {"x": {"scale": "x", "field": "x"},
                     "width": {"scale": "x", "band": 1}, "y": {"scale": "y", "field": "z"}, "y2": {"scale": "y", "value": 0}}}}]}),
    ],
    "svg": [
        '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 60"><title>T</title><desc>D</desc><defs>'
        '<linearGradient id="g"><stop offset="0" stop-color="red"/><stop offset="1" stop-color="#00f8"/></linearGradient><g id="u">'
        '<circle r="5"/></g><clipPath id="c"><rect width="50" height="60"/></clipPath><filter id="f"><feGaussianBlur stdDeviation="2"/>'
        '</filter></defs><style>.a { fill: url(#g); stroke-width: 2 }</style><path class="a" d="M10 10 C20 20 30 5 40 30 Z" filter="url(#f)"/>'
        '<use href="#u" x="60" y="30" clip-path="url(#c)"/><text x="5" y="50" font-size="8">Text <tspan dy="3">x</tspan></text></svg>',
    ],
    "plantuml": [
        "@startuml\n!$a = 3\n!procedure $p($x)\nclass $x {\n +int id\n}\n!endprocedure\n$p(Job)\n$p(Render)\nJob <|-- Render : is\nnote left of Job\n "
        "**bold** $a\nend note\nskinparam classFontColor red\n@enduml",
        "@startuml\nstart\nif (ok?) then (yes)\n :render;\nelse (no)\n :fail;\nendif\nfork\n :a;\nfork again\n :b;\nend fork\nstop\n@enduml",
    ],
    "nomnoml": ["#direction: right\n#.box: fill=#8f8 dashed\n[<box> a|x: int|f()] -> [b]\n[b] o-- [<actor> c]\n[p|[q]->[r]]\n[b] --:> [p]"],
    "dbml": ["Project p {\n  database_type: 'SQLite'\n}\nEnum s {\n  queued\n  done [note: 'end']\n}\nTable a as A [note: 'x'] {\n  id int [pk, increment]\n"
             "  s s [not null, default: 'queued']\n  indexes {\n    (id, s) [unique]\n  }\n}\nTable b {\n  a int\n}\nRef: b.a > A.id [delete: cascade]\n"],
    "wavedrom": ["{ signal: [{ name: 'clk', wave: 'p.....|...' }, ['g', { name: 'dat', wave: 'x.345x|=.x', data: ['a', 'b', 'c', 'd'], node: '.a..b' }], {},"
                 " { name: 'ack', wave: '1.....|01.', phase: 0.5, period: 1 }], edge: ['a~>b t1'], head: { text: 'H', tick: 0 }, config: { hscale: 2 } }",
                 "{ reg: [{ bits: 7, name: 0x37, attr: ['OP'] }, { bits: 5, name: 'rd', type: 2 }, { bits: 20, name: 'imm' }] }"],
    "bytefield": ['(defattrs :bg-green {:fill "#a0ffa0"})\n(def row-height 40)\n(defn two [x] (draw-box x {:span 2}))\n(draw-column-headers)\n'
                  '(doseq [n (range 4)] (two (str n)))\n(draw-box nil :box-below)\n(draw-gap "data")\n(draw-bottom)'],
    "pikchr": ['A: box "one" "two" fit fill lightblue\narrow right 200% "go" above\nB: circle radius 0.3 at 1 right of A\nline from A.s down 0.3 then right until even with B then to B.s\n'
               '$x = 3*(2+1)\ntext "v" with .n at B.s\n[ box; line ] dashed\n'],
    "svgbob": [" .---.   +----+\n |   |-->|{a} |\n '---'   +--+-+\n    \\      |\n     *--->  o\n\n# Legend:\na = {\n  fill: red;\n}\n"],
}  # fmt: skip
RICHER["pdf"] = []  # mutants of its sample, which is ASCII
RICHER["mermaid-browser"] = RICHER["mermaid"]
RICHER["html-browser"] = RICHER["html"]


def sources_of(engine: type[Engine]) -> list[str]:
    return [engine.sample, *RICHER[engine.name]]


# For renders through the queue: language, output, engine; each drawn with one of its sources.
ORDERS = [
    ("markdown", "html", None),
    ("markdown", "pdf", None),
    ("jinja", "html", None),
    ("html", "pdf", None),
    ("html", "pdf", "html-browser"),
    ("mermaid", "svg", None),
    ("mermaid", "svg", "mermaid-browser"),
    ("graphviz", "png", None),
    ("d2", "svg", None),
    ("vega-lite", "svg", None),
    ("svg", "png", None),
    ("plantuml", "svg", None),
    ("nomnoml", "svg", None),
    ("wavedrom", "svg", None),
    ("bytefield", "svg", None),
    ("pikchr", "pdf", None),
    ("svgbob", "svg", None),
]


def name_of(order: tuple[str, str, str | None]) -> str:
    language, output, engine = order
    return engine or catalogue.engine_for(language, "html" if language == "markdown" else output).name
