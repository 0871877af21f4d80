"""The kinds and schedules that an application brings: found, named once, and known to each other."""

import importlib
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

from cronsim import CronSim, CronSimError

from pressroom.definitions import POOLS, Kind, Schedule
from pressroom.errors import InvalidArgument, InvalidSettings, UnknownKind


class Registry:
    """The kinds and schedules of a process; `taken` are the kinds that its workers take. Filled before the queue is opened."""

    def __init__(self) -> None:
        self.kinds: dict[str, Kind] = {}
        self.taken: dict[str, Kind] = {}
        self.schedules: list[Schedule] = []

    def register_all(
        self,
        built_in: Sequence[Kind],
        kinds: Sequence[Kind],
        schedules_of_apps: Sequence[Schedule],
        schedules: Sequence[Schedule],
        *,
        only: Sequence[str] | None,
        pools: Sequence[str] | None,
        all_but: Sequence[str],
    ) -> None:
        """`kinds` replace built-in ones of the same name. With `pools`, other processes have the schedules of other kinds."""
        self.kinds.update({kind.name: kind for kind in built_in} | kinds_by_name(kinds))
        self.taken.update(select_kinds(self.kinds, only=only, pools=pools, all_but=all_but))
        of_apps = [schedule for schedule in schedules_of_apps if schedule.kind in self.taken]
        checked = check_schedules([*of_apps, *schedules], self.kinds)
        self.schedules += [schedule for schedule in checked if pools is None or schedule.kind in self.taken]


def kinds_by_name(kinds: Sequence[Kind]) -> dict[str, Kind]:
    named: dict[str, Kind] = {}
    for kind in kinds:
        if not isinstance(kind, Kind):
            raise InvalidArgument(f"{kind!r} is not a kind; decorate the function with @kind(...)")
        if kind.name in named:
            raise InvalidArgument(f"two kinds are named {kind.name!r}")
        named[kind.name] = kind
    return named


def select_kinds(
    known: Mapping[str, Kind], *, only: Sequence[str] | None, pools: Sequence[str] | None, all_but: Sequence[str]
) -> dict[str, Kind]:
    """The kinds that a worker takes: `only` these or those of `pools`, without `all_but`. With None for both: all kinds.

    Raises UnknownKind for a name that is not known, and InvalidArgument for an unknown pool or if no kind is left.
    """
    if only is not None and pools is not None:
        raise InvalidArgument("name kinds or pools, not both")
    if unknown := {*(only or ()), *all_but} - known.keys():
        raise UnknownKind(", ".join(sorted(unknown)), list(known))
    if unknown := {*(pools or ())} - {*POOLS}:
        raise InvalidArgument(f"there is no pool {', '.join(sorted(unknown))}; the pools are {', '.join(POOLS)}")
    names = known if only is None else only
    selected = {name: known[name] for name in names if name not in all_but and (pools is None or known[name].pool in pools)}
    if not selected and (only is not None or pools is not None or all_but):
        raise InvalidArgument(_describe_empty_selection(known, pools, all_but))
    return selected


def _describe_empty_selection(known: Mapping[str, Kind], pools: Sequence[str] | None, all_but: Sequence[str]) -> str:
    asked = "the given kinds" if pools is None else f"pool {', '.join(pools)}"
    without = f" without {', '.join(all_but)}" if all_but else ""
    there_are = ", ".join(f"{name} ({kind.pool})" for name, kind in sorted(known.items()))
    return f"no kind is left to work on: {asked}{without}; known kinds: {there_are or 'none'}"


def check_schedules(schedules: Sequence[Schedule], kinds: dict[str, Kind]) -> Sequence[Schedule]:
    for schedule in schedules:
        if schedule.kind not in kinds:
            raise UnknownKind(schedule.kind, list(kinds))
        try:
            CronSim(schedule.cron, datetime.now(UTC))
        except CronSimError as reason:
            raise InvalidArgument(f"schedule {schedule.name!r}: {schedule.cron!r} is not a cron expression: {reason}") from None
    return schedules


def import_kinds(modules: Sequence[str]) -> tuple[list[Kind], list[Schedule]]:
    """The kinds and schedules at the top level of modules, alone or in lists. The current folder is searched first."""
    search_current_folder()
    found: dict[str, Kind] = {}
    schedules: dict[str, Schedule] = {}
    for name in modules:
        for value in _module_values(import_named_module(name, f"imports: {name!r}")):
            if isinstance(value, Kind):
                found[value.name] = value
            elif isinstance(value, Schedule):
                schedules[value.name] = value
    return list(found.values()), list(schedules.values())


def import_problems(modules: Sequence[str]) -> list[str]:
    """What keeps each of these modules from being imported, in a line."""
    problems: list[str] = []
    for name in modules:
        try:
            import_kinds([name])
        except InvalidSettings as invalid:
            problems += [" ".join(problem.split()) for problem in invalid.problems]
    return problems


def search_current_folder() -> None:
    """For modules of the caller's own. A script such as `pressroom` searches its own folder instead."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def import_named_module(name: str, named_by: str) -> ModuleType:
    """A module that a setting names. Raises InvalidSettings with a line that begins with `named_by`."""
    try:
        return importlib.import_module(name)
    except ImportError as reason:
        is_missing = isinstance(reason, ModuleNotFoundError) and f"{name}.".startswith(f"{reason.name}.")
        hint = "; start where it is, add its folder to PYTHONPATH, or install it" if is_missing else ""
        raise InvalidSettings([f"{named_by} cannot be imported: {reason}{hint}"]) from reason
    except (Exception, SystemExit) as reason:  # its own code, which runs when it is imported
        frame = traceback.extract_tb(reason.__traceback__)[-1]
        where = f"{Path(frame.filename).name}, line {frame.lineno}"
        if isinstance(reason, SyntaxError):
            where = f"{Path(reason.filename or '').name}, line {reason.lineno}"
        problem = f"{named_by} failed while it was imported: {type(reason).__name__}: {reason} ({where})"
        raise InvalidSettings([problem]) from reason


def _module_values(module: ModuleType) -> Iterator[object]:
    for value in vars(module).values():
        if isinstance(value, list | tuple):
            yield from value
        else:
            yield value
