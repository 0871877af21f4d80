"""What every engine that draws pictures promises."""

import io
from xml.etree import ElementTree

import html5lib
import msgspec
import pytest
from PIL import Image
from pypdf import PdfReader

from pressroom.errors import TooLarge
from pressroom.renderers import MEDIA_TYPES, Limits, fonts
from pressroom.renderers.svg import convert as svgdraw
from tests.renderers.drawing import ENGINES, SIGNATURES, codes, digests, digests_elsewhere, draw, engine_class, refused, text

SVG = "http://www.w3.org/2000/svg"
OUTPUTS = ("svg", "png", "pdf")
THEMED = [name for name in ENGINES if name != "svg"]
every_engine = pytest.mark.parametrize("name", list(ENGINES))


@every_engine
@pytest.mark.parametrize("output", OUTPUTS)
def test_the_sample_renders_in_every_output(name: str, output: str) -> None:
    rendered = draw(name, engine_class(name).sample, output)

    assert rendered.data.startswith(SIGNATURES[output])
    assert rendered.media_type == MEDIA_TYPES[output]


@every_engine
def test_a_pdf_is_well_formed_and_its_text_is_text(name: str) -> None:
    page = PdfReader(io.BytesIO(draw(name, engine_class(name).sample, "pdf").data), strict=True).pages[0]

    words = ("Hello", "Jobs", "press", "Press")
    assert any(word in page.extract_text() for word in words)


@pytest.mark.sampled(3)
@every_engine
def test_the_same_source_gives_the_same_bytes_in_two_processes(name: str) -> None:
    here = digests(name)

    assert here == digests(name)
    assert here == digests_elsewhere()[name]


@every_engine
def test_an_empty_source_is_refused(name: str) -> None:
    assert str(refused(name, " \n\t")) == "the source is empty"


@every_engine
@pytest.mark.parametrize("char", ["\x00", "\x1b", "\ud800", "\uffff"])
def test_a_character_that_nobody_can_draw_is_refused_where_it_stands(name: str, char: str) -> None:
    """M9"""
    error = refused(name, f"a\nb{char}")

    assert (error.line, error.column) == (2, 2)
    assert str(error).startswith("the character U+")


@every_engine
@pytest.mark.parametrize(
    "options",
    [{"nosuch": 1}, {"scale": 0}, {"scale": 100}, {"width": 0}, {"background": "url(http://x)"}, {"background": '"/>'}],
)
def test_options_are_checked(name: str, options: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(options, engine_class(name).Options)


@every_engine
def test_title_and_description_land_in_the_svg(name: str) -> None:
    root = ElementTree.fromstring(text(name, engine_class(name).sample, title="A & B", description="At <length>"))

    named = {child.tag.rpartition("}")[2]: (child.get("id"), child.text) for child in list(root)[:2]}
    assert named["title"][1] == "A & B"
    assert named["desc"][1] == "At <length>"
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{named['title'][0]} {named['desc'][0]}"
    assert "no_title" not in codes(draw(name, engine_class(name).sample, title="A"))


@pytest.mark.parametrize(
    ("name", "untitled"),
    [
        ("mermaid", "flowchart TD\n title --> b"),
        ("graphviz", "graph { a }"),
        ("d2", "a"),
        ("svg", '<svg xmlns="http://www.w3.org/2000/svg"/>'),
        ("vega", '{"width": 9, "height": 9}'),
    ],
)
def test_a_picture_without_a_title_is_noticed(name: str, untitled: str) -> None:
    assert "no_title" in codes(draw(name, untitled))


@every_engine
@pytest.mark.parametrize("options", [{"width": 300}, {"scale": 3.0}])
def test_a_png_is_as_large_as_it_should_be(name: str, options: dict[str, float]) -> None:
    rendered = draw(name, engine_class(name).sample, "png", **options)

    with Image.open(io.BytesIO(rendered.data)) as picture:
        wanted = options.get("width") or rendered.details["width"] * options["scale"]
        assert abs(picture.width - wanted) <= 1


@every_engine
@pytest.mark.parametrize("limits", [Limits(pixels=1000), Limits(side=30)])
def test_a_png_that_is_too_large_is_refused_before_it_is_drawn(
    name: str, limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_class(name), "limits", limits)
    monkeypatch.setattr(svgdraw, "to_png", None)

    with pytest.raises(TooLarge, match="pixels"):
        draw(name, engine_class(name).sample, "png")


@every_engine
def test_an_output_that_is_too_large_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_class(name), "limits", Limits(output=100))

    with pytest.raises(TooLarge, match="bytes"):
        draw(name, engine_class(name).sample)


@pytest.mark.parametrize("name", THEMED)
def test_dark_is_drawn_on_dark_and_light_on_light(name: str) -> None:
    for theme, dark in (("light", False), ("dark", True), ("auto", False)):
        with Image.open(io.BytesIO(draw(name, engine_class(name).sample, "png", theme=theme).data)) as picture:
            corner = picture.convert("RGB").getpixel((0, 0))
        assert (sum(corner) < 200) is dark  # type: ignore[arg-type]


@pytest.mark.parametrize("name", THEMED)
def test_auto_is_one_svg_that_follows_its_reader(name: str) -> None:
    svg = text(name, engine_class(name).sample, theme="auto")

    ElementTree.fromstring(svg)
    assert svg.count("prefers-color-scheme") >= 1
    ids = [element.get("id") for element in ElementTree.fromstring(svg).iter() if element.get("id")]
    assert len(ids) == len(set(ids))


@every_engine
def test_an_svg_is_still_itself_inside_of_a_page(name: str) -> None:
    """X9: an HTML parser must find the same elements as an XML parser, and nothing that runs."""
    svg = text(name, engine_class(name).sample)

    read_as_html = [element.tag.lower() for element in html5lib.parse(f"<body>{svg}</body>").iter() if SVG in element.tag]
    read_as_xml = [element.tag.lower() for element in ElementTree.fromstring(svg).iter() if SVG in element.tag]
    assert read_as_html == read_as_xml
    assert "<script" not in svg


@every_engine
def test_the_version_tells_all_that_the_picture_depends_on(name: str) -> None:
    version = engine_class(name).version()

    assert fonts.fonts_version() in version
    assert "edition 1" in version
    assert "None" not in version
    assert engine_class(name).missing() is None
