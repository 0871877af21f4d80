"""Kroki's names for types and options, and what they come to here."""

from pathlib import Path

import pytest

from pressroom.apps.diagrams.kroki.options import translate_options
from pressroom.apps.diagrams.kroki.types import KROKI_FORMATS, LANGUAGES, check_format, engine_of, supported_formats
from pressroom.errors import InvalidArgument
from pressroom.renderers import catalogue


def test_every_diagram_language_of_ours_has_a_name_of_krokis():
    documents = {"markdown", "html", "jinja", "svg"}

    assert set(LANGUAGES.values()) == set(catalogue.languages()) - documents
    assert LANGUAGES.keys() <= KROKI_FORMATS.keys()


@pytest.mark.parametrize("type", ["", "MERMAID", "../../x", "vega-lite", "x" * 10_000])
def test_an_unknown_type_is_refused_with_the_list_of_ours(type):
    with pytest.raises(
        InvalidArgument, match=r"Unsupported diagram type: .* Must be one of: bytefield, c4plantuml, d2, .*wavedrom"
    ) as refused:
        engine_of(type)

    assert len(str(refused.value)) < 500


def test_a_type_that_only_kroki_has_is_refused_with_these_words():
    with pytest.raises(InvalidArgument, match="here, though Kroki has it: 'ditaa'"):
        engine_of("ditaa")


@pytest.mark.parametrize("format", ["txt", "base64", "SVG", ""])
def test_a_format_that_cannot_be_made_is_refused_as_kroki_does(format):
    with pytest.raises(InvalidArgument, match=r"Unsupported output format: .* for graphviz. Must be one of: svg, png, pdf"):
        check_format("graphviz", format)


@pytest.mark.parametrize(("type", "format"), [("graphviz", "jpeg"), ("plantuml", "txt"), ("c4plantuml", "utxt")])
def test_a_format_that_only_kroki_has_is_refused_with_these_words(type, format):
    with pytest.raises(InvalidArgument, match=f"format here, though Kroki has it: '{format}' for {type}. Must be one of: svg"):
        check_format(type, format)


def test_the_documentation_has_every_type_with_what_is_made_of_it_here_and_what_is_not():
    table = (Path(__file__).parents[4] / "docs" / "kroki.md").read_text()

    for type, krokis in KROKI_FORMATS.items():
        ours = supported_formats(type) if type in LANGUAGES else ()
        missing = [format for format in krokis if format not in ours]
        row = f"| `{type}` | {', '.join(ours) or 'none'} | {', '.join(missing) or 'none'} |"
        assert row in table, row


@pytest.mark.parametrize(
    ("type", "given", "ours"),
    [
        ("graphviz", {"layout": "neato"}, {"layout": "neato"}),
        ("mermaid", {"theme": "forest"}, {"palette": "forest"}),
        ("mermaid", {"theme": "dark"}, {"theme": "dark"}),
        ("mermaid", {"look": "handDrawn", "flowchart_curve": "linear"}, {"look": "handDrawn", "curve": "linear"}),
        ("mermaid", {"flowchart_html-labels": "false"}, {"labels": "text"}),
        ("mermaid", {"html-labels": True}, {"labels": "html"}),
        ("mermaid", {"sequence_wrap": "true"}, {"wrap": True}),
        (
            "mermaid",
            {"theme-variables_primary-color": "#ffd", "theme-variables_line-color": "red"},
            {"variables": {"primaryColor": "#ffd", "lineColor": "red"}},
        ),
        ("d2", {"sketch": "", "layout": "elk"}, {"sketch": True, "layout": "elk"}),
        ("d2", {"sketch": "false"}, {"sketch": False}),
        ("d2", {"pad": "7"}, {"pad": 7}),
        ("d2", {"theme": "default"}, {"theme": "light"}),
        ("d2", {"theme": 200}, {"theme": "dark"}),
        ("d2", {"theme": "Dark Mauve"}, {"theme": "dark"}),
        ("svgbob", {"background": "white"}, {"background": "white"}),
        ("vegalite", {"theme": "dark", "scale": "3"}, {"theme": "dark", "scale": 3.0}),
        ("plantuml", {"no-metadata": ""}, {}),
    ],
)
def test_krokis_options_become_ours(type, given, ours):
    assert translate_options(engine_of(type), given) == (ours, None, [])


def test_a_theme_of_plantuml_becomes_a_line_of_the_source():
    assert translate_options(engine_of("plantuml"), {"theme": "cerulean"}) == ({}, "!theme cerulean", [])


@pytest.mark.parametrize(
    ("type", "given", "ours"),
    [
        ("graphviz", {"scale": "72"}, {}),
        ("graphviz", {"node-attribute-shape": "rect"}, {}),
        ("svgbob", {"stroke-width": "3"}, {}),
        ("d2", {"theme": "grape-soda"}, {"theme": "light"}),
        ("bytefield", {"theme": "dark"}, {}),
        ("wavedrom", {"no-such-thing": [1, 2]}, {}),
    ],
)
def test_what_has_no_effect_is_ignored_and_named(type, given, ours):
    assert translate_options(engine_of(type), given) == (ours, None, list(given))


@pytest.mark.parametrize(
    ("type", "given", "reason"),
    [
        ("graphviz", {"layout": "tala"}, "the option layout cannot be 'tala'; it is one of: dot, neato"),
        ("d2", {"theme": "pink"}, "no theme 'pink'; there are default, neutral-gray"),
        ("d2", {"sketch": "perhaps"}, "the option sketch cannot be 'perhaps'"),
        ("mermaid", {"theme": "pink"}, "the option palette cannot be 'pink'; it is one of: default"),
        ("mermaid", {"theme-variables_primary-color": "url(x)"}, "the option variables cannot be"),
        ("mermaid", {"look": ["classic"]}, "the option look cannot be"),
        ("plantuml", {"theme": "x\n!include /etc/passwd"}, "there is no theme"),
        ("vega", {"scale": "1e400"}, "the option scale cannot be"),
        ("vega", {"scale": "nan"}, "the option scale cannot be"),
        ("vega", {f"option-{n}": "" for n in range(101)}, "there are 101 options; the limit is 100"),
    ],
)
def test_a_wrong_value_is_refused_with_what_would_be_right(type, given, reason):
    with pytest.raises(InvalidArgument, match=reason):
        translate_options(engine_of(type), given)
