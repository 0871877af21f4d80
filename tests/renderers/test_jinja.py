# ruff: noqa: E501 - a table keeps its rows
"""The engine jinja: what templates can do, what they are told when they are wrong, and what comes out."""

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from typing import Any

import html5lib
import msgspec
import pypdf
import pypdfium2
import pytest
import zxingcpp
from babel import Locale, dates, numbers

from pressroom.errors import InvalidArgument, SourceInvalid, TooLarge
from pressroom.renderers import Rendered, documents
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.html import Html, HtmlOptions
from pressroom.renderers.jinja.barcode import barcode_svg
from pressroom.renderers.jinja.engine import Jinja, JinjaOptions
from pressroom.renderers.sandbox.engine_pools import EnginePools

LANGUAGES = (
    "en",
    "de",
    "de-AT",
    "de-CH",
    "fr",
    "es",
    "it",
    "pt-BR",
    "nl",
    "pl",
    "cs",
    "ru",
    "uk",
    "sv",
    "fi",
    "tr",
    "ar",
    "he",
    "hi",
    "ja",
)


@cache
def engine() -> Jinja:
    return Jinja()


def render(source: str, **options: Any) -> Rendered:
    return engine().render(source, "html", msgspec.convert(options, JinjaOptions))


def body(source: str, **options: Any) -> str:
    page = render(source, **options).data.decode()
    return page.partition("<body>\n")[2].removesuffix("\n</body>\n</html>\n")


def refused(source: str, **options: Any) -> SourceInvalid:
    with pytest.raises(SourceInvalid) as caught:
        render(source, **options)
    return caught.value


# Data


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "{{ 7 * 7 }}",
        "{% include 'x' %}",
        "</style><b>",
        "\u202eabc\u202c",
        "a\0b",
        "\ud800",
        "'\"><img>",
    ],
)
def test_data_is_printed_as_text(hostile: str) -> None:
    page = render("<p title='{{ x }}'>{{ x }}</p>", data={"x": hostile}, styles=["p { color: red }"]).data.decode()

    tree = html5lib.parse(page, namespaceHTMLElements=False)
    shown = hostile.replace("\0", "\N{REPLACEMENT CHARACTER}").replace("\ud800", "\N{REPLACEMENT CHARACTER}")
    assert tree.findtext("body/p") == shown
    assert tree.find("body/p").get("title") == shown
    assert [element.tag for element in tree.iter() if isinstance(element.tag, str)] == [
        *("html", "head", "meta", "title", "style", "body", "p")
    ]


def test_fields_of_the_data_go_before_the_methods_of_python() -> None:
    data = {"invoice": {"items": [{"count": 2, "keys": "k"}], "values": 3}, "range": "wide", "t": "never"}

    assert body("{% for item in invoice.items %}{{ item.count }}{{ item.keys }}{% endfor %}", data=data) == "2k"
    assert body("{{ invoice.values }} {{ range }}", data=data) == "3 wide"
    assert body("{{ t('key') }}", data=data, strings={"key": "found"}) == "found"
    assert body("{% if order.items or order.get %}x{% endif %}[{{ order.keys|default('-') }}]", data={"order": {}}) == "[-]"
    assert str(refused("{% for item in order.items %}{% endfor %}", data={"order": {}})) == "order.items is not in the data"
    assert body("{{ order.get('a', order.values()|list|length) }}", data={"order": {"b": 1}}) == "1"
    assert body("{% for name, value in pair.items() %}{{ name }}={{ value }}{% endfor %}", data={"pair": {"a": 1}}) == "a=1"


def test_null_prints_nothing() -> None:
    assert body("[{{ x }}]", data={"x": None}) == "[]"


