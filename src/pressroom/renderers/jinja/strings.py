"""`t("key")`: the words of a document in its language."""

import re
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from jinja2.exceptions import FilterArgumentError
from jinja2.runtime import Undefined

from pressroom.renderers import Notice

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
MOST_NOTICES = 50


def running_line(frame: FrameType | None) -> tuple[str | None, int | None]:
    """The name of the template that runs, and its line."""
    while frame is not None:
        template = frame.f_globals.get("__jinja_template__")
        if template is not None:
            return template.name, template.get_corresponding_lineno(frame.f_lineno)
        frame = frame.f_back
    return None, None


class Strings:
    """`values` has strings by key, or by language and key; what the language lacks is looked for without a language. A string
    with the forms of a plural is an object of CLDR categories, and the value `count` chooses the form.
    """

    def __init__(self, values: Mapping[str, Any], lang: str, plural_category: Callable[[Any], str]) -> None:
        parts = re.split(r"[-_]", lang)
        names = [separator.join(parts[:size]) for size in range(len(parts), 0, -1) for separator in ("-", "_")]
        self._levels = [found for name in dict.fromkeys(names) if isinstance(found := values.get(name), dict)] + [values]
        self._plural_category = plural_category
        self._lang = lang
        self.notices: dict[str, Notice] = {}

    def translate(self, key: str, **values: Any) -> str:
        for value in (key, *values.values()):
            if isinstance(value, Undefined):
                str(value)  # raises the error that names its path
        if not isinstance(key, str):
            raise FilterArgumentError("t: the key is a text, as in t('greeting')")
        for level in self._levels:
            found = _find(level, key)
            if isinstance(found, dict):
                found = self._plural_form(found, key, values)
            if isinstance(found, str):
                return _fill(found, key, values)
        if len(self.notices) < MOST_NOTICES and key not in self.notices:
            name, line = running_line(sys._getframe())
            where = f"template {name[:100]!r}: " if name else ""
            self.notices[key] = Notice("missing_string", f"{where}there is no string {key[:100]!r} in {self._lang}", line)
        return key

    def _plural_form(self, forms: dict[str, Any], key: str, values: Mapping[str, Any]) -> Any:
        if "other" not in forms:
            return None
        if "count" not in values:
            raise FilterArgumentError(f"t: {key!r} has the forms of a plural; say which, as in t({key!r}, count=2)")
        return forms.get(self._plural_category(values["count"]), forms["other"])


def _find(level: Any, key: str) -> Any:
    """`letter.greeting` is a key, or a key in an object."""
    if isinstance(level, dict) and key in level:
        return level[key]
    for part in key.split("."):
        if not isinstance(level, dict):
            return None
        level = level.get(part)
    return level


def _fill(text: str, key: str, values: Mapping[str, Any]) -> str:
    def value_of(placeholder: re.Match[str]) -> str:
        if placeholder[1] not in values:
            raise FilterArgumentError(f"t: the string {key!r} needs a value for {placeholder[0]}")
        return str(values[placeholder[1]])

    return _PLACEHOLDER.sub(value_of, text)
