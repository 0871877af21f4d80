"""Markdown to HTML: CommonMark and GitHub's extensions by comrak, cleaned by nh3, code coloured by Pygments.

What comes out is a fragment for another page; `page=True` makes it a page of its own. Headings, front matter
and the fenced diagrams that were found are in the details.
"""

import html
import re
from itertools import islice
from typing import Any, Literal

import msgspec

from pressroom.errors import TooLarge
from pressroom.renderers import MB, MEDIA_TYPES, Engine, Limits, Notice, Rendered, Theme
from pressroom.renderers.markdown import page
from pressroom.renderers.source_errors import line_and_column

DIAGRAMS = {
    "bytefield": "bytefield",
    "d2": "d2",
    "dbml": "dbml",
    "dot": "graphviz",
    "graphviz": "graphviz",
    "mermaid": "mermaid",
    "nomnoml": "nomnoml",
    "pikchr": "pikchr",
    "plantuml": "plantuml",
    "puml": "plantuml",
    "svgbob": "svgbob",
    "vega": "vega",
    "vega-lite": "vega-lite",
    "vegalite": "vega-lite",
    "wavedrom": "wavedrom",
}

GROWTH = 20  # an output may be so many times its source; references can multiply
_SMALL = 64 * 1024
# To give the nth of equal headings its own anchor, comrak tries n names: 16,000 of them take it 11 seconds.
MOST_ANCHORS = 5_000
# What costs comrak or nh3 the square of its number, and how many of it cost about a second.
MOST_NESTED = 250
MOST_COLUMNS = 10_000
MOST_DEFINITIONS = 10_000
MOST_FORMULAS = 20_000
MOST_NOTICES = 20  # of one sort: finding the line of each costs a walk through the source

_HEADING = re.compile(r'<h([1-6]) id="([^"]*)">(.*?)</h\1>', re.DOTALL)
_CODE = re.compile(r'<pre><code class="language-([^"\s]+)[^"]*">(.*?)</code></pre>', re.DOTALL)
_PLACED_CODE = re.compile(r'<pre data-sourcepos="(\d+):[^"]*"><code class="language-([^"\s]+)')
_TAG = re.compile(r"<[^>]*>")
_MARKERS = re.compile(rf"(?:^|\r)(?![-*_ \t]*$)(?:[ \t]*(?:>|(?:[-+*]|\d{{1,9}}[.)])[ \t])){{{MOST_NESTED}}}", re.MULTILINE)
_DEFINITION = re.compile(r"(?:^|\r)[ \t>]*+:[ \t]", re.MULTILINE)
_NESTING = re.compile(r"<(/?)(?!(?:p|li|td|th|tr|dt|dd|br|hr|img|input|col|wbr|area)\b)[a-zA-Z]")
_MAYBE_HEADING = re.compile(r"#(?:[ \t\r\n]|\Z)|[=-][ \t]*(?:[\r\n]|\Z)")
_NO_ALT = re.compile(r"!\[\s*\][(\[]")
_TOC_MARK = "<p>[TOC]</p>"
_SCHEME = re.compile(r"\s*([a-zA-Z][a-zA-Z0-9+.\-]*):")


class MarkdownOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    flavour: Literal["full", "gfm", "commonmark"] = "full"
    sanitise: bool = True  # False lets raw HTML through as it is written: for authors that are trusted
    highlight: bool = True
    anchors: bool = True  # only in the full flavour
    toc: bool = False  # a table of contents at the top; a line [TOC] puts it there
    page: bool = False
    theme: Theme = "auto"
    title: str | None = None
    lang: str | None = None
    diagrams: bool = False  # leave a mark where a fenced diagram stands, for the caller that draws them


