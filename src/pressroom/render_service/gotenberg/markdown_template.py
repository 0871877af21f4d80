"""`index.html` of the Markdown route: a page whose actions `{{ toHTML "file.md" }}` stand for files that came with it."""

import re
from collections.abc import Collection, Mapping

from pressroom.api.problems import HttpError
from pressroom.errors import TooLarge

_ACTION = re.compile(r"""\{\{(?:-?\s*toHTML\s+(?:"([^"{}]{1,255})"|`([^`{}]{1,255})`)\s*-?\}\})?""")


def markdown_files(page: str, sent: Collection[str]) -> list[str]:
    """The names of the files that a page shows. Raises HttpError 400 for other actions, and for files that were not sent."""
    names: dict[str, None] = {}
    for action in _ACTION.finditer(page):
        name = action[1] or action[2]
        if name is None:
            raise _invalid(page, action.start(), 'the only action of a template is {{ toHTML "file.md" }}')
        if name not in names and name not in sent:
            raise _invalid(page, action.start(), f"the form has no file named {name!r}")
        names[name] = None
    return list(names)


def fill_template(page: str, markup: Mapping[str, str], limit: int) -> str:
    """Raises TooLarge: a page may show the same file many times."""
    size = len(page)

    def fill(action: re.Match[str]) -> str:
        nonlocal size
        shown = markup[action[1] or action[2]]
        size += len(shown)
        if size > limit:
            raise TooLarge(f"the page with its Markdown is longer than {limit:,} characters")
        return shown

    return _ACTION.sub(fill, page)


def _invalid(page: str, offset: int, words: str) -> HttpError:
    line = page.count("\n", 0, offset) + 1
    return HttpError(400, "invalid_form", f"index.html, line {line}: {words}")
