import ast
import re
from collections.abc import Iterator
from pathlib import Path

from pressroom.delivery.oban import internals


def test_private_parts_of_oban_are_used_in_one_module_only() -> None:
    package = Path(internals.__file__).parent
    found = {file.name: [*private_parts(file)] for file in package.glob("*.py") if file.name != "internals.py"}
    assert {name: parts for name, parts in found.items() if parts} == {}


def private_parts(file: Path) -> Iterator[str]:
    """Imports from oban's private modules, and private attributes of anything but `self`."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("oban._"):
            yield str(node.module)
        if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr) and ast.unparse(node.value) != "self":
            yield ast.unparse(node)
