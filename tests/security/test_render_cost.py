# ruff: noqa: E501 - a table keeps its rows
"""What a source may cost: time, memory and output are bounded, whatever it is. Criteria S1-S4, D2, D3, D8, M1-M9."""

import random
from collections.abc import Iterator

import pytest

from pressroom.errors import InvalidArgument, SourceInvalid, Timeout, TooLarge
from pressroom.renderers import MB, documents
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.markdown.engine import GROWTH, Markdown
from tests.security import exposed
from tests.security.render_box import Box, engine

pytestmark = pytest.mark.sampled(16)


@pytest.fixture(autouse=True, scope="module")
def _hurry() -> Iterator[None]:
    with exposed.hurry():
        yield


SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">'


def laughs(depth: int, width: int) -> str:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * width}">' for n in range(1, depth + 1))
    return f'<!DOCTYPE svg [<!ENTITY e0 "ha">{entities}]>{SVG}<text>&e{depth};</text></svg>'


XML = {
    "S1-billion-laughs": laughs(10, 10),
    "S2-quadratic": f'<!DOCTYPE svg [<!ENTITY a "{"x" * 50_000}">]>{SVG}<text>{"&a;" * 10_000}</text></svg>',
    "S3-external-dtd": f'<!DOCTYPE svg SYSTEM "file:///etc/passwd">{SVG}</svg>',
    "S3-external-entity": f'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>{SVG}<text>&x;</text></svg>',
    "S3-parameter-entity": f'<!DOCTYPE svg [<!ENTITY % x SYSTEM "http://127.0.0.1/"> %x;]>{SVG}</svg>',
    "S4-nested": SVG + "<g>" * 100_000 + "</g>" * 100_000 + "</svg>",
    "S4-recursive-use": f"{SVG}<g id='a'><use href='#a'/></g></svg>",
    "S4-doubling-use": SVG
    + "<defs><g id='a0'><rect width='1' height='1'/></g>"
    + "".join(f"<g id='a{n}'><use href='#a{n - 1}'/><use href='#a{n - 1}'/></g>" for n in range(1, 40))
    + "</defs><use href='#a39'/></svg>",
    "S4-doubling-pattern": SVG
    + "<pattern id='p0' width='1' height='1'><rect width='1' height='1'/></pattern>"
    + "".join(
        f"<pattern id='p{n}' width='1' height='1'><rect fill='url(#p{n - 1})' width='1' height='1'/>"
        f"<rect fill='url(#p{n - 1})' width='1' height='1'/></pattern>"
        for n in range(1, 40)
    )
    + "<rect width='9' height='9' fill='url(#p39)'/></svg>",
    "S4-recursive-pattern": f"{SVG}<pattern id='p' width='1' height='1'><rect fill='url(#p)' width='9' height='9'/></pattern>"
    "<rect fill='url(#p)' width='9' height='9'/></svg>",
    "S4-recursive-mask": f"{SVG}<mask id='m'><rect mask='url(#m)' width='9' height='9'/></mask>"
    "<rect mask='url(#m)' width='9' height='9'/></svg>",
    "S4-recursive-filter": f"{SVG}<filter id='f'><feImage href='#a'/></filter><rect id='a' filter='url(#f)' width='9' height='9'/></svg>",
    "S4-huge-filter": f"{SVG}<filter id='f' x='-1e6' y='-1e6' width='2e6' height='2e6'><feGaussianBlur stdDeviation='1e5'/>"
    "<feTurbulence numOctaves='1000000'/><feMorphology radius='1e5'/></filter>"
    "<rect filter='url(#f)' width='9' height='9'/></svg>",
    "S4-many-filters": SVG.replace('"9"', '"4000"')
    + "<filter id='f'>"
    + "<feGaussianBlur stdDeviation='90'/><feTurbulence numOctaves='100'/>" * 200
    + "</filter><rect filter='url(#f)' width='4000' height='4000'/></svg>",
    "S4-size": SVG.replace('"9"', '"1e9"') + "</svg>",
    "S4-sizes": SVG.replace('width="9"', 'width="1e308"').replace('height="9"', 'height="NaN"') + "</svg>",
    "S4-viewbox-nan": SVG.replace(">", ' viewBox="NaN inf 1e308 -1">') + "<rect width='9' height='9'/></svg>",
    "S4-viewbox-tiny": SVG.replace(">", ' viewBox="0 0 1e-300 1e-300">') + "<rect width='9' height='9'/></svg>",
    "S4-long-path": f"{SVG}<path d='M0 0{' L1 1 2 2' * 60_000}' stroke='red'/></svg>",
    "S4-dashes": f"{SVG}<path d='M0 0H1e9' stroke='red' stroke-dasharray='0.001'/></svg>",
    "S4-dashes-zero": f"{SVG}<path d='M0 0H9' stroke='red' stroke-dasharray='{'0.0 ' * 60}1'/></svg>",
    "S4-numbers": f"{SVG}<path d='M{'9' * 400} 1e999 L-{'9' * 400} NaN A1e300 1e-300 0 0 1 9 9' stroke='red' stroke-width='1e300'/></svg>",
    "S4-text": f"{SVG}<text font-size='1e9'>x</text><text letter-spacing='1e300' x='{'1 ' * 9_000}'>{'x' * 9_000}</text></svg>",
    "S4-markers": f"{SVG}<marker id='m'><path d='M0 0{'L1 1' * 2_000}' marker-mid='url(#m)'/></marker>"
    f"<path d='M0 0{'L1 1' * 2_000}' marker-mid='url(#m)'/></svg>",
}
# Libraries that die of these. Their press dies with them, which is what a press is for.
FATAL = {("svg", "pdf", "S4-huge-filter"), ("html", "pdf", "S4-nested")}
IN_A_BROWSER = ("S1-billion-laughs", "S4-nested", "S4-recursive-use", "S4-doubling-use", "S4-huge-filter", "S4-size")
ROADS = [("svg", "svg"), ("svg", "png"), ("svg", "pdf"), ("html", "pdf"), ("html-browser", "png")]


