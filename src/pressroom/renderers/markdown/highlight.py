"""Code in colours: classes in the HTML, colours in the page's style sheet (page.py)."""

import html
from functools import lru_cache

from pygments import lex
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Token, _TokenType
from pygments.util import ClassNotFound

LIMIT = 100_000  # characters; a longer block is data, and is left plain


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=2048)
def highlight_code(language: str, code: str) -> str | None:
    """The block with its colours, or None for a language that is not known. The same block is coloured once."""
    if len(code) > LIMIT or len(language) > 50:
        return None
    lexer = _lexer(language)
    if lexer is None:
        return None
    spans = []
    for kind, text in lex(code, lexer):
        escaped = html.escape(text, quote=False)
        name = _css_class(kind)
        spans.append(f'<span class="{name}">{escaped}</span>' if name else escaped)
    return f'<pre class="code"><code class="language-{html.escape(language)}">{"".join(spans)}</code></pre>'


@lru_cache(maxsize=256)
def _css_class(kind: _TokenType) -> str:
    while kind not in STANDARD_TYPES and kind is not Token:
        kind = kind.parent  # type: ignore[assignment]
    return STANDARD_TYPES[kind]
