"""A dashboard template as it is in a repository: `template.toml`, and the files that it names."""

import base64
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from pressroom.apps.docs.dashboards.metadata import SWITCHER_KINDS
from pressroom.apps.docs.dashboards.template import Assets, DashboardTemplate, PageTemplate, built_in_template
from pressroom.apps.docs.errors import TemplateFailed
from pressroom.apps.docs.model import EditionKind

CONFIG = "template.toml"
LARGEST_CONFIG = 64 * 1024  # characters
MOST_DOTS = 100  # in a line: tomllib took 16 s and 1.5 GB for a key of 20,000 parts
LARGEST_ASSETS = 5 * 1024 * 1024  # bytes of styles, or of scripts; a file may be named many times
INCLUDED = (".html", ".jinja", ".j2")
PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
_RESERVED = ("css", "js")

type Paths = str | list[str]


class AssetPaths(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    css: Paths = []
    js: Paths = []
    images: Paths = []


class PageSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The assets are in a table `assets`, or in the section itself."""

    template: str
    css: Paths = []
    js: Paths = []
    images: Paths = []
    assets: AssetPaths = AssetPaths()


class SwitcherSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    include_kinds: list[EditionKind] = msgspec.field(default_factory=lambda: [*SWITCHER_KINDS])


class TemplateConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of `template.toml`."""

    dashboard: PageSection
    error_404: PageSection | None = None
    switcher: SwitcherSection = msgspec.field(default_factory=SwitcherSection)


def read_template(files: Mapping[str, bytes]) -> DashboardTemplate:
    """Raises TemplateFailed with the file and what is wrong with it."""
    config = _read_config(files)
    return DashboardTemplate(
        dashboard=_page(config.dashboard, files),
        error_404=built_in_template().error_404 if config.error_404 is None else _page(config.error_404, files),
        switcher_kinds=[str(kind) for kind in config.switcher.include_kinds],
        included={path: _text(files, path) for path in sorted(files) if path.endswith(INCLUDED)},
    )


def _read_config(files: Mapping[str, bytes]) -> TemplateConfig:
    if CONFIG not in files:
        raise TemplateFailed(f"there is no {CONFIG}")
    text = _text(files, CONFIG)
    if len(text) > LARGEST_CONFIG or any(line.count(".") > MOST_DOTS for line in text.split("\n")):
        raise TemplateFailed(f"{CONFIG}: it is larger than 64 KB, or a line has more than {MOST_DOTS} dots")
    try:
        return msgspec.convert(tomllib.loads(text), TemplateConfig)
    except (tomllib.TOMLDecodeError, RecursionError, msgspec.ValidationError) as reason:
        raise TemplateFailed(f"{CONFIG}: {str(reason)[:300]}") from None


def _page(section: PageSection, files: Mapping[str, bytes]) -> PageTemplate:
    path = _find(files, section.template)
    assets = Assets(
        css=_joined(files, _several(section.css) + _several(section.assets.css)),
        js=_joined(files, _several(section.js) + _several(section.assets.js)),
        images=_images(files, _several(section.images) + _several(section.assets.images)),
    )
    return PageTemplate(name=path, source=_text(files, path), assets=assets)


def _joined(files: Mapping[str, bytes], paths: Sequence[str]) -> str:
    found = [_find(files, path) for path in paths]
    if sum(len(files[path]) for path in found) > LARGEST_ASSETS:
        raise TemplateFailed(f"{CONFIG}: its styles or scripts have more than {LARGEST_ASSETS // 1_048_576} MB together")
    return "\n".join(_text(files, path) for path in found)


def _images(files: Mapping[str, bytes], paths: Sequence[str]) -> dict[str, str]:
    """By the name under which a template has them: `logo-dark.svg` is `assets.logo_dark_svg`."""
    images: dict[str, str] = {}
    for given in paths:
        path = _find(files, given)
        name = PurePosixPath(path).name.replace(".", "_").replace("-", "_")
        if name in images or name in _RESERVED:
            raise TemplateFailed(f"{CONFIG}: two images are assets.{name}; rename one of them")
        images[name] = _image(files, path)
    return images


def _image(files: Mapping[str, bytes], path: str) -> str:
    ending = PurePosixPath(path).suffix.lower()
    if ending == ".svg":
        return _text(files, path)
    if ending not in PICTURES:
        raise TemplateFailed(f"{path}: an image is {', '.join(name.removeprefix('.') for name in ('.svg', *PICTURES))}")
    return f"data:{PICTURES[ending]};base64,{base64.b64encode(files[path]).decode()}"


def _find(files: Mapping[str, bytes], given: str) -> str:
    """Relative to the folder of `template.toml`."""
    path = given.removeprefix("./")
    if path not in files:
        raise TemplateFailed(f"{CONFIG}: there is no file {given[:200]!r} beside it")
    return path


def _text(files: Mapping[str, bytes], path: str) -> str:
    try:
        return files[path].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TemplateFailed(f"{path}: it is not UTF-8") from None


def _several(paths: Any) -> list[str]:
    return [paths] if isinstance(paths, str) else list(paths)
