"""Kroki's options, translated into the options of our engines."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args, get_origin

import msgspec

from pressroom.errors import InvalidArgument
from pressroom.renderers import Engine

MAX_OPTIONS = 100

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


class KrokiOptions(NamedTuple):
    """Options as an engine takes them, a line that must stand in the source, and the names of options without effect."""

    options: dict[str, Any]
    line: str | None
    ignored: Sequence[str]


def translate_options(engine: type[Engine], kroki_options: Mapping[str, Any]) -> KrokiOptions:
    """Kroki's options as ours. Those that we do not have are ignored, as Kroki ignores them; a wrong value is refused."""
    if len(kroki_options) > MAX_OPTIONS:
        raise InvalidArgument(f"there are {len(kroki_options)} options; the limit is {MAX_OPTIONS}")
    rule = _RULES.get(engine.takes, _common_option)
    known = {field.name: field.type for field in msgspec.structs.fields(engine.Options)}
    options: dict[str, Any] = {}
    ignored = []
    line = None
    for name, value in kroki_options.items():
        translation = rule(name, value)
        if translation is None or translation.is_partial or not translation.options.keys() <= known.keys():
            ignored.append(name)
        if translation is not None:
            line = translation.line or line
            for ours, chosen in translation.options.items():
                if ours in known:
                    options[ours] = _merge(options.get(ours), _convert_value(engine, ours, chosen, known[ours]))
    return KrokiOptions(options, line, ignored)


class _Translation(NamedTuple):
    """One of Kroki's options as ours. `is_partial`: we support only part of its effect."""

    options: Mapping[str, Any] = {}
    line: str | None = None
    is_partial: bool = False


def _common_option(name: str, value: Any) -> _Translation | None:
    """Options of ours that mean nothing else to Kroki."""
    return _Translation({name: value}) if name in ("background", "description", "scale", "theme", "title", "width") else None


def _graphviz_option(name: str, value: Any) -> _Translation | None:
    if name == "scale":  # of the coordinates in the source, not of the picture
        return None
    return _Translation({name: value}) if name == "layout" else _common_option(name, value)


def _svgbob_option(name: str, value: Any) -> _Translation | None:
    return None if name == "scale" else _common_option(name, value)


def _d2_option(name: str, value: Any) -> _Translation | None:
    if name == "theme" and value not in _SHADES:
        return _d2_theme(str(value))
    return _Translation({name: value}) if name in ("layout", "sketch", "pad") else _common_option(name, value)


def _d2_theme(value: str) -> _Translation:
    """We have the first of the light ones and the first of the dark ones. The others become the one that they resemble."""
    number = D2_THEMES.get(re.sub(r"\s", "-", value.lower()), value)
    if str(number) not in map(str, D2_THEMES.values()):
        raise InvalidArgument(f"d2: there is no theme {value[:100]!r}; there are {', '.join(D2_THEMES)}")
    shade = "dark" if int(number) in _D2_DARK else "light"
    return _Translation({"theme": shade}, is_partial=int(number) not in (0, 200))


def _mermaid_option(name: str, value: Any) -> _Translation | None:
    if name == "theme":
        return _Translation({"theme" if value in _SHADES else "palette": value})
    if name in _MERMAID:
        return _Translation({_MERMAID[name]: value})
    if name in _MERMAID_LABELS:
        return _Translation({"labels": "text" if str(value).lower() in ("false", "0") else "html"})
    if name.startswith(_MERMAID_VARIABLE):
        return _Translation({"variables": {_to_camel_case(name.removeprefix(_MERMAID_VARIABLE)): str(value)}})
    return _common_option(name, value)


def _plantuml_option(name: str, value: Any) -> _Translation | None:
    if name == "no-metadata":
        return _Translation()  # ours have none
    if name == "theme" and value not in _SHADES:
        if not _PLANTUML_THEME.fullmatch(str(value)):
            raise InvalidArgument(f"plantuml: there is no theme {str(value)[:100]!r}")
        return _Translation(line=f"!theme {value}")
    return _common_option(name, value)


type _Rule = Callable[[str, Any], _Translation | None]
_RULES: dict[str, _Rule] = {
    "d2": _d2_option,
    "dot": _graphviz_option,
    "mermaid": _mermaid_option,
    "plantuml": _plantuml_option,
    "svgbob": _svgbob_option,
}


def _convert_value(engine: type[Engine], name: str, value: Any, kind: Any) -> Any:
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


def _merge(before: Any, value: Any) -> Any:
    return before | value if isinstance(before, dict) and isinstance(value, dict) else value


def _to_camel_case(name: str) -> str:
    """Kroki writes Mermaid's `primaryColor` as `primary-color`."""
    return _KEBAB.sub(lambda found: found[1].upper(), name)
