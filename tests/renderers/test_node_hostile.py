"""Sources that want more than to be drawn. The engines run here without the walls of a press: Node's own have to do."""

from contextlib import suppress
from xml.etree import ElementTree

import pytest

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import MB, Limits
from pressroom.renderers.node.engine import NodeEngine
from pressroom.renderers.node.engines import Bytefield, Dbml, Nomnoml, Pikchr, PlantUml, Svgbob, WaveDrom
from tests.renderers.node_parts import Bench, Canary, needs_node

pytestmark = [needs_node, pytest.mark.usefixtures("node_packages")]


@pytest.mark.parametrize(
    "line",
    [
        "!include FILE",
        "!INCLUDE FILE",
        "  !include_many FILE",
        "!include_once FILE",
        "!includesub FILE!x",
        "!includeurl URL",
        "!include URL",
        "!include <C4/C4_Context>",
        "!import FILE",
        '!$x = %load_json("FILE")',
        '!$x = %load_json("URL")',
        'A -> B : %getenv("HOME")',
        "!theme plain from FILE",
        "!theme plain from URL",
    ],
)
def test_d5_plantuml_refuses_to_read_from_outside_and_says_so(node_bench: Bench, node_canary: Canary, line: str) -> None:
    line = line.replace("FILE", str(node_canary.file)).replace("URL", node_canary.url)

    with pytest.raises(SourceInvalid, match="outside of the source") as error:
        node_bench.render(PlantUml, f"@startuml\n{line}\nA -> B\n@enduml")

    assert error.value.line == 2
    assert node_canary.calls == 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("kind", "source"),
    [
        (PlantUml, "@startuml\nA -> B : <img:FILE> <img:URL> [[URL x]]\n@enduml"),
        (PlantUml, "@startuml\nsprite s <svg><image href='URL'/></svg>\nA -> B : <$s>\n@enduml"),
        (PlantUml, "@startuml\n!function f()\n!return %load_j\n!endfunction\nA -> B : f()son('FILE')\n@enduml"),
        (PlantUml, "@startuml\nskinparam backgroundImage FILE\nA -> B : %file_exists('FILE')\n@enduml"),
        (Dbml, "Table a [note: 'x\"; image=\"FILE'] {\n id int\n}"),
        (Dbml, "Table a [headercolor: 'x\" BACKGROUND=\"FILE'] {\n id int\n}"),
        (WaveDrom, "{signal: [{name: ['image', {href: 'URL'}], wave: '01'}]}"),
        (WaveDrom, "{signal: [{name: ['use', {'xlink:href': 'FILE'}], wave: '01'}]}"),
        (Bytefield, '(append-svg [:image {:href "URL"}])(draw-box 1)'),
        (Bytefield, '(slurp "FILE")'),
        (Bytefield, '(draw-box (js/require "FILE"))'),
        (Bytefield, "(require '[cljs.nodejs :as node])"),
        (Nomnoml, "#font: url(URL)\n[a]"),
        (Svgbob, "{a}\n\n# Legend:\na = {\n fill: url(URL);\n}"),
        (Pikchr, "box \"<image href='URL'/>\""),
    ],
)
def test_d7_f1_n1_no_source_reaches_a_file_or_the_network(
    node_bench: Bench, node_canary: Canary, kind: type[NodeEngine], source: str
) -> None:
    source = source.replace("FILE", str(node_canary.file)).replace("URL", node_canary.url)
    made = b""

    for output in ("svg", "png"):
        try:
            made += node_bench.render(kind, source, output).data
        except SourceInvalid as refused:
            made += str(refused).encode()

    assert node_canary.calls == 0
    assert b'"secret"' not in made


def test_d7_nomnoml_has_no_files_to_import(node_bench: Bench, node_canary: Canary) -> None:
    with pytest.raises(SourceInvalid, match="#import reads a file") as error:
        node_bench.render(Nomnoml, f"[a]\n#import: {node_canary.file}")

    assert error.value.line == 2


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        (Nomnoml, '#font: x" onload="alert(1)\n[<b> a <script>alert(1)</script>]'),
        (WaveDrom, "{signal: [{name: ['script', {}, 'alert(1)'], wave: '01'}]}"),
        (WaveDrom, "{signal: [{name: 'a', wave: '01'}], head: {text: ['foreignObject', {}, ['script', 'alert(1)']]}}"),
        (WaveDrom, "{signal: [{name: ['a', {'xlink:href': 'javascript:alert(1)', onclick: 'alert(1)'}, 'x'], wave: '01'}]}"),
        (WaveDrom, "{signal: [{name: ['animate', {attributeName: 'href', to: 'javascript:alert(1)'}], wave: '01'}]}"),
        (Bytefield, '(def svg-attrs {:onload "alert(1)"})\n(draw-box [:script {} "alert(1)"])'),
        (Bytefield, '(draw-box "<script>alert(1)</script>")\n(wrap-link "javascript:alert(1)" (draw-box 1))'),
        (Dbml, "Table a [url: 'javascript:alert(1)'] {\n id int [note: '<script>alert(1)</script>']\n}"),
        (Pikchr, 'box "</text><script>alert(1)</script>"'),
        (Svgbob, "<script>alert(1)</script>"),
        (PlantUml, "@startuml\nA -> B : [[javascript:alert(1) x]] <script>alert(1)</script>\n@enduml"),
        (
            PlantUml,
            '@startuml\nsprite s <svg onload="alert(1)"><script>1</script></svg>\nA -> B : <$s>\n@enduml',
        ),
    ],
)
def test_x4_nothing_in_a_picture_can_run(node_bench: Bench, kind: type[NodeEngine], source: str) -> None:
    try:
        svg = ElementTree.fromstring(node_bench.render(kind, source).data)
    except SourceInvalid:
        return

    for element in svg.iter():
        assert element.tag.rpartition("}")[2] not in {"script", "set", "animate", "iframe", "object"}
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert not value.strip().lower().startswith("javascript:")


