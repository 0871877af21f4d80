"""What is printed: sources in several languages, and some with a mistake.

Of each sort there are a few, and each is printed many times: a line that changes nothing of the picture keeps the cache from
knowing it again.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from pressroom.errors import InvalidArgument
from pressroom.renderers import documents
from pressroom.renderers.documents import RenderRequest

TEAMS = ("billing", "search", "checkout", "identity", "shipping", "catalogue", "reports", "mobile")
PARTS = ("gateway", "worker", "ledger", "cache", "index", "mailer", "scheduler", "archive", "importer", "console")


@dataclass(frozen=True)
class DemoSource:
    """One thing to be rendered."""

    language: str
    output: str
    source: str
    subject: str
    options: Mapping[str, Any] = field(default_factory=dict)
    broken: bool = False

    @property
    def request(self) -> RenderRequest:
        return RenderRequest(self.language, self.output, self.source.encode(), self.options)


type Maker = Callable[[Random], DemoSource]

FEW = 3  # of each sort
_COMMENTS = {
    "mermaid": "%% build {}\n",
    "dot": "// build {}\n",
    "d2": "# build {}\n",
    "markdown": "\n<!-- build {} -->\n",
    "html": "<!-- build {} -->\n",
}
_BUILD = re.compile(r"\n?.*\bbuild \d+\b.*\n")


def make_random_source(makers: Sequence[tuple[int, Maker]], rng: Random) -> DemoSource:
    (maker,) = rng.choices([maker for _, maker in makers], [weight for weight, _ in makers])
    chosen, number = maker(Random(rng.randrange(FEW))), rng.getrandbits(40)
    if chosen.language == "vega-lite":
        text = chosen.source.replace("{\n", f'{{\n  "description": "build {number}",\n', 1)
    else:
        text = chosen.source + _COMMENTS[chosen.language].format(number)
    return replace(chosen, source=text)


def without_comments(source: str) -> str:
    """The source without the line that changes nothing."""
    return _BUILD.sub("\n", source).strip()


def _choose_names(rng: Random) -> tuple[str, list[str]]:
    return rng.choice(TEAMS), rng.sample(PARTS, 4)


def make_flowchart(rng: Random) -> DemoSource:
    team, (one, two, three, four) = _choose_names(rng)
    text = f"""flowchart LR
  accTitle: How {team} answers a request, {rng.randrange(1000)}
  in([Request]) --> {one}[{one.title()}]
  {one} --> {two}{{In {two}?}}
  {two} -->|yes| out([Answer])
  {two} -->|no| {three}[({three.title()})]
  {three} --> {four}[{four.title()}] --> out
"""
    return DemoSource("mermaid", rng.choice(("svg", "svg", "png")), text, f"{team}/request-path")


def make_sequence_diagram(rng: Random) -> DemoSource:
    team, (one, two, three, _) = _choose_names(rng)
    text = f"""sequenceDiagram
  accTitle: A visit to {team}, {rng.randrange(1000)}
  participant R as Reader
  participant A as {one.title()}
  participant B as {two.title()}
  participant C as {three.title()}
  R->>A: open the page
  A->>B: which version?
  B-->>A: number {rng.randrange(2, 40)}
  A->>C: fetch it
  C-->>A: bytes
  A-->>R: the page
"""
    return DemoSource("mermaid", "svg", text, f"{team}/visit")


def make_state_diagram(rng: Random) -> DemoSource:
    team, (one, two, _, _) = _choose_names(rng)
    text = f"""stateDiagram-v2
  accTitle: An order of {team}, {rng.randrange(1000)}
  [*] --> received
  received --> {one}: paid
  {one} --> {two}: packed
  {two} --> delivered
  received --> cancelled
  delivered --> [*]
"""
    return DemoSource("mermaid", rng.choice(("svg", "pdf")), text, f"{team}/order-states")


def make_service_map(rng: Random) -> DemoSource:
    team, parts = _choose_names(rng)
    lines = "\n".join(f"  {one} -> {two};" for one, two in zip(parts, [*parts[1:], "store"], strict=True))
    text = f"""digraph {team} {{
  label="{team.title()} on machine {rng.randrange(1000)}"; rankdir=LR; fontname="Liberation Sans";
  node [shape=box, style="rounded,filled", fillcolor="#dbeafe", fontname="Liberation Sans"];
  store [shape=cylinder, fillcolor="#fde68a"];
{lines}
  {parts[0]} -> {parts[2]} [style=dashed, label="when it fails"];
}}
"""
    return DemoSource("dot", rng.choice(("svg", "svg", "png")), text, f"{team}/services")


def make_house_drawing(rng: Random) -> DemoSource:
    team, (one, two, three, four) = _choose_names(rng)
    text = f"""title: {team.title()}, as of change {rng.randrange(1000)} {{near: top-center; shape: text; style.font-size: 24}}
