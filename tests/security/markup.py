"""What may not be in an output that is shown to people: found in the tree that a browser would build, never by a pattern."""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import html5lib

HTML_ELEMENTS = frozenset({
    "a", "abbr", "acronym", "area", "article", "aside", "b", "bdi", "bdo", "blockquote", "body", "br", "caption", "center",
    "cite", "code", "col", "colgroup", "data", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption",
    "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr", "html", "i", "img", "input",
    "ins", "kbd", "li", "main", "map", "mark", "nav", "ol", "p", "picture", "pre", "q", "rp", "rt", "rtc", "ruby", "s",
    "samp", "section", "small", "span", "strike", "strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead",
    "time", "tr", "tt", "u", "ul", "var", "wbr",
})  # fmt: skip
PAGE_ELEMENTS = frozenset({"meta", "title", "style"})  # of the page that is ours

SVG_SPACE = "{http://www.w3.org/2000/svg}"
HTML_SPACE = "{http://www.w3.org/1999/xhtml}"
NEVER = frozenset({
    "script", "iframe", "frame", "object", "embed", "form", "base", "meta", "link", "audio", "video", "applet", "handler",
    "listener", "input", "button", "template", "math",
})  # fmt: skip
ADDRESSES = frozenset({"href", "src", "action", "formaction", "data", "poster", "background", "cite", "longdesc", "ping"})
INVISIBLE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ufeff]")
PICTURE = re.compile(r"data:image/(png|jpe?g|gif|webp)[;,]", re.IGNORECASE)
ANY_PICTURE = re.compile(r"data:image/(png|jpe?g|gif|webp|svg\+xml)[;,]", re.IGNORECASE)
CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
CSS_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?")
CSS_FETCHES = re.compile(r"url\(\s*[\"']?\s*(?!#|data:image/(?:png|jpe?g|gif|webp)|data:font|data:application/)[^\s\"')]", re.I)
CSS_RUNS = re.compile(r"expression\s*\(|behavior\s*:|-moz-binding|@import|javascript:|vbscript:|image-set\(", re.IGNORECASE)


def offences_in_html(text: str, *, page: bool = False) -> list[str]:
    """In what a browser makes of it, and in what it makes of that once more: some markup changes when it is read twice."""
    first = html5lib.parse(text, treebuilder="etree", namespaceHTMLElements=True)
    again = html5lib.parse(html5lib.serialize(first, tree="etree"), treebuilder="etree", namespaceHTMLElements=True)
    return [*_in_html(first, page), *_in_html(again, page)]


def _in_html(tree: Any, page: bool) -> Iterator[str]:
    allowed = HTML_ELEMENTS | (PAGE_ELEMENTS if page else frozenset())
    for element in tree.iter():
        if not isinstance(element.tag, str):
            yield "a comment"
            continue
        tag = element.tag.removeprefix(HTML_SPACE)
        if tag not in allowed:
            yield f"<{tag}>"
        if tag == "meta" and "http-equiv" in element.attrib:
            yield "<meta http-equiv>"
        for name, value in element.attrib.items():
            yield from _in_attribute(tag, name, value, ANY_PICTURE if tag == "img" and name == "src" else None)
            if name == "style":
                yield f"<{tag} style>"


def offences_in_svg(data: bytes) -> list[str]:
    """As XML, and as a browser reads it where it stands inside of a page."""
    inline = html5lib.parse(data.decode(), treebuilder="etree", namespaceHTMLElements=True)
    return [*_in_svg(ElementTree.fromstring(data)), *_in_svg(inline.find(f"{HTML_SPACE}body"))]


def _in_svg(tree: Any) -> Iterator[str]:
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        tag = element.tag.rpartition("}")[2]
        if tag in NEVER:
            yield f"<{tag}>"
        if tag in ("animate", "set", "animateTransform", "animateMotion"):
            yield from _in_animation(element)
        if tag == "style":
            yield from _in_css(element.text or "")
        for name, value in element.attrib.items():
            name = name.rpartition("}")[2].rpartition(":")[2]
            shows = PICTURE if tag in ("image", "img", "feImage") else None
            yield from _in_attribute(tag, name, value, shows, fetched=tag in ("image", "img", "feImage", "use"))
            if name not in ("d", "class", "points", "id", "alt", "title", "aria-label"):
                yield from _in_css(value)


def _in_animation(element: Any) -> Iterator[str]:
    if element.get("attributeName", "").rpartition(":")[2].lower() in ("href", "src", "style") or element.get(
        "attributeName", ""
    ).lower().startswith("on"):
        yield f"<{element.tag}> of an address"


def _in_attribute(tag: str, name: str, value: str, shows: re.Pattern[str] | None, *, fetched: bool = False) -> Iterator[str]:
    name = name.lower()
    if name.startswith("on") or name in ("srcdoc", "formaction", "is", "ping", "srcset"):
        yield f"<{tag} {name}>"
    if name in ADDRESSES:
        bare = INVISIBLE.sub("", value)
        scheme = re.match(r"([a-z][a-z0-9+.-]*):", bare, re.IGNORECASE)
        if fetched and not bare.startswith("#") and not (shows and shows.match(bare)):
            yield f"<{tag} {name}={value[:40]!r}>"
        if scheme and scheme[1].lower() not in ("http", "https", "mailto", "tel") and not (shows and shows.match(bare)):
            yield f"<{tag} {name}={value[:40]!r}>"


def _in_css(text: str) -> Iterator[str]:
    plain = CSS_ESCAPE.sub(lambda found: chr(min(int(found[1], 16), 0x10FFFF)), CSS_COMMENT.sub("", text))
    for pattern in (CSS_FETCHES, CSS_RUNS):
        if found := pattern.search(plain):
            yield f"css {plain[found.start() :][:60]!r}"
