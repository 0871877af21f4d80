"""The web pages of the service: rendered by the server, refreshed by the browser.

| part | what it is |
|---|---|
| `sessions.py` | sessions of browsers, their cookies, and tokens against forged forms |
| `site.py` | what all pages share: routing a request to its handler, templates, error pages |
| `live.py` | the event stream that tells an open page to refresh |
| `static.py`, `static/` | styles and scripts, under names that change with their bytes |
| `formatting.py` | times, sizes and counts as text |
| `pages/` | one module for each page, each with its template |
"""
