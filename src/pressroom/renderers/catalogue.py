"""Every engine, found by its name or by what it takes and makes. An engine is imported when it is first looked up."""

import importlib
from collections.abc import Iterator, Sequence
from functools import cache

from pressroom.errors import InvalidArgument
from pressroom.renderers import Engine

# In order of preference: the first engine that takes a language is the one that is used unless another is named.
_ENGINES = {
    "markdown": "markdown.engine:Markdown",
    "html": "html:Html",
    "html-browser": "browser.pdf:HtmlBrowser",
    "jinja": "jinja.engine:Jinja",
    "mermaid": "mermaid.engine:Mermaid",
    "mermaid-browser": "browser.mermaid:MermaidBrowser",
    "graphviz": "graphviz.engine:Graphviz",
    "d2": "d2.engine:D2",
    "vega-lite": "vega:VegaLite",
    "vega": "vega:Vega",
    "svg": "svg.engine:Svg",
    "plantuml": "node.engines:PlantUml",
    "nomnoml": "node.engines:Nomnoml",
    "dbml": "node.engines:Dbml",
    "wavedrom": "node.engines:WaveDrom",
    "bytefield": "node.engines:Bytefield",
    "pikchr": "node.engines:Pikchr",
    "svgbob": "node.engines:Svgbob",
    "pdf": "pdf.engine:Pdf",
}

# Other words for the same language.
ALIASES = {"md": "markdown", "graphviz": "dot", "gv": "dot", "mmd": "mermaid", "vegalite": "vega-lite", "puml": "plantuml"}


@cache
def get_engine(name: str) -> type[Engine]:
    if name not in _ENGINES:
        raise InvalidArgument(f"there is no engine {name[:100]!r}; there are {', '.join(_ENGINES)}")
    module, _, attribute = _ENGINES[name].partition(":")
    found: type[Engine] = getattr(importlib.import_module(f"pressroom.renderers.{module}"), attribute)
    return found


def engines() -> Iterator[type[Engine]]:
    return map(get_engine, _ENGINES)


@cache
def languages() -> Sequence[str]:
    """What a source can be written in. Engines that take bytes are used by our own code, which names them."""
    return tuple(dict.fromkeys(engine.takes for engine in engines() if not engine.takes_bytes))


@cache
def engine_for(language: str, output: str) -> type[Engine]:
    """The engine that is used for a language when none is named."""
    language = ALIASES.get(language, language)
    made: dict[str, None] = {}
    for engine in engines():
        if engine.takes == language:
            if output in engine.makes:
                return engine
            made |= dict.fromkeys(engine.makes)
    if not made:
        raise InvalidArgument(f"there is no language {language[:100]!r}; there are {', '.join(languages())}")
    raise InvalidArgument(f"{language} cannot be made into {output[:100]!r}; it can be {', '.join(made)}")
