"""Fields of forms into what the operations take. What is wrong is told by the name of its field."""

import json
import re
from collections.abc import Sequence
from typing import Any

from pressroom.apps.docs.model import AutoCreate, EditionKind, TrackingMode, TrackingParams
from pressroom.errors import InvalidArgument, PressroomError
from pressroom.web.forms import Form

DAY = 24 * 3600
_FIELDS_OF_MODE = {
    TrackingMode.GIT_REF: ("git_ref",),
    TrackingMode.ALTERNATE_GIT_REF: ("git_ref", "alternate_name"),
    TrackingMode.SEMVER_MAJOR: ("major_version",),
    TrackingMode.SEMVER_MINOR: ("major_version", "minor_version"),
}
_NAMED_FIELD = re.compile(r"(?P<field>[a-z_]+)(?:[.[][^:]*)?: ")


class WrongField(InvalidArgument):
    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def field_of(refusal: PressroomError, form: Form) -> str:
    """The field of a form that a refusal is about: its message begins with the name. Empty if it names none."""
    if isinstance(refusal, WrongField):
        return refusal.field
    named = _NAMED_FIELD.match(str(refusal))
    names = [named["field"], *re.findall("[a-z_]+", named[0])[::-1]] if named else []
    return next((name for name in names if any(name == key for key, _ in form.items())), "")


def form_values(form: Form) -> dict[str, str]:
    """As they were typed, to be shown again. A name that comes several times keeps its values separated by spaces."""
    values: dict[str, str] = {}
    for name, value in form.items():
        if name != "form_token":
            values[name] = f"{values[name]} {value}" if name in values else value
    return values


def text_of(form: Form, name: str, longest: int = 2_000) -> str:
    text = form.get(name).strip()
    if len(text) > longest or not text.isprintable():
        raise WrongField(name, f"{name} is one line of at most {longest:,} printable characters")
    return text


def rules_of(form: Form, name: str) -> list[dict[str, Any]]:
    """A list of JSON objects; an empty field is an empty list."""
    text = form.get(name).strip()
    if not text:
        return []
    try:
        rules = json.loads(text)
    except ValueError as wrong:
        place = f" in line {wrong.lineno}, column {wrong.colno}" if isinstance(wrong, json.JSONDecodeError) else ""
        raise WrongField(name, f"this is not JSON{place}: {getattr(wrong, 'msg', wrong)}") from None
    except RecursionError:
        raise WrongField(name, "this JSON is nested too deeply") from None
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise WrongField(name, "rules are a JSON list of objects")
    return rules


def inherited_rules_of(form: Form, name: str) -> list[dict[str, Any]] | None:
    """Of a project. None for an empty field: the organisation's rules hold."""
    return rules_of(form, name) if form.get(name).strip() else None


def days_of(form: Form, name: str, current: int | None) -> int:
    """Days into seconds. `current` stays if its days were not changed: it may have been set to a part of a day elsewhere."""
    text = form.get(name).strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 5):
        raise WrongField(name, "a number of days is 0 or more, such as 30")
    days = int(text)
    return current if current is not None and days == current // DAY else days * DAY


def choice_of[C: (EditionKind, TrackingMode)](form: Form, name: str, choices: type[C]) -> C:
    try:
        return choices(form.get(name))
    except ValueError:
        raise WrongField(name, f"{name} is one of {', '.join(choices)}") from None


def tracking_params_of(form: Form, mode: TrackingMode) -> TrackingParams:
    """Those that the mode takes. The form has all of them; what is typed in the others does not count."""
    fields = _FIELDS_OF_MODE.get(mode, ())

    def text(name: str) -> str | None:
        return text_of(form, name, 256) or None if name in fields else None

    def number(name: str) -> int | None:
        return _number_of(form, name) if name in fields else None

    return TrackingParams(
        git_ref=text("git_ref"),
        alternate_name=text("alternate_name"),
        major_version=number("major_version"),
        minor_version=number("minor_version"),
    )


def _number_of(form: Form, name: str) -> int | None:
    text = form.get(name).strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise WrongField(name, f"{name} is a number, such as 2")
    return int(text)


def auto_create_of(form: Form) -> AutoCreate:
    chosen = form.all("auto_create")
    return AutoCreate(git_ref="git_ref" in chosen, semver="semver" in chosen, alternate="alternate" in chosen)


def kinds_of(form: Form, name: str) -> list[EditionKind]:
    return [kind for kind in EditionKind if kind in form.all(name)]


def as_json(rules: Sequence[dict[str, Any]] | None) -> str:
    """One rule a line, to be edited."""
    if not rules:
        return "" if rules is None else "[]"
    lines = ",\n".join(f"  {json.dumps(rule, ensure_ascii=False)}" for rule in rules)
    return f"[\n{lines}\n]"
