"""The configuration as a folder: `registry.json`, `templates/*.html`, `styles/*.css`, `strings.json` and `strings/*.json`."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from pressroom.apps.packs.config.checks import require_body, require_key
from pressroom.apps.packs.config.registry import KEY as REGISTRY
from pressroom.base.regular_files import read_regular, write_below
from pressroom.errors import InvalidArgument

_FILES = {"registry.json": REGISTRY, "strings.json": "strings", "resources.json": "resources"}
_FOLDERS = {
    "templates": ("template", (".html", ".jinja", ".j2")),
    "styles": ("style", (".css",)),
    "strings": ("strings", (".json",)),
}


def read_config_folder(folder: Path) -> dict[str, str]:
    """Texts by their keys, those that others name first: templates and styles before the registry. Raises InvalidArgument."""
    if not folder.is_dir():
        raise InvalidArgument(f"{folder} is not a folder")
    found = dict(_read_texts(folder))
    if not found:
        raise InvalidArgument(f"{folder} has no configuration; it has registry.json, templates/NAME.html, styles/NAME.css")
    return dict(sorted(found.items(), key=lambda item: item[0] == REGISTRY))


def _read_texts(folder: Path) -> Iterator[tuple[str, str]]:
    for name, key in _FILES.items():
        if (folder / name).exists():
            yield key, _read_text(folder / name)
    for name, (prefix, endings) in _FOLDERS.items():
        if not (folder / name).is_dir():
            continue
        with os.scandir(folder / name) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                stem, ending = os.path.splitext(entry.name)
                if ending.lower() in endings and not entry.name.startswith("."):
                    yield require_key(f"{prefix}:{stem}"), _read_text(Path(entry.path))


def _read_text(path: Path) -> str:
    try:
        return require_body(read_regular(path).decode())
    except OSError as reason:
        raise InvalidArgument(f"{path} cannot be read: {reason.strerror}") from None
    except UnicodeDecodeError as reason:
        raise InvalidArgument(f"{path} is not UTF-8: byte {reason.start}") from None


def write_config_folder(folder: Path, texts: Mapping[str, str]) -> list[str]:
    """The names of the files that were written."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for key, text in texts.items():
        parts = _path_of(key)
        write_below(folder, parts, text.encode())
        names.append("/".join(parts))
    return names


def _path_of(key: str) -> tuple[str, ...]:
    for name, whole in _FILES.items():
        if key == whole:
            return (name,)
    prefix, _, stem = key.partition(":")
    for folder, (kind, endings) in _FOLDERS.items():
        if prefix == kind:
            return (folder, f"{stem}{endings[0]}")
    raise InvalidArgument(f"there is no key {key[:100]!r}")
