"""Vega and Vega-Lite: the data is in the specification, or there is none."""

import json
from typing import Any

import pytest

from pressroom.errors import TooLarge
from pressroom.renderers.vega import VegaLite
from tests.renderers.drawing import codes, draw, listener, refused, text

LITE: dict[str, Any] = json.loads(VegaLite.sample)


def written(spec: Any) -> str:
    return json.dumps(spec, indent=1)


@pytest.mark.parametrize("name", ["vega", "vega-lite"])
@pytest.mark.parametrize(
    ("source", "line", "column"),
    [('{\n "a": }', 2, 7), ('{"a": 1', 1, 8), ("[1]", 1, None), ("{} x", 1, 4)],
)
def test_json_that_is_none_is_told_with_its_place(name: str, source: str, line: int, column: int | None) -> None:
    error = refused(name, source)

    assert (error.line, error.column) == (line, column)


def test_a_mistake_in_the_specification_is_told_in_the_words_of_the_library() -> None:
    assert "at least one of the following properties" in str(refused("vega-lite", '{"a": 1}'))
    assert "unknown" in str(refused("vega-lite", written(LITE | {"mark": "nosuch"})))
    assert refused("vega", written({"signals": [{"name": "x", "update": "foo("}]})).line == 5


def test_one_language_is_not_taken_for_the_other() -> None:
    lite = LITE | {"$schema": "https://vega.github.io/schema/vega-lite/v6.json"}

    assert "not of vega" in str(refused("vega", written(lite)))


@pytest.mark.parametrize(
    ("name", "spec", "path"),
    [
        ("vega-lite", LITE | {"data": {"url": "URL"}}, "data.url"),
        ("vega-lite", {"layer": [LITE | {"data": {"url": "URL"}}]}, "layer[0].data.url"),
        (
            "vega-lite",
            LITE | {"transform": [{"lookup": "a", "from": {"data": {"url": "URL"}, "key": "b"}}]},
            "transform[0].from.data.url",
        ),
        ("vega", {"data": [{"name": "d", "url": "URL"}]}, "data[0].url"),
        ("vega", {"data": [{"name": "d", "url": {"signal": "'URL'"}}]}, "data[0].url"),
        (
            "vega",
            {"marks": [{"type": "group", "marks": [{"type": "image", "encode": {"enter": {"url": {"value": "URL"}}}}]}]},
            "marks[0].marks[0].encode.enter.url",
        ),
    ],
)
def test_nothing_is_fetched(name: str, spec: dict[str, Any], path: str) -> None:
    """D6"""
    with listener() as (url, calls):
        for address in (url, "file:///etc/passwd", "/etc/passwd", "HTTP://127.0.0.1:1/"):
            error = refused(name, written(spec).replace("URL", address))

            assert str(error).startswith(f"{path} refers to")
            assert error.line
    assert not calls


@pytest.mark.parametrize("output", ["svg", "png", "pdf"])
def test_an_image_whose_address_is_in_the_data_is_left_out(output: str) -> None:
    """D6: only the drawn picture knows it."""
    with listener() as (url, calls):
        image = {"url": {"field": "u"}, "width": {"value": 10}, "height": {"value": 10}}
        spec = {
            "width": 10,
            "height": 10,
            "data": [{"name": "d", "values": [{"u": url}, {"u": "/etc/passwd"}]}],
            "marks": [{"type": "image", "from": {"data": "d"}, "encode": {"enter": image}}],
        }
        rendered = draw("vega", written(spec), output)

    assert "blocked_fetch" in codes(rendered)
    assert not calls


def test_a_chart_too_large_or_too_deep_is_refused() -> None:
    with pytest.raises(TooLarge):
        draw("vega", '{"width": 1e9, "height": 10}')
    with pytest.raises(TooLarge):
        draw("vega", '{"a":' * 100 + "1" + "}" * 100)
    with pytest.raises(TooLarge):
        draw("vega", '{"a":' * 100_000 + "1" + "}" * 100_000)


def test_a_control_character_does_not_take_the_process_with_it() -> None:
    """vl-convert aborts on one, wherever in the data it is escaped. A fuzzer found it."""
    assert "U+0008" in str(refused("vega-lite", VegaLite.sample.replace("pdf", "p\\bdf")))


def test_chance_is_noticed() -> None:
    spec = {"width": 9, "height": 9, "signals": [{"name": "a", "update": "random()"}]}

    assert "not_repeatable" in codes(draw("vega", written(spec)))


def test_the_specification_goes_before_the_theme() -> None:
    spec = LITE | {"config": {"axis": {"domainColor": "#123456"}}}

    assert "#123456" in text("vega-lite", written(spec), theme="dark")
