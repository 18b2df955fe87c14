"""Simple types of XML Schema, as functions that check a text."""

import datetime
import re

DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
DOUBLE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|-?INF|NaN")
DATE = re.compile(r"-?(\d{4}|[1-9]\d{4,})-(\d\d)-(\d\d)(Z|[+-]\d\d:\d\d)?")
DATE_TIME = re.compile(r"(-?(?:\d{4}|[1-9]\d{4,}))-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-](?:0\d|1[0-3]):[0-5]\d|[+-]14:00)?")
NCNAME = re.compile(r"[^\W\d][\w.\-·]*")


def decimal(text):
    return DECIMAL.fullmatch(text.strip()) is not None


def double(text):
    return DOUBLE.fullmatch(text.strip()) is not None


def within(low, high, with_high=True):
    """Decimals from `low` to `high`."""
    return lambda text: decimal(text) and low <= float(text) and (float(text) <= high if with_high else float(text) < high)


def integer(low, high=None):
    def belongs(text):
        return re.fullmatch(r"[+-]?\d+", text.strip()) is not None and low <= int(text) and (high is None or int(text) <= high)
    return belongs


def one_of(*words):
    return lambda text: text.strip() in words


def boolean(text):
    return text.strip() in ("0", "1", "true", "false")


def string(_):
    return True


def uri(text):
    """Characters that RFC 3986 does not allow: blanks, and characters that must be escaped."""
    return re.search(r"[\s<>\"{}|\\^`]", text.strip()) is None


def ncname(text):
    return NCNAME.fullmatch(text) is not None


def is_day(year, month, day):
    # The calendar repeats after 400 years, and datetime has no years below 1.
    try:
        datetime.date(int(year) % 400 + 400, int(month), int(day))
    except ValueError:
        return False
    return int(year) != 0


def date(text):
    match = DATE.fullmatch(text.strip())
    return match is not None and is_day(*match.group(1, 2, 3))


def date_time(text):
    match = DATE_TIME.fullmatch(text.strip())
    if match is None or not is_day(*match.group(1, 2, 3)):
        return False
    hour, minute, second = (int(part) for part in match.group(4, 5, 6))
    is_midnight = (hour, minute, second) == (24, 0, 0) and not (match.group(7) or ".0").strip(".0")
    return is_midnight or (hour < 24 and minute < 60 and second < 60)


def any_date(text):
    """xsd:dateTime, date, gYearMonth or gYear."""
    return date_time(text) or date(text) or re.fullmatch(r"\d{4}(-(0[1-9]|1[0-2]))?(Z|[+-]\d\d:\d\d)?", text.strip()) is not None
