"""Settings as `pressroom check` shows them."""

from collections.abc import Iterator

from pressroom.config.addresses import mask_password
from pressroom.config.declaration import DeclaredSetting, DeclaredSettings, declared_settings
from pressroom.config.settings import Settings


def describe_settings(settings: Settings) -> list[tuple[str, str, str]]:
    """Each setting with its value and where it came from."""
    rows = [*_setting_rows(settings, "")]
    for app, section in settings.sections.items():
        rows += _setting_rows(section, f"[{app}] ")
    return [(name, value, settings.origins.get(name, "default")) for name, value in rows]


def _setting_rows(settings: DeclaredSettings, prefix: str) -> Iterator[tuple[str, str]]:
    for one in declared_settings(type(settings)):
        yield f"{prefix}{one.name}", _format_value(one, getattr(settings, one.name))


def _format_value(setting: DeclaredSetting, value: object) -> str:
    if setting.declaration.secret:
        return "***" if value else ""
    return mask_password(", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value))
