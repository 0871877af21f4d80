"""Makes an SVG safe and well formed, whatever drew it.

It is a filter over the events of an XML parser: what the rules (rules.py) know is written out again in one fixed form, and
the rest is left out. No tree is built, so a deep or a huge document costs no more than its reading.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.parsers import expat
from xml.sax.saxutils import escape

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import Notice
from pressroom.renderers.source_errors import source_error
from pressroom.renderers.svg import allowlist as svgrules
from pressroom.renderers.svg import size as svgsize
from pressroom.renderers.svg.allowlist import SVG, XHTML, XLINK, XML
from pressroom.renderers.svg.cost import DrawingCost

MAX_DEPTH = 256
MAX_ELEMENTS = 250_000
MAX_DRAWN = 500_000  # elements, once every <use>, pattern and mask is drawn
MAX_NOTICES = 20

VERBATIM = frozenset({"class", "d", "points", "alt", "title", "viewbox"})  # never read as CSS
STYLED = re.compile(r"[(\\@:]")


@dataclass(frozen=True)
class CleanSvg:
    body: str  # what stands inside of the root element
    root: dict[str, str]  # its attributes
    width: float  # CSS pixels
    height: float
    title: str | None
    description: str | None
    has_html: bool  # labels in HTML, which only browsers draw
    notices: tuple[Notice, ...]

    @property
    def box(self) -> svgsize.Box:
        return svgsize.parse_view_box(self.root.get("viewBox")) or (0, 0, self.width, self.height)

    def to_svg(self, *, label: str = "pressroom", title: str | None = None, background: str | None = None) -> str:
        """The document. `label` begins the ids of its title and description, so that two on one page do not clash."""
        named = [
            (f"{label}-{tag}", tag, text) for tag, text in (("title", title or self.title), ("desc", self.description)) if text
        ]
        root = (
            {"xmlns": SVG}
            | self.root
            | ({"role": "img", "aria-labelledby": " ".join(id for id, _, _ in named)} if named else {})
        )
        names = "".join(f"<{tag} {write_attributes({'id': id})}>{escape(text)}</{tag}>" for id, tag, text in named)
        return f"<svg {write_attributes(root)}>{names}{self._background_rect(background)}{self.body}</svg>"

    def _background_rect(self, color: str | None) -> str:
        if color is None:
            return ""
        x, y, width, height = (_format_number(side) for side in self.box)
        style = f"fill:{color};stroke:none"  # as a style, because the picture may have rules of its own for every rect
        return f"<rect {write_attributes({'x': x, 'y': y, 'width': width, 'height': height, 'style': style})}/>"


def clean_svg(
    svg: str, *, title: str | None = None, description: str | None = None, prefix: str = "", by_engine: bool = True
) -> CleanSvg:
    """`prefix` is put before every id. A document that its author wrote gets located errors; one that an engine drew does not,
    because its lines mean nothing to its author.
    """
    filter = _SvgFilter(svg, prefix, by_engine)
    try:
        filter.filter_document()
    except expat.ExpatError as error:
        if by_engine:
            raise SourceInvalid("this source makes the engine draw what is not well-formed SVG") from error
        raise source_error(
            svg, f"not well-formed XML: {expat.ErrorString(error.code)}", error.lineno, error.offset + 1
        ) from None
    box = svgsize.parse_view_box(filter.root.get("viewBox"))
    width, height = svgsize.picture_size(filter.root.get("width"), filter.root.get("height"), box)
    root = filter.root | {"width": _format_number(width), "height": _format_number(height)}
    root.setdefault("viewBox", f"0 0 {_format_number(width)} {_format_number(height)}")
    return CleanSvg(
        body="".join(filter.out),
        root=root,
        width=width,
        height=height,
        title=title or filter.text_of("title"),
        description=description or filter.text_of("desc"),
        has_html=filter.has_html,
        notices=tuple(filter.notices.values())[:MAX_NOTICES],
    )


class _SvgFilter:
    def __init__(self, svg: str, prefix: str, by_engine: bool) -> None:
        self.out: list[str] = []
        self.root: dict[str, str] = {}
        self.notices: dict[tuple[str, str], Notice] = {}
        self.has_html = False
        self._svg = svg
        self._prefix = prefix
        self._by_engine = by_engine
        self._open: list[tuple[str, str]] = []
        self._skipped = 0  # how deep we are in something that is left out
        self._elements = 0
        self._captured: dict[str, list[str]] = {}
        self._capturing: list[str] | None = None
        self._style: list[str] | None = None
        self._cost = DrawingCost()
        self._parser = expat.ParserCreate("utf-8", " ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._on_start
        self._parser.EndElementHandler = self._on_end
        self._parser.CharacterDataHandler = self._on_text
        self._parser.ProcessingInstructionHandler = self._on_processing_instruction
        self._parser.StartDoctypeDeclHandler = self._on_doctype

    def filter_document(self) -> None:
        self._parser.Parse(self._svg.encode(errors="replace"), True)
        if self._cost.total() > MAX_DRAWN:
            raise TooLarge(f"<use>, patterns and masks repeat the picture into more than {MAX_DRAWN:,} elements")

    def text_of(self, tag: str) -> str | None:
        return " ".join("".join(self._captured.get(tag, ())).split()) or None

    def _on_doctype(self, _name: str, system: str | None, public: str | None, has_subset: int) -> None:
        # The document type that drawing programs write is harmless and never fetched. Any other one can only declare entities.
        plain = system is None if public is None else public.startswith("-//W3C//DTD SVG ")
        if has_subset or not plain:
            raise self._invalid_error("a document type with declarations is not accepted; remove the <!DOCTYPE ...>")

    def _on_processing_instruction(self, target: str, data: str) -> None:
        if target == "xml-stylesheet":
            self._note_blocked("a style sheet", data)

    def _on_start(self, name: str, given: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise TooLarge(f"the picture has more than {MAX_ELEMENTS:,} elements")
        if len(self._open) + self._skipped >= MAX_DEPTH:
            raise TooLarge(f"elements are nested more than {MAX_DEPTH} deep")
        if self._skipped:
            self._skipped += 1
            return
        space, _, tag = name.rpartition(" ")
        if not self._open:
            self._open_element(space, tag, given)
            return
        if len(self._open) == 1 and space == SVG and tag in ("title", "desc"):
            self._capturing = self._captured.setdefault(tag, []) if tag not in self._captured else []
        elif not self._is_allowed(space, tag, given):
            self._skipped = 1
            return
        self._open.append((space, tag))
        self._cost.enter_element(given)
        if self._capturing is None:
            self._write_start(space, tag, given)

    def _open_element(self, space: str, tag: str, given: dict[str, str]) -> None:
        if (space, tag) != (SVG, "svg"):
            hint = f'; add xmlns="{SVG}"' if tag == "svg" and not space else ""
            raise self._invalid_error(f"the root element must be an <svg> of SVG{hint}")
        self._open.append((space, tag))
        self._cost.enter_element(given)
        kept = dict(self._kept_attributes(space, tag, given))
        dropped = ("role", "aria-labelledby", "aria-describedby", "aria-label")
        self.root = {name: value for name, value in kept.items() if name not in dropped}
        style = re.sub(r"max-width:[^;]*;?\s*", "", self.root.pop("style", "")).strip(" ;")
        if style:
            self.root["style"] = style

    def _is_allowed(self, space: str, tag: str, given: dict[str, str]) -> bool:
        if space == SVG:
            if tag in svgrules.ANIMATIONS and not re.fullmatch(r"(?!href|on|style)[a-zA-Z-]*", given.get("attributeName", "")):
                self._note_removed(f"an animation of {given['attributeName'][:40]!r}")
                return False
            if tag not in svgrules.SVG_ELEMENTS:
                if tag in ("script", "handler", "listener"):
                    self._note_removed(f"<{tag}>")
                return False
            return True
        if space == XHTML and tag in svgrules.HTML_ELEMENTS and any(opened == (SVG, "foreignObject") for opened in self._open):
            self.has_html = True
            return True
        if space == XHTML:
            self._note_removed(f"<{tag}>")
        return False

    def _write_start(self, space: str, tag: str, given: dict[str, str]) -> None:
        kept = dict(self._kept_attributes(space, tag, given))
        if space == XHTML and self._open[-2][0] == SVG:
            kept = {"xmlns": XHTML} | kept
        self.out.append(f"<{tag} {write_attributes(kept)}>" if kept else f"<{tag}>")
        if tag == "style":
            self._style = []

    def _on_end(self, _name: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        space, tag = self._open.pop()
        self._cost.leave_element()
        if not self._open:
            return
        if self._capturing is not None:
            if len(self._open) == 1:
                self._capturing = None
            return
        if self._style is not None and tag == "style":
            css = "".join(self._style)
            self.out.append(escape(svgrules.clean_css(css, self._note_blocked, self._prefix_id)))
            self._style = None
        self._close_element(space, tag)

    def _close_element(self, space: str, tag: str) -> None:
        """Empty elements of SVG are closed at once. Those of HTML are not, because a page would read on inside of them."""
        last = self.out[-1]
        empty = last.startswith(f"<{tag}") and last.endswith(">") and not last.startswith("</") and not last.endswith("/>")
        if empty and (tag in svgrules.HTML_VOID if space == XHTML else tag != "style"):
            self.out[-1] = f"{last[:-1]}/>"
        else:
            self.out.append(f"</{tag}>")

    def _on_text(self, text: str) -> None:
        if self._skipped or len(self._open) <= 1:
            return
        if self._capturing is not None:
            self._capturing.append(text)
        elif self._style is not None:
            self._style.append(text)
        else:
            self.out.append(escape(text))

    def _kept_attributes(self, space: str, tag: str, given: dict[str, str]) -> Iterator[tuple[str, str]]:
        for name, value in given.items():
            where, _, bare = name.rpartition(" ")
            if where == XML and bare in ("space", "lang"):
                yield f"xml:{bare}", value
            elif bare == "href" and where in ("", XLINK):
                if where and "href" in given:
                    continue
                if (target := self._clean_reference(tag, value)) is not None:
                    yield "href", target
            elif not where and (kept := self._clean_attribute(space, bare, value)) is not None:
                yield bare, kept

    def _clean_attribute(self, space: str, name: str, value: str) -> str | None:
        low = name.lower()
        if low.startswith("on"):
            self._note_removed(f"the event handler {name[:40]}")
            return None
        if space == XHTML:
            if low == "src":
                return self._clean_reference("img", value)
            if not (low in svgrules.HTML_ATTRIBUTES or low.startswith(("aria-", "data-"))):
                return None
        elif low in svgrules.FETCHING:
            return None
        if low == "id":
            return self._prefix_id(value)
        if low not in VERBATIM and not low.startswith(("data-", "aria-")) and STYLED.search(value):
            return svgrules.clean_css(value, self._note_blocked, self._prefix_id)
        return value

    def _clean_reference(self, tag: str, value: str) -> str | None:
        if value.strip().startswith("#"):
            return "#" + self._prefix_id(value.strip()[1:])
        if tag == "a":
            if svgrules.is_link(value):
                return value
            self._note_removed(f"a link to {value.strip()[:40]!r}")
            return None
        if tag in ("image", "img", "feImage") and svgrules.is_embedded_image(value):
            return value
        self._note_blocked("an image" if tag in ("image", "img", "feImage") else f"what <{tag}> refers to", value)
        return None

    def _prefix_id(self, id: str) -> str:
        return f"{self._prefix}{id}"

    def _note_blocked(self, what: str, target: str) -> None:
        self._add_notice("blocked_fetch", f"{what} was left out because it is not embedded: {target.strip()[:100]}")

    def _note_removed(self, what: str) -> None:
        self._add_notice("unsafe_removed", f"{what} was left out because it could run as a program")

    def _add_notice(self, code: str, message: str) -> None:
        line = None if self._by_engine else self._parser.CurrentLineNumber
        if len(self.notices) < MAX_NOTICES:
            self.notices.setdefault((code, message), Notice(code, message, line))

    def _invalid_error(self, message: str) -> SourceInvalid:
        if self._by_engine:
            return SourceInvalid(message)
        return source_error(self._svg, message, self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1)


def write_attributes(given: dict[str, str]) -> str:
    return " ".join(f'{name}="{_escape_attribute(value)}"' for name, value in given.items())


def _escape_attribute(value: str) -> str:
    return escape(value, {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _format_number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
