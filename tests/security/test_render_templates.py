# ruff: noqa: E501 - a table keeps its rows
"""Templates that try to leave their sandbox, to cost more than a render may, or to let data become markup."""

from collections.abc import Iterator

import pytest

from pressroom.errors import InvalidArgument, SourceInvalid, Timeout, TooLarge
from pressroom.renderers.jinja.engine import Jinja
from tests.security import exposed
from tests.security.markup import offences_in_html
from tests.security.render_box import SECRET, Box, Canary, assert_untouched, engine
from tests.security.test_render_markup import MARKDOWN

DATA = {"x": {"a": 1}, "text": "abc", "n": 3, "items": [{"a": 1}, {"a": 2}]}
PART = {"part": "{% macro m(a) %}{{ a }}{% endmacro %}"}

ESCAPES = [
    # Attributes of every type that a template can hold
    *(f"{{{{ {value}.__class__ }}}}" for value in (
        "''", "1", "1.5", "none", "true", "[]", "{}", "()", "x", "items", "text", "nosuch", "x.nosuch", "range(1)", "range", "dict",
        "cycler", "cycler('a')", "joiner", "joiner()", "namespace", "namespace()", "t", "self", "('a'|escape)", "x.items", "x.items()",
        "'a'.encode()", "(items|map(attribute='a'))", "(items|groupby('a')|first)", "''.format", "''.join",
    )),
    "{% for i in items %}{{ loop.__class__ }}{% endfor %}",
    "{% for i in items %}{{ loop._iterator }}{% endfor %}",
    "{% macro m() %}{{ caller.__class__ }}{{ varargs.__class__ }}{% endmacro %}{% call m() %}{% endcall %}",
    "{% macro m() %}{% endmacro %}{{ m.__class__ }}",
    "{% macro m() %}{% endmacro %}{{ m._environment }}",
    "{% macro m() %}{% endmacro %}{{ m._func.__globals__ }}",
    "{% import 'part' as p %}{{ p.__class__ }}",
    "{% import 'part' as p %}{{ p._body_stream }}",
    "{% block b %}{{ super.__class__ }}{% endblock %}",
    "{% block b %}{{ self._TemplateReference__context }}{% endblock %}",
    "{{ namespace()._Namespace__attrs }}",
    "{{ x._path }}",
    "{{ nosuch._undefined_obj }}",
    # The long way round
    "{{ ''['__class__'] }}",
    "{{ x['__class__'] }}",
    "{{ items[0]['__class__'] }}",
    "{{ ''|attr('__class__') }}",
    "{{ ''|attr('_' ~ '_class__') }}",
    "{{ [x]|map(attribute='__class__')|list }}",
    "{{ [x]|map('attr', '__class__')|list }}",
    "{{ [x]|sort(attribute='__class__') }}",
    "{{ [x, x]|groupby('__class__') }}",
    "{{ [x]|sum(attribute='__class__') }}",
    "{{ [x]|join(attribute='__class__') }}",
    "{{ [x]|selectattr('__class__')|list }}",
    "{{ [x]|rejectattr('a.__class__')|list }}",
    "{{ [x]|unique(attribute='__class__')|list }}",
    "{{ [x]|max(attribute='__class__') }}",
    # Format strings: CVE-2016-10745, CVE-2019-10906, CVE-2024-56326, CVE-2025-27516
    "{{ '{0.__class__}'.format(x) }}",
    "{{ '{0[__class__]}'.format(x) }}",
    "{{ '{a.__class__}'.format(a=x) }}",
    "{{ '{a.__class__.__mro__}'.format_map({'a': x}) }}",
    "{{ ('{0.__class__}'|escape).format(x) }}",
    "{{ ('{a.__class__}'|escape).format_map({'a': x}) }}",
    "{{ ('{0.__class__}'|attr('format'))(x) }}",
    "{{ ('{a.__class__}'|attr('format_map'))({'a': x}) }}",
    "{{ ('{0.__class__}'['format'])(x) }}",
    "{{ (['{0.__class__}']|map(attribute='format')|first)(x) }}",
    "{% set f = '{0.__class__}'.format %}{{ f(x) }}",
    "{% macro m(f) %}{{ f(x) }}{% endmacro %}{{ m('{0.__class__}'.format) }}",
    "{{ '{0.__init__.__globals__}'.format(cycler) }}",
    "{{ ''.format.__wrapped__ }}",
    # Generators and functions
    "{{ (items|map(attribute='a')).gi_frame.f_globals }}",
    "{{ (items|map(attribute='a')).gi_code }}",
    "{{ (items|map(attribute='a')).send(none) }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ t.__globals__ }}",
    "{{ t.__self__ }}",
    "{{ t.__func__ }}",
    "{{ dict.mro() }}",
    "{{ dict.fromkeys([1]) }}",
    # What other programs put into their templates
    "{{ lipsum() }}",
    "{{ lipsum.__globals__ }}",
    "{{ config }}",
    "{{ request.application }}",
    "{{ get_flashed_messages.__globals__ }}",
    "{{ environment }}",
    "{{ context }}",
    "{{ open('/etc/passwd') }}",
    "{{ ''|import_module }}",
    # Files
    "{% include '/etc/passwd' %}",
    "{% include '../../../etc/passwd' %}",
    "{% include 'TXT' %}",
    "{% extends 'file://TXT' %}",
    "{% import 'os' as os %}{{ os.system('id') }}",
    # Changing what is given
    "{% do x.update({'a': 2}) %}",
    "{% do items.append(1) %}",
    "{% do items.clear() %}",
    "{{ x.pop('a') }}",
    "{{ items.sort() }}",
    # Attributes of HTML made from data: CVE-2024-22195, CVE-2024-34064
    "<p{{ {'a onclick=x': 1}|xmlattr }}>",
    "<p{{ {'a/onclick': 1}|xmlattr }}>",
    "<p{{ {'a>': 1}|xmlattr }}>",
]  # fmt: skip


