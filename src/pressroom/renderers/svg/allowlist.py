"""What an SVG may contain once it is clean: shapes, text, styles and what is embedded. Nothing that runs, nothing to fetch."""

import re
from collections.abc import Callable

SVG = "http://www.w3.org/2000/svg"
XHTML = "http://www.w3.org/1999/xhtml"
XLINK = "http://www.w3.org/1999/xlink"
XML = "http://www.w3.org/XML/1998/namespace"

SVG_ELEMENTS = frozenset({
    "svg", "g", "defs", "symbol", "use", "switch", "a", "title", "desc", "style", "view", "path", "rect", "circle",
    "ellipse", "line", "polyline", "polygon", "text", "tspan", "textPath", "image", "foreignObject", "marker",
    "clipPath", "mask", "pattern", "linearGradient", "radialGradient", "stop", "filter", "animate", "animateMotion",
    "animateTransform", "set", "mpath", "feBlend", "feColorMatrix", "feComponentTransfer", "feComposite",
    "feConvolveMatrix", "feDiffuseLighting", "feDisplacementMap", "feDistantLight", "feDropShadow", "feFlood",
    "feFuncA", "feFuncB", "feFuncG", "feFuncR", "feGaussianBlur", "feImage", "feMerge", "feMergeNode", "feMorphology",
    "feOffset", "fePointLight", "feSpecularLighting", "feSpotLight", "feTile", "feTurbulence",
})  # fmt: skip
ANIMATIONS = frozenset({"animate", "animateMotion", "animateTransform", "set"})

# What labels are made of. A form, a frame or a player has no business in a picture.
HTML_ELEMENTS = frozenset({
    "a", "abbr", "b", "blockquote", "br", "cite", "code", "dd", "del", "div", "dl", "dt", "em", "h1", "h2", "h3",
    "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "section",
    "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var",
})  # fmt: skip
HTML_VOID = frozenset({"br", "hr", "img"})
HTML_ATTRIBUTES = frozenset({
    "align", "alt", "class", "colspan", "dir", "height", "href", "id", "lang", "rowspan", "src", "start", "style",
    "title", "width",
})  # fmt: skip

# Attributes of SVG that name a resource, besides href and url().
FETCHING = frozenset({"src", "srcset", "action", "formaction", "background", "poster", "data", "ping", "target"})

EMBEDDED_IMAGE = re.compile(r"\s*data:image/(png|jpe?g|gif|webp)[;,]", re.IGNORECASE)
EMBEDDED_FONT = re.compile(r"\s*data:(font/[\w.+-]+|application/(x-)?font[\w.+-]*|application/octet-stream)[;,]", re.IGNORECASE)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
INVISIBLE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ufeff]")

type Blocked = Callable[[str, str], None]  # told what was left out, and why it would have been fetched


def is_link(href: str) -> bool:
    """Whether a reader may be sent there. A scheme hidden behind tabs and newlines is found the way a browser finds it."""
    bare = INVISIBLE.sub("", href)
    scheme = SCHEME.match(bare)
    return not scheme or scheme[0].lower() in ("http:", "https:", "mailto:")


def is_embedded_image(href: str) -> bool:
    return bool(EMBEDDED_IMAGE.match(href))


COMMENT = re.compile(r"/\*.*?(\*/|$)", re.DOTALL)
ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\r\n\f]?|(.)|$)", re.DOTALL)
IMPORT = re.compile(r"@import\b[^;]*(;|$)", re.IGNORECASE)
URL = re.compile(r"""url\(\s*("[^"]*"|'[^']*'|[^)"']*)\s*(\)|$)""", re.IGNORECASE)
ODD_URL = re.compile(r"\b(?:(?:-webkit-)?image-set|image|src|cross-fade|element|paint|attr)\s*\([^)]*(\)|$)", re.IGNORECASE)
RUNNING = re.compile(r"(expression\s*\(|javascript\s*:|(-moz-binding|behavior)\s*:)[^;}]*", re.IGNORECASE)


def clean_css(css: str, blocked: Blocked, rename: Callable[[str], str] = str) -> str:
    """The same styles without anything that fetches or runs.

    Escapes are resolved first, so that `\\75rl(` is seen for what it is, and what is judged is what is written.
    """
    css = ESCAPE.sub(_resolve_escape, COMMENT.sub(" ", css)) if "\\" in css or "/*" in css else css

    def import_rule(match: re.Match[str]) -> str:
        blocked("a style sheet", match[0])
        return ""

    def url(match: re.Match[str]) -> str:
        target = match[1].strip("\"' \t\r\n\f")
        if target.startswith("#"):
            return f"url(#{rename(target[1:])})"
        if is_embedded_image(target) or EMBEDDED_FONT.match(target):
            return match[0]
        blocked("a resource of a style", target)
        return "none"

    def odd_url(match: re.Match[str]) -> str:
        blocked("a resource of a style", match[0])
        return "none"

    if "@" in css:
        css = IMPORT.sub(import_rule, css)
    if "(" in css:
        css = ODD_URL.sub(odd_url, URL.sub(url, css))
    return RUNNING.sub("", css)


def _resolve_escape(escape: re.Match[str]) -> str:
    code = int(escape[1], 16) if escape[1] else 0
    char = chr(code) if 0x20 <= code < 0xD800 or 0xE000 <= code <= 0xFFFD else (escape[2] or "")
    return "" if char in ("\\", "\n") else char
