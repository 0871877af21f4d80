"""What is wrong with a registry of documents, and where (R7)."""

import json

import pytest

from pressroom.apps.packs.config.registry import find_registry_problems, parse_registry

GOOD = {"doc_id": "offer", "title": "Offer"}


def test_a_good_registry_has_no_problems() -> None:
    body = json.dumps([GOOD | {"tier": "paid", "style": "base", "options": {"page": "A5"}, "required": ["person.name"]}])

    assert list(find_registry_problems(body)) == []
    assert parse_registry(body)[0].template_key == "template:offer"


@pytest.mark.parametrize(
    ("body", "code", "path", "line"),
    [
        ('[\n  {"doc_id": "offer",}\n]', "invalid_json", "", 2),
        ("{}", "not_a_list", "", None),
        (json.dumps([GOOD, {"doc_id": "x"}]), "invalid_document", "/1", None),
        (json.dumps([GOOD | {"doc_id": "Offer!"}]), "invalid_document", "/0/doc_id", None),
        (json.dumps([GOOD | {"tier": "gold"}]), "invalid_document", "/0/tier", None),
        (json.dumps([GOOD | {"colour": 1}]), "invalid_document", "/0", None),
        (json.dumps([GOOD, GOOD]), "duplicate_document", "/1/doc_id", None),
        (json.dumps([GOOD | {"options": {"page": "A9"}}]), "invalid_options", "/0/options", None),
        (json.dumps([GOOD | {"required": ["a..b"]}]), "invalid_field", "/0/required/0", None),
        (json.dumps([GOOD] * 501), "too_many", "", None),
    ],
)
def test_problems(body: str, code: str, path: str, line: int | None) -> None:
    (problem,) = find_registry_problems(body)

    assert (problem.code, problem.path, problem.line) == (code, path, line)


def test_every_problem_is_named() -> None:
    body = json.dumps([{"doc_id": "a"}, GOOD, GOOD, GOOD | {"doc_id": "b", "options": {"x": 1}}])

    assert [problem.path for problem in find_registry_problems(body)] == ["/0", "/2/doc_id", "/3/options"]
