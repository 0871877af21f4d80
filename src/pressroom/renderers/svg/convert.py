"""From a clean SVG to pixels and to paper. What comes in must be clean: resvg reads the files that an image names."""

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from pressroom.errors import EngineCrashed, SourceInvalid, TooLarge
from pressroom.renderers import fonts
from pressroom.renderers.svg.deterministic_pdf import make_deterministic

PACKAGES = ("resvg-py", "vl-convert-python")

ROOT = re.compile(r"<svg(?![^>]* font-family=)")
FAMILIES = re.compile(r"""(font-family(?:="|:))([^";}<>]+)""")
MONOSPACED = re.compile(r"mono|courier|consolas|menlo|code", re.IGNORECASE)


def to_png(svg: str, zoom: float) -> bytes:
    import resvg_py

    with translate_panics():
        return resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            dpi=96,
            skip_system_fonts=True,
            font_files=[str(file) for file in fonts.font_files()],
            font_family=fonts.SANS,
            sans_serif_family=fonts.SANS,
            serif_family=fonts.SANS,
            cursive_family=fonts.SANS,
            fantasy_family=fonts.SANS,
            monospace_family=fonts.MONO,
        )


def to_pdf(svg: str) -> bytes:
    with translate_panics():
        return make_deterministic(vl_convert().svg_to_pdf(use_bundled_fonts(svg)))


def use_bundled_fonts(svg: str) -> str:
    """Ends every list of fonts with one that is there. svg2pdf leaves out a text for which it finds none, without a word."""
    svg = ROOT.sub(lambda root: f'{root[0]} font-family="{fonts.SANS}"', svg, count=1)
    return FAMILIES.sub(lambda found: f"{found[1]}{found[2].rstrip()}, {_nearest_font(found[2])}", svg)


def _nearest_font(families: str) -> str:
    return fonts.MONO if MONOSPACED.search(families) else fonts.SANS


@cache
def vl_convert() -> Any:
    """The library, knowing our fonts and no others: it would look through those of the machine first."""
    if "FONTCONFIG_FILE" not in os.environ:  # an engine process has one
        folder = Path(tempfile.mkdtemp(prefix="pressroom-fonts-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        (folder / "fonts.conf").write_text(fonts.fontconfig_xml(folder), encoding="utf-8")
        os.environ["FONTCONFIG_FILE"] = str(folder / "fonts.conf")
    import vl_convert

    vl_convert.register_font_directory(str(fonts.FOLDER))
    return vl_convert


@contextmanager
def translate_panics(given: type[Exception] | tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """What Rust makes of a picture that it cannot draw. A panic is no Exception to Python, and would take the engine process
    with it. The exceptions that are `given` pass: the caller knows better what they mean.
    """
    try:
        yield
    except given:
        raise
    except (ValueError, RuntimeError) as error:
        if "limit reached" in str(error):
            raise TooLarge("the picture repeats itself into too many elements") from None
        raise SourceInvalid(f"the picture cannot be drawn: {first_line(error)}") from None
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise EngineCrashed("the engine gave up on this source") from error
        raise


def first_line(error: BaseException) -> str:
    """Without the backtrace that follows."""
    return str(error).strip().split("\n", 1)[0][:300]
