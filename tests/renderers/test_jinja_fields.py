# ruff: noqa: E501 - a table keeps its rows
"""Which fields a template reads, told from its syntax tree, and which of them some data lacks."""

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import Any

import pytest

from pressroom.errors import SourceInvalid
from pressroom.renderers.jinja.engine import Jinja, JinjaOptions
from pressroom.renderers.jinja.environment import TemplateEnvironment
from pressroom.renderers.jinja.fields import fields_of
from pressroom.renderers.jinja.required import missing_fields


@cache
def engine() -> Jinja:
    return Jinja()


def read(source: str, templates: Mapping[str, str] | None = None) -> dict[str, Any]:
    return fields_of(TemplateEnvironment({}, templates or {}, {}, {}, {}), source)


def short(source: str, templates: Mapping[str, str] | None = None) -> str:
    """Every path in the order in which it is read, with a question mark where it is not required."""
    fields = read(source, templates)["fields"]
    return " ".join(field["path"] + ("" if field["required"] else "?") for field in fields)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("plain", ""),
        ("{{ a }} {{ b.c }} {{ b['d'] }} {{ e[0].f }} {{ g[-1] }}", "a b.c b.d e[0].f g[-1]"),
        ("{{ a + b ~ c }} {{ d if e else f }} {{ -g }} {{ h == i }}", "a b c e? d? f? g h i"),
        ("{{ [a, b] }} {{ {'x': c} }} {{ d[e] }}", "a? b? c? e d d[]?"),
        # Guards
        ("{% if a %}{{ a }}{% endif %}", "a?"),
        ("{% if a is defined %}{{ a.b }}{% endif %}", "a? a.b?"),
        ("{{ a|default('x') }} {{ b.c|d(e) }}", "a? b.c? e?"),
        ("{{ a or b }} {{ c and d }}", "a? b? c d?"),
        ("{{ (a and b)|default('-') }}{% set x = c and d %}{% if x %}y{% endif %}{{ x }}", "a? b? c d?"),
        ("{{ a['first.name'] }}{{ b['[0]'] }}{{ c['*'] }}", "a? b? c?"),
        ("{% if a and b == 1 %}x{% endif %}", "a? b?"),
        ("{% if not a %}x{% elif b > 1 %}y{% endif %}", "a? b?"),
        ("{% if a is none or b is string %}x{% endif %}", "a? b?"),
        ("{% if a is divisibleby(b) %}x{% endif %}", "b a"),
        ("{{ 'x' if a }} {{ a.b if a else c }}", "a? a.b? c?"),
        ("{% if a %}{{ b }} {{ c }}{% else %}{{ b }} {{ d }}{% endif %}", "a? b c? d?"),
        ("{% if a %}{{ a }}{% endif %}{{ a }}", "a"),
        # Loops
        ("{% for item in items %}{{ item.name }}{{ loop.index }}{% endfor %}", "items items[].name"),
        ("{% for item in items %}{{ a }}{% else %}{{ b }}{% endfor %}", "items b? a"),
        ("{% for item in items if item.shown %}{{ item.name }}{% endfor %}", "items items[].shown? items[].name?"),
        ("{% for row in rows %}{% for cell in row.cells %}{{ cell }}{% endfor %}{% endfor %}", "rows rows[].cells rows[].cells[]"),
        ("{% for k, v in prices.items() %}{{ k }}{{ v.net }}{% endfor %}", "prices prices.*.net"),
        ("{% for v in prices.values() %}{{ v }}{% endfor %}{% for k in prices %}{{ k }}{% endfor %}", "prices prices.* prices[]"),
        ("{% for k, v in prices|dictsort %}{{ v.net }}{% endfor %}", "prices prices.*.net"),
        ("{% for i in range(n) %}{{ i }}{% endfor %}", "n"),
        ("{% for a, b in pairs %}{{ a }}{{ b.c }}{% endfor %}", "pairs"),
        ("{% for x in tree recursive %}{{ x.n }}{{ loop(x.sub) }}{% endfor %}", "tree tree[].n tree[].sub? tree[].sub[].n? tree[].sub[].sub?"),
        ("{% for x in items[1:] %}{{ x.a }}{% endfor %}", "items items[].a?"),
        ("{% for x in (a if b else c) %}{{ x.n }}{% endfor %}", "b? a? c? a[].n? c[].n?"),
        ("{% for x in xs %}{% if x.a %}{% continue %}{% endif %}{{ x.b }}{{ c }}{% endfor %}", "xs xs[].a? xs[].b? c?"),
        ("{% for x in xs %}{{ x.a }}{% if x.b %}{% break %}{% endif %}{{ x.c }}{% endfor %}{{ d }}", "xs xs[].a? xs[].b? xs[].c? d"),
        ("{% for x in xs %}{% for y in x.ys %}{% break %}{% endfor %}{{ x.a }}{% endfor %}", "xs xs[].ys xs[].a"),
        ("{% for x in xs %}{% for y in x.ys %}{% else %}{% continue %}{% endfor %}{{ x.a }}{% endfor %}", "xs xs[].ys xs[].a?"),
        # Filters that know their elements
        ("{% for x in items|selectattr('shown') %}{{ x.name }}{% endfor %}", "items items[].shown? items[].name?"),
        ("{{ items|map(attribute='nick')|select|join(', ') }} {{ items|map(attribute='a')|unique|list }}", "items items[].nick? items[].a"),
        ("{% for k, xs in items|groupby('city', default='-') %}{{ xs|length }}{% endfor %}", "items items[].city?"),
        ("{% for x in items|sort(attribute='n')|reverse %}{{ x.a }}{% endfor %}", "items items[].n items[].a"),
        ("{{ items|map(attribute='a.b')|join(', ') }}", "items items[].a.b"),
        ("{{ items|sum(attribute='n') }} {{ items|join(', ', 'a') }}", "items items[].n items[].a"),
        ("{{ (items|first).a }} {{ items|selectattr('ok')|list|length }}", "items items[].a? items[].ok?"),
        ("{{ items|selectattr('n', 'gt', a)|list }}", "items a items[].n"),
        ("{% for k, xs in items|groupby('city') %}{{ k }}{% for x in xs %}{{ x.a }}{% endfor %}{% endfor %}", "items items[].city items[].a"),
        ("{% for g in items|groupby('city') %}{{ g.grouper }}{{ g.list[0].a }}{% endfor %}", "items items[].city items[].a?"),
        ("{% for row in items|batch(2) %}{% for x in row %}{{ x.a }}{% endfor %}{% endfor %}", "items items[].a"),
        # Methods
        ("{{ a.name.upper() }} {{ b.get('c') }} {{ d.x.split(e) }}", "a.name b b.c? d.x e"),
        ("{{ a.nosuch() }}", "a.nosuch"),
        # Variables
        ("{% set x = a.b %}{{ x.c }}", "a.b? a.b.c"),
        ("{% set a = a|default(1) %}{{ a }}", "a?"),
        ("{% set x = 1 %}{{ x }}{% set ns = namespace(n=y) %}{% set ns.n = 2 %}{{ ns.n }}", "y"),
        ("{% set x %}{{ a }}{% endset %}{{ x }}", "a"),
        ("{% if a %}{% set x = b %}{% else %}{% set x = c %}{% endif %}{{ x.n }}", "a? b? c? b.n? c.n?"),
        ("{% with p = person.home %}{{ p.city }}{% endwith %}{{ p }}", "person.home? person.home.city p"),
        ("{% for x in xs %}{% set y = x %}{% endfor %}{{ y }}", "xs xs[]? y"),
        ("{% filter upper %}{{ a }}{% endfilter %}{% do b.append(c) %}", "a b c"),
        # Macros
        ("{% macro m(p, q=a, r=1) %}{{ p.city }}{{ q }}{{ r }}{{ b }}{% endmacro %}", ""),
        ("{% macro m(p, q=a) %}{{ p.city }}{{ q }}{% endmacro %}{{ m(home) }}", "home? home.city a"),
        ("{% macro m(p) %}{{ p.n }}{% endmacro %}{{ m(p=x) }}{{ m(y) }}", "x? x.n y? y.n"),
        ("{% macro m(p) %}{% if p.next %}{{ m(p.next) }}{% endif %}{{ p.n }}{% endmacro %}{{ m(x) }}", "x? x.next? x.n"),
        ("{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ a }}{% endcall %}", "a?"),
    ],
)  # fmt: skip
def test_the_paths_that_a_template_reads(source: str, expected: str) -> None:
    assert short(source) == expected


