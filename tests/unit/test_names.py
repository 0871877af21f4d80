"""One name, one class: a class name stands for one thing in the whole of src."""

import ast
from collections import Counter
from pathlib import Path

import pressroom

ROOT = Path(pressroom.__file__).parent


def class_names() -> Counter[str]:
    return Counter(
        node.name
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )


def test_no_class_name_is_defined_twice() -> None:
    assert [name for name, count in class_names().items() if count > 1] == []
