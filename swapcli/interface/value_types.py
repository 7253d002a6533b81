"""Types of settings' values: how to parse a value from YAML, the environment or a flag, and how to format it.

A parser takes text or the native YAML type, and raises `ValueError` for anything else; a parser also accepts the output
of `format`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from swapcli.core.encoding.secret import Secret
from swapcli.core.encoding.text import ELLIPSIS
from swapcli.core.errors import InvalidOption
from swapcli.core.model.swap_terms import PPM_PER_PERCENT
from swapcli.core.model.units import GWEI_DECIMALS
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import (
    UNIT_NAMES,
    describe,
    parse_boolean,
    parse_choice,
    parse_duration_s,
    parse_integer,
    parse_number,
    parse_printable,
)
from swapcli.interface.slippage import parse_slippage_ppm

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")

_MAX_WEI = 2**128 - 1  # a bound against mistakes; chosen
# Compiled on first use: most commands need none of these.
_DECIMAL_NUMBER = r"[0-9]{1,15}(\.[0-9]{1,15})?"
_HEX_ADDRESS = r"([A-Za-z0-9_-]{1,32}:){0,2}0[xX][0-9a-fA-F]{1,64}"
_GAS_PRICE = r"([0-9]{1,40})(?:\.([0-9]{1,9})0*)? ?(wei|gwei)?"
_NUMBER_BEFORE_UNIT = r"[0-9.]+ ?"
_BPS_PER_PERCENT = 100
_HEADER_NAME = r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}"
_RESERVED_HEADERS = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding"}
)  # the HTTP client sets them itself


class ValueType(NamedTuple, Generic[T]):
    """The type of a setting's values. `expected` completes the sentence "expected ..., not ...".

    A misspelled name in `names`, or a misspelled unit in `units` after a number, gets a suggestion. `schema` is the
    JSON schema of a value in a service's parameters. If `is_list`, errors name the first invalid entry.
    """

    expected: str
    parse: Callable[[object], T]
    format: Callable[[T], str] = str
    names: Sequence[str] = ()
    units: Sequence[str] = ()
    schema: Mapping[str, object] = MappingProxyType({"type": "string"})
    is_list: bool = False

    def problem(self, value: object, *, is_secret: bool = False) -> str:
        """Return what is wrong with an invalid value: "expected ..., not ..."; a secret is not shown."""
        entries = value if self.is_list and isinstance(value, list | tuple) else ()
        for number, entry in enumerate(entries, start=1):
            try:
                self.parse([entry])
            except ValueError:
                found = "not one" if is_secret else describe(entry)
                return f"expected {self.expected}, but entry {number} is {found}"
        return f"expected {self.expected}{'' if is_secret else f', not {describe(value)}'}"

    def to_json(self, value: T) -> object:
        """Return the value in the form of `schema`."""
        if isinstance(value, bool | int) and self.schema["type"] != "number":
            return value
        if isinstance(value, tuple):
            return list(value)
        return float(self.format(value)) if self.schema["type"] == "number" else self.format(value)

    def suggestions(self, value: object) -> list[str]:
        """Return the valid values that an invalid `value` probably misspells."""
        from swapcli.core.encoding.closest import closest_names

        if not isinstance(value, str):
            return []
        number = re.match(_NUMBER_BEFORE_UNIT, value) if self.units else None
        if number is None:
            return closest_names(value, self.names)
        return [f"{number[0].rstrip()}{unit}" for unit in closest_names(value[number.end() :], self.units)]


def whole_number(minimum: int, maximum: int) -> ValueType[int]:
    """Return the type of integers within a range."""
    expected = f"a whole number from {minimum} to {maximum}"
    schema = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return ValueType(expected, lambda value: parse_integer(value, minimum, maximum), schema=schema)


def seconds(maximum: float, *, allow_zero: bool = False) -> ValueType[float]:
    """Return the type of durations in seconds, or with a unit as in 5m; above zero unless zero is allowed."""
    expected = (
        f"a number of seconds {'0 or more' if allow_zero else 'above 0'}, at most {maximum:g}, or a duration such as 5m"
    )
    plain = _number(expected, lambda number: 0 <= number <= maximum and (allow_zero or number > 0))
    return plain._replace(parse=lambda value: plain.parse(_in_seconds(value)), units=UNIT_NAMES)


def whole_seconds(minimum: int, maximum: int) -> ValueType[int]:
    """Return the type of durations in whole seconds, or with a unit as in 5m, within a range."""
    plain = whole_number(minimum, maximum)
    expected = f"a whole number of seconds from {minimum} to {maximum}, or a duration such as 5m"
    return plain._replace(expected=expected, parse=lambda value: plain.parse(_in_seconds(value)), units=UNIT_NAMES)


def _in_seconds(value: object) -> object:
    """Return the seconds of a duration with a unit, and any other value unchanged."""
    duration_s = parse_duration_s(value.strip()) if isinstance(value, str) else None
    return value if duration_s is None else duration_s


def amount(maximum: float) -> ValueType[float]:
    """Return the type of non-negative amounts of money."""
    return _number(f"a number from 0 to {maximum:g}", lambda number: 0 <= number <= maximum)


def _number(expected: str, is_valid: Callable[[float], bool]) -> ValueType[float]:
    def parse(value: object) -> float:
        is_number_text = isinstance(value, str) and re.fullmatch(_DECIMAL_NUMBER, value)
        return parse_number(value, expected, is_valid, allow_text=bool(is_number_text))

    return ValueType(expected, parse, lambda number: f"{number:g}")


def choice(
    names: Sequence[str], to_value: Callable[[str], Any] = str, is_further: Callable[[str], bool] | None = None
) -> ValueType[Any]:
    """Return the type of a choice between `names`; `to_value` converts a name, for example to an enumeration member.

    `is_further` returns whether a package adds a name that is not in `names`.
    """

    def parse(value: object) -> Any:
        if is_further and isinstance(value, str) and value not in names and is_further(value):
            return to_value(value)
        return to_value(parse_choice(value, names))

    return ValueType(
        f"one of {', '.join(names)}",
        parse,
        names=names,
        schema={"type": "string", "enum": list(names)},
    )


def _parse_flag(value: object) -> bool:
    """Parse a boolean, or its name in any case."""
    words = {"true": True, "false": False}
    return parse_boolean(words.get(value.lower(), value) if isinstance(value, str) else value)


def _parse_text(value: object) -> str:
    """Return a text of printable characters without surrounding spaces. A YAML integer counts as text, as in `[9]`."""
    return parse_printable(parse_printable(_unquoted(value)).strip())


def _parse_texts(value: object) -> tuple[str, ...]:
    """Parse a list, a comma-separated text, or a list of such texts; repetitions count once.

    Only a list without entries is empty: a text without a name is a mistake, such as an unset variable of a shell.
    """
    names: list[str] = []
    for item in value if isinstance(value, list | tuple) else [value]:
        text = _unquoted(item)
        if not isinstance(text, str):
            raise ValueError
        names.extend(_parse_text(name) for name in text.split(",") if name.strip())
    if (value and not names) or value == "":
        raise ValueError
    return tuple(dict.fromkeys(names))


def _unquoted(value: object) -> object:
    """Return an integer as its digits, as written in YAML without quotes; any other value unchanged."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _parse_address_ranges(value: object) -> tuple[str, ...]:
    """Parse IP addresses and networks, such as 10.0.0.0/8, into their canonical form."""
    from ipaddress import ip_network

    return tuple(dict.fromkeys(str(ip_network(text)) for text in _parse_texts(value)))


