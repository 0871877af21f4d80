"""D2: a program with a mind for files, kept from them."""

from pathlib import Path

import pytest

from pressroom.errors import Timeout
from pressroom.renderers import Limits
from pressroom.renderers.d2 import source as d2source
from pressroom.renderers.d2.source import find_elements
from tests.renderers.drawing import codes, draw, engine_class, listener, red_picture, refused, shows_red, text


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("a -> b: {\n  c -> -> d\n}", 2, 3),
        ("a -> -> b", 1, 1),
        ("a\nb: {shape: nosuch}", 2, 12),
    ],
)
def test_a_mistake_is_told_with_its_place(source: str, line: int, column: int) -> None:
    error = refused("d2", source)

    assert (error.line, error.column) == (line, column)
    assert error.excerpt == source.split("\n")[line - 1]


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("a\nx: @{path}", 2, 4),
        ("...@{path}", 1, 1),
        ('x: {{\n  y: @"{path}"\n}}', 2, 6),
        ("x: {{...@{path}}}", 1, 5),
        ("a; x: @../{path}", 1, 7),
        ("layers: {{\n  b: @{path}\n}}", 2, 6),
    ],
)
def test_an_import_is_refused(source: str, line: int, column: int, tmp_path: Path) -> None:
    """D7"""
    (tmp_path / "secret.d2").write_text("canary-in-a-file")

    error = refused("d2", source.format(path=tmp_path / "secret"))

    assert (error.line, error.column) == (line, column)
    assert "imports are not accepted" in str(error)


@pytest.mark.parametrize("source", ['a: "@x"', "a: me@example.com", "# @x\na", "a: |md\n  @x\n|", "a: '@x'"])
def test_what_only_looks_like_an_import_is_drawn(source: str) -> None:
    assert text("d2", source)


@pytest.mark.parametrize(
    "source",
    [
        "x: {{icon: {url}}}",
        "x.icon: {url}",
        "x: {{shape: image; icon: {url}}}",
        "x: {{ic\\on: {url}}}",
        "classes: {{c: {{icon: {url}}}}}\nx.class: c",
        "vars: {{p: {url}}}\nx: {{icon: ${{p}}}}",
        "*.icon: {url}\nx",
    ],
)
def test_an_icon_that_is_not_embedded_is_left_out(source: str, tmp_path: Path) -> None:
    """D7: the program embeds icons from disk, bundled or not."""
    canary = red_picture(tmp_path)
    with listener() as (url, calls):
        for address in (str(canary), url.replace(":", "\\:") if "icon: {url}" in source else url):
            rendered = draw("d2", source.format(url=address), "png")
            assert "blocked_fetch" in codes(rendered)
            assert not shows_red(rendered.data)
    assert not calls


def test_an_image_that_came_from_elsewhere_is_not_let_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Should the source outwit our reading of it, the drawing still holds no image that the source does not."""
    monkeypatch.setattr(d2source, "without_icons", str)

    assert not shows_red(draw("d2", f"x: {{icon: {red_picture(tmp_path)}}}", "png").data)


def test_texts_are_not_searched_for_icons() -> None:
    source = 'a: |md\n  icon: /etc/x\n|\nb: "icon: x"\nc: ||go\n  icon: | x\n|| # icon: x\n'

    assert list(find_elements(source)) == []


def test_only_the_root_board_is_drawn_and_that_is_said() -> None:
    assert "one_board" in codes(draw("d2", "a -> b\nlayers: {\n  x: {c -> d}\n}\n"))


def test_a_render_that_takes_too_long_ends_as_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_class("d2"), "limits", Limits(seconds=0.3))
    dense = "\n".join(f"a{i} -> a{j}" for i in range(60) for j in range(i))

    with pytest.raises(Timeout):
        draw("d2", dense, layout="elk")


def test_a_sketch_and_both_layouts_draw() -> None:
    sample = engine_class("d2").sample

    assert len({text("d2", sample), text("d2", sample, sketch=True), text("d2", sample, layout="elk")}) == 3