@pytest.mark.parametrize(
    ("source", "data", "words", "line"),
    [
        ("\n{{ name }}", {}, "name is not in the data", 2),
        ("{{ person.name }}", {"person": {}}, "person.name is not in the data", 1),
        ("{{ person['name'] }}", {"person": {}}, "person.name is not in the data", 1),
        ("{{ person.address.city }}", {"person": {}}, "person.address.city is not in the data: there is no person.address", 1),
        (
            "{% for p in people %}\n{{ p.name }}{% endfor %}",
            {"people": [{"name": 1}, {}]},
            "people[1].name is not in the data",
            2,
        ),
        ("{{ people[3].name }}", {"people": []}, "people[3].name is not in the data: there is no people[3]", 1),
        ("{{ people|map(attribute='name')|join }}", {"people": [{}]}, "people[0].name is not in the data", 1),
        ("{{ person.name }}", {"person": "Anna"}, "there is no 'name' in the text 'Anna'", 1),
        ("{{ person.name }}", {"person": None}, "there is no 'name' in null", 1),
        ("{% set n = person.name %}\n\n{{ n }}", {"person": {}}, "person.name is not in the data", 3),
        ("{% for x in rows %}{% endfor %}", {}, "rows is not in the data", 1),
        ("{{ a == 1 }}", {}, "a is not in the data", 1),
        ("{{ a|date }}", {}, "a is not in the data", 1),
        ("{{ a|money('EUR') }}", {}, "a is not in the data", 1),
        ("{{ a|markdown }}", {}, "a is not in the data", 1),
        ("{{ a|safe }}", {}, "a is not in the data", 1),
        ("{{ a() }}", {}, "a is not in the data", 1),
        ("{{ t('k', x=a) }}", {}, "a is not in the data", 1),
    ],
)
def test_what_is_missing_is_named_with_its_path_and_line(source: str, data: dict[str, Any], words: str, line: int) -> None:
    error = refused(source, data=data)

    assert (str(error), error.line) == (words, line)
    assert error.excerpt == source.split("\n")[line - 1]


def test_what_is_missing_may_be_tested() -> None:
    source = "{% if a.b.c %}x{% endif %}{{ a.b|default('-') }}{{ a or 'none' }}{{ a is defined }}{% if not a %}!{% endif %}"

    assert body(source) == "-noneFalse!"


# Templates


def test_templates_reach_those_that_are_given_and_no_others() -> None:
    templates = {
        "base": "<html><head></head><body>{% block main %}base{% endblock %}</body></html>",
        "letter": "{% extends 'base' %}{% import 'parts' as parts %}"
        "{% block main %}{{ super() }} {{ parts.name(person) }}{% endblock %}",
        "parts": "{% macro name(p) %}{{ p.first }} of {{ company }}{% endmacro %}",
    }
    page = render("{% extends 'letter' %}", templates=templates, data={"person": {"first": "A"}, "company": "B"}).data.decode()
    assert page == "<html><head></head><body>base A of B</body></html>"

    error = refused("\n{% include 'letterhead' %}", templates={"a": "", "b": ""})
    assert (str(error), error.line) == ("there is no template 'letterhead'; there are a, b", 2)
    assert "none can be included" in str(refused("{% extends '/etc/passwd' %}"))


def test_an_error_in_an_included_template_names_it_with_its_line() -> None:
    error = refused("{% include 'head' %}", templates={"head": "\n\n{{ logo }}"})
    assert (str(error), error.line, error.excerpt) == ("template 'head': logo is not in the data", 3, "{{ logo }}")

    error = refused("{% include 'head' %}", templates={"head": "\n{% if %}"})
    assert str(error).startswith("template 'head': ")
    assert (error.line, error.excerpt) == (2, "{% if %}")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("\n{% if x %}", "Unexpected end of template"),
        ("\n{{ 1 + }}", "unexpected"),
        ("\n{{ x|nosuch }}", "No filter named 'nosuch'"),
        ("\n{% autoescape false %}{% endautoescape %}", "autoescape cannot be switched off"),
        ("\n{% autoescape x %}{% endautoescape %}", "autoescape cannot be switched off"),
        ("\n{{ 'x' + 1 }}", "can only concatenate str"),
        ("\n{{ 1 / 0 }}", "division by zero"),
        ("\n{{ 'x'.nosuch() }}", "there is no 'nosuch' in the text 'x'"),
        ("\n{{ x.upper }}", "is to be called, not printed"),
        ("\n{% macro m() %}{% endmacro %}{{ m }}", "is to be called, not printed"),
    ],
)
def test_what_is_wrong_with_a_template_is_told_with_its_line(source: str, words: str) -> None:
    error = refused(source, data={"x": "a"})

    assert words in str(error)
    assert error.line == 2


