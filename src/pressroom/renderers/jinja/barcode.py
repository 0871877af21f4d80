"""Bar codes as SVG: Code 128 and EAN-13. What a scanner reads is the widths of bars and gaps, given here as digits."""

import html

QUIET_ZONE = 10  # modules left and right that stay white
LONGEST = 80  # a scanner reads hardly more

# Of Code 128: six widths for each of 106 symbols, beginning with a bar. 103 to 105 begin a code in set A, B and C.
_SYMBOLS = (
    "212222222122222221121223121322131222122213122312132212221213221312231212112232122132122231113222123122123221223211221132"
    "221231213212223112312131311222321122321221312212322112322211212123212321232121111323131123131321112313132113132311211313"
    "231113231311112133112331132131113123113321133121313121211331231131213113213311213131311123311321331121312113312311332111"
    "314111221411431111111224111422121124121421141122141221112214112412122114122411142112142211241211221114413111241112134111"
    "111242121142121241114212124112124211411212421112421211212141214121412121111143111341131141114113114311411113411311113141"
    "114131311141411131211412211214211232"
)
_STOP = "2331112"
_START_B, _START_C, _TO_B, _TO_C = 104, 105, 100, 99

# Of EAN-13: a gap, a bar, a gap, a bar for each digit of the left side; the right side has the same with bars for gaps.
_DIGITS = ("3211", "2221", "2122", "1411", "1132", "1231", "1114", "1312", "1213", "3112")
# Which digits of the left side are written backwards: so the first digit of thirteen is told without bars of its own.
_BACKWARDS = ("", "245", "235", "234", "145", "125", "123", "135", "134", "124")


def barcode_svg(value: str, kind: str, *, height: int = 50, text: bool = True) -> str:
    """Raises ValueError, which says what such a code may hold."""
    match kind:
        case "code128":
            widths, words = _code128(value), value
        case "ean13":
            words = _with_check_digit(value)
            widths = _ean13(words)
        case _:
            raise ValueError(f"there is no bar code {kind[:50]!r}; there are code128, ean13")
    return _svg(widths, words if text else "", words, height)


def _code128(value: str) -> str:
    if not 0 < len(value) <= LONGEST or any(not " " <= letter <= "~" for letter in value):
        raise ValueError(f"code128 holds 1 to {LONGEST} letters, digits and signs of ASCII")
    symbols: list[int] = []
    position = 0
    in_digits = False
    while position < len(value):
        digits = _digits_at(value, position)
        # Two digits are one symbol in set C: worth a change for four at either end, for six in the middle, for two alone.
        at_an_end = position == 0 or position + digits == len(value)
        pairs = digits // 2 if in_digits or digits >= (4 if at_an_end else 6) or digits == len(value) == 2 else 0
        if pairs and not in_digits and position > 0 and digits % 2:
            symbols.append(ord(value[position]) - 32)  # an odd number of digits: the first stays in set B
            position += 1
        if pairs:
            if not in_digits:
                symbols.append(_TO_C if symbols else _START_C)
            symbols += [int(value[at : at + 2]) for at in range(position, position + 2 * pairs, 2)]
            position += 2 * pairs
            in_digits = True
            continue
        if in_digits or not symbols:
            symbols.append(_TO_B if symbols else _START_B)
            in_digits = False
        symbols.append(ord(value[position]) - 32)
        position += 1
    check = (symbols[0] + sum(place * symbol for place, symbol in enumerate(symbols))) % 103
    return "".join(_SYMBOLS[6 * symbol : 6 * symbol + 6] for symbol in (*symbols, check)) + _STOP


def _digits_at(value: str, position: int) -> int:
    end = position
    while end < len(value) and value[end] in "0123456789":
        end += 1
    return end - position


def _with_check_digit(value: str) -> str:
    if len(value) not in (12, 13) or not (value.isascii() and value.isdigit()):
        raise ValueError("ean13 holds 12 digits and a check digit, which may be left out")
    check = -sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(value[:12])) % 10
    if len(value) == 13 and int(value[12]) != check:
        raise ValueError(f"ean13: the check digit of {value[:12]} is {check}, not {value[12]}")
    return value[:12] + str(check)


def _ean13(digits: str) -> str:
    backwards = _BACKWARDS[int(digits[0])]
    left = "".join(_DIGITS[int(digit)][:: -1 if str(place) in backwards else 1] for place, digit in enumerate(digits[1:7]))
    right = "".join(_DIGITS[int(digit)] for digit in digits[7:])
    return f"111{left}11111{right}111"


def _svg(widths: str, words: str, label: str, height: int) -> str:
    position = QUIET_ZONE
    bars = []
    for place, width in enumerate(map(int, widths)):
        if place % 2 == 0:
            bars.append(f"M{position} 0h{width}v{height}h-{width}z")
        position += width
    full = position + QUIET_ZONE
    below = 12 if words else 0
    caption = (
        f'<text x="{full / 2:g}" y="{height + 10}" font-family="Liberation Mono, monospace" font-size="10" '
        f'text-anchor="middle">{html.escape(words)}</text>'
        if words
        else ""
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="barcode" role="img" aria-label="{html.escape(label)}" '
        f'width="{full}" height="{height + below}" viewBox="0 0 {full} {height + below}" shape-rendering="crispEdges">'
        f'<rect width="{full}" height="{height + below}" fill="#fff"/><path d="{"".join(bars)}"/>{caption}</svg>'
    )
