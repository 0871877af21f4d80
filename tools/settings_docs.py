"""`./dev docs`: the tables of docs/settings.md, made from the declarations of the settings.

A table follows a line `<!-- settings: NAME -->`, where NAME is a part of the core's settings or an app.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from pressroom.app import BUILT_IN, settings_types
from pressroom.config.alert_settings import AlertSettings
from pressroom.config.artifact_settings import ArtifactSettings
from pressroom.config.declaration import DeclaredSetting, DeclaredSettings, declared_settings
from pressroom.config.load import PREFIX, app_prefix
from pressroom.config.queue_settings import QueueSettings
from pressroom.config.service_settings import ServiceSettings

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = "| in `pressroom.toml` | in the environment | default | meaning |\n|---|---|---|---|\n"
_TABLE = re.compile(r"(?<=<!-- settings: )(?P<name>\w+)(?P<marker> -->\n)\n*(?:\|.*\n)*\n*")


def find_tables() -> dict[str, str]:
    """The table of each part of the core's settings and of each built-in app that has settings."""
    core = {"queue": QueueSettings, "artifacts": ArtifactSettings, "service": ServiceSettings, "alerts": AlertSettings}
    tables = {name: make_table(part, PREFIX) for name, part in core.items()}
    apps = {app: settings_type for app, settings_type in settings_types(BUILT_IN).items() if settings_type is not None}
    return tables | {app: make_table(settings_type, app_prefix(app)) for app, settings_type in apps.items()}


def make_table(settings_type: type[DeclaredSettings], prefix: str) -> str:
    return HEAD + "".join(_row(one, prefix) for one in declared_settings(settings_type))


def _row(one: DeclaredSetting, prefix: str) -> str:
    declaration = one.declaration
    aliases = [(alias.name, alias.note) for alias in declaration.aliases]
    note = "with commas" if one.type == tuple[str, ...] else "seconds" if ("milliseconds" in dict(aliases).values()) else ""
    variables = [(one.variable(prefix), note), *aliases]
    in_file = ", or ".join(f"`{name}`" for name in (one.name, declaration.file_alias) if name)
    in_environment = ", or ".join(f"`{name}`" + (f" ({note})" if note else "") for name, note in variables)
    default = declaration.shown_default or _default(one.default)
    return f"| {in_file} | {in_environment} | {default} | {declaration.about} |\n"


def _default(value: Any) -> str:
    match value:
        case None | "" | ():
            return "none"
        case bool():
            return str(value).lower()
        case str():
            return f"`{value}`"
        case tuple():
            return f"`{','.join(value)}`"
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)


def fill_tables(page: str) -> str:
    """The page with its tables as they should be. Raises unless each table has one place in it, and each place a table."""
    tables = find_tables()
    places = Counter(place["name"] for place in _TABLE.finditer(page))
    wrong = [f"add a line `<!-- settings: {name} -->` where its table belongs" for name in tables if not places[name]]
    wrong += [f"remove `<!-- settings: {name} -->`: there are no such settings" for name in places if name not in tables]
    wrong += [f"there are {count} lines `<!-- settings: {name} -->`" for name, count in places.items() if count > 1]
    if wrong:
        raise SystemExit(f"docs/{PAGE.name}: {'; '.join(wrong)}")
    return _TABLE.sub(lambda place: f"{place['name']}{place['marker']}\n{tables[place['name']]}\n", page)


def main() -> None:
    PAGE.write_text(fill_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
