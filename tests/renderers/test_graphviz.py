"""Graphviz in WebAssembly: located mistakes, no files, and an end."""

from pathlib import Path

import pytest

from pressroom.errors import Timeout, TooLarge
from pressroom.renderers import Limits
from pressroom.renderers.graphviz import syntax as dotsyntax
from tests.renderers.drawing import codes, draw, engine_class, red_picture, refused, shows_red, text

LAYOUTS = ["dot", "neato", "fdp", "sfdp", "circo", "twopi", "osage", "patchwork"]


@pytest.mark.parametrize(
    ("source", "line", "column", "said"),
    [
        ("digraph {\n  a -> b\n  c -> -> d\n}", 3, 8, "'->'"),
        ("digraph {\n  a -> b\n", 3, 1, "closing }"),
        ("graph {\n  a -> b\n}", 2, 5, "a graph has --, not ->"),
        ('digraph {\n  a [label="x\n}', 2, 12, "never closed"),
        ("digraph {\n  a [label=<<b>x</b>]\n}", 2, 12, "HTML label"),
        ("digraph {\n  a [shape box]\n}", 2, 12, "expected ="),
        ("digraph {\n  b [=]\n}", 2, 6, "attribute"),
        ("nope", 1, 1, "graph or digraph"),
        ("digraph { /* a\n b }", 1, 11, "comment"),
    ],
)
def test_a_mistake_is_told_with_its_place(source: str, line: int, column: int, said: str) -> None:
    error = refused("graphviz", source)

    assert (error.line, error.column) == (line, column)
    assert said in str(error)


@pytest.mark.parametrize(
    "source",
    [
        'strict digraph "a{b" { a:p:n -> {b c} -> subgraph x { d } [color=red,style="a" "b"=c]; e=f; node[]; /* } */ }',
        'graph { a -- b // }\n# }\n c, d -- e; -1.5 -- .5; "x" + "y" }',
    ],
)
def test_good_dot_has_no_mistake(source: str) -> None:
    assert dotsyntax.find_syntax_error(source) is None
    assert text("graphviz", source)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_draws(layout: str) -> None:
    assert text("graphviz", "graph { a -- b -- c -- a }", layout=layout).count("<text") == 3


@pytest.mark.parametrize(
    "attribute",
    ['image="{file}"', 'shape=custom shapefile="{file}"', 'label=<<TABLE><TR><TD><IMG SRC="{file}"/></TD></TR></TABLE>>'],
)
@pytest.mark.parametrize("output", ["svg", "png"])
def test_no_file_is_read(attribute: str, output: str, tmp_path: Path) -> None:
    """D3"""
    canary = red_picture(tmp_path)

    rendered = draw("graphviz", f"digraph {{\n  a [{attribute.format(file=canary)}]\n}}", output)

    assert [notice.line for notice in rendered.warnings if notice.code == "blocked_fetch"] == [2]
    assert str(canary).encode() not in rendered.data
    assert output == "svg" or not shows_red(rendered.data)


def test_a_link_is_kept_and_a_script_is_not() -> None:
    rendered = draw("graphviz", 'digraph { a [URL="https://example.com"] b [URL="javascript:alert(1)"] }')

    assert b'href="https://example.com"' in rendered.data
    assert b"javascript" not in rendered.data
    assert "unsafe_removed" in codes(rendered)


def test_a_label_in_html_becomes_its_text_and_is_noticed() -> None:
    """This build has no HTML labels; without care it draws the name of the node instead."""
    rendered = draw("graphviz", "digraph { a [label=<<TABLE><TR><TD>one</TD><TD><B>two &amp; 3</B></TD></TR></TABLE>>] }")

    assert b"one \xc2\xa0two &amp; 3" in rendered.data or b"one  two &amp; 3" in rendered.data
    assert "html_left_out" in codes(rendered)


def test_a_graph_that_takes_too_long_ends_as_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """D3"""
    dense = "graph {" + ";".join(f"a{i} -- a{j}" for i in range(120) for j in range(i)) + "}"

    with monkeypatch.context() as hurried:
        hurried.setattr(engine_class("graphviz"), "limits", Limits(seconds=0.5))
        with pytest.raises(Timeout):
            draw("graphviz", dense)
    assert draw("graphviz", "graph { a }").data


def test_deep_nesting_is_too_large() -> None:
    """D3"""
    nested = "digraph {" + "".join(f"subgraph cluster_{n} {{" for n in range(10_000)) + "a" + "}" * 10_001

    with pytest.raises(TooLarge):
        draw("graphviz", nested)


def test_what_the_source_says_goes_before_our_defaults() -> None:
    assert 'stroke="red"' in text("graphviz", "digraph { node [color=red]; a }", theme="dark")


def test_a_source_is_utf8_whatever_it_says_about_itself() -> None:
    drawn = text("graphviz", 'digraph G { graph [charset=latin1] a [label="áä charset=latin1"] }')

    assert ">áä charset=latin1<" in drawn
