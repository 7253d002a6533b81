"""The kinds of values that settings have: how one is read from YAML, the environment or a flag, and how it is shown.

A reader takes text or the native YAML type and raises `ValueError` for all else; `show` writes what the reader reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from swapcli.api.slippage import parse_slippage_ppm
from swapcli.config.secret import Secret
from swapcli.encoding.text import ELLIPSIS, truncate
from swapcli.errors import InvalidOption
from swapcli.model.swap_terms import PPM_PER_PERCENT

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")

_MAX_WEI = 2**128 - 1
# Compiled on first use: most commands read none of these.
_WHOLE = r"[0-9]{1,78}"
_NUMBER = r"[0-9]{1,15}(\.[0-9]{1,15})?"
_HEX_ADDRESS = r"0[xX][0-9a-fA-F]{1,64}"
_GAS_PRICE = r"([0-9]{1,40})(?:\.([0-9]{1,9})0*)? ?(wei|gwei)?"
_GWEI_DECIMALS = 9
_BPS_PER_PERCENT = 100
_SHOWN_CHARACTERS = 60
_HEADER_NAME = r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}"
_OWN_HEADERS = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding"}
)


class ValueType(NamedTuple, Generic[T]):
    """`expected` completes the sentence "expected ..., not ..."."""

    expected: str
    read: Callable[[object], T]
    show: Callable[[T], str] = str


def shown(value: object) -> str:
    """A value as a message names it: on one line, cut when long, without control characters."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    written = f'"{value}"' if isinstance(value, str) else str(value)
    written = written if written.isprintable() else ascii(value)
    return truncate(written, _SHOWN_CHARACTERS)


def whole_number(low: int, high: int) -> ValueType[int]:
    """A whole number in a range."""

    def read(value: object) -> int:
        number = int(value) if isinstance(value, str) and re.fullmatch(_WHOLE, value) else value
        if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
            raise ValueError
        return number

    return ValueType(f"a whole number from {low} to {high}", read)


def seconds(high: float, *, allow_zero: bool = False) -> ValueType[float]:
    """A length of time above zero, or of zero where that is allowed."""
    lowest = "0 or more" if allow_zero else "above 0"

    def read(value: object) -> float:
        number = float(value) if isinstance(value, str) and re.fullmatch(_NUMBER, value) else value
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= high:
            raise ValueError
        if number == 0 and not allow_zero:
            raise ValueError
        return float(number)

    return ValueType(f"a number of seconds {lowest}, at most {high:g}", read, lambda number: f"{number:g}")


def _read_flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise ValueError


def choice(names: Sequence[str], of: Callable[[str], Any] = str) -> ValueType[Any]:
    """One of some words; `of` makes the value, such as a member of an enumeration."""

    def read(value: object) -> Any:
        if not isinstance(value, str) or value not in names:
            raise ValueError
        return of(value)

    return ValueType(f"one of {', '.join(names)}", read)


def _read_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError
    return value.strip()


def _read_texts(value: object) -> tuple[str, ...]:
    """A list, a text with commas, or a list of such texts; repeats count once."""
    names: list[str] = []
    for item in value if isinstance(value, list | tuple) else [value]:
        if not isinstance(item, str):
            raise ValueError
        names.extend(_read_text(name) for name in item.split(",") if name.strip())
    return tuple(dict.fromkeys(names))


def _read_networks(value: object) -> tuple[str, ...]:
    """Addresses, and networks as in 10.0.0.0/8, in their normal form."""
    from ipaddress import ip_network

    return tuple(dict.fromkeys(str(ip_network(each)) for each in _read_texts(value)))


def _read_path(value: object) -> Path:
    from pathlib import Path

    if isinstance(value, str) and value and "\0" not in value:
        return Path(value)
    if isinstance(value, Path):
        return value
    raise ValueError


def _read_percentage(value: object) -> int:
    """Percent ("0.5", "0.5%") or basis points ("50bps") in parts per million."""
    number = _number_text(value).lower()
    try:
        if number.endswith("bps"):
            ppm, rest = divmod(parse_slippage_ppm(number.removesuffix("bps").rstrip()), _BPS_PER_PERCENT)
        else:
            ppm, rest = parse_slippage_ppm(number.removesuffix("%").rstrip()), 0
    except InvalidOption:
        raise ValueError from None
    if rest or ppm > 100 * PPM_PER_PERCENT:
        raise ValueError
    return ppm


