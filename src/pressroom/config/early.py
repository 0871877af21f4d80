"""What a process needs to know before it reads its settings."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from pressroom.base.regular_files import read_regular
from pressroom.config.load import FILE, read_settings_file
from pressroom.config.readers import read_names


def find_log_format(argv: Sequence[str], environ: Mapping[str, str] | None = None) -> str:
    """`text` or `json`, as the settings will say, however wrong the rest of them is. Never raises.

    A process needs it before it has read its settings: what is wrong with them is told in that format too.
    """
    environ = os.environ if environ is None else environ
    named: object = environ.get("PRESSROOM_LOG_FORMAT")
    if not named:
        path = _config_flag(argv) or environ.get("PRESSROOM_CONFIG") or FILE
        try:
            named = _log_format_in(read_regular(Path(path), follow=True).decode(errors="replace"))
        except (OSError, ValueError):  # ValueError: a path with a NUL
            named = None
    return "json" if named == "json" else "text"


def find_apps_setting(argv: Sequence[str], environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The setting `apps`, if it is set, before the settings are read: commands of apps are needed to read the flags."""
    environ = os.environ if environ is None else environ
    if named := environ.get("PRESSROOM_APPS"):
        return read_names(named)
    path = Path(_config_flag(argv) or environ.get("PRESSROOM_CONFIG") or FILE)
    try:
        return read_names(read_settings_file(path, required=False, problems=[]).get("apps", ()))
    except ValueError:  # which the settings tell
        return ()


def _config_flag(argv: Sequence[str]) -> str | None:
    for flag, value in pairwise([*argv, ""]):
        if flag == "--config":
            return value
        if flag.startswith("--config="):
            return flag.removeprefix("--config=")
    return None


def _log_format_in(text: str) -> object:
    try:
        return tomllib.loads(text).get("log_format")
    except tomllib.TOMLDecodeError:  # the line may be right all the same
        found = re.search(r"""^\s*log_format\s*=\s*["'](\w+)["']""", text, re.MULTILINE)
        return found and found[1]