def _parse_path(value: object) -> Path:
    from pathlib import Path

    if isinstance(value, str) and value and "\0" not in value:
        return Path(value)
    if isinstance(value, Path):
        return value
    raise ValueError


def parse_any_percentage(value: object) -> int:
    """Parse percent ("0.5", "0.5%") or basis points ("50bps") of any size into parts per million, rounded down.

    Raises `ValueError`.
    """
    number = _number_text(value).lower()
    try:
        if number.endswith("bps"):
            return parse_slippage_ppm(number.removesuffix("bps").rstrip()) // _BPS_PER_PERCENT
        return parse_slippage_ppm(number.removesuffix("%").rstrip())
    except InvalidOption:
        raise ValueError from None


def _parse_percentage(value: object) -> int:
    ppm = parse_any_percentage(value)
    if ppm > 100 * PPM_PER_PERCENT:
        raise ValueError
    return ppm


def _format_percentage(ppm: int) -> str:
    percent, remainder = divmod(ppm, PPM_PER_PERCENT)
    return f"{percent}.{remainder:04d}".rstrip("0").rstrip(".")


def _parse_gas_price(value: object) -> int:
    """Parse a number of wei, or a number with its unit, such as "0.01gwei"."""
    match = re.fullmatch(_GAS_PRICE, _number_text(value).lower())
    if match is None:
        raise ValueError
    decimals = GWEI_DECIMALS if match[3] == "gwei" else 0
    fraction = (match[2] or "").rstrip("0")
    if len(fraction) > decimals:
        raise ValueError
    wei = int(match[1] + fraction.ljust(decimals, "0"))
    if wei > _MAX_WEI:
        raise ValueError
    return wei


