"""How many times a second another library turns a page of Markdown into HTML: `markdown_rate.py LIBRARY PAGE SECONDS`."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

library, page, seconds = sys.argv[1], Path(sys.argv[2]).read_text(), float(sys.argv[3])


def renderer() -> Callable[[str], object]:
    """Each is made once and used again, which is what its documentation advises."""
    match library:
        case "markdown-it-py":
            from markdown_it import MarkdownIt

            return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render
        case "mistune":
            import mistune

            return mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "task_lists", "url"])
        case "Python-Markdown":
            import markdown

            converter = markdown.Markdown(extensions=["extra"])
            return lambda text: converter.reset().convert(text)
        case _:
            sys.exit(f"there is no peer {library}")


render = renderer()
render(page[:2_000])  # the first call compiles expressions
done, started = 0, time.perf_counter()
while done == 0 or time.perf_counter() - started < seconds:
    render(page)
    done += 1
print(done / (time.perf_counter() - started))
