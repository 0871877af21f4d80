"""Files and the articles that they are: `guide/setup.md` is `guide/setup`, and a README or an index stands for its folder."""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from pressroom.apps.wiki.model import TITLE_LIMIT, clean_url, title_from_url
from pressroom.base.regular_files import read_regular
from pressroom.errors import InvalidArgument, SourceInvalid

ENDINGS = frozenset({".md", ".markdown"})
LIST_FILE = "wiki.json"  # written by an export, so that an import finds names and titles again
HOME = "Home"

_OF_A_FOLDER = frozenset({"readme", "index"})
_NOT_IN_A_NAME = re.compile(r'[<>\[\]{}|#?"\\\x00-\x1f\x7f]+')
_FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title:\s*(.+?)\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#\s+(.+?)\s*#*\s*$", re.MULTILINE)
_FENCED = re.compile(r"^(```+|~~~+).*?^\1", re.MULTILINE | re.DOTALL)
_MARKED = re.compile(r"[*_`]|!?\[([^\]]*)\](?:\([^)]*\))?")


class ListedArticle(msgspec.Struct, frozen=True):
    """An article's place in its list."""

    url: str
    title: str


def find_markdown_files(folder: Path) -> list[tuple[str, ...]]:
    """Every Markdown file, as the parts of its path below the folder, in their order. What is hidden stays so."""
    if not folder.is_dir():
        raise InvalidArgument(f"{folder} is not a folder")
    return sorted(_find_below(folder, ()))


def _find_below(folder: Path, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():  # a link may lead anywhere, and back
                continue
            if entry.is_dir():
                yield from _find_below(Path(entry.path), (*above, entry.name))
            elif os.path.splitext(entry.name)[1].lower() in ENDINGS:
                yield (*above, entry.name)


def read_article_list(folder: Path) -> dict[str, ListedArticle]:
    """What an export has written down, by the names of its files."""
    try:
        return msgspec.json.decode(read_regular(folder / LIST_FILE), type=dict[str, ListedArticle])
    except FileNotFoundError:
        return {}
    except OSError as reason:
        raise InvalidArgument(f"{folder / LIST_FILE} cannot be read: {reason.strerror}") from None
    except msgspec.DecodeError as reason:
        raise InvalidArgument(f"{folder / LIST_FILE} is not a list of articles: {reason}") from None


def article_url(path: PurePosixPath) -> str:
    parts = [_NOT_IN_A_NAME.sub("-", part) for part in path.with_suffix("").parts]
    if parts[-1].lower() in _OF_A_FOLDER:
        parts = parts[:-1] or [HOME]
    return clean_url("/".join(parts))


def read_source(path: Path) -> str:
    """Raises SourceInvalid, with the place, for what is no text."""
    data = read_regular(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        before = data[: wrong.start].decode(errors="replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise SourceInvalid("the file is not UTF-8", line=line, column=column) from None


def find_title(source: str, url: str) -> str:
    """What the front matter or the first heading says, or else the name."""
    front = _FRONT.match(source)
    if front and (said := _TITLE.search(front[1])):
        title = said[1].strip("'\"")
    else:
        heading = _find_heading(source[:20_000])
        title = _MARKED.sub(lambda mark: mark[1] or "", heading[1]) if heading else ""
    return " ".join(title.split())[:TITLE_LIMIT] or title_from_url(url)


def _find_heading(text: str) -> re.Match[str] | None:
    """The first outside of fenced code, which is taken out unless the first of all stands before any fence."""
    heading = _HEADING.search(text)
    if heading and all(text.find(fence, 0, heading.end()) < 0 for fence in ("```", "~~~")):
        return heading
    return _HEADING.search(_FENCED.sub("", text))


def article_file(folder: Path, url: str) -> Path:
    return folder.joinpath(*url.split("/")[:-1], f"{url.split('/')[-1]}.md")