TEMPLATES = {
    "base": "{{ base }}{% block head %}{{ head }}{% endblock %}{% block body %}{{ old }}{% endblock %}",
    "middle": "{% extends 'base' %}{% block body %}{{ middle }}{{ super() }}{% endblock %}",
    "part": "\n{{ part }}{{ x.y }}",
    "macros": "{% macro name(p) %}{{ p.first }} {{ company }}{% endmacro %}{% set colour = theme.colour %}",
    "loop": "{{ n }}{% include 'loop' %}",
}


@pytest.mark.parametrize(
    ("source", "expected", "templates"),
    [
        ("{% include 'part' %}", "part x.y", ["part"]),
        ("{% if a %}{% include 'part' %}{% endif %}", "a? part? x.y?", ["part"]),
        ("{% for x in xs %}{% include 'part' %}{% endfor %}", "xs part xs[].y", ["part"]),
        ("{% for x in xs %}{% include 'part' without context %}{% endfor %}", "xs part x.y", ["part"]),
        ("{% include ['nosuch', 'part'] %}", "part x.y", ["nosuch", "part"]),
        ("{% include 'nosuch' ignore missing %}", "", ["nosuch"]),
        ("{% include 'part' if a else 'base' %}", "a? part? x.y? base? head? old?", ["part", "base"]),
        ("{% include a %}", "a", []),
        ("{% include 'loop' %}", "n", ["loop"]),
        ("{% extends 'middle' %}{% block head %}{{ mine }}{% endblock %}{{ never }}", "base mine middle old", ["middle", "base"]),
        ("{% extends 'base' %}{% set x = a %}{% block body %}{{ x }}{% endblock %}", "a base head", ["base"]),
        ("{% import 'macros' as m %}{{ m.name(person) }}{{ m.colour }}", "theme.colour person? person.first company", ["macros"]),
        ("{% from 'macros' import name as n %}{{ n(person) }}", "theme.colour? person? person.first company", ["macros"]),
    ],
)  # fmt: skip
def test_the_paths_are_followed_through_other_templates(source: str, expected: str, templates: list[str]) -> None:
    assert short(source, TEMPLATES) == expected
    assert read(source, TEMPLATES)["templates"] == templates


