"""How a setting is declared: once, as a field of a frozen dataclass.

    @dataclass(frozen=True)
    class PacksSettings(DeclaredSettings):
        render_timeout: float = setting(120.0, "seconds that a document may take", positive(unit="s"))

The type of the field says how the setting is read. Its names in a file and in the environment, what is wrong with a value, and
its row in docs/settings.md follow from the declaration.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, get_type_hints

from pressroom.config.addresses import mask_password
from pressroom.config.readers import READERS, Reader, read_milliseconds

_DECLARATION = "setting"  # in the metadata of a field


class Alias(NamedTuple):
    """Another name of a setting in the environment, such as a source design has for it."""

    name: str
    read: Reader | None = None  # None: like the setting itself
    note: str = ""  # for the docs: how its value is written


def milliseconds(name: str) -> Alias:
    """For a setting in seconds."""
    return Alias(name, read_milliseconds, "milliseconds")


@dataclass(frozen=True)
class ValueCheck:
    """What a value must fulfil. `problem` is told if it does not, with the value for `{}`."""

    test: Callable[[Any], object]
    problem: str
    of_each: bool = False  # of the names in a list

    def problems(self, value: Any) -> Iterator[str]:
        for one in value if self.of_each else (value,):
            if not self.test(one):
                yield self.problem.format(mask_password(one) if isinstance(one, str) else one)


def between(low: int, high: int, *, unit: str = "", zero: str = "") -> ValueCheck:
    """`zero` says what 0 means."""
    value, high_shown = (f"{{:g}} {unit}", f"{high} {unit}") if unit else ("{}", str(high))
    shown = f"{value} is not between {low}{f' ({zero})' if zero else ''} and {high_shown}"
    return ValueCheck(lambda value: low <= value <= high, shown)


def at_least(low: int) -> ValueCheck:
    return ValueCheck(lambda value: value >= low, f"{{}} is not at least {low}")


def positive(*, unit: str = "") -> ValueCheck:
    return ValueCheck(lambda value: value > 0, f"{{:g}} {unit} is not above 0" if unit else "{} is not above 0")


def one_of(*choices: str) -> ValueCheck:
    return ValueCheck(lambda value: value in choices, f"{{!r}} is not {', '.join(choices[:-1])} or {choices[-1]}")


@dataclass(frozen=True)
class Declaration:
    about: str
    checks: tuple[ValueCheck, ...]
    variable: str
    aliases: tuple[Alias, ...]
    file_alias: str
    secret: bool
    shown_default: str


def setting[T](
    default: T,
    about: str,
    *checks: ValueCheck,
    variable: str = "",
    aliases: tuple[Alias, ...] = (),
    file_alias: str = "",
    secret: bool = False,
    shown_default: str = "",
) -> T:
    """A field of a dataclass of settings.

    The first of `checks` that a value does not fulfil is told. `variable` is its name in the environment, if that is not the
    prefix and its own name. Where several names are set, the variable is taken, or else the first of `aliases`. A secret is
    never shown. `shown_default` is for a default that is found out when the program runs.
    """
    declaration = Declaration(about, checks, variable, aliases, file_alias, secret, shown_default)
    return field(default=default, repr=not secret, metadata={_DECLARATION: declaration})


@dataclass(frozen=True)
class DeclaredSetting:
    name: str
    type: Any
    default: Any
    declaration: Declaration

    @property
    def read(self) -> Reader:
        return READERS[self.type]

    def variable(self, prefix: str) -> str:
        return self.declaration.variable or f"{prefix}{self.name.upper()}"

    def problems(self, value: Any) -> Iterator[str]:
        for check in self.declaration.checks if value is not None else ():
            if problems := [f"{self.name}: {problem}" for problem in check.problems(value)]:
                yield from problems
                return


@dataclass(frozen=True)
class DeclaredSettings:
    """The base of settings. Fields that `setting` did not make are not settings."""

    def problems(self) -> Iterator[str]:
        """What is wrong with each value. A subclass adds what is wrong with several of them together."""
        for one in declared_settings(type(self)):
            yield from one.problems(getattr(self, one.name))


def declared_settings(settings_type: type[DeclaredSettings]) -> tuple[DeclaredSetting, ...]:
    types = get_type_hints(settings_type)
    return tuple(
        DeclaredSetting(one.name, types[one.name], one.default, one.metadata[_DECLARATION])
        for one in fields(settings_type)
        if _DECLARATION in one.metadata
    )


class Spelling(NamedTuple):
    """What one name in a file or in the environment stands for."""

    setting: str
    read: Reader


def file_spellings(settings_type: type[DeclaredSettings]) -> dict[str, Spelling]:
    """By each name in a file. A later one of the same setting wins."""
    found: dict[str, Spelling] = {}
    for one in declared_settings(settings_type):
        names = (one.declaration.file_alias, one.name)
        found |= {name: Spelling(one.name, one.read) for name in names if name}
    return found


def environment_spellings(settings_type: type[DeclaredSettings], prefix: str) -> dict[str, Spelling]:
    """By each name in the environment. A later one of the same setting wins: ours over those of the source designs."""
    found: dict[str, Spelling] = {}
    for one in declared_settings(settings_type):
        found |= {alias.name: Spelling(one.name, alias.read or one.read) for alias in reversed(one.declaration.aliases)}
        found[one.variable(prefix)] = Spelling(one.name, one.read)
    return found
