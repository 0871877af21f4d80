"""Vega and Vega-Lite by vl-convert, which carries the real libraries. Data is in the specification: nothing is fetched."""

import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import Engine, Notice, Rendered, fonts
from pressroom.renderers.source_errors import line_and_column, source_error
from pressroom.renderers.svg import convert as svgdraw
from pressroom.renderers.svg import finish
from pressroom.renderers.svg.cleaner import CleanSvg, clean_svg

MAX_DEPTH = 64

LITE_VERSIONS = {"5": "5.21", "6": "6.4"}  # the newest of each that is on board
SCHEMA = re.compile(r"/schema/(?P<language>vega|vega-lite)/v(?P<major>\d+)")

INK: dict[str, dict[str, Any]] = {
    "light": {"background": None},
    "dark": {
        "background": None,
        "view": {"stroke": "#57616b"},
        "title": {"color": "#e6edf3", "subtitleColor": "#c9d1d9"},
        "style": {"guide-label": {"fill": "#c9d1d9"}, "guide-title": {"fill": "#e6edf3"}},
        "axis": {"domainColor": "#8b98a5", "gridColor": "#38424c", "tickColor": "#8b98a5"},
        "text": {"fill": "#e6edf3"},
        "rule": {"stroke": "#8b98a5"},
    },
}

STACK = re.compile(r"\n\s+at .*", re.DOTALL)
UNSTEADY = re.compile(
    r'\b(random|now|sampleNormal|sampleUniform|sampleLogNormal)\s*\(|"type"\s*:\s*"(sample|wordcloud)"|"sample"\s*:'
)
NOT_REPEATABLE = Notice("not_repeatable", "the chart draws on chance or on the clock, so that it differs with every rendering")


class Vega(Engine):
    name = "vega"
    title = "Vega"
    takes = "vega"
    makes = ("svg", "png", "pdf")
    sample = json.dumps(
        {
            "title": "Jobs",
            "width": 80,
            "height": 40,
            "data": [{"name": "jobs", "values": [{"n": 3}, {"n": 7}]}],
            "scales": [{"name": "x", "type": "linear", "domain": [0, 8], "range": "width"}],
            "axes": [{"scale": "x", "orient": "bottom"}],
            "marks": [{"type": "symbol", "from": {"data": "jobs"}, "encode": {"enter": {"x": {"scale": "x", "field": "n"}}}}],
        }
    )
    Options = finish.ThemedOptions
    packages = svgdraw.PACKAGES
    uses_fonts = True
    language: ClassVar[str] = "vega"

    def __init__(self) -> None:
        # Axes of time are drawn in the zone of the process, and must not depend on where it runs.
        os.environ["TZ"] = "UTC"
        time.tzset()
        self._vl_convert = svgdraw.vl_convert()

    def render(self, source: str, output: str, options: Any) -> Rendered:
        label = finish.id_prefix(finish.require_drawable(source))
        spec = parse_spec(source, self.language)
        pictures = [self._draw(source, spec, options, shade, label) for shade in finish.themes_to_draw(output, options)]
        notices = [NOT_REPEATABLE] if UNSTEADY.search(source) else []
        return finish.finish_picture(pictures, output, options, self.limits, label, *notices)

    def _draw(self, source: str, spec: dict[str, Any], options: finish.ThemedOptions, shade: str, label: str) -> CleanSvg:
        inked = spec | {"config": _merge_config(INK[shade], spec.get("config"))}
        try:
            drawn = self._convert(inked)
        except ValueError as error:
            self.spoiled = not self._is_responsive()
            raise _translate_error(source, str(error)) from None
        description = options.description or _optional_text(spec.get("description"))
        found = clean_svg(drawn, title=options.title, description=description, prefix=f"{label}-{shade[0]}-")
        return replace(found, title=found.title or _optional_text(spec.get("title")) or description)

    def _is_responsive(self) -> bool:
        """The library's scripts live on from one source to the next, and some failures stay with them."""
        try:
            return bool(self._convert(json.loads(self.sample) | {"config": {}}))
        except ValueError:
            return False

    def _convert(self, spec: dict[str, Any]) -> str:
        with svgdraw.translate_panics(given=ValueError):
            return str(self._vl_convert.vega_to_svg(spec, allowed_base_urls=[]))


