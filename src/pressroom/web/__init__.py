"""The web face of the service: pages that a server renders and a browser keeps fresh.

| part | what it is |
|---|---|
| `door.py` | who a browser is: sessions, cookies, forms that are ours |
| `desk.py` | what all pages share: how a handler is reached, how a page is made, how trouble is told |
| `live.py` | the stream that tells an open page that something changed |
| `static.py`, `static/` | styles and scripts, under names that change with their bytes |
| `words.py` | times, sizes and counts as people read them |
| `pages/` | one module for each page, each with its template |
"""