def test_an_empty_template_is_refused() -> None:
    assert str(refused(" \n")) == "the source is empty"


def test_a_page_that_is_too_long_is_stopped() -> None:
    with pytest.raises(TooLarge, match="characters, which is the limit"):
        render("{% for n in range(100000) %}{{ x }}{% endfor %}", data={"x": "x" * 1_000})


def test_templates_and_styles_past_the_limit_are_refused_outside_of_the_sandbox() -> None:
    with pytest.raises(TooLarge, match="the templates and styles have"):
        Jinja.check(b"x", "html", {"styles": ["x" * 9_000_000] * 2})
    with pytest.raises(InvalidArgument, match="there is no option `nosuch`"):
        Jinja.check(b"x", "html", {"nosuch": 1})


# Pages


def test_a_fragment_becomes_a_page_with_language_direction_and_title() -> None:
    rendered = render("<h1>A &amp; <i>B</i></h1>", lang="ar", styles=["h1 { color: red }", "p { color: blue }"])

    assert rendered.data.decode() == (
        '<!DOCTYPE html>\n<html lang="ar" dir="rtl">\n<head>\n<meta charset="utf-8">\n<title>A &amp; B</title>\n'
        "<style>\nh1 { color: red }\np { color: blue }\n</style>\n</head>\n<body>\n<h1>A &amp; <i>B</i></h1>\n</body>\n</html>\n"
    )
    assert rendered.details["title"] == "A & B"
    assert render("x", title="</title>").data.count(b"<title>&lt;/title&gt;</title>") == 1
    assert [notice.code for notice in render("x").warnings] == ["no_title"]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<html><head><title>x</title></HEAD><body>y", "<html><head><title>x</title><style>\np{}\n</style>\n</HEAD><body>y"),
        ("<!doctype html><head><title>x</title>y", "<!doctype html><head><style>\np{}\n</style>\n<title>x</title>y"),
        ("<!doctype html><html lang=a><body>y", "<!doctype html><html lang=a><style>\np{}\n</style>\n<body>y"),
        ("<body>y", "<style>\np{}\n</style>\n<body>y"),
    ],
)
def test_styles_go_into_the_head_of_a_page_that_the_template_made(page: str, expected: str) -> None:
    assert render(page, styles=["p{}"]).data.decode() == expected


def test_a_style_cannot_end_itself() -> None:
    assert "style 2 of 2 contains </style>" in str(refused("x", styles=["a{}", "a{}</ STYLE ><script>"]))


# Filters


