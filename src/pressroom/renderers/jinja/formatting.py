"""Dates, money and numbers as a language writes them, by the CLDR tables of Babel. No clock is read."""

import re
from collections.abc import Callable
from copy import copy
from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any

from babel import Locale, UnknownLocaleError, dates, numbers
from jinja2.exceptions import FilterArgumentError

LONGEST_PATTERN = 100
MOST_DIGITS = 30  # before and after the point
MILLISECONDS_FROM = 100_000_000_000  # a Unix time as large as this counts milliseconds

_NAMED_FORMATS = ("short", "medium", "long", "full")
_CATEGORIES = ("zero", "one", "two", "few", "many", "other")


def find_locale(lang: str) -> Locale | None:
    """`de-AT` is Austrian German; where CLDR does not know the country, the language alone counts."""
    parts = re.split(r"[-_]", lang)
    while parts:
        try:
            return Locale.parse("_".join(parts))
        except (UnknownLocaleError, ValueError, TypeError):
            parts.pop()
    return None


class LocaleFilters:
    def __init__(self, locale: Locale, currency: str = "", timezone: str = "UTC") -> None:
        self._locale = locale
        self._currency = currency
        self._timezone_name = timezone
        self._timezone: tzinfo | None = None

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {
            "date": self.format_date,
            "time": self.format_time,
            "datetime": self.format_datetime,
            "decimal": exact_number,
            "money": self.format_money,
            "number": self.format_number,
            "percent": self.format_percent,
            "plural": self.choose_plural,
        }

    def format_date(self, value: Any, format: str = "medium") -> str:
        moment = _read_moment(value)
        if isinstance(moment, time):
            raise FilterArgumentError(f"date: {value!r} is a time without a date")
        if isinstance(moment, datetime):
            return self._format_moment(dates.format_datetime, moment, format, date_only=True)
        return _with_pattern(format, lambda: dates.format_date(moment, format, locale=self._locale))

    def format_time(self, value: Any, format: str = "short") -> str:
        moment = _read_moment(value)
        if isinstance(moment, time):
            moment = datetime.combine(date(2000, 1, 1), moment)
        if not isinstance(moment, datetime):
            raise FilterArgumentError(f"time: {value!r} has no time")
        return self._format_moment(dates.format_time, moment, format)

    def format_datetime(self, value: Any, format: str = "medium") -> str:
        moment = _read_moment(value)
        if not isinstance(moment, datetime):
            raise FilterArgumentError(f"datetime: {value!r} is not a date with a time; use the filter date or time")
        return self._format_moment(dates.format_datetime, moment, format)

    def _format_moment(self, formatter: Callable[..., str], moment: datetime, format: str, *, date_only: bool = False) -> str:
        zone = self._zone()
        moment = moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)
        if date_only and format in _NAMED_FORMATS:
            return dates.format_date(moment.date(), format, locale=self._locale)
        return _with_pattern(format, lambda: formatter(moment, format, tzinfo=zone, locale=self._locale))

    def _zone(self) -> tzinfo:
        if self._timezone is None:
            try:
                self._timezone = UTC if self._timezone_name == "UTC" else dates.get_timezone(self._timezone_name)
            except (LookupError, ValueError, OSError):
                raise FilterArgumentError(f"there is no time zone {self._timezone_name[:100]!r} on this machine") from None
        return self._timezone

    def format_money(self, amount: Any, currency: str | None = None, digits: bool = True) -> str:
        currency = currency or self._currency
        if not currency:
            raise FilterArgumentError("money: name a currency, as in money('EUR'), or set the option currency")
        if not isinstance(currency, str) or not numbers.is_currency(currency, self._locale):
            raise FilterArgumentError(f"money: there is no currency {str(currency)[:20]!r}; write it as in EUR")
        return numbers.format_currency(_read_number(amount, "money"), currency, locale=self._locale, currency_digits=digits)

    def format_number(self, value: Any, digits: int | None = None) -> str:
        number = _read_number(value, "number")
        if digits is None:
            return numbers.format_decimal(number, locale=self._locale)
        return str(_with_digits(self._locale.decimal_formats[None], digits).apply(number, self._locale))

    def format_percent(self, value: Any, digits: int = 0) -> str:
        """0.19 is 19 %."""
        pattern = _with_digits(self._locale.percent_formats[None], digits)
        return str(pattern.apply(_read_number(value, "percent"), self._locale))

    def choose_plural(self, value: Any, **forms: str) -> str:
        """The form that the language has for this number; `{n}` in it is the number."""
        if unknown := forms.keys() - set(_CATEGORIES):
            raise FilterArgumentError(f"plural: there is no form {min(unknown)!r}; there are {', '.join(_CATEGORIES)}")
        if "other" not in forms:
            raise FilterArgumentError("plural: needs at least other='…'")
        number = _read_number(value, "plural")
        form = forms.get(self._locale.plural_form(abs(number)), forms["other"])
        return str(form).replace("{n}", numbers.format_decimal(number, locale=self._locale))

    def plural_category(self, value: Any) -> str:
        return str(self._locale.plural_form(abs(_read_number(value, "count"))))


def exact_number(value: Any) -> Decimal:
    """To calculate with amounts that are texts: `price|decimal * count` is exact."""
    return _read_number(value, "decimal")


def _with_digits(pattern: numbers.NumberPattern, digits: Any) -> numbers.NumberPattern:
    if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= MOST_DIGITS:
        raise FilterArgumentError(f"digits must be a whole number from 0 to {MOST_DIGITS}")
    pattern = copy(pattern)
    pattern.frac_prec = (digits, digits)
    return pattern


def _with_pattern(format: Any, write: Callable[[], str]) -> str:
    if not isinstance(format, str) or len(format) > LONGEST_PATTERN:
        raise FilterArgumentError(f"a format is {', '.join(_NAMED_FORMATS)} or a pattern such as 'dd.MM.yyyy'")
    try:
        return write()
    except (ValueError, AttributeError, KeyError, TypeError):
        raise FilterArgumentError(f"{format!r} is not a pattern for this value, such as 'dd.MM.yyyy' or 'HH:mm'") from None


def _read_number(value: Any, filter: str) -> Decimal:
    """Never through a binary fraction: what is written as 0.10 stays 0.10."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise FilterArgumentError(f"{filter}: {str(value)[:50]!r} is not a number")
    try:
        number = Decimal(value.strip() if isinstance(value, str) else str(value))
    except (InvalidOperation, ValueError):
        raise FilterArgumentError(f"{filter}: {str(value)[:50]!r} is not a number; write it as in 1234.50") from None
    if not number.is_finite() or abs(number.adjusted()) > MOST_DIGITS or len(number.as_tuple().digits) > MOST_DIGITS:
        raise FilterArgumentError(f"{filter}: {str(value)[:50]!r} is not a number of at most {MOST_DIGITS} digits")
    return number


def _read_moment(value: Any) -> date | datetime | time:
    """ISO 8601, or seconds (or milliseconds) since 1970."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value / 1000 if abs(value) >= MILLISECONDS_FROM else value, UTC)
        except (ValueError, OverflowError, OSError):
            raise FilterArgumentError(f"{value!r} is not a date that can be written") from None
    if isinstance(value, str):
        text = value.strip()
        for read in (date.fromisoformat, datetime.fromisoformat, time.fromisoformat):
            try:
                return read(text)
            except ValueError:
                continue
    raise FilterArgumentError(f"{str(value)[:50]!r} is not a date; write it as 2027-01-31 or 2027-01-31T10:00:00Z")
