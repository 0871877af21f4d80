"""The data of a document as templates see it: every part knows its path, so that an error can name what is missing."""

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import StrictUndefined
from jinja2.utils import missing


class DataObject(dict[str, Any]):
    __slots__ = ("_path",)

    def __init__(self, values: Mapping[str, Any], path: str) -> None:
        self._path = path
        super().__init__((name, with_paths(value, f"{path}.{name}" if path else name)) for name, value in values.items())


class DataList(list[Any]):
    __slots__ = ("_path",)

    def __init__(self, values: Sequence[Any], path: str) -> None:
        self._path = path
        super().__init__(with_paths(value, f"{path}[{index}]") for index, value in enumerate(values))


def with_paths(value: Any, path: str) -> Any:
    if isinstance(value, dict):
        return DataObject(value, path)
    return DataList(value, path) if isinstance(value, list) else value


class MissingValue(StrictUndefined):
    """Printing, comparing or walking through it is an error that names its path. It may be tested for truth, and its own parts
    may be asked for: `{% if person.address.city %}` is false where there is no address.
    """

    __slots__ = ()

    def part(self, name: object) -> "MissingValue":
        return MissingValue(obj=self, name=name)  # type: ignore[arg-type] # an index is a name too

    def __bool__(self) -> bool:  # type: ignore[override] # the strict one raises
        return False

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        owner, name = self._undefined_obj, self._undefined_name
        if owner is missing:
            return f"{name} is not in the data"
        if isinstance(owner, MissingValue):
            first = owner
            while isinstance(first._undefined_obj, MissingValue):
                first = first._undefined_obj
            return f"{_path(self)} is not in the data: there is no {_path(first)}"
        if isinstance(owner, DataObject | DataList):
            return f"{_path(self)} is not in the data"
        return f"there is no {name!r} in {_kind_of(owner)}"


def _path(value: MissingValue) -> str:
    owner, name = value._undefined_obj, value._undefined_name
    if owner is missing:
        return str(name)
    if isinstance(owner, MissingValue):
        before = _path(owner)
    else:
        before = owner._path if isinstance(owner, DataObject | DataList) else ""
    if isinstance(name, int):
        return f"{before}[{name}]"
    return f"{before}.{name}" if before else str(name)


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return f"the text {value[:50]!r}"
        case int() | float():
            return f"the number {value}"
        case dict():
            return "this object"
        case list() | tuple():
            return "this list"
    return f"what is no data ({type(value).__name__})"