@pytest.mark.parametrize("lang", LANGUAGES)
def test_dates_money_numbers_and_plurals_are_as_cldr_has_them(lang: str) -> None:
    locale = Locale.parse(lang, sep="-")
    day, moment, amount = date(2027, 1, 2), datetime(2027, 1, 2, 15, 4, 5, tzinfo=UTC), Decimal("-1234567.855")
    zone = dates.get_timezone("Europe/Berlin")
    data = {
        "day": "2027-01-02",
        "moment": "2027-01-02T15:04:05Z",
        "amount": "-1234567.855",
        "currencies": ["EUR", "USD", "JPY", "KWD"],
    }

    def shown(expression: str) -> str:
        page = body("{{ " + expression + " }}", data=data, lang=lang, timezone="Europe/Berlin")
        return html5lib.parseFragment(page).text or ""

    for format in ("short", "medium", "long", "full"):
        assert shown(f"day|date('{format}')") == dates.format_date(day, format, locale=locale)
        assert shown(f"moment|time('{format}')") == dates.format_time(moment, format, tzinfo=zone, locale=locale)
        assert shown(f"moment|datetime('{format}')") == dates.format_datetime(moment, format, tzinfo=zone, locale=locale)
    assert shown("day|date('EEEE d MMMM y')") == dates.format_date(day, "EEEE d MMMM y", locale=locale)
    for currency in data["currencies"]:
        assert shown(f"amount|money('{currency}')") == numbers.format_currency(amount, currency, locale=locale)
    assert shown("amount|number") == numbers.format_decimal(amount, locale=locale)
    assert shown("amount|number(digits=2)") == numbers.format_decimal(round(amount, 2), locale=locale)
    one_digit = locale.percent_formats[None].pattern.replace("0", "0.0", 1)
    assert shown("'0.195'|percent(digits=1)") == numbers.format_percent(Decimal("0.195"), one_digit, locale=locale)
    for number in ("0", "1", "2", "3", "5", "11", "21", "100", "1.5", "1000000"):
        forms = ", ".join(f"{category}='{category}'" for category in ("zero", "one", "two", "few", "many", "other"))
        assert shown(f"'{number}'|plural({forms})") == locale.plural_form(Decimal(number))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'0.10'|money('EUR')", "€0.10"),
        ("'12.50'|money", "£12.50"),
        ("12|money('JPY')", "¥12"),
        ("(0.1 + 0.2)|number", "0.3"),
        ("'0.1'|decimal + '0.2'|decimal", "0.3"),
        ("('1.005'|decimal * 3)|number(digits=3)", "3.015"),
        ("['1.10', '2.20']|map('decimal')|sum|money('EUR')", "€3.30"),
        ("'123456789012345678901234.55'|number(digits=2)", "123,456,789,012,345,678,901,234.55"),
        ("1|plural(one='{n} day', other='{n} days')", "1 day"),
        ("1200|plural(one='{n} day', other='{n} days')", "1,200 days"),
        ("0|date('yyyy-MM-dd')", "1970-01-01"),
        ("1800000000|datetime('yyyy-MM-dd HH:mm')", "2027-01-15 08:00"),
        ("1800000000000|datetime('yyyy-MM-dd HH:mm')", "2027-01-15 08:00"),
        ("'2027-01-01T23:30:00-02:00'|date('short')", "1/2/27"),
        ("'2027-01-01T23:30:00'|date('short')", "1/1/27"),
        ("'09:05'|time('HH:mm')", "09:05"),
        ("'<a>\nb'|nl2br", "&lt;a&gt;<br>\nb"),
        ("'*a* <script>x</script>'|markdown", "<p><em>a</em> </p>\n"),
        ("'<b onclick=x>a</b><script>x</script>'|safe", "<b>a</b>"),
        ("('a'|escape)|safe", "a"),
    ],
)
def test_what_a_filter_makes(expression: str, expected: str) -> None:
    assert body("{{ " + expression + " }}", currency="GBP") == expected


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("'1,5'|money('EUR')", "money: '1,5' is not a number; write it as in 1234.50"),
        ("true|number", "number: 'True' is not a number"),
        ("[]|number", "is not a number"),
        ("'NaN'|number", "is not a number of at most 30 digits"),
        ("'1e999999999'|number", "is not a number of at most 30 digits"),
        ("1|money", "name a currency"),
        ("1|money('EURO')", "there is no currency 'EURO'"),
        ("1|number(digits=99)", "digits must be a whole number from 0 to 30"),
        ("1|plural(one='x')", "needs at least other="),
        ("1|plural(other='x', several='y')", "there is no form 'several'"),
        ("'31.01.2027'|date", "'31.01.2027' is not a date; write it as 2027-01-31"),
        ("none|date", "'None' is not a date"),
        ("1e300|date", "is not a date"),
        ("'2027-01-01'|time", "has no time"),
        ("'2027-01-01'|datetime", "is not a date with a time"),
        ("'10:00'|date", "is a time without a date"),
        ("'2027-01-01'|date('HH:mm')", "is not a pattern for this value"),
        ("'2027-01-01'|date(3)", "a format is short, medium, long, full or a pattern"),
        ("('x' * 4000)|qr", "qr: "),
        ("'x'|qr(scale=1e9)", "scale is a number from 1 to 50"),
        ("'é'|barcode", "code128 holds 1 to 80 letters, digits and signs of ASCII"),
        ("'4006381333932'|barcode('ean13')", "the check digit of 400638133393 is 1, not 2"),
        ("'1'|barcode('qr')", "there is no bar code 'qr'; there are code128, ean13"),
        ("[1]|markdown", "is not a text"),
    ],
)
def test_what_a_filter_cannot_take_is_told_with_its_line(expression: str, words: str) -> None:
    error = refused("\n{{ " + expression + " }}")

    assert words in str(error)
    assert error.line == 2