@pytest.mark.parametrize("source", ESCAPES)
def test_a_template_cannot_leave_its_sandbox(box: Box, canary: Canary, source: str) -> None:
    answer = box.draw(engine("jinja"), "\n" + canary.fill(source), data=DATA, templates=PART)

    assert isinstance(answer.error, SourceInvalid), answer.text
    assert answer.error.line == 2
    assert "object at" not in str(answer.error)
    assert_untouched(canary, answer)


@pytest.mark.parametrize(
    "name", ["x'''\nraise SystemExit\n'''", '"); raise SystemExit #', "{open('TXT').read()}", "{1+1}", "\\", "a\0b", "\ud800"]
)
def test_the_name_of_a_template_is_no_code(box: Box, canary: Canary, name: str) -> None:
    """CVE-2024-56201: the name became part of an f-string in the compiled code."""
    name = canary.fill(name)
    templates = {name: "{{ nosuch|nosuch_filter if false }}{% block b %}ok{% endblock %}"}
    answer = box.draw(
        engine("jinja"), "{% for n in names %}{% include n %}{% endfor %}", data={"names": [name]}, templates=templates
    )

    assert answer.error is None or isinstance(answer.error, SourceInvalid | InvalidArgument), repr(answer.error)
    assert SECRET not in answer.words + answer.data.decode()
    box.assert_well(engine("jinja"))


