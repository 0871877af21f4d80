"""The diagram types of Kroki: their languages here, and the formats that Kroki and we make of each."""

from pressroom.errors import InvalidArgument
from pressroom.renderers import Engine, catalogue

LANGUAGES = {
    "bytefield": "bytefield",
    "c4plantuml": "plantuml",
    "d2": "d2",
    "dbml": "dbml",
    "dot": "dot",
    "graphviz": "dot",
    "mermaid": "mermaid",
    "nomnoml": "nomnoml",
    "pikchr": "pikchr",
    "plantuml": "plantuml",
    "svgbob": "svgbob",
    "vega": "vega",
    "vegalite": "vega-lite",
    "wavedrom": "wavedrom",
}

BASE64 = "base64"  # a PNG as a data: address

_OF_PLANTUML = ("png", "svg", "jpeg", "pdf", "txt", "utxt", BASE64)
_OF_BLOCKDIAG = ("png", "svg", "pdf")

# What Kroki makes of each of its types, in one version or another.
KROKI_FORMATS = {
    "actdiag": _OF_BLOCKDIAG,
    "blockdiag": _OF_BLOCKDIAG,
    "bpmn": ("svg",),
    "bytefield": ("svg",),
    "c4plantuml": _OF_PLANTUML,
    "d2": ("svg",),
    "dbml": ("svg",),
    "diagramsnet": ("png", "svg"),
    "ditaa": ("png", "svg"),
    "dot": ("png", "svg", "jpeg", "pdf"),
    "erd": ("png", "svg", "jpeg", "pdf"),
    "excalidraw": ("svg",),
    "goat": ("svg",),
    "graphviz": ("png", "svg", "jpeg", "pdf"),
    "mermaid": ("png", "svg"),
    "nomnoml": ("svg",),
    "nwdiag": _OF_BLOCKDIAG,
    "packetdiag": _OF_BLOCKDIAG,
    "pikchr": ("svg",),
    "plantuml": _OF_PLANTUML,
    "rackdiag": _OF_BLOCKDIAG,
    "seqdiag": _OF_BLOCKDIAG,
    "structurizr": _OF_PLANTUML,
    "svgbob": ("svg",),
    "symbolator": ("svg",),
    "tikz": ("png", "svg", "jpeg", "pdf"),
    "umlet": ("png", "svg", "jpeg"),
    "vega": ("png", "svg", "pdf"),
    "vegalite": ("png", "svg", "pdf"),
    "wavedrom": ("svg",),
    "wireviz": ("png", "svg"),
}


def engine_of(type: str) -> type[Engine]:
    """Raises InvalidArgument with the types there are."""
    if type in LANGUAGES:
        return catalogue.engine_for(LANGUAGES[type], "svg")
    known = " here, though Kroki has it" if type in KROKI_FORMATS else ""
    raise InvalidArgument(f"Unsupported diagram type{known}: {type[:100]!r}. Must be one of: {', '.join(LANGUAGES)}.")


def supported_formats(type: str) -> tuple[str, ...]:
    """All that the engine makes, also where Kroki makes less of it."""
    return (*engine_of(type).makes, *([BASE64] if BASE64 in KROKI_FORMATS[type] else []))


def check_format(type: str, format: str) -> str:
    offered = supported_formats(type)
    if format not in offered:
        known = " here, though Kroki has it" if format in KROKI_FORMATS[type] else ""
        offer = ", ".join(offered)
        raise InvalidArgument(f"Unsupported output format{known}: {format[:100]!r} for {type}. Must be one of: {offer}.")
    return format