class VegaLite(Vega):
    name = "vega-lite"
    title = "Vega-Lite"
    takes = "vega-lite"
    sample = json.dumps(
        {
            "title": "Jobs",
            "data": {"values": [{"kind": "pdf", "n": 3}, {"kind": "svg", "n": 7}]},
            "mark": "bar",
            "encoding": {"x": {"field": "n", "type": "quantitative"}, "y": {"field": "kind"}},
        }
    )
    language = "vega-lite"

    def _convert(self, spec: dict[str, Any]) -> str:
        config = {"font": f"{fonts.SANS}, Arial, sans-serif"} | spec["config"]
        version = _lite_version(spec.get("$schema"))
        with svgdraw.translate_panics(given=ValueError):
            drawn = self._vl_convert.vegalite_to_svg(spec | {"config": config}, vl_version=version, allowed_base_urls=[])
            return str(drawn)


def parse_spec(source: str, language: str) -> dict[str, Any]:
    """The specification, if it is JSON, of this language, and has its data with it."""
    try:
        spec = json.loads(source, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise source_error(source, f"not JSON: {error.msg}", error.lineno, error.colno) from None
    except RecursionError:
        raise TooLarge(f"the specification is nested more than {MAX_DEPTH} deep") from None
    if not isinstance(spec, dict):
        raise source_error(source, f"a specification of {language} is a JSON object", 1)
    schema = SCHEMA.search(str(spec.get("$schema", "")))
    if schema and schema["language"] != language:
        raise _error_at_text(
            source, str(spec["$schema"]), f"this is a specification of {schema['language']}, not of {language}"
        )
    for path, url in _find_urls(spec, "", 0):
        raise _error_at_text(
            source, url, f"{path} refers to {url[:100]!r}; nothing is fetched: put the data in the specification"
        )
    return spec


def _find_urls(node: Any, path: str, depth: int, *, rows: bool = False) -> Iterator[tuple[str, str]]:
    """Every `url` that is given as text, wherever it stands: of data, of a lookup, of an image in a group in a group.
    In the rows of data, `url` is a column like any other.
    """
    if depth > MAX_DEPTH:
        raise TooLarge(f"the specification is nested more than {MAX_DEPTH} deep")
    if isinstance(node, str) and (found := finish.UNWRITABLE.search(node)):
        raise SourceInvalid(f"{path} has the character U+{ord(found[0]):04X}, which cannot be drawn")
    if isinstance(node, list):
        for index, inner in enumerate(node):
            yield from _find_urls(inner, f"{path}[{index}]", depth + 1, rows=rows)
    if isinstance(node, dict):
        for key, inner in node.items():
            here = f"{path}.{key}" if path else key
            if key == "url" and not rows:
                yield from (
                    (here, url) for url in _encodings_in_source(inner) if not url.lstrip().lower().startswith("data:image/")
                )
            yield from _find_urls(inner, here, depth + 1, rows=rows or key == "values")


def _encodings_in_source(url: Any) -> Iterator[str]:
    for value in url if isinstance(url, list) else [url]:
        given = value.get("value", value.get("signal")) if isinstance(value, dict) else value
        if isinstance(given, str):
            yield given


def _error_at_text(source: str, text: str, message: str) -> SourceInvalid:
    at = source.find(json.dumps(text, ensure_ascii=False))
    return source_error(source, message, *line_and_column(source, at)) if at >= 0 else SourceInvalid(message)


def _translate_error(source: str, message: str) -> SourceInvalid:
    """The library's own words, without the stack of its script."""
    words = STACK.sub("", message).strip().split("\n")[-1]
    words = re.sub(r"^(Uncaught )?Error: ", "", words)
    words = re.sub(r"^(Invalid specification) \{.*\}\. ", r"\1: ", words)[:400]
    if words.startswith("TypeError"):
        return SourceInvalid(f"the specification cannot be drawn; a name or a value in it is unknown ({words})")
    quoted = re.search(r"(?:error: |type: |: )\"?([^\"\s]{2,60})\"?$", words)
    return _error_at_text(source, quoted[1], words) if quoted else SourceInvalid(words)


def _merge_config(ours: dict[str, Any], theirs: Any) -> dict[str, Any]:
    """What the specification says goes before what we say."""
    if not isinstance(theirs, dict):
        return ours
    both = {key: _merge_config(ours[key], theirs[key]) for key in ours.keys() & theirs.keys() if isinstance(ours[key], dict)}
    return ours | theirs | both


def _lite_version(schema: Any) -> str | None:
    found = SCHEMA.search(str(schema or ""))
    return LITE_VERSIONS.get(found["major"]) if found else None


def _optional_text(given: Any) -> str | None:
    text = given.get("text") if isinstance(given, dict) else given
    if isinstance(text, list):
        text = " ".join(str(line) for line in text)
    return text if isinstance(text, str) and text.strip() else None


def _refuse_constant(name: str) -> None:
    raise SourceInvalid(f"not JSON: {name} is not a number of JSON")