@pytest.mark.parametrize(
    ("name", "output", "attack"),
    [(name, output, attack) for name, output in ROADS for attack in XML if name != "html-browser" or attack in IN_A_BROWSER],
)
def test_no_xml_costs_more_than_its_limit(box: Box, name: str, output: str, attack: str) -> None:
    kind, source = engine(name), XML[attack]
    if name != "svg":
        source = f"<!DOCTYPE html><title>T</title>{source}"

    answer = box.draw(kind, source, output)

    if answer.error is not None and (name, output, attack) not in FATAL:
        assert isinstance(answer.error, SourceInvalid | TooLarge | (Timeout if attack.startswith("S4") else TooLarge))
    if attack.startswith(("S1", "S2", "S3")) and name == "svg":
        assert "document type" in str(answer.error)
    assert b"root:" not in answer.data
    box.assert_well(kind)


DIAGRAMS = [
    ("mermaid", "gantt\n dateFormat YYYY-MM-DD\n excludes monday,tuesday,wednesday,thursday,friday,saturday,sunday\n a: 2020-01-01, 9d"),
    ("mermaid", "gantt\n dateFormat YYYY-MM-DD\n tickInterval 1millisecond\n a: 1900-01-01, 9999d\n b: 2200-01-01, 1d"),
    ("mermaid", "gantt\n dateFormat YYYY-MM-DD\n a: 0001-01-01, 999999999d"),
    ("mermaid", "xychart-beta\n x-axis 1 --> 1\n y-axis 1 --> 1\n line [1, 1]"),
    ("mermaid", "xychart-beta\n x-axis 1 --> 1e300\n y-axis -1e308 --> 1e308\n bar [1e308, -1e308]"),
    ("mermaid", "flowchart LR\n" + "\n".join(f" a{n} --> b{n % 97}" for n in range(10_000))),
    ("mermaid", "flowchart LR\n a[" + "x" * 900_000 + "]"),
    ("mermaid", "flowchart LR\n" + " subgraph a\n" * 2_000 + " b\n" + " end\n" * 2_000),
    ("mermaid", "sequenceDiagram\n" + " loop x\n" * 5_000 + " A->>B: x\n" + " end\n" * 5_000),
    ("mermaid", "mindmap\n" + "".join(f"{' ' * n}a{n}\n" for n in range(1_200))),
    ("mermaid", "pie\n" + "".join(f' "{n}": {n}e300\n' for n in range(2_000))),
    ("mermaid", "stateDiagram-v2\n" + "state a {\n" * 3_000 + "}\n" * 3_000),
    ("mermaid", "gitGraph\n" + " commit\n" * 5_000),
    ("graphviz", "digraph { " + "".join(f"a{n} -> a{n + 1};" for n in range(100_000)) + " }"),
    ("graphviz", "digraph { " + "".join(f"a{n % 300} -> a{n * 7 % 301};" for n in range(30_000)) + " }"),
    ("graphviz", "digraph { " + "".join(f"subgraph cluster{n} {{ " for n in range(10_000)) + "a" + "}" * 10_000 + " }"),
    ("graphviz", "digraph { a [label=<" + "<TABLE><TR><TD>" * 3_000 + "x" + "</TD></TR></TABLE>" * 3_000 + ">] }"),
    ("graphviz", 'digraph { graph [size="1e9,1e9!", dpi=1e9, nodesep=1e300, ranksep=1e300]; a [width=1e9, height=1e300, peripheries=99999999] }'),
    ("graphviz", "digraph { a [shape=polygon, sides=2147483647, peripheries=1000000] }"),
    ("d2", "\n".join(f"a{n} -> b{n % 97}" for n in range(3_000))),
    ("d2", "a: {" * 2_000 + "}" * 2_000),
    ("d2", ".".join("a" * 3_000)),
    ("d2", "*: *\n" + "\n".join(f"a{n}" for n in range(300)) + "\n* -> *\n** -> **"),
    ("d2", "vars: {a: ${b}; b: ${a}}\nx: ${a}"),
    ("d2", "x: {grid-rows: 1000000000; grid-columns: 1000000000; width: 1000000000}"),
    ("vega", '{"width": 1e9, "height": 1e9}'),
    ("vega", '{"width": 9, "height": 9, "data": [{"name": "t", "transform": [{"type": "sequence", "start": 0, "stop": 1e9}]}]}'),
    ("vega", '{"width": 9, "height": 9, "signals": [{"name": "s", "update": "length(sequence(0, 1e9))"}]}'),
    ("vega-lite", '{"data": {"sequence": {"start": 0, "stop": 1e12}}, "mark": "point", "encoding": {"x": {"field": "data"}}}'),
    ("vega-lite", '{"a":' * 5_000 + "1" + "}" * 5_000),
    ("vega-lite", '{"data": {"values": [{"n": 1}]}, "mark": "bar", "width": 1e300, "encoding": {"x": {"field": "n"}}}'),
    ("plantuml", "@startuml\n!while 1\n!endwhile\nA -> B\n@enduml"),
    ("plantuml", "@startuml\n!procedure $f()\n$f()\n!endprocedure\n$f()\n@enduml"),
    ("plantuml", "@startuml\n" + "".join(f"A{n} -> B{n % 50} : x\n" for n in range(3_000)) + "@enduml"),
    ("plantuml", "@startuml\n" + "package a {\n" * 500 + "class b\n" + "}\n" * 500 + "@enduml"),
    ("nomnoml", "\n".join(f"[a{n}] -> [b{n % 97}]" for n in range(3_000))),
    ("dbml", "\n".join(f"Table t{n} {{\n id int [ref: > t{(n * 7 + 1) % 800}.id]\n}}" for n in range(800))),
    ("wavedrom", "{reg: [{bits: 1e9}]}"),
    ("wavedrom", '{signal: [{name: "a", wave: "p' + "." * 900_000 + '"}], config: {hscale: 1e9}}'),
    ("bytefield", "(loop [] (recur))"),
    ("bytefield", '(doseq [n (range 1e9)] (draw-box "x"))'),
    ("pikchr", "box;" * 200_000),
    ("pikchr", "define a { a; a }\na"),
    ("pikchr", "box width 1e300 height 1e-300; circle radius 1e308"),
    ("svgbob", ("+" + "-" * 300 + "\n") * 3_000),
    ("svgbob", " " * 900_000 + "x"),
]  # fmt: skip
BROWSER_TOO = [source for name, source in DIAGRAMS if name == "mermaid"][:6]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *((name, number) for number, (name, _) in enumerate(DIAGRAMS)),
        *(("mermaid-browser", n) for n in range(len(BROWSER_TOO))),
    ],
)
def test_d2_d3_no_diagram_costs_more_than_its_limit(box: Box, name: str, number: int) -> None:
    kind = engine(name)
    source = BROWSER_TOO[number] if name == "mermaid-browser" else DIAGRAMS[number][1]

    answer = box.draw(kind, source)

    if answer.error is not None and "peripheries=1000000" not in source:  # which is too much for Graphviz's stack
        assert isinstance(answer.error, SourceInvalid | TooLarge | Timeout), repr(answer.error)
    assert len(answer.data) <= kind.limits.output
    box.assert_well(kind)


