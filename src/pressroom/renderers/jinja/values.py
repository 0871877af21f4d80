"""What an expression of a template stands for, as far as its syntax tells: a path in the data, elements of it, a macro."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import nodes


class Value:
    """Of most values nothing is known, and neither of their parts."""

    def part(self, name: str | int, line: int) -> "Value":  # noqa: ARG002
        return Unknown()

    def element(self, *, certain: bool = True) -> "Value":  # noqa: ARG002
        return Unknown()

    def unpack(self, count: int) -> Sequence["Value"]:
        return [Unknown()] * count

    def uncertain(self) -> "Value":
        return self

    def at(self, line: int) -> "Value":  # noqa: ARG002
        return self

    def paths(self) -> Iterator[tuple[str, int]]:
        """The paths in the data that are read if it is, with their lines."""
        return iter(())

    def needed_paths(self) -> Iterator[str]:
        """Those without which it cannot be used."""
        return iter(())


@dataclass(frozen=True)
class Unknown(Value):
    pass


@dataclass(frozen=True)
class Needed(Value):
    """What cannot be used without these paths, and of which nothing else is known."""

    needs: frozenset[str]

    def uncertain(self) -> Value:
        return Unknown()

    def needed_paths(self) -> Iterator[str]:
        return iter(self.needs)


@dataclass(frozen=True)
class Path(Value):
    """`certain` is false where it may be left out, or is not known to be there."""

    path: str
    line: int = 0
    certain: bool = True

    def part(self, name: str | int, line: int) -> Value:
        return replace(self, path=f"{self.path}[{name}]" if isinstance(name, int) else f"{self.path}.{name}", line=line)

    def element(self, *, certain: bool = True) -> Value:
        return replace(self, path=f"{self.path}[]", certain=self.certain and certain)

    def uncertain(self) -> Value:
        return replace(self, certain=False)

    def at(self, line: int) -> Value:
        return replace(self, line=line)

    def paths(self) -> Iterator[tuple[str, int]]:
        yield self.path, self.line

    def needed_paths(self) -> Iterator[str]:
        if self.certain:
            yield self.path


@dataclass(frozen=True)
class Elements(Value):
    """A list that the template made from others."""

    each: Value

    def element(self, *, certain: bool = True) -> Value:
        return self.each if certain else self.each.uncertain()

    def part(self, name: str | int, line: int) -> Value:
        return self.each.uncertain().at(line) if isinstance(name, int) else Unknown()


@dataclass(frozen=True)
class Group(Value):
    """A tuple, with names for its parts where it has some."""

    parts: tuple[Value, ...]
    names: tuple[str, ...] = ()

    def part(self, name: str | int, line: int) -> Value:
        place = self.names.index(name) if name in self.names else name
        return self.parts[place].at(line) if isinstance(place, int) and 0 <= place < len(self.parts) else Unknown()

    def unpack(self, count: int) -> Sequence[Value]:
        return self.parts if len(self.parts) == count else super().unpack(count)


@dataclass(frozen=True)
class Either(Value):
    """One of several, and which one is told only by the data."""

    choices: tuple[Value, ...]

    @staticmethod
    def of(choices: Sequence[Value]) -> Value:
        distinct = tuple(dict.fromkeys(choices))
        return distinct[0] if len(distinct) == 1 else Either(distinct)

    def part(self, name: str | int, line: int) -> Value:
        return Either.of([choice.part(name, line) for choice in self.choices])

    def element(self, *, certain: bool = True) -> Value:
        return Either.of([choice.element(certain=certain) for choice in self.choices])

    def at(self, line: int) -> Value:
        return Either.of([choice.at(line) for choice in self.choices])

    def paths(self) -> Iterator[tuple[str, int]]:
        for choice in self.choices:
            yield from choice.paths()


@dataclass(frozen=True, eq=False)
class MacroValue(Value):
    template: str
    node: nodes.Macro
    scope: Any


@dataclass(frozen=True, eq=False)
class Module(Value):
    """What an import made: its macros and variables."""

    names: Mapping[str, Value]

    def part(self, name: str | int, line: int) -> Value:
        found = self.names.get(str(name))
        return Unknown() if found is None else found.at(line)


@dataclass(frozen=True, eq=False)
class Several(Value):
    """The variable `loop`: in a recursive loop it can be called."""

    node: nodes.For
    scope: Any


_SAME_ELEMENTS = frozenset({"list", "reverse", "sort"})
_SOME_ELEMENTS = frozenset({"reject", "rejectattr", "select", "selectattr", "unique"})
_ONE_ELEMENT = frozenset({"first", "last", "max", "min", "random"})
_USING_ELEMENTS = frozenset({"join", "max", "min", "sort", "sum", "unique"})
_METHODS = frozenset(name for kind in (str, list, dict, int, float) for name in dir(kind) if not name.startswith("_"))


def is_step(name: str) -> bool:
    """Whether a path can have it. `data["first.name"]` cannot be told from `data.first.name`."""
    return re.fullmatch(r"[^.\[\]*]+", name) is not None


def is_method(name: str) -> bool:
    return name in _METHODS


def filtered(value: Value, node: nodes.Filter) -> tuple[Value, Sequence[Value], Sequence[Value]]:
    """What a filter makes of a list: its result, and the parts of elements that it reads if they are there, and in any case."""
    element = value.element()
    attribute = _attribute_of(node)
    parts = [_along(element, one, node.lineno) for one in attribute.split(",")] if attribute else []
    has_default = node.name == "groupby" and (len(node.args) > 1 or any(one.key == "default" for one in node.kwargs))
    only_tests = node.name in ("selectattr", "rejectattr") and _argument(node, 1) in (None, "defined", "undefined", "none")
    optional, required = (parts, []) if has_default or only_tests else ([], parts)
    if node.name in _USING_ELEMENTS and isinstance(value, Elements) and not attribute:
        required = [element]
    if node.name in _SAME_ELEMENTS:
        return (value if isinstance(value, Path) else Elements(element)), optional, required
    if node.name in _SOME_ELEMENTS:
        return Elements(element.uncertain()), optional, required
    if node.name in _ONE_ELEMENT:
        return element.uncertain(), optional, required
    match node.name:
        case "map" if parts:
            default = any(one.key == "default" for one in node.kwargs)
            return Elements(parts[0].uncertain() if default else parts[0]), parts, ()
        case "groupby":
            return Elements(Group((Unknown(), Elements(element)), ("grouper", "list"))), optional, required
        case "batch" | "slice":
            return Elements(Elements(element)), (), ()
        case "dictsort" | "items":
            return _pairs(value), (), ()
    return Unknown(), optional, required


def called(owner: Value, method: str, node: nodes.Call) -> Value:
    """What a method of the data gives."""
    match method:
        case "items":
            return _pairs(owner)
        case "values":
            return Elements(_member(owner))
        case "get" if node.args and isinstance(node.args[0], nodes.Const):
            return owner.part(str(node.args[0].value), node.lineno).uncertain()
    return Unknown()


def _pairs(owner: Value) -> Value:
    return Elements(Group((Unknown(), _member(owner))))


def _member(owner: Value) -> Value:
    """Any value of an object."""
    return owner.part("*", owner.line) if isinstance(owner, Path) else Unknown()


def _attribute_of(node: nodes.Filter) -> str:
    for named in node.kwargs:
        if named.key == "attribute" and isinstance(named.value, nodes.Const):
            return str(named.value.value)
    places = {"groupby": 0, "selectattr": 0, "rejectattr": 0, "sum": 0, "join": 1, "sort": 2, "unique": 1, "min": 1, "max": 1}
    found = _argument(node, places[node.name]) if node.name in places else None
    return found if isinstance(found, str) else ""


def _argument(node: nodes.Filter, place: int) -> Any:
    argument = node.args[place] if len(node.args) > place else None
    return argument.value if isinstance(argument, nodes.Const) else None


def _along(value: Value, attribute: str, line: int) -> Value:
    for name in attribute.strip().split("."):
        value = value.part(int(name) if name.isdigit() else name, line)
    return value
