"""Reads the layers: the file, the environment and the flags, for the core and for the section of each app."""

import difflib
import logging
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pressroom.base.regular_files import NotRegular, read_regular
from pressroom.config.declaration import DeclaredSettings, Spelling, environment_spellings, file_spellings
from pressroom.config.readers import describe_expected
from pressroom.config.settings import Settings
from pressroom.errors import InvalidSettings

log = logging.getLogger(__name__)

FILE = "pressroom.toml"
PREFIX = "PRESSROOM_"
ENVIRONMENT = environment_spellings(Settings, PREFIX)
IN_FILE = file_spellings(Settings)

# How the settings of the source designs begin.
_DESIGN_PREFIXES = ("QUEUE_", "CACHE_")

# Read elsewhere: by the bootstrap script, the tests, the failpoints, the engines.
_NOT_OURS = frozenset(
    {
        "PRESSROOM_PYTHON",
        "PRESSROOM_PEERS_PYTHON",
        "PRESSROOM_CONFIG",
        "PRESSROOM_FAILPOINTS",
        "PRESSROOM_FAILPOINT_SEED",
        "PRESSROOM_CLOCK_OFFSET",
        "PRESSROOM_CHROMIUM",
        "PRESSROOM_NODE",
        "PRESSROOM_ENGINES",
        "PRESSROOM_URL",  # of the client
        "PRESSROOM_TOKEN",
        "PRESSROOM_ORG",  # of the commands of the docs app
        "PRESSROOM_PROJECT",
    }
)

# By the name of each app: the type of its settings, or None if it has none.
type SectionTypes = Mapping[str, type[DeclaredSettings] | None]
type FindSections = Callable[[Sequence[str]], SectionTypes]


@dataclass
class _Layers:
    """What the layers say about the settings of the core or of one app, each layer over the one before."""

    problems: list[str]
    section: str = ""  # `[name] ` of an app
    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)

    def add(self, origin: str, spellings: Mapping[str, Spelling], layer: Mapping[str, Any], label: str = "") -> None:
        for name in [name for name in spellings if name in layer]:
            spelling, value = spellings[name], layer[name]
            try:
                self.values[spelling.setting] = spelling.read(value)
            except ValueError as reason:
                self.problems.append(f"{label}{name}: {value!r} is not {describe_expected(reason)} ({origin})")
                continue
            shown = origin if name == spelling.setting else f"{origin} ({name})"
            self.origins[f"{self.section}{spelling.setting}"] = shown


def load_settings(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    file: str | Path | None = None,
    find_sections: FindSections = dict.fromkeys,
) -> Settings:
    """The settings of all layers together. Raises InvalidSettings with every problem found."""
    environ = os.environ if environ is None else environ
    problems: list[str] = []
    path = Path(file or environ.get("PRESSROOM_CONFIG") or FILE)
    in_file = read_settings_file(path, required=file is not None, problems=problems)
    tables = {name: value for name, value in in_file.items() if isinstance(value, dict)}
    top = {name: value for name, value in in_file.items() if name not in tables}
    variables = {name: value for name, value in environ.items() if value != ""}
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    core = _Layers(problems)
    core.add(str(path), IN_FILE, top)
    core.add("environment", ENVIRONMENT, variables)
    core.add("flag", IN_FILE, given)
    try:
        types = find_sections(core.values.get("apps", Settings.apps))
    except InvalidSettings as invalid:
        problems += invalid.problems
        types = {}
    problems += _unknown_in_file_problems(path, top, tables, types)
    problems += [_unknown_name_problem(name, IN_FILE, "flag") for name in given.keys() - IN_FILE.keys()]
    problems += _unknown_variable_problems(environ, types)
    sections: dict[str, DeclaredSettings] = {}
    origins = core.origins
    for app, settings_type in types.items():
        if settings_type is not None:
            section = _Layers(problems, f"[{app}] ")
            section.add(str(path), file_spellings(settings_type), tables.get(app, {}), section.section)
            section.add("environment", environment_spellings(settings_type, app_prefix(app)), variables)
            sections[app] = settings_type(**section.values)
            origins |= section.origins
    settings = Settings(**core.values, sections=sections, origins=origins)
    problems += settings.problems()
    if problems:
        raise InvalidSettings(problems)
    return settings


def app_prefix(app: str) -> str:
    """How the variables of an app's settings begin."""
    return f"{PREFIX}{app.upper()}_"


def _unknown_in_file_problems(
    path: Path, top: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]], types: SectionTypes
) -> Iterator[str]:
    in_sections = {app: file_spellings(settings_type) if settings_type else {} for app, settings_type in types.items()}
    everywhere = [*IN_FILE, *(f"[{app}] {name}" for app, names in in_sections.items() for name in names)]
    for name in top.keys() - IN_FILE.keys():
        yield _unknown_name_problem(name, everywhere, str(path))
    for app, table in tables.items():
        if app not in types:
            known = ", ".join(f"[{one}]" for one in types) or "none"
            yield f"[{app}]: there is no such section; the apps have {known} ({path})"
            continue
        for name in table.keys() - in_sections[app].keys():
            yield f"[{app}] {_unknown_name_problem(name, in_sections[app], str(path))}"


def _unknown_variable_problems(environ: Mapping[str, str], types: SectionTypes) -> Iterator[str]:
    """Names that may be meant for us: they begin like ours, or like those of the source designs."""
    known = [*ENVIRONMENT]
    for app, settings_type in types.items():
        known += environment_spellings(settings_type, app_prefix(app)) if settings_type else ()
    for name in [name for name in environ if name not in known and name not in _NOT_OURS]:
        if name.startswith(_DESIGN_PREFIXES):  # it may belong to another program: only a warning
            log.warning("%s is set in the environment, but there is no such setting%s", name, _suggest_name(name, known))
        elif name.startswith(PREFIX):
            owner = next((app for app in types if name.startswith(app_prefix(app))), None)
            if owner is None:
                yield _unknown_name_problem(name, known, "environment")
            elif environ[name] != "":
                settings_type = types[owner]
                names = file_spellings(settings_type) if settings_type else ()
                suggestion = _suggest_name(name.removeprefix(app_prefix(owner)).lower(), names)
                yield f"{name}: there is no such setting{suggestion} (environment)"


def read_settings_file(path: Path, *, required: bool, problems: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(read_regular(path, follow=True).decode())
    except FileNotFoundError:
        if required:
            problems.append(f"{path}: there is no such file")
    except (NotRegular, IsADirectoryError):
        problems.append(f"{path}: is not a regular file")
    except (OSError, UnicodeDecodeError) as reason:
        problems.append(f"{path}: cannot be read: {reason}")
    except tomllib.TOMLDecodeError as reason:
        problems.append(f"{path}: {reason}")
    return {}


def _unknown_name_problem(name: str, names: Iterable[str], origin: str) -> str:
    return f"{name}: there is no such setting{_suggest_name(name, names)} ({origin})"


def _suggest_name(unknown: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(unknown, names, n=1)
    return f"; did you mean {close[0]}?" if close else ""
