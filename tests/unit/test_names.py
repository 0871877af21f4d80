"""One name, one class: a class name stands for one thing in the whole of src."""

import ast
from collections import Counter
from pathlib import Path

import pressroom

ROOT = Path(pressroom.__file__).parent

# Names that are still defined more than once. The list only gets shorter.
KNOWN_DUPLICATES = frozenset(
    [
        "Answer",
        "Attempt",
        "Backlog",
        "Basic",
        "Chosen",
        "Connection",
        "Delivery",
        "Desk",
        "Draft",
        "Ended",
        "Endings",
        "Failure",
        "Finding",
        "Found",
        "Health",
        "Hit",
        "Made",
        "Mark",
        "Named",
        "NewJob",
        "Notice",
        "Order",
        "Page",
        "Patience",
        "Payload",
        "Reading",
        "Request",
        "Standing",
        "Table",
        "Tally",
        "Target",
        "Text",
        "Translated",
        "Unsound",
        "Verdict",
        "Violation",
        "Wanted",
        "_Offer",
        "_Progress",
    ]
)


def class_names() -> Counter[str]:
    return Counter(
        node.name
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )


def test_no_new_class_name_is_defined_twice() -> None:
    duplicates = {name for name, count in class_names().items() if count > 1}
    assert sorted(duplicates - KNOWN_DUPLICATES) == []
