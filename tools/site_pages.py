"""A hook of MkDocs: the pages of the site that lie beside the folder `docs`."""

from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=_with_links_of_the_site((ROOT / name).read_text())))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    for name, page in PAGES.items():
        markdown = markdown.replace(f"](../{name}", f"]({page}")
    return markdown


def _with_links_of_the_site(text: str) -> str:
    text = text.replace("](docs/", "](")
    for name, page in PAGES.items():
        text = text.replace(f"]({name})", f"]({page})")
    return text
