"""Which fields a template needs that the data does not have."""

from typing import Any

import pytest

from pressroom.apps.packs.input_check import FieldUse, find_missing


@pytest.mark.parametrize(
    ("paths", "data", "missing"),
    [
        (["person.name"], {"person": {"name": "Anna"}}, []),
        (["person.name"], {"person": {}}, ["person.name"]),
        (["person.name", "person.age"], {}, ["person.name", "person.age"]),
        (["person.name"], {"person": "Anna"}, ["person.name"]),
        (["person.name"], {"person": {"name": None}}, []),
        (["items[].price"], {"items": []}, []),
        (["items[].price"], {"items": [{"price": 1}, {}, {}]}, ["items[1].price", "items[2].price"]),
        (["items[0].price"], {"items": [{"price": 1}]}, []),  # was refused: there is no field named "items[0]"
        (["items[0].price"], {"items": []}, ["items[0].price"]),
        (["items[].tags[].name"], {"items": [{"tags": [{"name": 1}]}, {"tags": [{}]}]}, ["items[1].tags[0].name"]),
        (["items[]"], {"items": [1]}, []),
    ],
)
def test_missing_fields(paths: list[str], data: Any, missing: list[str]) -> None:
    assert find_missing([FieldUse(path) for path in paths], [], data) == missing


def test_no_more_is_looked_for_than_is_told() -> None:
    """A list of a hundred thousand elements made as many paths for each field, of which a hundred were told."""
    looked_at = 0

    class Element(dict[str, Any]):
        def __contains__(self, name: object) -> bool:
            nonlocal looked_at
            looked_at += 1
            return super().__contains__(name)

    found = find_missing([FieldUse("items[].a"), FieldUse("items[].b")], [], {"items": [Element()] * 100_000})

    assert found == [f"items[{number}].a" for number in range(100)]
    assert looked_at == 100


def test_a_field_that_the_template_guards_may_be_missing() -> None:
    assert find_missing([FieldUse("person.title", required=False)], [], {}) == []


def test_fields_that_the_registry_requires() -> None:
    assert find_missing([], ["person.name"], {"person": {}}) == ["person.name"]