@pytest.mark.parametrize(
    "language", ["../../x", "MERMAID", "", "x" * 10_000, "tikz", "latex", "ditaa", "bpmn", "\0", "render/../svg"]
)
def test_d4_d8_an_unknown_language_is_refused(language: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        documents.make_plan(RenderRequest(language, "svg", b"x"))

    assert "there is no language" in str(refused.value)
    assert len(str(refused.value)) < 1_000


def numbered(form: str, count: int) -> str:
    return "".join(form.format(n) for n in range(count))


# Each makes a source of about as many characters as it is asked for.
COSTLY = {
    "M1-brackets": lambda size: "[" * size,
    "M1-images": lambda size: "![" * (size // 2),
    "M1-closed": lambda size: "[a](" * (size // 4),
    "M1-nested-links": lambda size: "[" * (size // 2) + "a" + "](b)" * (size // 8),
    "M2-quotes": lambda size: ">" * size,
    "M2-quotes-in-lines": lambda size: (">" * 50 + "a\n") * (size // 52),
    "M2-lists": lambda size: " -" * (size // 2),
    "M2-lists-in-lines": lambda size: "".join(" " * (2 * (n % 50)) + "- a\n" for n in range(size // 54)),
    "M3-underscores": lambda size: "_" * (size // 2) + "." + "_" * (size // 2),
    "M3-stars": lambda size: "*a " * (size // 3),
    "M4-mixed": lambda size: "*a_b" * (size // 4),
    "M4-tildes": lambda size: "~a~~b" * (size // 5),
    "M5-ticks": lambda size: "".join("`" * (1 + n % 1000) + "a" for n in range(size // 501)),
    "M6-references": lambda size: "[a]: /" + "x" * (size // 2) + "\n\n" + "[a]\n" * (size // 8),
    "M7-table": lambda size: "|" + "a|" * (size // 4) + "\n|" + "-|" * (size // 4) + "\n",
    "M7-table-rows": lambda size: "|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n" + "|\n" * (size // 2 - 600),
    "M8-tags": lambda size: "<a " * (size // 3),
    "M8-open": lambda size: "<" * size,
    "M8-comments": lambda size: "<!--" * (size // 4),
    "M8-cdata": lambda size: "a <![CDATA[" * (size // 11),
    "M8-declarations": lambda size: "a <!A " * (size // 6),
    "M8-instructions": lambda size: "a <? " * (size // 5),
    "M8-elements": lambda size: "<div>" * (size // 5),
    "M8-formatting": lambda size: "<b><p>" * (size // 6),
    "M8-tables": lambda size: "<table><b>" * (size // 10),
    "M8-ampersands": lambda size: "&" * size,
    "M8-entities": lambda size: "&a" * (size // 2),
    "M8-footnotes": lambda size: numbered("[^{0}]\n\n[^{0}]: a\n\n", size // 25),
    "M8-footnote-uses": lambda size: "[^1] " * (size // 5) + "\n\n[^1]: a\n",
    "M8-headings": lambda size: "# a\n" * (size // 4),
    "M8-empty-headings": lambda size: "#\n" * (size // 2),
    "M8-setext": lambda size: "a\n=\n" * (size // 4),
    "M8-headings-in-quotes": lambda size: "> # a\n" * (size // 6),
    "M8-newlines": lambda size: "\n" * size,
    "M8-no-alt": lambda size: "![](x)\n" * (size // 7),
    "M8-files": lambda size: "![a](file:///x)\n" * (size // 16),
    "M8-definitions": lambda size: "a\n\n: b\n\n" * (size // 8),
    "M8-rules": lambda size: "* * *\n" * (size // 6),
    "M8-dollars": lambda size: "$a" * (size // 2),
    "M8-maths": lambda size: "$`a" * (size // 3),
    "M8-wiki": lambda size: "[[a" * (size // 3),
    "M8-autolinks": lambda size: "www.a" * (size // 5),
    "M8-addresses": lambda size: "a@" * (size // 2),
    "M8-slashes": lambda size: "http://a" * (size // 8),
    "M8-escapes": lambda size: "\\" * size,
    "M8-tasks": lambda size: "- [ ] a\n" * (size // 8),
    "M8-alerts": lambda size: "> [!NOTE]\n> a\n\n" * (size // 15),
    "M8-fences": lambda size: "```d2\n```\n" * (size // 10),
    "M8-fence-ticks": lambda size: "`" * size,
    "M8-code": lambda size: "```python\n" + "'''" * (size // 3) + "\n```\n",
    "M8-front-matter": lambda size: "---\n" + "a: [" * (size // 4) + "\n---\n",
    "M8-front-matter-open": lambda size: "---\n" + "a: b\n" * (size // 5),
    "M8-surrogates": lambda size: "e\N{COMBINING ACUTE ACCENT}" * (size // 3),
    "M8-words": lambda size: " ".join(random.Random(1).choices(["*a*", "`b`", "[c](d)", "<e>", "&f;", "_g"], k=size // 5)),
}  # fmt: skip


@pytest.mark.parametrize("attack", COSTLY)
def test_m_the_cost_of_markdown_grows_with_its_length_alone(box: Box, attack: str) -> None:
    """The largest source that is taken, not a doubled small one: what grows with its square needs a minute, and has ten seconds."""
    answer = box.draw(Markdown, COSTLY[attack](MB - 100), diagrams=True)

    assert answer.error is None or isinstance(answer.error, TooLarge | SourceInvalid), repr(answer.error)
    assert len(answer.data) <= GROWTH * MB
    assert len(answer.warnings) <= 100


@pytest.mark.parametrize("attack", ["M6-references", "M8-fences", "M8-no-alt", "M7-table-rows"])
def test_m_a_document_is_bounded_as_a_whole(box: Box, attack: str) -> None:
    with exposed.unhurried():
        answer = box.make("markdown", COSTLY[attack](MB - 100), "html", diagrams=True)

    assert answer.error is None or isinstance(answer.error, TooLarge)
    assert len(answer.data) <= Markdown.limits.output
    assert len(answer.warnings) <= 300


@pytest.mark.deep
def test_a_page_of_large_diagrams_is_too_large(box: Box) -> None:
    """Each within its limit, and two hundred of them four gigabytes: who puts them together must count."""
    big = f"```dot\ngraph {{ {';'.join(f'n{number}' for number in range(600))} }}\n```\n\n"
    with exposed.unhurried():
        one = box.make("markdown", big, "html", diagrams=True)
        needed = Markdown.limits.output // len(one.data) + 2
        assert needed <= documents.MOST_DIAGRAMS

        answer = box.make("markdown", big * needed, "html", diagrams=True)

    assert isinstance(answer.error, TooLarge)
    assert "with its diagrams" in str(answer.error)


HTML = {
    "images": "<img " * (2 * MB // 5),
    "titles": "<title" * (2 * MB // 6),
    "title-of-spaces": "<title>" + " " * 100_000,
    "roots": "<html " * (2 * MB // 6),
    "zero-dashes": '<svg><path stroke-dasharray="' + "0.0 " * 100 + '1"/></svg>',
    "grids": "display: " * 5_000,
    "carried": "data:image/svg+xml;base64," * (2 * MB // 26),
}


@pytest.mark.parametrize("attack", HTML)
def test_what_we_look_for_in_html_is_found_in_one_reading(box: Box, attack: str) -> None:
    """Each of these once took the minute that a document has, some with 200 bytes."""
    with exposed.unhurried():
        answer = box.draw(engine("html"), HTML[attack])

    assert answer.error is None, repr(answer.error)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (b"a\x00b", "a\N{REPLACEMENT CHARACTER}b"),
        ("a\u202eb".encode(), "a\u202eb"),
        ("\ufeff# a".encode(), "<h1"),
        (b"a\r\nb\rc", "a\nb\nc"),
        ("a\u2028b\u2029c\x85d".encode(), "a\u2028b\u2029c\x85d"),
        ("e" + "\u0301" * 100_000, "e" + "\u0301" * 1_000),
        (b"a\xffb", None),
        (b"\xed\xa0\x80", None),
        (b"\xc0\xaf", None),
        (b"\xff\xfeh\x00i\x00", None),
    ],
)
def test_m9_odd_characters_are_rendered_exactly_or_refused(box: Box, source: bytes, shown: str | None) -> None:
    answer = box.make("markdown", source, "html")

    if shown is None:
        assert isinstance(answer.error, SourceInvalid)
        assert "not UTF-8" in str(answer.error)
    else:
        assert shown in answer.text


ODD = ["a\0b", "\ud800", "\u202eabc", "e" + "\u0301" * 9_000, "\ufeff", "\r", "\u2028", "\uffff", "\x1b[2J", ""]


@pytest.mark.parametrize("name", ["html", "html-browser", "mermaid", "graphviz", "d2", "vega", "svg", "plantuml", "nomnoml",
                                  "dbml", "wavedrom", "bytefield", "pikchr", "svgbob"])  # fmt: skip
def test_m9_odd_characters_are_no_fault_of_ours(box: Box, name: str) -> None:
    kind = engine(name)

    with exposed.unhurried():
        for odd in ODD:
            for source in (odd, kind.sample[:20] + odd + kind.sample[20:]):
                answer = box.draw(kind, source.encode(errors="surrogatepass"))
                assert answer.error is None or isinstance(answer.error, SourceInvalid | TooLarge), (odd, repr(answer.error))

        box.assert_well(kind)


def test_a_reference_on_the_last_line_needs_no_newline(box: Box) -> None:
    assert 'href="/b"' in box.make("markdown", "[a]\n\n[a]: </b>", "html").text
