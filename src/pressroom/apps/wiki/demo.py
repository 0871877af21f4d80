"""A few articles that link to each other, for `pressroom demo`."""

from typing import TYPE_CHECKING

from pressroom.apps.wiki.model import make_draft

if TYPE_CHECKING:
    from pressroom.apps.wiki.app import Wiki

ARTICLES = {
    "Home": """# Welcome

This wiki is rendered by the same queue as everything else here. Start with the [[Handbook]], or look at how a
[[Handbook/Release|release]] goes.

```mermaid
flowchart LR
  Write --> Save --> Queue --> Render --> Read
```
""",
    "Handbook": """# Handbook

- [[Handbook/Release|How a release goes]]
- [[Handbook/On_call|On call]]

| day | who |
|---|---|
| Monday | Ada |
| Tuesday | Grace |
""",
    "Handbook/Release": """# How a release goes

1. Tag it.
2. Let the [[Handbook/On_call|person on call]] know.
3. Watch the dashboard.

> [!NOTE]
> Nothing is released on a Friday.
""",
}


async def fill_demo(wiki: "Wiki") -> None:
    """One article is missing on purpose: links to it say so."""
    for url, source in ARTICLES.items():
        draft = make_draft(url, source, author="demo", previous=0)
        await wiki.articles.post(None, draft, wait=0)
