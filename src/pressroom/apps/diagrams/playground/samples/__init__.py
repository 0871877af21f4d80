"""Sources to begin with, for every language one or more. They are files, so that they can be rendered and looked at."""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

_FILES = {
    "markdown": {"A page with everything": "report.md"},
    "html": {"An invoice": "invoice.html"},
    "jinja": {"An invoice": "invoice.jinja"},
    "mermaid": {
        "Flowchart": "flow.mmd",
        "Sequence": "sequence.mmd",
        "States": "states.mmd",
        "Classes": "classes.mmd",
        "Entities": "tables.mmd",
        "Gantt": "plan.mmd",
        "Pie": "shares.mmd",
        "Mind map": "ideas.mmd",
    },
    "dot": {"A directed graph": "tree.dot", "Clusters": "clusters.dot"},
    "d2": {"A service": "service.d2", "A sequence": "sequence.d2"},
    "vega-lite": {"Bars": "bars.vl.json"},
    "vega": {"A curve": "curve.vg.json"},
    "svg": {"A badge": "badge.svg"},
    "plantuml": {"A sequence": "login.puml"},
    "nomnoml": {"Classes": "classes.nomnoml"},
    "dbml": {"A schema": "schema.dbml"},
    "wavedrom": {"A handshake": "handshake.wavedrom"},
    "bytefield": {"A frame": "frame.bytefield"},
    "pikchr": {"A pipeline": "pipeline.pikchr"},
    "svgbob": {"A sketch": "sketch.bob"},
}


class Sample(NamedTuple):
    title: str
    text: str


@cache
def samples_of(language: str) -> tuple[Sample, ...]:
    folder = files(__name__)
    return tuple(Sample(title, (folder / name).read_text("utf-8")) for title, name in _FILES.get(language, {}).items())
