"""A page around a fragment: title, language, style sheet, and nothing that has to be fetched."""

import html
from functools import cache
from importlib import resources
from typing import Any

_THEMES = {"light": "light", "dark": "dark", "auto": "light dark"}


# On paper, what lies outside of the margins would stay white.
_DARK_PAPER = "@page { background-color: #14171a; }\n"


def html_page(body: str, *, title: str, lang: str | None, theme: str = "auto") -> str:
    paper = _DARK_PAPER if theme == "dark" else ""
    language = f' lang="{html.escape(lang)}"' if lang else ""
    return (
        f'<!DOCTYPE html>\n<html{language} data-theme="{theme}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="{_THEMES[theme]}">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{page_style()}{paper}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def table_of_contents(headings: list[dict[str, Any]]) -> str:
    """A table of contents as nested lists."""
    if not headings:
        return ""
    parts = ['<nav class="toc" aria-label="Table of contents">\n']
    open_levels: list[int] = []
    for heading in headings:
        level = heading["level"]
        while open_levels and open_levels[-1] > level:
            parts.append("</li></ul>\n")
            open_levels.pop()
        if open_levels and open_levels[-1] == level:
            parts.append("</li>\n")
        else:
            parts.append("<ul>\n")
            open_levels.append(level)
        parts.append(f'<li><a href="#{html.escape(heading["id"])}">{html.escape(heading["text"])}</a>')
    parts.append("</li></ul>\n" * len(open_levels))
    parts.append("</nav>\n")
    return "".join(parts)


@cache
def page_style() -> str:
    return resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")