@pytest.mark.parametrize(
    "source",
    [
        '((String/constructor "return process.exit(7)"))',
        '(String/constructor "return this")',
        '((aget String "constructor") "return 1")',
        '((aget (aget Math "toString") "constructor") "return 1")',
        '(draw-box (js/eval "1"))',
        "(loop [] (recur))",
        "(apply + (range))",
        "(defn f [] (f))\n(f)",
    ],
)
def test_bytefield_sources_make_no_code_and_end(node_bench: Bench, source: str) -> None:
    """In a plain Node, the first of these gets hold of `process`: the library's interpreter lets Function through."""
    node_bench.render(Bytefield, Bytefield.sample)
    process = node_bench.engine(Bytefield)._sidecar

    with pytest.raises(SourceInvalid):
        node_bench.render(Bytefield, source)

    assert node_bench.engine(Bytefield)._sidecar is process


@pytest.mark.parametrize(
    "poison",
    [
        '(aset (aget String "prototype") "replace" (fn [] "poison"))',
        '(aset (aget (aget String "constructor") "prototype") "call" (fn [] "poison"))',
        '(aset String "fromCharCode" (fn [] "poison"))',
        '(aset Math "round" (fn [] 0))',
        '(aset str "call" (fn [] "poison"))',
    ],
)
def test_what_one_bytefield_source_breaks_the_next_does_not_see(node_bench: Bench, poison: str) -> None:
    before = node_bench.render(Bytefield, Bytefield.sample).data

    with suppress(SourceInvalid):
        node_bench.render(Bytefield, f"{poison}\n(draw-box 1)")

    assert node_bench.render(Bytefield, Bytefield.sample).data == before


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        (WaveDrom, '{"__proto__": {"wave": "poison"}, signal: [{name: "a"}]}'),
        (WaveDrom, '{signal: [{name: "a", "constructor": {"prototype": {"wave": "x"}}}]}'),
        (WaveDrom, '{signal: [{name: "a", wave: "01"}], config: {skin: "__proto__"}}'),
        (Nomnoml, "#__proto__: poison\n#.__proto__: fill=red visual=none\n[<__proto__> a]"),
        (Nomnoml, "[<constructor> a]"),
        (Dbml, "Table __proto__ {\n constructor int [ref: > toString.hasOwnProperty]\n}"),
        (PlantUml, '@startjson\n{"__proto__": {"a": 1}, "constructor": 2}\n@endjson'),
    ],
)
def test_names_of_javascripts_own_change_nothing_for_the_next(node_bench: Bench, kind: type[NodeEngine], source: str) -> None:
    before = node_bench.render(kind, kind.sample).data

    with suppress(SourceInvalid):
        node_bench.render(kind, source)

    assert node_bench.render(kind, kind.sample).data == before


@pytest.mark.parametrize(
    "source",
    ["(function () { return process.exit(3) })()", "{signal: [{name: 'x', wave: 'p'.repeat(9)}]}", "{signal: [1, , 2]}"],
)
def test_wavedrom_reads_its_source_as_data(node_bench: Bench, source: str) -> None:
    with pytest.raises(SourceInvalid, match="invalid character") as error:
        node_bench.render(WaveDrom, source)

    assert error.value.line == 1
    assert error.value.column


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        (Nomnoml, "[" * 20_000),
        (WaveDrom, "{signal: " + "[" * 20_000 + "]" * 20_000 + "}"),
        (WaveDrom, "{signal: [" + "[" * 100 + "]" * 100 + "]}"),
        (Bytefield, "(" * 20_000),
        (Pikchr, "[" * 20_000),
        (Pikchr, "box;" * 20_000),
    ],
)
def test_depth_and_bulk_end_in_an_error_and_the_next_is_drawn(node_bench: Bench, kind: type[NodeEngine], source: str) -> None:
    with pytest.raises((SourceInvalid, TooLarge)):
        node_bench.render(kind, source)

    assert node_bench.render(kind, kind.sample).data


def test_a_source_that_eats_memory_is_too_large_and_the_next_one_is_drawn() -> None:
    class Lean(WaveDrom):
        limits = Limits(memory=128 * MB)

    engine = Lean()
    try:
        with pytest.raises(TooLarge, match="memory"):
            engine.render("{reg: [{bits: 1e9}]}", "svg", engine.Options())
        assert engine.render(engine.sample, "svg", engine.Options()).data
    finally:
        engine.close()
