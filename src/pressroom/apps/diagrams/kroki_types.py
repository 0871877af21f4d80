"""Kroki's words and ours: the names of diagram types, and their options."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args, get_origin

import msgspec

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
KROKIS = {
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

MOST_OPTIONS = 100

# The themes of D2 that Kroki names, by D2's number.
D2_THEMES = {
    "default": 0,
    "neutral-gray": 1,
    "neutral-grey": 1,
    "flagship-terrastruct": 3,
    "cool-classics": 4,
    "mixed-berry-blue": 5,
    "grape-soda": 6,
    "aubergine": 7,
    "colorblind-clear": 8,
    "vanilla-nitro-cola": 100,
    "orange-creamsicle": 101,
    "shirley-temple": 102,
    "earth-tones": 103,
    "everglade-green": 104,
    "buttered-toast": 105,
    "dark-mauve": 200,
    "dark-flagship-terrastruct": 201,
    "terminal": 300,
    "terminal-grayscale": 301,
}
_D2_DARK = {200, 201}

_SHADES = ("light", "dark", "auto")
_KEBAB = re.compile(r"-([a-z0-9])")
_MERMAID = {"look": "look", "flowchart_curve": "curve", "wrap": "wrap", "sequence_wrap": "wrap"}
_MERMAID_LABELS = ("html-labels", "flowchart_html-labels")
_MERMAID_VARIABLE = "theme-variables_"
_PLANTUML_THEME = re.compile(r"[A-Za-z0-9_-]{1,60}")


class Chosen(NamedTuple):
    """Options as an engine takes them, a line that must stand in the source, and the names of options without effect."""

    options: dict[str, Any]
    line: str | None
    ignored: Sequence[str]


def engine_of(type: str) -> type[Engine]:
    """Raises InvalidArgument with the types there are."""
    if type in LANGUAGES:
        return catalogue.engine_for(LANGUAGES[type], "svg")
    known = " here, though Kroki has it" if type in KROKIS else ""
    raise InvalidArgument(f"Unsupported diagram type{known}: {type[:100]!r}. Must be one of: {', '.join(LANGUAGES)}.")


def formats_of(type: str) -> tuple[str, ...]:
    """All that the engine makes, also where Kroki makes less of it."""
    return (*engine_of(type).makes, *([BASE64] if BASE64 in KROKIS[type] else []))


def format_of(type: str, format: str) -> str:
    offered = formats_of(type)
    if format not in offered:
        known = " here, though Kroki has it" if format in KROKIS[type] else ""
        offer = ", ".join(offered)
        raise InvalidArgument(f"Unsupported output format{known}: {format[:100]!r} for {type}. Must be one of: {offer}.")
    return format


def translate(engine: type[Engine], given: Mapping[str, Any]) -> Chosen:
    """Kroki's options as ours. Those that we do not have are ignored, as Kroki ignores them; a wrong value is refused."""
    if len(given) > MOST_OPTIONS:
        raise InvalidArgument(f"there are {len(given)} options; the limit is {MOST_OPTIONS}")
    rule = _RULES.get(engine.takes, _plain)
    known = {field.name: field.type for field in msgspec.structs.fields(engine.Options)}
    options: dict[str, Any] = {}
    ignored = []
    line = None
    for name, value in given.items():
        meant = rule(name, value)
        if meant is None or meant.partly or not meant.options.keys() <= known.keys():
            ignored.append(name)
        if meant is not None:
            line = meant.line or line
            for ours, chosen in meant.options.items():
                if ours in known:
                    options[ours] = _joined(options.get(ours), _converted(engine, ours, chosen, known[ours]))
    return Chosen(options, line, ignored)


class _Meant(NamedTuple):
    """What one of Kroki's options comes to. `partly` if it was to do more than we can."""

    options: Mapping[str, Any] = {}
    line: str | None = None
    partly: bool = False


def _plain(name: str, value: Any) -> _Meant | None:
    """Options of ours that mean nothing else to Kroki."""
    return _Meant({name: value}) if name in ("background", "description", "scale", "theme", "title", "width") else None


def _dot(name: str, value: Any) -> _Meant | None:
    if name == "scale":  # of the coordinates in the source, not of the picture
        return None
    return _Meant({name: value}) if name == "layout" else _plain(name, value)


def _svgbob(name: str, value: Any) -> _Meant | None:
    return None if name == "scale" else _plain(name, value)


def _d2(name: str, value: Any) -> _Meant | None:
    if name == "theme" and value not in _SHADES:
        return _d2_theme(str(value))
    return _Meant({name: value}) if name in ("layout", "sketch", "pad") else _plain(name, value)


def _d2_theme(value: str) -> _Meant:
    """We have the first of the light ones and the first of the dark ones. The others become the one that they resemble."""
    number = D2_THEMES.get(re.sub(r"\s", "-", value.lower()), value)
    if str(number) not in map(str, D2_THEMES.values()):
        raise InvalidArgument(f"d2: there is no theme {value[:100]!r}; there are {', '.join(D2_THEMES)}")
    shade = "dark" if int(number) in _D2_DARK else "light"
    return _Meant({"theme": shade}, partly=int(number) not in (0, 200))


def _mermaid(name: str, value: Any) -> _Meant | None:
    if name == "theme":
        return _Meant({"theme" if value in _SHADES else "palette": value})
    if name in _MERMAID:
        return _Meant({_MERMAID[name]: value})
    if name in _MERMAID_LABELS:
        return _Meant({"labels": "text" if str(value).lower() in ("false", "0") else "html"})
    if name.startswith(_MERMAID_VARIABLE):
        return _Meant({"variables": {_camel(name.removeprefix(_MERMAID_VARIABLE)): str(value)}})
    return _plain(name, value)


def _plantuml(name: str, value: Any) -> _Meant | None:
    if name == "no-metadata":
        return _Meant()  # ours have none
    if name == "theme" and value not in _SHADES:
        if not _PLANTUML_THEME.fullmatch(str(value)):
            raise InvalidArgument(f"plantuml: there is no theme {str(value)[:100]!r}")
        return _Meant(line=f"!theme {value}")
    return _plain(name, value)


type _Rule = Callable[[str, Any], _Meant | None]
_RULES: dict[str, _Rule] = {"d2": _d2, "dot": _dot, "mermaid": _mermaid, "plantuml": _plantuml, "svgbob": _svgbob}


def _converted(engine: type[Engine], name: str, value: Any, kind: Any) -> Any:
    """A value as its option wants it. What comes by a header or in a URL is text, and a flag is often an empty one."""
    given = "true" if value == "" and kind is bool else value
    try:
        return msgspec.to_builtins(msgspec.convert(given, kind, strict=False))
    except msgspec.ValidationError as reason:
        choices = ", ".join(map(str, _choices(kind)))
        right = f"it is one of: {choices}" if choices else str(reason)
        raise InvalidArgument(f"{engine.name}: the option {name} cannot be {str(value)[:100]!r}; {right}") from None


def _choices(kind: Any) -> list[Any]:
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [choice for part in get_args(kind) for choice in _choices(part)]


def _joined(before: Any, value: Any) -> Any:
    return before | value if isinstance(before, dict) and isinstance(value, dict) else value


def _camel(name: str) -> str:
    """Kroki writes Mermaid's `primaryColor` as `primary-color`."""
    return _KEBAB.sub(lambda found: found[1].upper(), name)