def test_a_language_that_cldr_does_not_know_is_refused() -> None:
    assert str(refused("x", lang="xx")) == "option lang: CLDR knows no language 'xx'"
    assert body("{{ 1.5|number }}", lang="de-XX") == "1,5"
    assert "there is no time zone 'Mars/Base'" in str(refused("{{ 0|date }}", timezone="Mars/Base"))


STRINGS = {
    "de": {"greeting": "Hallo {name}", "days": {"one": "{count} Tag", "other": "{count} Tage"}, "letter": {"end": "Gruß"}},
    "de-AT": {"greeting": "Servus {name}"},
    "greeting": "Hello {name}",
    "end": "Bye",
}


@pytest.mark.parametrize(
    ("lang", "expression", "expected"),
    [
        ("de", "t('greeting', name='<A>')", "Hallo &lt;A&gt;"),
        ("de-AT", "t('greeting', name='A')", "Servus A"),
        ("de-AT", "t('days', count=1)", "1 Tag"),
        ("de", "t('days', count=5)", "5 Tage"),
        ("de", "t('letter.end')", "Gruß"),
        ("de", "t('end')", "Bye"),
        ("fr", "t('greeting', name='A')", "Hello A"),
    ],
)
def test_strings_are_looked_up_in_the_language_and_then_without_one(lang: str, expression: str, expected: str) -> None:
    assert body("{{ " + expression + " }}", lang=lang, strings=STRINGS) == expected


def test_a_missing_string_is_printed_as_its_key_with_one_warning() -> None:
    rendered = render("\n<h1>{{ t('a.b') }}</h1>\n{{ t('a.b') }}", strings=STRINGS)

    assert [(notice.code, notice.message, notice.line) for notice in rendered.warnings] == [
        ("missing_string", "there is no string 'a.b' in en", 2)
    ]
    assert b"<h1>a.b</h1>\na.b" in rendered.data
    assert "needs a value for {name}" in str(refused("{{ t('greeting') }}", strings=STRINGS))
    assert "the forms of a plural" in str(refused("{{ t('days') }}", strings=STRINGS, lang="de"))


# Codes that scanners read


def scanned(source: str, **options: Any) -> set[tuple[str, str]]:
    """What a scanner sees on the printed page."""
    page = render(source, **options).data.decode()
    printed = Html().render(page, "pdf", HtmlOptions()).data
    with pypdfium2.PdfDocument(printed) as document:
        picture = document[0].render(scale=4).to_pil()
    return {(found.format.name, found.text) for found in zxingcpp.read_barcodes(picture)}


@pytest.mark.parametrize(
    "text", ["A-1", "12", "1234567890", "12345", "AB123456C", "x1234567", "~!@ 99", "abc12", "00123456789X"]
)
def test_a_scanner_reads_code_128(text: str) -> None:
    assert scanned("{{ x|barcode }}", data={"x": text}) == {("Code128", text)}


@pytest.mark.parametrize("first", range(10))
def test_a_scanner_reads_ean_13(first: int) -> None:
    digits = f"{first}12345678901"
    ((kind, text),) = scanned("{{ x|barcode('ean13') }}", data={"x": digits})
    assert (kind, text[:12]) == ("EAN13", digits)


def test_a_scanner_reads_a_qr_code() -> None:
    text = "https://example.org/pay?amount=12.50&for=Käse"
    assert scanned("{{ x|qr }}", data={"x": text}) == {("QRCode", text)}