NESTED = 5_000
BOMBS = {
    "repeat": "{{ 'a' * 10**9 }}",
    "repeat-list": "{{ [0] * 10**9 }}",
    "repeat-twice": "{% set a = 'a' * 1000000 %}{% set b = [a] * 1000000 %}{{ b|join }}",
    "doubling": "{% set ns = namespace(a='a') %}{% for i in range(60) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}{{ ns.a }}",
    "doubling-list": "{% set ns = namespace(a=[0]) %}{% for i in range(60) %}{% set ns.a = ns.a + ns.a %}{% endfor %}{{ ns.a }}",
    "power": "{{ 9 ** (9 ** 9) }}",
    "power-of-powers": "{% set ns = namespace(a=9) %}{% for i in range(60) %}{% set ns.a = ns.a * ns.a %}{% endfor %}{{ ns.a }}",
    "range": "{{ range(10**12)|list }}",
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}",
    "output": "{% for a in range(99999) %}{{ 'x' * 1000 }}{% endfor %}",
    "captured-output": "{% set x %}{% for a in range(99999) %}{{ 'x' * 100000 }}{% endfor %}{% endset %}{{ x|length }}",
    "macro": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "macro-doubling": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "caller": "{% macro m() %}{{ caller() }}{% call m() %}{% endcall %}{% endmacro %}{% call m() %}{% endcall %}",
    "recursive-loop": "{% for i in items recursive %}{{ loop(items) }}{% endfor %}",
    "include-itself": "{% include 'itself' %}",
    "extend-itself": "{% extends 'extends' %}",
    "import-itself": "{% import 'imports' as a %}",
    "include-twice": "{% include 'twice' %}",
    "width-format": "{{ '{:>1000000000}'.format(1) }}",
    "width-format-nested": "{{ '{:>{}}'.format(1, 10**9) }}",
    "width-percent": "{{ '%1000000000d' % 1 }}",
    "width-percent-argument": "{{ '%*d' % (10**9, 1) }}",
    "width-filter": "{{ '%1000000000d'|format(1) }}",
    "width-center": "{{ 'a'|center(10**10) }}",
    "width-just": "{{ 'a'.ljust(10**10) }}",
    "width-zfill": "{{ 'a'.zfill(10**10) }}",
    "width-tabs": "{{ '\t'.expandtabs(10**9) }}",
    "width-indent": "{{ 'a\nb'|indent(10**10) }}",
    "width-json": "{{ items|tojson(indent=10**10) }}",
    "round": "{{ 1|round(10**9, 'ceil') }}",
    "batch": "{{ [1]|batch(10**10, 0)|list }}",
    "slice": "{{ [1]|slice(10**10)|list }}",
    "replace": "{% set a = 'a' * 1000000 %}{{ a|replace('a', a) }}",
    "replace-empty": "{{ ('a' * 1000000)|replace('', 'b' * 1000000) }}",
    "join": "{{ ('a' * 1000000)|join('b' * 1000000) }}",
    "to-bytes": "{{ (1).to_bytes(10**10, 'big') }}",
    "int-to-text": "{{ ('9' * 900000)|int }}",
    "wordwrap": "{{ ('a ' * 500000)|wordwrap(1) }}",
    "urlize": "{{ ('www.a' * 200000)|urlize }}",
    "striptags": "{{ ('<!--' * 250000)|striptags }}",
    "cycler": "{% set c = cycler(*range(99999)) %}{% for a in range(99999) %}{% for b in range(99999) %}{% do c.next() %}{% endfor %}{% endfor %}",
    "parentheses": "{{ " + "(" * NESTED + "1" + ")" * NESTED + " }}",
    "nots": "{{ " + "not " * NESTED + "1 }}",
    "sums": "{{ 1" + "+1" * NESTED + " }}",
    "filters": "{{ 1" + "|string" * NESTED + " }}",
    "attributes": "{{ x" + ".a" * NESTED + " }}",
    "lists": "{{ " + "[" * NESTED + "]" * NESTED + " }}",
    "ifs": "{% if x %}" * NESTED + "{% endif %}" * NESTED,
    "fors": "{% for a in items %}" * 50 + "{% endfor %}" * 50,
    "blocks": "".join(f"{{% block b{n} %}}" for n in range(NESTED)) + "{% endblock %}" * NESTED,
    "unclosed": "{{ " * 300_000,
    "comments": "{#" * 400_000,
    "strings": "{{ '" + "\\'" * 300_000,
    "numbers": "{{ " + "9" * 900_000 + " }}",
    "names": "{{ " + "a" * 900_000 + " }}",
    "markdown": "{{ ('[' * 900000)|markdown }}",
    "markdown-often": "{% for a in range(99999) %}{% do ('*a* ' * 1000)|markdown %}{% endfor %}",
    "qr-often": "{% for a in range(99999) %}{% do ('a' * 2000)|qr %}{% endfor %}",
    "date-pattern": "{{ '2027-01-01'|date('y' * 100) }}",
    "headings": "{% for a in range(99999) %}<h1>{{ 'a' * 100 }}{% endfor %}",
    "heads": "<head" * 200_000,
}  # fmt: skip
LOOPS = {
    "itself": "{% include 'itself' %}",
    "extends": "{% extends 'extends' %}",
    "imports": "{% import 'imports' as a %}",
    "twice": "{% include 'twice1' %}{% include 'twice1' %}",
    **{f"twice{n}": f"{{% include 'twice{n + 1}' %}}{{% include 'twice{n + 1}' %}}" for n in range(1, 60)},
    "twice60": "x",
}
HARMLESS = {
    "markdown",
    "date-pattern",
    "headings",
    "heads",
    "names",
    "wordwrap",
    "int-to-text",
    "striptags",
    "filters",
    "urlize",
}