class Markdown(Engine):
    name = "markdown"
    title = "Markdown"
    takes = "markdown"
    makes = ("html",)
    sample = "# Hello\n\nA *small* [link](https://example.org) and `code`.\n"
    Options = MarkdownOptions
    limits = Limits(source=1 * MB, output=20 * MB, seconds=10, memory=512 * MB)
    packages = ("comrak", "nh3", "pygments", "PyYAML")
    renders = 50_000

    def __init__(self) -> None:
        import comrak
        import nh3

        from pressroom.renderers.markdown import frontmatter, highlight

        self._front_matter = frontmatter
        self._highlight = highlight
        self._comrak = comrak
        self._flavours = {name: _extensions(comrak, name) for name in ("full", "gfm", "commonmark")}
        self._without_anchors = _extensions(comrak, "full", anchors=False)
        self._parsing = comrak.ParseOptions()
        self._parsing.relaxed_tasklist_matching = True
        self._rendering = comrak.RenderOptions()
        self._rendering.unsafe_ = True  # nh3 is what makes it safe
        self._rendering_full = comrak.RenderOptions()
        self._rendering_full.unsafe_ = True
        self._rendering_full.tasklist_classes = True
        self._strict_cleaner = nh3.Cleaner(**_sanitizer_options(nh3, {"http", "https", "mailto", "tel"}))
        self._cleaner_of_pictures = nh3.Cleaner(
            **_sanitizer_options(nh3, {"http", "https", "mailto", "tel", "data"}), attribute_filter=_filter_attribute
        )

    def render(self, source: str, output: str, options: MarkdownOptions) -> Rendered:  # noqa: ARG002
        matter = self._front_matter.parse(source) if options.flavour == "full" else self._front_matter.NONE
        _check_complexity(source, options.flavour)
        warnings = []
        if options.anchors and options.flavour == "full" and _has_too_many_headings(source):
            options = msgspec.structs.replace(options, anchors=False)
            warnings.append(
                Notice("no_anchors", f"headings have no anchors where there are more than {MOST_ANCHORS:,} of them")
            )
        body = self.to_html(source, options)
        _check_html_depth(source, body)
        warnings += _find_warnings(source, body)
        if options.sanitise:
            body = self.clean(body)
        details: dict[str, Any] = {}
        if options.flavour == "full":
            body = self._finish_html(source, body, options, details)
        if len(body) > _SMALL and len(body) > GROWTH * len(source):
            raise TooLarge(f"the page would be {len(body) // max(1, len(source))} times its source; the limit is {GROWTH}")
        if matter.values:
            details["front_matter"] = matter.values
        title = options.title or matter.title or _first_heading(details)
        if title:
            details["title"] = title
        if options.page:
            lang = options.lang or matter.lang
            if lang is None:
                warnings.append(Notice("no_lang", "the page names no language; set `lang` in the front matter or the options"))
            if title is None:
                warnings.append(Notice("no_title", "the page has no title; begin with a heading, or set `title`"))
            body = page.html_page(body, title=title or "Untitled", lang=lang, theme=options.theme)
        return Rendered(body.encode(), MEDIA_TYPES["html"], warnings, details)

    def to_html(self, source: str, options: MarkdownOptions) -> str:
        """As comrak renders it: nothing cleaned, nothing added."""
        plain = options.flavour == "full" and not options.anchors
        extensions = self._without_anchors if plain else self._flavours[options.flavour]
        rendering = self._rendering_full if options.flavour == "full" else self._rendering
        ended = source if source.endswith("\n") else f"{source}\n"  # else `[a]: <b>` on the last line is not a reference to it
        rendered: str = self._comrak.render_markdown(ended, extensions, self._parsing, rendering)
        return rendered

    def clean(self, body: str) -> str:
        """Formatting, tables, links and pictures stay; scripts, styles, frames and handlers go."""
        # Looking at each attribute costs more than all the rest, so it is done only where there may be a picture inside.
        cleaner = self._cleaner_of_pictures if "data:" in body.lower() else self._strict_cleaner
        cleaned: str = cleaner.clean(body)
        return cleaned

    def _finish_html(self, source: str, body: str, options: MarkdownOptions, details: dict[str, Any]) -> str:
        if "<pre><code class" in body:
            body = self._highlight_code_blocks(source, body, options, details)
        headings = [
            {"level": int(level), "id": html.unescape(anchor), "text": html.unescape(_TAG.sub("", text)).strip()}
            for level, anchor, text in _HEADING.findall(body)
        ]
        if headings:
            details["headings"] = headings
        if _TOC_MARK in body:
            body = body.replace(_TOC_MARK, page.table_of_contents(headings), 1)
        elif options.toc and headings:
            body = page.table_of_contents(headings) + body
        return body

    def _highlight_code_blocks(self, source: str, body: str, options: MarkdownOptions, details: dict[str, Any]) -> str:
        diagrams: list[dict[str, Any]] = []

        def highlight_block(found: re.Match[str]) -> str:
            language, text = found[1].lower(), found[2]
            if options.diagrams and language in DIAGRAMS:
                diagrams.append({"language": DIAGRAMS[language], "source": html.unescape(text)})
                return diagram_mark(len(diagrams) - 1)
            return self._highlight.highlight_code(language, html.unescape(text)) or found[0] if options.highlight else found[0]

        body = _CODE.sub(highlight_block, body)
        if diagrams:
            details["diagrams"] = diagrams
            for diagram, line in zip(diagrams, self._diagram_lines(source), strict=False):
                diagram["line"] = line
        return body

    def _diagram_lines(self, source: str) -> list[int]:
        """The line on which each diagram's own text begins, asked of the parser in a second pass."""
        placing = self._comrak.RenderOptions()
        placing.sourcepos = True
        placed = self._comrak.render_markdown(source, self._without_anchors, self._parsing, placing)
        return [int(line) + 1 for line, language in _PLACED_CODE.findall(placed) if language.lower() in DIAGRAMS]


def diagram_mark(number: int) -> str:
    """No source can contain one: comments do not survive the cleaning."""
    return f"<!--pressroom diagram {number}-->"


DIAGRAM_MARK = re.compile(r"<!--pressroom diagram \d{1,7}-->")


