"""What a merged file does not take over: scripts, and actions that start programs or load data."""

from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name

from pressroom.renderers import Notice

# What a click may do. Everything else is removed; so is what an action wants to do next.
_HARMLESS = frozenset(
    {"/GoTo", "/GoToR", "/URI", "/Named", "/SubmitForm", "/ResetForm", "/Hide", "/SetOCGState", "/Thread", "/Trans"}
)


def remove_active_content(pdf: pikepdf.Pdf) -> list[Notice]:
    """Pages, annotations and form fields are all that is copied from a file, so they are all that can carry an action."""
    removed = 0
    for page in pdf.pages:
        removed += _clean(page.obj)
        if isinstance(annotations := page.obj.get(Name.Annots), Array):
            removed += sum(_clean_with_parents(one) for one in annotations if isinstance(one, Dictionary))
    if not removed:
        return []
    return [Notice("active_content", f"{removed:,} scripts or actions were left out: a merged file does nothing by itself")]


def _clean_with_parents(annotation: Dictionary) -> int:
    """A form field may have its scripts in the field that it is a part of."""
    removed, seen = 0, set()
    at: Any = annotation
    while isinstance(at, Dictionary) and at.objgen not in seen:
        seen.add(at.objgen)
        removed += _clean(at)
        at = at.get(Name.Parent)
    return removed


def _clean(holder: Dictionary) -> int:
    removed = 0
    if Name.AA in holder:
        del holder.AA
        removed += 1
    action = holder.get(Name.A)
    if action is None:
        return removed
    if not isinstance(action, Dictionary) or str(action.get(Name.S)) not in _HARMLESS:
        del holder.A
        removed += 1
    elif Name.Next in action:
        del action.Next
        removed += 1
    return removed