@pytest.fixture
def _hurry() -> Iterator[None]:
    with exposed.hurry():
        yield


@pytest.mark.usefixtures("_hurry")
@pytest.mark.sampled(16)
@pytest.mark.parametrize("output", ["html", "json"])
@pytest.mark.parametrize("bomb", BOMBS)
def test_no_template_costs_more_than_its_limit(box: Box, bomb: str, output: str) -> None:
    answer = box.draw(engine("jinja"), BOMBS[bomb], output, data=DATA, templates=LOOPS)

    if answer.error is None:
        assert output == "json" or bomb in HARMLESS, len(answer.data)
        assert len(answer.data) <= Jinja.limits.output
    else:
        assert isinstance(answer.error, SourceInvalid | TooLarge | Timeout), repr(answer.error)
    box.assert_well(engine("jinja"))


@pytest.mark.sampled(32)
@pytest.mark.parametrize(
    "filter",
    ["", "|safe", "|markdown", "|nl2br", "|escape", "|trim|safe", "|urlize", "|upper|markdown", "|replace('a', '<b>')"],
)
@pytest.mark.parametrize("attack", MARKDOWN)
def test_no_filter_lets_a_script_of_the_data_through(box: Box, attack: str, filter: str) -> None:
    source = f"<p title='{{{{ x{filter if 'markdown' not in filter else ''}|striptags }}}}'></p><div>{{{{ x{filter} }}}}</div>"

    answer = box.make("jinja", source, "html", data={"x": MARKDOWN[attack]})

    assert answer.error is None, repr(answer.error)
    assert [found for found in offences_in_html(answer.text, page=True) if found != "a comment"] == []


def test_data_cannot_be_deeper_than_a_process_can_take(box: Box) -> None:
    deep: object = "x"
    for _ in range(2_000):
        deep = {"a": [deep]}
    answer = box.make("jinja", "{{ x }}", "html", data={"x": deep})

    assert isinstance(answer.error, InvalidArgument), repr(answer.error)
    box.assert_well(engine("jinja"))


@pytest.mark.parametrize("value", ["\ud800", 2**70])
def test_options_that_cannot_be_sent_are_refused(box: Box, value: object) -> None:
    """They once were an error in the middle of sending, after which the process waited for an answer to nothing."""
    for name, options in (("jinja", {"data": {"x": value}}), ("html", {"title": str(value)})):
        answer = box.draw(engine(name), "x", "pdf" if name == "html" else "html", **options)
        assert answer.error is None or isinstance(answer.error, InvalidArgument), repr(answer.error)
        box.assert_well(engine(name))
