"""Makes rendered HTML accessible: scrolling blocks take the keyboard focus, and checkboxes have labels.

And a heading called Main gets another id than the place of that name on our pages.
"""

import re

RESERVED_IDS = frozenset({"main", "find", "connection", "keys", "keys-title"})  # ids of the page around an article

_RESERVED_ID = re.compile(rf'id="(?:{"|".join(sorted(RESERVED_IDS))})"')
_BOX = re.compile(r'<input type="checkbox"([^>]*)>')


def postprocess_html(body: str) -> str:
    for name in RESERVED_IDS if _RESERVED_ID.search(body) else ():
        body = body.replace(f' id="{name}"', f' id="{heading_id(name)}"').replace(
            f' href="#{name}"', f' href="#{heading_id(name)}"'
        )
    body = _BOX.sub(_label_checkbox, body) if "<input" in body else body
    body = body.replace("<pre", '<pre tabindex="0"')
    body = body.replace("<table", '<div class="sideways" role="group" aria-label="Table" tabindex="0"><table')
    return body.replace("</table>", "</table></div>")


def heading_id(heading: str) -> str:
    return f"{heading}-" if heading in RESERVED_IDS else heading


def _label_checkbox(box: re.Match[str]) -> str:
    said = "done" if "checked" in box[1] else "to do"
    return f'<input type="checkbox" aria-label="{said}"{box[1]}>'
