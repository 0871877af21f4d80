"""The fonts that every engine draws with, so that a document looks the same on every machine.

Liberation Sans and Mono 2.1.5 (SIL Open Font License, OFL.txt).
"""

import hashlib
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
SANS = "Liberation Sans"
MONO = "Liberation Mono"


@cache
def font_files() -> tuple[Path, ...]:
    return tuple(sorted(FOLDER.glob("*.ttf")))


@cache
def fonts_version() -> str:
    """A digest of the fonts themselves: other fonts, other pictures."""
    digest = hashlib.sha256()
    for file in font_files():
        digest.update(file.name.encode() + file.read_bytes())
    return f"fonts {digest.hexdigest()[:12]}"


def fontconfig_xml(cache_folder: Path) -> str:
    """A fontconfig file that knows these fonts and no others. `cache_folder` must be writable."""
    aliases = {
        "sans-serif": SANS, "serif": SANS, "monospace": MONO, "system-ui": SANS, "cursive": SANS, "fantasy": SANS,
        "Arial": SANS, "Helvetica": SANS, "Helvetica Neue": SANS, "Segoe UI": SANS, "Verdana": SANS, "Times New Roman": SANS,
        "Courier New": MONO, "Courier": MONO, "Consolas": MONO, "Menlo": MONO, "ui-monospace": MONO,
    }  # fmt: skip
    lines = [
        f"<alias binding='same'><family>{name}</family><prefer><family>{font}</family></prefer></alias>"
        for name, font in aliases.items()
    ]
    return (
        "<?xml version='1.0'?>\n<!DOCTYPE fontconfig SYSTEM 'urn:fontconfig:fonts.dtd'>\n<fontconfig>\n"
        f"<dir>{FOLDER}</dir>\n<cachedir>{cache_folder}</cachedir>\n" + "\n".join(lines) + "\n</fontconfig>\n"
    )
