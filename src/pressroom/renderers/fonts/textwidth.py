"""How wide a text is in our fonts, for engines that lay out boxes before anything is drawn."""

import struct
import unicodedata
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

from pressroom.renderers import fonts

ASCENT_AND_DESCENT = 0.905 + 0.212  # of Liberation Sans, in em


class Face:
    """The advances of one TrueType file, in em. Kerning is left out: it only ever makes a text narrower."""

    def __init__(self, file: Path) -> None:
        data = file.read_bytes()
        tables = _read_table_offsets(data)
        em = struct.unpack_from(">H", data, tables["head"] + 18)[0]
        count = struct.unpack_from(">H", data, tables["hhea"] + 34)[0]
        metrics = struct.unpack_from(f">{count * 2}H", data, tables["hmtx"])
        advances = [advance / em for advance in metrics[::2]]
        glyphs = _read_glyph_map(data, tables["cmap"])
        self._missing = advances[0]
        self._advances = {char: advances[min(glyph, count - 1)] for char, glyph in glyphs.items()}

    def text_width(self, text: str) -> float:
        advances = self._advances
        return sum(advances.get(ord(char)) or self._estimate_width(char) for char in text)

    def _estimate_width(self, char: str) -> float:
        if unicodedata.combining(char):
            return 0.0
        return 1.0 if unicodedata.east_asian_width(char) in "WF" else self._missing


@lru_cache(maxsize=4096)
def text_width(text: str, *, bold: bool = False, italic: bool = False, mono: bool = False) -> float:
    """The width of one line, in em."""
    return _load_face(bold, italic, mono).text_width(text)


@cache
def _load_face(bold: bool, italic: bool, mono: bool) -> Face:
    style = ("Bold" if bold else "") + ("Italic" if italic else "")
    return Face(fonts.FOLDER / f"Liberation{'Mono' if mono else 'Sans'}-{style or 'Regular'}.ttf")


def _read_table_offsets(data: bytes) -> dict[str, int]:
    count = struct.unpack_from(">H", data, 4)[0]
    records = (struct.unpack_from(">4sIII", data, 12 + 16 * n) for n in range(count))
    return {tag.decode("latin-1"): offset for tag, _, offset, _ in records}


def _read_glyph_map(data: bytes, cmap: int) -> dict[int, int]:
    """Which glyph draws a character. Only format 4 is read: it is what these fonts carry for the basic plane."""
    count = struct.unpack_from(">H", data, cmap + 2)[0]
    offsets = (struct.unpack_from(">HHI", data, cmap + 4 + 8 * n)[2] + cmap for n in range(count))
    table = next(offset for offset in offsets if struct.unpack_from(">H", data, offset)[0] == 4)
    segments = struct.unpack_from(">H", data, table + 6)[0] // 2
    ends, starts, deltas, ranges = (
        struct.unpack_from(f">{segments}H", data, table + 14 + part * segments * 2 + (2 if part else 0)) for part in range(4)
    )
    ranges_at = table + 16 + 6 * segments

    def glyph(segment: int, char: int) -> int:
        if not ranges[segment]:
            return int(char + deltas[segment]) & 0xFFFF
        at = ranges_at + 2 * segment + ranges[segment] + 2 * (char - starts[segment])
        found = struct.unpack_from(">H", data, at)[0]
        return int(found + deltas[segment]) & 0xFFFF if found else 0

    pairs = (((char, glyph(n, char)) for char in range(starts[n], ends[n] + 1) if char != 0xFFFF) for n in range(segments))
    return {char: found for char, found in chain.from_iterable(pairs) if found}
