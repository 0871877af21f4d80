"""Engines render untrusted sources in sandboxed processes: source bytes in, output bytes out, no network and no files.

An `Engine` turns one language into some outputs. It knows nothing of jobs, of pipes or of who asks. The calling process
reads only attributes of the class; the class is instantiated in a sandboxed process (sandbox/engine_process.py), which is
killed at its limits.
"""

import importlib.metadata
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from pressroom.errors import InvalidArgument, TooLarge
from pressroom.renderers import fonts

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}

type Theme = Literal["light", "dark", "auto"]

MB = 1024 * 1024


class Notice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something its author should know about an output that was made all the same."""

    code: str
    message: str
    line: int | None = None
    column: int | None = None


class Rendered(msgspec.Struct, frozen=True):
    """What an engine made. `details` is what it learned on the way: headings, front matter, the number of pages."""

    data: bytes
    media_type: str
    warnings: Sequence[Notice] = ()
    details: dict[str, Any] = {}


@dataclass(frozen=True)
class Limits:
    """What one render may cost. The defaults are those of a diagram."""

    source: int = 1 * MB
    output: int = 20 * MB
    seconds: float = 30.0
    memory: int = 1024 * MB
    strict_memory: bool = False  # the kernel refuses more at once, not only where it is noticed: for an engine without children
    side: int = 16_384  # pixels
    pixels: int = 64_000_000
    pages: int = 2_000


@dataclass(frozen=True)
class Missing:
    """Why an engine cannot work here, and the command that mends it."""

    what: str
    install: str


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Engine(ABC):
    """One language, some outputs. Class attributes and class methods are read outside of the box, so they load nothing."""

    name: ClassVar[str]
    title: ClassVar[str]
    takes: ClassVar[str]
    takes_bytes: ClassVar[bool] = False  # its source is no text: `render` is given bytes, and no form offers the language
    makes: ClassVar[tuple[str, ...]]
    sample: ClassVar[str]  # a tiny source that must render
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    limits: ClassVar[Limits] = Limits()
    packages: ClassVar[tuple[str, ...]] = ()  # the distributions that do the work
    extra: ClassVar[str] = "engines"  # of pressroom, which installs them
    uses_fonts: ClassVar[bool] = False  # ours, which then count as part of its version
    renders: ClassVar[int] = 2_000  # after so many an engine process is replaced
    spoiled = False  # set by an instance that a source has left in a bad state: its engine process ends after this answer
    edition: ClassVar[str] = "1"  # raise it when our own part of the engine changes what comes out
    prepared: ClassVar[bytes | None] = None  # in an engine process: what `prepare` returned, if there is room to share it

    @classmethod
    def version(cls) -> str:
        """Everything that the output depends on but the source and the options: part of every fingerprint."""
        installed = [f"{package} {_version_of(package)}" for package in cls.packages]
        return ", ".join([*installed, f"edition {cls.edition}", *([fonts.fonts_version()] if cls.uses_fonts else [])])

    @classmethod
    def missing(cls) -> Missing | None:
        absent = [package for package in cls.packages if _version_of(package) is None]
        if absent:
            return Missing(f"the Python package {absent[0]} is not installed", f"pip install 'pressroom[{cls.extra}]'")
        return None

    @classmethod
    def check(cls, source: bytes, output: str, options: Mapping[str, Any]) -> None:
        """Refuse what this engine cannot render, without an engine process. Raises InvalidArgument and TooLarge."""
        if output not in cls.makes:
            raise InvalidArgument(f"{cls.name} cannot make {output[:100]!r}; it makes {', '.join(cls.makes)}")
        if len(source) > cls.limits.source:
            raise TooLarge(f"the source has {len(source):,} bytes; {cls.name} takes at most {cls.limits.source:,}")
        try:
            msgspec.convert(options, cls.Options)
        except msgspec.ValidationError as error:
            raise InvalidArgument(f"{cls.name}: {_explain_option_error(str(error), cls)}") from None
        try:
            msgspec.msgpack.encode(dict(options))
        except RecursionError:
            raise InvalidArgument(f"{cls.name}: the options are nested too deeply") from None
        except (UnicodeEncodeError, OverflowError) as error:
            raise InvalidArgument(f"{cls.name}: the options hold what cannot be sent: {str(error)[:200]}") from None

    @classmethod
    def reads(cls) -> Sequence[Path]:
        """Folders and files that it must be able to read, besides Python, its packages and our fonts."""
        return ()

    @classmethod
    def writes(cls) -> Sequence[Path]:
        """What it must be able to write, besides its private folder."""
        return ()

    @classmethod
    def environment(cls) -> dict[str, str]:
        """What it must find in its environment, which otherwise is next to empty."""
        return {}

    @classmethod
    def prepare(cls) -> bytes | None:
        """What is costly to make and the same for every engine process. Called at most once by each process that asks, in a
        process of its own; every engine process finds it in `prepared`, and must do without it where that is None.
        """
        return None

    @abstractmethod
    def render(self, source: Any, output: str, options: Any) -> Rendered:
        """The source is a str, or bytes of an engine that `takes_bytes`."""

    def close(self) -> None:  # noqa: B027 - most have nothing to end
        """Called when the engine process exits normally, and not when it is killed."""


def _explain_option_error(reason: str, engine: type[Engine]) -> str:
    if "unknown field" not in reason:
        return f"option {reason}"
    known = ", ".join(engine.Options.__struct_fields__) or "none"
    return f"{reason.replace('Object contains unknown field', 'there is no option')}; there are {known}"


@cache
def _version_of(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
