"""Whether a version of the configuration can be used: what is wrong with it, and where."""

import json
import re
from collections.abc import Iterator, Mapping

from pressroom.apps.packs.composition import FINAL_ERRORS, Compositions
from pressroom.apps.packs.config.registry import KEY as REGISTRY
from pressroom.apps.packs.config.registry import ConfigProblem, find_registry_problems, parse_registry
from pressroom.base import json_text
from pressroom.errors import InvalidArgument, InvalidPayload, SourceInvalid, TooLarge

BIGGEST = 1024 * 1024
KEY = re.compile(r"documents_registry|resources|strings|(?:template|style|strings):[a-z0-9][a-zA-Z0-9_.-]{0,63}")


def require_key(key: str) -> str:
    """Raises InvalidArgument."""
    if not KEY.fullmatch(key):
        raise InvalidArgument(
            f"there is no key {key[:100]!r}; keys are documents_registry, resources, strings, template:NAME, style:NAME "
            "and strings:LANGUAGE"
        )
    return key


def require_body(body: str) -> str:
    """Raises InvalidArgument and TooLarge."""
    size = len(body.encode(errors="replace"))
    if size > BIGGEST:
        raise TooLarge(f"this text has {size:,} bytes; the limit is {BIGGEST:,}")
    if "\0" in body:
        raise InvalidArgument("this text holds a NUL character")
    return body


async def find_problems(key: str, body: str, others: Mapping[str, str], compositions: Compositions) -> list[ConfigProblem]:
    """`others` are the published texts by their keys: what a registry names, and what a template includes."""
    kind = key.partition(":")[0]
    if kind == REGISTRY:
        problems = list(find_registry_problems(body))
        return problems or list(_find_dangling_keys(body, others))
    if kind == "template":
        return await _find_template_problems(key, body, others, compositions)
    if kind in ("strings", "resources"):
        return list(_find_object_problems(body))
    if "</style" in body.lower():
        return [ConfigProblem(code="invalid_style", message="a style may not hold </style")]
    return []


def _find_dangling_keys(body: str, others: Mapping[str, str]) -> Iterator[ConfigProblem]:
    for place, entry in enumerate(parse_registry(body)):
        for name, key in (("template", entry.template_key), ("style", entry.style_key)):
            if key is not None and key not in others:
                yield ConfigProblem(code="not_published", message=f"{key} is not published", path=f"/{place}/{name}")


async def _find_template_problems(
    key: str, body: str, others: Mapping[str, str], compositions: Compositions
) -> list[ConfigProblem]:
    templates = {name: text for name, text in others.items() if name.startswith("template:") and name != key}
    try:
        analysis = await compositions.analyse_texts(body, templates)
    except SourceInvalid as error:
        return [ConfigProblem(code=error.code, message=str(error), path=key, line=error.line, column=error.column)]
    except FINAL_ERRORS as error:
        return [ConfigProblem(code=error.code, message=str(error), path=key)]
    return [
        ConfigProblem(code="not_published", message=f"template:{name}, which it includes, is not published", path=key)
        for name in analysis.templates
        if f"template:{name}" not in templates
    ]


def _find_object_problems(body: str) -> Iterator[ConfigProblem]:
    try:
        value = json.loads(body)
    except json.JSONDecodeError as error:
        message = f"this is not JSON: {error.msg}"
        yield ConfigProblem(code="invalid_json", message=message, line=error.lineno, column=error.colno)
        return
    except RecursionError:
        yield ConfigProblem(code="invalid_json", message="this is nested too deeply")
        return
    except ValueError as error:
        yield ConfigProblem(code="invalid_json", message=f"this is not JSON: {str(error).partition('; use sys.')[0]}")
        return
    try:
        json_text.encode(value, limit=100 * BIGGEST, what="this")
    except InvalidPayload as error:  # NaN, half of a surrogate pair, a NUL
        yield ConfigProblem(code="invalid_json", message=str(error))
        return
    if not isinstance(value, dict):
        yield ConfigProblem(code="not_an_object", message="this is a JSON object: names with their values")
