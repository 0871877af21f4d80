"""Pages of the edge's own: for projects whose dashboard has not been rendered yet, and for what is not there."""

from collections.abc import Sequence
from html import escape
from urllib.parse import quote

import msgspec

from pressroom.apps.docs.dashboards.metadata import switcher_version
from pressroom.apps.docs.edge.sites import Shown
from pressroom.apps.docs.model import MAIN

# In a project's own 404 page, this comment is replaced by the list of editions that have the page.
MARKER = b"<!-- editions with this page -->"

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def page(title: str, body: str) -> bytes:
    """`body` is HTML; `title` is text."""
    return _PAGE.format(title=escape(title), body=body).encode()


def message_page(title: str, words: str) -> bytes:
    return page(title, f"<p>{escape(words)}</p>")


def start_page(projects: Sequence[tuple[str, str, str]]) -> bytes:
    """Organisation, slug and title of each project."""
    if not projects:
        return message_page("Documentation", "There is no public project yet.")
    rows = [
        f'<li><a href="/{quote(org)}/{quote(slug)}/">{escape(title)}</a> {escape(org)}</li>' for org, slug, title in projects
    ]
    return page("Documentation", f"<ul>{''.join(rows)}</ul>")


def dashboard(title: str, editions: Sequence[Shown]) -> bytes:
    """Links are relative to `…/v/`."""
    if not editions:
        return message_page(title, "Nothing has been published yet.")
    places = [("../" if one.slug == MAIN else f"{quote(one.slug)}/", one) for one in editions]
    rows = [f'<li><a href="{href}">{escape(one.title)}</a> {escape(one.git_ref or "")}</li>' for href, one in places]
    return page(title, f"<ul>{''.join(rows)}</ul>")


def switcher(root: str, editions: Sequence[Shown]) -> bytes:
    """As pydata-sphinx-theme reads it."""
    entries = [
        {
            "name": one.title,
            "version": switcher_version(one.slug, one.git_ref),
            "url": edition_url(root, one.slug),
            "preferred": one.slug == MAIN,
        }
        for one in editions
        if one.kind != "draft"
    ]
    return msgspec.json.encode(entries)


def edition_metadata(root: str, edition: Shown) -> bytes:
    facts = {
        "edition": edition.slug,
        "title": edition.title,
        "kind": edition.kind,
        "git_ref": edition.git_ref,
        "build": edition.build,
        "is_canonical": edition.slug == MAIN,
        "canonical_url": root,
        "url": edition_url(root, edition.slug),
    }
    return msgspec.json.encode(facts)


def missing_page(root: str, path: str, editions: Sequence[tuple[str, str]], branded: bytes | None) -> bytes:
    """`root` is the address of the project, `editions` are slug and title of those that have the page."""
    links = [f'<li><a href="{escape(_page_url(root, slug, path))}">{escape(title)}</a></li>' for slug, title in editions]
    listed = f"<p>These editions have this page:</p><ul>{''.join(links)}</ul>" if links else ""
    if branded is None:
        body = f"<p>There is nothing here.</p>{listed}<p>"
        body += f'<a href="{escape(root)}">Start page</a> · <a href="{escape(root)}v/">All editions</a></p>'
        return page("Page not found", body)
    aside = f"<aside>{listed}</aside>".encode() if links else b""
    if MARKER in branded:
        return branded.replace(MARKER, aside, 1)
    before, found, after = branded.rpartition(b"</body>")
    return before + aside + found + after if found else branded + aside


def missing_text(root: str, path: str, editions: Sequence[tuple[str, str]]) -> bytes:
    """For what is no page: an image, a script."""
    lines = ["There is nothing here.", *(_page_url(root, slug, path) for slug, _ in editions)]
    return ("\n".join(lines) + "\n").encode()


def edition_url(root: str, slug: str) -> str:
    return root if slug == MAIN else f"{root}v/{quote(slug)}/"


def _page_url(root: str, slug: str, path: str) -> str:
    return edition_url(root, slug) + quote(path)