def _number_text(value: object) -> str:
    """Return a number from YAML as it was most likely written, and a text without surrounding spaces."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    return str(value).strip()


def _parse_address(value: object) -> str:
    """Parse an address on any network, which may name its chain. The code that uses it checks the chain and the
    checksum."""
    if not isinstance(value, str) or not re.fullmatch(_HEX_ADDRESS, value):
        raise ValueError
    return value


def _parse_addresses(value: object) -> tuple[str, ...]:
    return tuple(_parse_address(text) for text in _parse_texts(value))


def _parse_service_url(value: object) -> str:
    """Parse a service's URL. It must not hold credentials, which have separate settings."""
    from swapcli.core.encoding.url import split_url, with_local_scheme

    url = with_local_scheme(_parse_text(value))
    scheme = split_url(url).scheme
    if scheme not in ("http", "https") or any(character in url for character in "@?#"):
        raise ValueError
    return url.rstrip("/")


def _parse_node_url(value: object) -> Secret:
    """Parse a node's URL, or the path of its IPC socket.

    Providers put keys into a URL's path, query or user name, so only scheme and host are shown."""
    from swapcli.core.encoding.url import is_ipc_path, origin_of, split_url, with_local_scheme

    url = with_local_scheme(_parse_text(value))
    if is_ipc_path(url):
        return Secret(url, url)
    parts = split_url(url)
    if parts.scheme not in ("http", "https", "ws", "wss"):
        raise ValueError
    has_more = parts.path.strip("/") or parts.query or parts.fragment
    return Secret(url, origin_of(parts) + (f"/{ELLIPSIS}" if has_more else ""))


def _parse_node_urls(value: object) -> tuple[Secret, ...]:
    """Parse a list of nodes, or a comma-separated text; repetitions count once."""
    return tuple(map(_parse_node_url, _parse_texts(value)))


def _parse_public_urls(value: object) -> tuple[Secret, ...]:
    """Parse a list of nodes' http URLs, or a comma-separated text; repetitions count once."""
    urls = _parse_node_urls(value)
    if not urls or not all(url.reveal().lower().startswith(("http://", "https://")) for url in urls):
        raise ValueError
    return urls


def _parse_redis_url(value: object) -> Secret:
    """Parse a Redis server's URL; user name and password are never shown."""
    from swapcli.core.encoding.redis_url import RedisUrl

    url = _parse_text(value)
    return Secret(url, RedisUrl.parse(url).shown)


