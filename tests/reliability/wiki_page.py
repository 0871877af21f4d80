"""What somebody reads off a page of the wiki."""

import re
from dataclasses import dataclass

from tests.reliability.wiki_texts import nonces_in

_ARTICLE = re.compile(r'<article class="article(?: \w+)?">(.*?)</article>', re.DOTALL)
_SHOWN = re.compile(r"(?:>Revision (?=\d+ by )|[Yy]ou see revision |This is revision )(\d+)")
_NEWER = re.compile(r"Revision (\d+) (?:is being|could not be) rendered")
_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')
_PREVIOUS = re.compile(r'name="previous" value="(\d+)"')


@dataclass(frozen=True)
class Seen:
    """`said` is every number by which a page calls the revision that it shows; `newest` the highest it speaks of."""

    said: list[int]
    newest: int
    nonces: list[str]
    rendered: bool
    failed: bool = False


def seen_on(page: str) -> Seen:
    said = sorted({int(number) for number in _SHOWN.findall(page)})
    body = found[1].strip() if (found := _ARTICLE.search(page)) else ""
    return Seen(
        said=said,
        newest=max([*said, *map(int, _NEWER.findall(page))], default=0),
        nonces=nonces_in(body),
        rendered=not body.startswith("<pre"),  # until there is any HTML, a page shows the source
        failed="could not be rendered" in page,
    )


def seen_in_source(number: int, text: str) -> Seen:
    return Seen(said=[number], newest=number, nonces=nonces_in(text), rendered=False)


def token_on(page: str) -> str:
    return _found(_TOKEN, page)


def previous_on(page: str) -> int:
    return int(_found(_PREVIOUS, page))


def _found(wanted: re.Pattern[str], page: str) -> str:
    found = wanted.search(page)
    if found is None:
        raise ValueError(f"a page without {wanted.pattern}: {page[:2000]}")
    return found[1]