reader: Reader {{shape: person}}
{team}: {team.title()} {{
  {one}: {one.title()}
  {two}: {two.title()} {{shape: queue}}
  {three}: {three.title()}
  {four}: {four.title()} {{shape: cylinder}}
  {one} -> {two} -> {three} -> {four}
}}
reader -> {team}.{one}: asks
{team}.{four} -> reader: a link
"""
    return DemoSource("d2", "svg", text, f"{team}/architecture")


def make_bar_chart(rng: Random) -> DemoSource:
    team, parts = _choose_names(rng)
    rows = ", ".join(f'{{"part": "{part}", "hours": {rng.randrange(8, 90)}}}' for part in parts)
    text = f"""{{
  "title": "Hours spent by {team}",
  "width": 320, "height": 160,
  "data": {{"values": [{rows}]}},
  "mark": "bar",
  "encoding": {{
    "x": {{"field": "hours", "type": "quantitative"}},
    "y": {{"field": "part", "type": "nominal", "sort": "-x", "title": null}},
    "color": {{"field": "part", "type": "nominal", "legend": null}}
  }}
}}
"""
    return DemoSource("vega-lite", rng.choice(("svg", "png")), text, f"{team}/hours")


def make_chapter(rng: Random) -> DemoSource:
    team, (one, two, three, _) = _choose_names(rng)
    number = rng.randrange(1, 400)
    text = f"""---
title: Chapter {number}
lang: en
---
# Chapter {number}: {team.title()}

What *{team}* does, **who** is called at night, and where the `{one}` lies.

| Part | Owner | Restarts |
|:-----|:-----:|---------:|
| {one} | {team} | {rng.randrange(9)} |
| {two} | {team} | {rng.randrange(9)} |

> [!NOTE]
> The {three} is read-only on Sundays.

```mermaid
flowchart LR
  accTitle: From {one} to {three}
  {one} --> {two} --> {three}
```

- [x] looked at the {one}
- [ ] looked at the {two}
"""
    return DemoSource("markdown", rng.choice(("html", "pdf")), text, f"handbook/chapter-{number}")


def make_letter(rng: Random) -> DemoSource:
    number = rng.randrange(100, 999)
    text = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Invoice {number}</title>
<style>body {{ font: 11pt/1.5 "Liberation Sans", sans-serif; }} h1 {{ color: #2563eb; }}
td, th {{ padding: 6pt; border-bottom: 1px solid #d8dde3; text-align: left; }}</style></head>
<body><h1>Invoice {number}</h1>
<table><tr><th>What</th><th>Amount</th></tr><tr><td>Pages printed</td><td>{rng.randrange(20, 900)}.00</td></tr></table>
</body></html>
"""
    return DemoSource("html", "pdf", text, f"invoices/{number}")


def make_broken_arrow(rng: Random) -> DemoSource:
    team, (one, two, three, _) = _choose_names(rng)
    text = f"flowchart TD\n  {one} --> {two}\n{'  %% later' * rng.randrange(2)}\n  {two} -->| {three}\n"
    return DemoSource("mermaid", "svg", text, f"{team}/request-path", broken=True)


def make_broken_brace(rng: Random) -> DemoSource:
    team, parts = _choose_names(rng)
    text = "digraph {\n" + "".join(f"  {one} -> {parts[0]};\n" for one in parts[: rng.randrange(1, 4)]) + "  a -> -> b;\n}\n"
    return DemoSource("dot", "svg", text, f"{team}/services", broken=True)


def make_broken_shape(rng: Random) -> DemoSource:
    team, (one, two, three, _) = _choose_names(rng)
    text = f"{one}: {one.title()}\n{two}: {{shape: cylindre}}\n{one} -> {two} -> {three}\n"
    return DemoSource("d2", "svg", text, f"{team}/architecture", broken=True)


def make_broken_data(rng: Random) -> DemoSource:
    team, parts = _choose_names(rng)
    rows = f'[{{"part": "{parts[0]}", "hours": }}]'
    text = f'{{\n  "title": "Hours of {team}",\n  "data": {{"values": {rows}}},\n  "mark": "bar"\n}}\n'
    return DemoSource("vega-lite", "svg", text, f"{team}/hours", broken=True)


GOOD: tuple[tuple[int, Maker], ...] = (
    *((4, make_flowchart), (3, make_sequence_diagram), (2, make_state_diagram), (4, make_service_map)),
    *((3, make_house_drawing), (2, make_bar_chart), (4, make_chapter), (2, make_letter)),
)
BROKEN: tuple[tuple[int, Maker], ...] = (
    (5, make_broken_arrow),
    (3, make_broken_brace),
    (2, make_broken_shape),
    (1, make_broken_data),
)
PICTURES = (make_flowchart, make_sequence_diagram, make_service_map, make_house_drawing)


def available_makers(makers: tuple[tuple[int, Maker], ...]) -> list[tuple[int, Maker]]:
    """Those for which there is an engine here."""
    return [(weight, maker) for weight, maker in makers if _is_renderable(maker(Random(0)))]


def _is_renderable(source: DemoSource) -> bool:
    try:
        return "missing" not in documents.engines_of(documents.make_plan(source.request)).values()
    except InvalidArgument:
        return False