def _parse_headers(value: object) -> dict[str, Secret]:
    """Parse a mapping, or a text with one line `Name: value` per header."""
    if isinstance(value, str):
        entries = [line.partition(":")[::2] for line in value.splitlines() if line.strip()]
    elif isinstance(value, dict):
        entries = list(value.items())
    else:
        raise ValueError
    headers = {}
    for name, given in entries:
        text = _unquoted(given)
        if not isinstance(name, str) or not isinstance(text, str):
            raise ValueError
        headers[name.strip()] = Secret(_parse_header(name.strip(), text.strip()))
    if len({name.lower() for name in headers}) < len(entries):
        raise ValueError
    return headers


def _parse_header(name: str, value: str) -> str:
    is_valid_value = value and value.isascii() and value.isprintable()
    if name.lower() in _RESERVED_HEADERS or not re.fullmatch(_HEADER_NAME, name) or not is_valid_value:
        raise ValueError
    return value


def _parse_key(value: object) -> Secret:
    key = _parse_text(value)
    if not key.isascii() or " " in key:
        raise ValueError
    return Secret(key)


TEXT: ValueType[str] = ValueType("a text", _parse_text)
TEXTS: ValueType[tuple[str, ...]] = ValueType(
    "a list of names", _parse_texts, ",".join, schema={"type": "array", "items": {"type": "string"}}, is_list=True
)
ADDRESS_RANGES: ValueType[tuple[str, ...]] = ValueType(
    "a list of IP addresses and networks, as in 10.0.0.0/8", _parse_address_ranges, ",".join, is_list=True
)
FLAG: ValueType[bool] = ValueType(
    "true or false", _parse_flag, lambda flag: str(flag).lower(), schema={"type": "boolean"}
)
PATH: ValueType[Path] = ValueType("a file name", _parse_path)
PERCENTAGE: ValueType[int] = ValueType(
    "a percentage from 0 to 100, as in 0.5 or 50bps",
    _parse_percentage,
    _format_percentage,
    units=("bps",),
    schema={"type": "number", "minimum": 0, "maximum": 100},
)
GAS_PRICE: ValueType[int] = ValueType(
    "a whole number of wei, as in 10000000 or 0.01gwei", _parse_gas_price, units=("wei", "gwei")
)
ADDRESS: ValueType[str] = ValueType("an address: 0x and hexadecimal digits", _parse_address)
ADDRESSES: ValueType[tuple[str, ...]] = ValueType(
    "a list of addresses: 0x and hexadecimal digits", _parse_addresses, ",".join, is_list=True
)
SERVICE_URL: ValueType[str] = ValueType(
    "an http or https address without user name, password and query", _parse_service_url
)
NODE_URL: ValueType[Secret] = ValueType(
    "an http, https, ws or wss address, or the path of an IPC socket", _parse_node_url
)
NODE_URLS: ValueType[tuple[Secret, ...]] = ValueType(
    f"a list, each entry {NODE_URL.expected}",
    _parse_node_urls,
    lambda urls: ",".join(url.redacted for url in urls),
    is_list=True,
)
PUBLIC_URLS: ValueType[tuple[Secret, ...]] = ValueType(
    "a list of http and https addresses",
    _parse_public_urls,
    lambda urls: ",".join(url.redacted for url in urls),
    is_list=True,
)
REDIS_URL: ValueType[Secret] = ValueType(
    "the address of a Redis server, as in redis://redis.example:6379/0, rediss://... or unix:///run/redis.sock",
    _parse_redis_url,
)
HEADERS: ValueType[Mapping[str, Secret]] = ValueType(
    "header names with their values, as in {Authorization: Bearer abc}",
    _parse_headers,
    lambda headers: ", ".join(f"{name}: {value.redacted}" for name, value in headers.items()),
)
KEY: ValueType[Secret] = ValueType("a key without spaces", _parse_key)