def test_a_field_has_the_template_and_the_line_where_it_is_read_first() -> None:
    fields = read("{{ a }}\n{{ b }}\n{% include 'part' %}{{ a }}", TEMPLATES)["fields"]

    assert [(field["path"], field["template"], field["line"]) for field in fields] == [
        *(("a", "", 1), ("b", "", 2), ("part", "part", 2), ("x.y", "part", 2))
    ]


def test_strings_are_found_in_every_part() -> None:
    source = "{{ t('a') }}{{ t('b', count=n) }}{% if x %}{{ t('c')|upper }}{% endif %}{{ t(key) }}{{ t('a') }}"
    found = read(source)

    assert found["strings"] == ["a", "b", "c"]
    assert [field["path"] for field in found["fields"]] == ["n", "x", "key"]


def test_a_wrong_template_is_refused_with_its_line() -> None:
    with pytest.raises(SourceInvalid, match="template 'head': ") as caught:
        engine().render("{% include 'head' %}", "json", JinjaOptions(templates={"head": "\n{% if %}"}))

    assert caught.value.line == 2


WHOLE: dict[str, Any] = {
    "a": {"b": "x", "c": {"d": 2}},
    "n": 3,
    "items": [{"name": "one", "tags": ["t", "u"]}, {"name": "two", "tags": ["v"]}, {"name": "three", "tags": ["w"]}],
    "prices": {"net": {"value": 1}},
}
RENDERED = (
    "{{ a.b }}{{ n }}",
    "{{ a.c.d + n }}",
    "{% if a.c %}{{ a.c.d }}{% endif %}{{ n }}",
    "{% for i in items %}{{ i.name }}{% for t in i.tags %}{{ t }}{{ n }}{% endfor %}{% endfor %}",
    "{{ items|map(attribute='name')|join }}{{ a.b|default(n) }}",
    "{% macro m(p, q=n) %}{{ p.c.d }}{{ q }}{% endmacro %}{{ m(a) }}",
    "{% set x = a.c %}{% with y = x.d %}{{ y }}{% endwith %}{% for k, v in prices.items() %}{{ v.value }}{% endfor %}",
    "{% include 'sub' %}{{ n or a.b }}",
    "{% if n == 3 %}{{ a.b }}{% else %}{{ a.b }}{{ items }}{% endif %}",
    "{{ a.b if a else n }}{{ a and a.c.d }}",
    "{% for i in items|sort(attribute='name') %}{{ i.tags|length }}{% endfor %}",
    "{% for i in items[:2] %}{{ i.name }}{% endfor %}{% for t in items[0].tags[1:] %}{{ t }}{% endfor %}",
    "{% for i in items %}{% if i.tags|length > 1 %}{% continue %}{% endif %}{{ i.name }}{% endfor %}",
    "{% for i in items %}{{ i.name }}{% if i.tags|length == 1 %}{% break %}{% endif %}{% endfor %}{{ n }}",
    "{% for i in items|selectattr('tags') %}{{ i.name }}{% endfor %}{{ items|map(attribute='name')|select|join }}",
    "{{ (a and a.b)|default(n) }}{% set x = n and a.c %}{{ x.d if x else '' }}",
    "{% for k, g in items|groupby('name', default='-') %}{{ g|length }}{% endfor %}",
)