def _show_percentage(ppm: int) -> str:
    whole_percent, rest = divmod(ppm, PPM_PER_PERCENT)
    return f"{whole_percent}.{rest:04d}".rstrip("0").rstrip(".")


def _read_gas_price(value: object) -> int:
    """Wei, or with its unit as in "0.01gwei"."""
    match = re.fullmatch(_GAS_PRICE, _number_text(value).lower())
    if match is None:
        raise ValueError
    decimals = _GWEI_DECIMALS if match[3] == "gwei" else 0
    fraction = (match[2] or "").rstrip("0")
    if len(fraction) > decimals:
        raise ValueError
    wei = int(match[1] + fraction.ljust(decimals, "0"))
    if wei > _MAX_WEI:
        raise ValueError
    return wei


def _number_text(value: object) -> str:
    """A number from YAML as it was most likely written; text as it stands."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    return str(value).strip()


def _read_address(value: object) -> str:
    """Hex of any network; its checksum is checked where the network is known."""
    if not isinstance(value, str) or not re.fullmatch(_HEX_ADDRESS, value):
        raise ValueError
    return value


def _read_service_url(value: object) -> str:
    """An address of a service without credentials: those have settings of their own."""
    from swapcli.encoding.url import split_url

    url = _read_text(value)
    scheme = split_url(url).scheme
    if scheme not in ("http", "https") or any(character in url for character in "@?#"):
        raise ValueError
    return url.rstrip("/")


def _read_node_url(value: object) -> Secret:
    """An address of a node. Providers put keys into path, query or user name, so only scheme and host show."""
    from swapcli.encoding.url import origin_of, split_url

    url = _read_text(value)
    parts = split_url(url)
    if parts.scheme not in ("http", "https", "ws", "wss"):
        raise ValueError
    has_more = parts.path.strip("/") or parts.query or parts.fragment
    return Secret(url, origin_of(parts) + (f"/{ELLIPSIS}" if has_more else ""))


def _read_headers(value: object) -> dict[str, Secret]:
    """A mapping, or text with a line `Name: value` for each."""
    if isinstance(value, str):
        entries = [line.partition(":")[::2] for line in value.splitlines() if line.strip()]
    elif isinstance(value, dict):
        entries = list(value.items())
    else:
        raise ValueError
    if not all(isinstance(part, str) for entry in entries for part in entry):
        raise ValueError
    headers = {name.strip(): Secret(_read_header(name.strip(), text.strip())) for name, text in entries}
    if len({name.lower() for name in headers}) < len(entries):
        raise ValueError
    return headers


def _read_header(name: str, value: str) -> str:
    is_value = value and value.isascii() and value.isprintable()
    if name.lower() in _OWN_HEADERS or not re.fullmatch(_HEADER_NAME, name) or not is_value:
        raise ValueError
    return value


def _read_key(value: object) -> Secret:
    key = _read_text(value)
    if not key.isascii() or " " in key:
        raise ValueError
    return Secret(key)


TEXT: ValueType[str] = ValueType("a text", _read_text)
TEXTS: ValueType[tuple[str, ...]] = ValueType("a list of names", _read_texts, ",".join)
ADDRESS_RANGES: ValueType[tuple[str, ...]] = ValueType(
    "a list of IP addresses and networks, as in 10.0.0.0/8", _read_networks, ",".join
)
FLAG: ValueType[bool] = ValueType("true or false", _read_flag, lambda flag: str(flag).lower())
PATH: ValueType[Path] = ValueType("a file name", _read_path)
PERCENTAGE: ValueType[int] = ValueType(
    "a percentage from 0 to 100 with at most four decimals, as in 0.5", _read_percentage, _show_percentage
)
GAS_PRICE: ValueType[int] = ValueType("a whole number of wei, as in 10000000 or 0.01gwei", _read_gas_price)
ADDRESS: ValueType[str] = ValueType("an address: 0x and hexadecimal digits", _read_address)
SERVICE_URL: ValueType[str] = ValueType(
    "an http or https address without user name, password and query", _read_service_url
)
NODE_URL: ValueType[Secret] = ValueType("an http, https, ws or wss address", _read_node_url)
HEADERS: ValueType[Mapping[str, Secret]] = ValueType(
    "header names with their values, as in {Authorization: Bearer abc}",
    _read_headers,
    lambda headers: ", ".join(f"{name}: {value.shown}" for name, value in headers.items()),
)
KEY: ValueType[Secret] = ValueType("a key without spaces", _read_key)
