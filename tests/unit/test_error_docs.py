"""Every code of an error is in the documentation, with the name of its class where a page names that."""

import ast
import re
from pathlib import Path

import pressroom

ROOT = Path(pressroom.__file__).parent
DOCS = Path(__file__).parents[2] / "docs"
BASES = {"error", "refused", "unavailable", "unusable", "attempt", "dependency_failed"}  # callers meet their subclasses


def codes_of_classes() -> dict[str, str]:
    return {
        node.name: line.value.value
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "code" and isinstance(line.value, ast.Constant)
    }


def test_every_code_is_documented() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))

    missing = {name: code for name, code in codes_of_classes().items() if code not in BASES and f"`{code}`" not in pages}
    assert missing == {}, "add a row to docs/errors.md, or to the page of the app"


def test_a_page_names_the_class_of_a_code() -> None:
    page = (DOCS / "errors.md").read_text(encoding="utf-8").partition("## Dependencies")[0]
    codes = codes_of_classes()

    rows = re.findall(r"^\| `([a-z0-9_]+)` \| `([A-Z]\w+)` \|", page, re.MULTILINE)
    assert len(rows) > 20
    assert [(code, name) for code, name in rows if name in codes and codes[name] != code] == []
    assert [name for code, name in rows if name not in codes] == [], "docs/errors.md names a class that is not there"