def without(data: Any, path: tuple[Any, ...]) -> Any:
    if isinstance(data, dict):
        return {key: without(value, path[1:]) if key == path[0] else value for key, value in data.items() if path != (key,)}
    return [without(value, path[1:]) if place == path[0] else value for place, value in enumerate(data) if path != (place,)]


def paths_in(data: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [found for key, value in parts for found in ((*before, key), *paths_in(value, (*before, key)))]


def has_empty_list(data: Any) -> bool:
    """Of an element of which nothing can be missing."""
    parts = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return data == [] or any(map(has_empty_list, parts))


def can_render(source: str, data: dict[str, Any], templates: dict[str, str]) -> bool:
    try:
        engine().render(source, "html", JinjaOptions(data=data, templates=templates))
    except SourceInvalid:
        return False
    return True


@pytest.mark.parametrize("source", RENDERED)
def test_what_is_required_is_what_a_render_cannot_do_without(source: str) -> None:
    """Every part of the data is taken away, and every two: where a required field is missing the render fails, and where it fails
    something that it read is missing.
    """
    templates = {"sub": "{{ a.b }}{% if items %}{{ items[0].name }}{% endif %}"}
    fields = read(source, templates)["fields"]
    parts = [(path,) for path in paths_in(WHOLE)] + list(combinations(paths_in(WHOLE), 2))
    for taken in [(), *parts]:
        data: Any = WHOLE
        for path in sorted(taken, key=len, reverse=True):
            data = without(data, path)
        missing = missing_fields(fields, data)
        read_and_missing = missing_fields([field | {"required": True} for field in fields], data)
        if can_render(source, data, templates):
            assert not missing or has_empty_list(data), (taken, missing)
        else:
            assert read_and_missing, taken


@pytest.mark.parametrize(
    ("paths", "data", "missing"),
    [
        (["a.b"], {"a": {"b": None}}, []),
        (["a.b", "c"], {"a": {}}, ["a.b", "c"]),
        (["a.b"], {"a": None}, ["a.b"]),
        (["a.b"], {"a": "text"}, ["a.b"]),
        (["items", "items[].name"], {}, ["items"]),
        (["items", "items[].name"], {"items": [{"name": 1}, {}, 3]}, ["items[1].name", "items[2].name"]),
        (["rows[].cells[].v"], {"rows": [{"cells": [{}]}]}, ["rows[0].cells[0].v"]),
        (["prices.*.net"], {"prices": {"a": {"net": 1}, "b": {}}}, ["prices.b.net"]),
        (["a[0].b", "a[-2]"], {"a": [{}]}, ["a[0].b", "a[-2]"]),
        (["a[]"], {"a": []}, []),
    ],
)
def test_missing_fields_are_named_where_they_are_missing(paths: list[str], data: dict[str, Any], missing: list[str]) -> None:
    fields = [{"path": path, "required": True} for path in paths] + [{"path": "optional", "required": False}]

    assert missing_fields(fields, data) == missing
