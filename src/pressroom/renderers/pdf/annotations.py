"""The annotations of copied pages: links follow their names, scripts and actions that start programs are left out."""

from collections.abc import Mapping, Sequence
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary

from pressroom.renderers import Notice
from pressroom.renderers.pdf import names

# What a click may do. Everything else is removed; so is what an action wants to do next.
_HARMLESS = frozenset(
    {"/GoTo", "/GoToR", "/URI", "/Named", "/SubmitForm", "/ResetForm", "/Hide", "/SetOCGState", "/Thread", "/Trans"}
)


def clean_annotations(pages: Sequence[pikepdf.Page], renamed: Mapping[bytes, bytes]) -> int:
    """Returns how many actions were removed. Pages, annotations and form fields are all of a file that can carry one."""
    removed = 0
    seen: set[tuple[int, int]] = set()  # two annotations may be one object, which must not be renamed twice
    for page in pages:
        removed += _clean(page.obj)
        annotations = page.obj.get("/Annots")
        for one in annotations if isinstance(annotations, Array) else ():
            if not isinstance(one, Dictionary) or (one.is_indirect and one.objgen in seen):
                continue
            seen.add(one.objgen)
            removed += _clean(one)
            if "/Dest" in one or "/A" in one:
                names.follow(one, renamed)
            if "/Parent" in one:
                removed += _clean_fields(one.get("/Parent"))
    return removed


def active_content_notice(removed: int) -> list[Notice]:
    if not removed:
        return []
    return [Notice("active_content", f"{removed:,} scripts or actions were left out: a merged file does nothing by itself")]


def _clean_fields(field: Any) -> int:
    """A form field may have its scripts in the field that it is a part of."""
    removed, seen = 0, set()
    while isinstance(field, Dictionary) and field.objgen not in seen:
        seen.add(field.objgen)
        removed += _clean(field)
        field = field.get("/Parent")
    return removed


def _clean(holder: Dictionary) -> int:
    removed = 0
    if "/AA" in holder:
        del holder.AA
        removed += 1
    action = holder.get("/A")
    if action is None:
        return removed
    if not isinstance(action, Dictionary) or str(action.get("/S")) not in _HARMLESS:
        del holder.A
        removed += 1
    elif "/Next" in action:
        del action.Next
        removed += 1
    return removed
