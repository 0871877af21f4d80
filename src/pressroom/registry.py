"""The kinds and schedules that an application brings: found, named once, and known to each other."""

import importlib
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from pressroom.errors import InvalidArgument, InvalidSettings, UnknownKind
from pressroom.model import Kind, Schedule


def by_name(kinds: Sequence[Kind]) -> dict[str, Kind]:
    named: dict[str, Kind] = {}
    for kind in kinds:
        if not isinstance(kind, Kind):
            raise InvalidArgument(f"{kind!r} is not a kind; decorate the function with @kind(...)")
        if kind.name in named:
            raise InvalidArgument(f"two kinds are named {kind.name!r}")
        named[kind.name] = kind
    return named


def only(names: Sequence[str], known: dict[str, Kind]) -> dict[str, Kind]:
    if unknown := set(names) - known.keys():
        raise UnknownKind(", ".join(sorted(unknown)), list(known))
    return {name: known[name] for name in names}


def checked(schedules: Sequence[Schedule], kinds: dict[str, Kind]) -> Sequence[Schedule]:
    for schedule in schedules:
        if schedule.kind not in kinds:
            raise UnknownKind(schedule.kind, list(kinds))
        try:
            CronSim(schedule.cron, datetime.now(UTC))
        except CronSimError as reason:
            raise InvalidArgument(f"schedule {schedule.name!r}: {schedule.cron!r} is not a cron expression: {reason}") from None
    return schedules


def import_kinds(modules: Sequence[str]) -> tuple[list[Kind], list[Schedule]]:
    """The kinds and schedules that modules define at their top level. The current folder is searched first."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    found: dict[str, Kind] = {}
    schedules: dict[str, Schedule] = {}
    for name in modules:
        try:
            module = importlib.import_module(name)
        except ImportError as reason:
            raise InvalidSettings([f"imports: {name!r} cannot be imported: {reason}"]) from reason
        for value in vars(module).values():
            if isinstance(value, Kind):
                found[value.name] = value
            elif isinstance(value, Schedule):
                schedules[value.name] = value
    return list(found.values()), list(schedules.values())
