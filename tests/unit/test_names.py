"""One name, one class: a class name stands for one thing in the whole of src."""

import ast
from collections import defaultdict
from pathlib import Path

import pressroom

ROOT = Path(pressroom.__file__).parent


def test_no_class_name_is_defined_twice() -> None:
    files = defaultdict(list)
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(str(path.relative_to(ROOT)))

    assert {name: paths for name, paths in files.items() if len(paths) > 1} == {}, "rename one of each"
