"""Last touches to HTML, for those who come by keyboard or listen: what scrolls can be reached, and what is ticked says so.

And a heading called Main gets another id than the place of that name on our pages.
"""

import re

OURS = frozenset({"main", "find", "connection", "keys", "keys-title"})  # ids of the page around an article

_OURS = re.compile(rf'id="(?:{"|".join(sorted(OURS))})"')
_BOX = re.compile(r'<input type="checkbox"([^>]*)>')


def finished(body: str) -> str:
    for name in OURS if _OURS.search(body) else ():
        body = body.replace(f' id="{name}"', f' id="{id_of(name)}"').replace(f' href="#{name}"', f' href="#{id_of(name)}"')
    body = _BOX.sub(_named, body) if "<input" in body else body
    body = body.replace("<pre", '<pre tabindex="0"')
    body = body.replace("<table", '<div class="sideways" role="group" aria-label="Table" tabindex="0"><table')
    return body.replace("</table>", "</table></div>")


def id_of(heading: str) -> str:
    return f"{heading}-" if heading in OURS else heading


def _named(box: re.Match[str]) -> str:
    said = "done" if "checked" in box[1] else "to do"
    return f'<input type="checkbox" aria-label="{said}"{box[1]}>'