def test_pairs_of_digits_take_one_symbol() -> None:
    assert len(barcode_svg("12345678", "code128")) < len(barcode_svg("abcdefgh", "code128"))


# Documents


async def made(source: str, output: str, engine: str | None = None, **options: Any) -> Rendered:
    presses = EnginePools(1)
    try:
        request = RenderRequest("jinja", output, source.encode(), options, engine)
        return await documents.render(presses, documents.prepare(request).plan)
    finally:
        await presses.close()


async def test_a_template_is_printed_with_the_diagrams_of_its_markdown() -> None:
    note = "Way:\n\n```dot\ndigraph { Source -> Picture }\n```\n"
    rendered = await made(
        "<h1>{{ name }}</h1>{% set b = note|markdown %}{{ other|markdown }}{{ b }}{{ b }}",
        "pdf",
        data={"name": "Änne", "note": note, "other": note.replace("Picture", "Page")},
        lang="de",
        page="Letter",
        page_numbers=True,
    )
    page = pypdf.PdfReader(io.BytesIO(rendered.data)).pages[0]
    text = page.extract_text()

    assert round(page.mediabox.width) == 612
    assert "Änne" in text
    assert (text.count("Picture"), text.count("Page")) == (2, 1)
    assert rendered.details["title"] == "Änne"
    assert len(rendered.details["diagrams"]) == 3
    assert pypdf.PdfReader(io.BytesIO(rendered.data)).metadata.title == "Änne"


async def test_a_diagram_that_is_wrong_costs_its_place_and_not_the_page() -> None:
    rendered = await made(
        "{{ note|markdown }}<!--pressroom diagram 7-->", "html", data={"note": "```dot\ndigraph { a -> }\n```"}
    )

    assert "diagram_failed" in {notice.code for notice in rendered.warnings}
    assert b"This graphviz diagram could not be drawn" in rendered.data
    assert b"<!--" not in rendered.data


def test_options_are_the_printers_and_the_templates() -> None:
    options = {"data": {"x": 1}, "lang": "de", "title": "T", "margin_top": "5mm"}
    plan = documents.make_plan(RenderRequest("jinja", "pdf", b"x", options, "html-browser"))

    assert plan.options == {"data": {"x": 1}, "lang": "de", "title": "T"}
    assert plan.print_options == {"lang": "de", "title": "T", "margin_top": "5mm"}
    assert documents.make_plan(RenderRequest("jinja", "pdf", b"x", options)).print_options == {
        "title": "T",
        "margin_top": "5mm",
    }
    with pytest.raises(InvalidArgument, match="jinja: there is no option `colour`"):
        documents.make_plan(RenderRequest("jinja", "pdf", b"x", {"colour": 1}))
    with pytest.raises(InvalidArgument, match="for Jinja template it makes pdf"):
        documents.make_plan(RenderRequest("jinja", "html", b"x", {}, "html"))


def test_the_engines_of_diagrams_in_the_data_are_part_of_the_fingerprint() -> None:
    data = {"notes": [{"text": "x\n```mermaid\ngraph TD\n```"}]}
    request = RenderRequest("jinja", "pdf", b"{{ x }}", {"data": data, "templates": {"a": "```d2\nx\n```"}})

    assert list(documents.engines_of(documents.make_plan(request))) == ["jinja", "html", "d2", "mermaid"]


def test_the_same_template_and_data_give_the_same_bytes_whatever_was_rendered_before() -> None:
    source = "{{ '2027-01-02'|date('full') }}{{ 1.5|number }}{{ t('x') }}"
    german = render(source, lang="de", strings={"x": "a"}).data

    assert render(source, lang="fr", strings={"x": "b"}).data != german
    assert render(source, lang="de", strings={"x": "a"}).data == german


def test_the_json_output_is_the_fields() -> None:
    rendered = engine().render("{{ a.b }}{{ t('k') }}{% include 'x' %}", "json", JinjaOptions())

    assert rendered.media_type == "application/json"
    assert json.loads(rendered.data) == {
        "fields": [{"path": "a.b", "required": True, "line": 1, "template": ""}],
        "strings": ["k"],
        "templates": ["x"],
    }
