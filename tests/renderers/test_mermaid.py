"""Mermaid: what it says when it fails, and that its labels fit."""

import re

import pytest

from pressroom.errors import Timeout, TooLarge
from pressroom.renderers.fonts import textwidth
from pressroom.renderers.mermaid.engine import Mermaid, title_of
from pressroom.renderers.mermaid.merman import Merman
from tests.renderers.drawing import codes, draw, engine, listener, red_picture, refused, text


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("flowchart TD\n  A --> B\n  B[[never closed\n", 3, None),
        ("sequenceDiagram\n  Alice->>\n", 2, None),
        ("classDiagram\n  class A {\n", 2, None),
        ('pie\n  "a" : x\n', 2, 3),
        ("\nnope\n", 2, None),
        ("flowchart TD\n  ä[ok] --> B\n  A -->\n", 3, None),
    ],
)
def test_a_mistake_is_told_with_its_place(source: str, line: int, column: int | None) -> None:
    error = refused("mermaid", source)

    assert error.line == line
    assert error.excerpt
    assert column is None or error.column == column


@pytest.mark.parametrize("output", ["svg", "png", "pdf"])
def test_an_image_by_address_is_left_out(output: str, tmp_path: object) -> None:
    """D1"""
    from pathlib import Path

    canary = red_picture(Path(str(tmp_path)))
    with listener() as (url, calls):
        for address in (url, str(canary), f"file://{canary}"):
            rendered = draw("mermaid", f'flowchart TD\n  A@{{ img: "{address}", label: "x", w: 60, h: 60 }}\n', output)

            assert [notice.line for notice in rendered.warnings if notice.code == "blocked_fetch"] == [2]
            assert address.encode() not in rendered.data
    assert not calls


@pytest.mark.parametrize(
    "source",
    [
        'flowchart TD\n  A --> B\n  click A href "javascript:alert(1)"',
        "flowchart TD\n  A --> B\n  click A call alert(1)",
        '%%{init: {"securityLevel": "loose", "themeCSS": "}</style><script>alert(1)</script>"}}%%\nflowchart TD\n  A',
        'flowchart TD\n  A["<img src=x onerror=alert(1)>"]',
        '%%{init: {"fontFamily": "x;}</style><script>alert(1)</script>"}}%%\nflowchart TD\n  A --> B',
        "flowchart TD\n  A:::x --> B\n  classDef x fill:#f00;}</style><script>alert(1)</script>",
    ],
)
def test_nothing_runs(source: str) -> None:
    """X5"""
    svg = text("mermaid", source)

    assert "<script" not in svg
    assert "javascript:" not in svg
    assert not re.search(r"\son\w+=", svg)


def test_labels_are_as_wide_as_our_font_makes_them() -> None:
    label = "WWW mm"

    box = re.search(r'<foreignObject width="([\d.]+)"', text("mermaid", f"flowchart TD\n  A[{label}]"))

    assert box
    assert float(box[1]) >= textwidth.text_width(label) * 16 - 0.5


def test_today_is_left_out_and_said_so() -> None:
    gantt = "gantt\n  title A plan\n  dateFormat YYYY-MM-DD\n  section One\n  Build it :a, 2024-01-01, 5d\n"

    assert codes(draw("mermaid", gantt)) == {"no_today"}
    assert 'class="today"' not in text("mermaid", gantt)


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("---\ntitle: RenderEndpoint\n---\nflowchart TD\n  A", "RenderEndpoint"),
        ("pie title Pets\n", "Pets"),
        ("pie showData title Pets\n", "Pets"),
        ("gantt\n  title A plan\n", "A plan"),
        ("flowchart TD\n  title --> b", None),
        ("flowchart TD\n  A", None),
    ],
)
def test_a_title_of_the_source_names_the_picture(source: str, title: str | None) -> None:
    assert title_of(source) == title


def test_a_sketch_is_the_same_sketch_every_time() -> None:
    sketch = [text("mermaid", Mermaid.sample, look="handDrawn") for _ in range(2)]

    assert sketch[0] == sketch[1] != text("mermaid", Mermaid.sample)


def test_too_many_edges_are_too_large() -> None:
    """D2: ten thousand edges end quickly, one way or the other."""
    many = "flowchart TD\n" + "\n".join(f"  a{n} --> b{n}" for n in range(10_000))

    with pytest.raises(TooLarge):
        draw("mermaid", many)


def test_a_layout_that_takes_too_long_ends_as_a_timeout() -> None:
    many = "flowchart TD\n" + "\n".join(f"  a{n} --> a{n * 7 % 300}" for n in range(300))

    with pytest.raises(Timeout):
        Merman(0.02).draw(many, {}, "x", plain=False)


def test_a_failure_does_not_spoil_the_next_render() -> None:
    refused("mermaid", "flowchart TD\n  A[[")

    assert engine("mermaid").render(Mermaid.sample, "svg", Mermaid.Options()).data