def _extensions(comrak: Any, flavour: str, *, anchors: bool = True) -> Any:
    extensions = comrak.ExtensionOptions()
    if flavour != "commonmark":
        for name in ("table", "strikethrough", "tasklist", "autolink"):
            setattr(extensions, name, True)
        extensions.tagfilter = flavour == "gfm"
    if flavour == "full":
        for name in ("footnotes", "alerts", "math_dollars", "math_code", "description_lists", "wikilinks_title_after_pipe"):
            setattr(extensions, name, True)
        extensions.front_matter_delimiter = "---"
        extensions.header_id_prefix = "" if anchors else None
    return extensions


def _sanitizer_options(nh3: Any, schemes: set[str]) -> dict[str, Any]:
    tags = nh3.ALLOWED_TAGS | {"input", "section", "figure", "figcaption", "picture", "summary", "details", "nav"}
    attributes = {tag: set(names) for tag, names in nh3.ALLOWED_ATTRIBUTES.items()}
    more = {
        "a": {"id", "class", "aria-hidden", "aria-label", "data-wikilink", "data-footnote-ref", "data-footnote-backref",
              "data-footnote-backref-idx", "title", "href", "hreflang"},
        "code": {"class", "data-math-style"},
        "details": {"open"},
        "div": {"class", "align"},
        "input": {"checked", "class", "disabled"},
        "li": {"id", "class"},
        "ol": {"start", "class"},
        "p": {"class", "align"},
        "pre": {"class", "lang"},
        "section": {"class", "data-footnotes"},
        "span": {"class", "data-math-style", "title"},
        "sup": {"class"},
        "ul": {"class"},
        "img": {"src", "alt", "title", "width", "height", "align"},
    }  # fmt: skip
    for level in range(1, 7):
        more[f"h{level}"] = {"id", "align"}
    for tag, names in more.items():
        attributes[tag] = attributes.get(tag, set()) | names
    return {
        "tags": tags,
        "attributes": attributes,
        "tag_attribute_values": {"input": {"type": {"checkbox"}}},
        "url_schemes": schemes,
        "link_rel": "noopener noreferrer",
        "strip_comments": True,
    }


def _filter_attribute(tag: str, attribute: str, value: str) -> str | None:
    """A picture may be carried inside the page; anything else that says `data:` may not."""
    if attribute in ("href", "src", "cite") and value.strip().lower().startswith("data:"):
        picture = tag == "img" and re.match(r"\s*data:image/(png|jpeg|gif|webp|svg\+xml)[;,]", value, re.IGNORECASE)
        return value if picture else None
    return value


def _check_complexity(source: str, flavour: str) -> None:
    if len(source) > MOST_NESTED and _MARKERS.search(source):
        raise TooLarge(f"quotes and lists are nested more than {MOST_NESTED} deep")
    if source.count("|") > MOST_COLUMNS and max(line.count("|") for line in source.splitlines()) > MOST_COLUMNS:
        raise TooLarge(f"a table has more than {MOST_COLUMNS:,} columns")
    if flavour != "full" or len(source) < MOST_DEFINITIONS:
        return
    if any(islice(_DEFINITION.finditer(source), MOST_DEFINITIONS, None)):
        raise TooLarge(f"the source has more than {MOST_DEFINITIONS:,} definitions")
    if source.count("$`") > MOST_FORMULAS:
        raise TooLarge(f"the source has more than {MOST_FORMULAS:,} formulas")


def _check_html_depth(source: str, body: str) -> None:
    """Elements that are opened and not closed. Those that end by themselves where the next one begins do not count."""
    if source.count("<") <= 4 * MOST_NESTED:
        return
    depth = 0
    for closing in _NESTING.findall(body):
        depth += -1 if closing else 1
        if depth > 4 * MOST_NESTED:
            raise TooLarge(f"HTML elements are nested more than {4 * MOST_NESTED:,} deep")


def _has_too_many_headings(source: str) -> bool:
    """Counted before they are read, so some that are counted are none."""
    return len(source) > 2 * MOST_ANCHORS and any(islice(_MAYBE_HEADING.finditer(source), MOST_ANCHORS, None))


def _find_warnings(source: str, body: str) -> list[Notice]:
    warnings = []
    for found in islice(_NO_ALT.finditer(source), MOST_NOTICES) if 'alt=""' in body else ():
        line, column = line_and_column(source, found.start())
        warnings.append(Notice("no_alt", "a picture has no text for those who cannot see it", line, column))
    for address in _list_refused_pictures(body):
        warnings.append(Notice("blocked_fetch", f"the picture {address!r} was left out: a page may not refer to files"))
    return warnings


_SOURCE = re.compile(r'<img src="([^"]*)"')


def _list_refused_pictures(body: str) -> list[str]:
    refused = []
    for address in map(html.unescape, _SOURCE.findall(body)):
        scheme = _SCHEME.match(address)
        if scheme and scheme[1].lower() not in ("http", "https", "data"):
            refused.append(address[:200])
    return refused[:MOST_NOTICES]


def _first_heading(details: dict[str, Any]) -> str | None:
    headings = details.get("headings", ())
    return next((heading["text"] for heading in headings if heading["level"] == 1 and heading["text"]), None)
