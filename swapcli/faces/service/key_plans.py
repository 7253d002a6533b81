"""The plan of an API key: its own limits, networks, quota and expiry, in the words of `swapcli keys create`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.errors import InvalidOption
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import describe

if TYPE_CHECKING:
    from swapcli.interface.document_types import KeyPlanJson

DAY_S = 86_400
NONE = "none"
"""The word that removes a part of a plan."""

_LIMIT_PERIODS_S: Final = {"s": 1, "min": 60, "hour": 3_600}
_QUOTA_PERIODS: Final = ("day", "month")
_FACTORS: Final = {"": 1, "k": 10**3, "M": 10**6}
_RATE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([kM]?)/([a-z]+)")
_MAX_REQUESTS = 10**12
_MAX_LIMIT = 10**6
_MAX_STREAMS = 10**5
_EPOCH = date(1970, 1, 1)


class RequestRate(NamedTuple):
    """A number of requests per period: s, min or hour for a limit, day or month (in UTC) for a quota."""

    requests: int
    period: str

    def __str__(self) -> str:
        return f"{self.requests}/{self.period}"

    @property
    def period_s(self) -> int:
        """The length of a limit's period in seconds."""
        return _LIMIT_PERIODS_S[self.period]


class KeyPlan(NamedTuple):
    """The permissions of a key. None means that the service's settings apply. `expires_s` is a Unix time.

    Example: `parse_plan({"limit": "5000/min", "quota": "1M/month"}, ["base"], 0.0).quota` is `1000000/month`.
    """

    limit: RequestRate | None = None
    streams: int | None = None
    networks: tuple[str, ...] | None = None
    quota: RequestRate | None = None
    expires_s: int | None = None

    def words(self) -> KeyPlanJson:
        """Return the plan in the words that `parse_plan` accepts."""
        return {
            "limit": self.limit and str(self.limit),
            "streams": self.streams,
            "networks": None if self.networks is None else list(self.networks),
            "quota": self.quota and str(self.quota),
            "expires": None
            if self.expires_s is None
            else datetime.fromtimestamp(self.expires_s, UTC).date().isoformat(),
        }


NO_PLAN = KeyPlan()


class QuotaPeriod(NamedTuple):
    """A day or month (`kind`), with its name, such as 2027-01. Its days since 1970 run from `first_day` up to, but not
    including, `end_day`."""

    kind: str
    name: str
    first_day: int
    end_day: int


@lru_cache(maxsize=8)
def quota_period(kind: str, day: int) -> QuotaPeriod:
    """Return the day or month (in UTC) that contains `day`, a number of days since 1970."""
    at = _EPOCH + timedelta(days=day)
    if kind == "day":
        return QuotaPeriod(kind, at.isoformat(), day, day + 1)
    first = day - at.day + 1
    following = (at.replace(day=1) + timedelta(days=31)).replace(day=1)
    return QuotaPeriod(kind, f"{at:%Y-%m}", first, (following - _EPOCH).days)


class QuotaUse(NamedTuple):
    """A key's quota of `requests` for a day or month."""

    key_id: str
    period: QuotaPeriod
    requests: int

    @property
    def name(self) -> str:
        """The name of the counter for the quota."""
        return f"{self.key_id}:{self.period.name}"

    @property
    def ends_s(self) -> int:
        """When the quota's period ends, in Unix time."""
        return self.period.end_day * DAY_S


def parse_plan(
    parts: Mapping[str, object], networks: Callable[[], Collection[str]], now_s: float | None, base: KeyPlan = NO_PLAN
) -> KeyPlan:
    """Return `base` with the given parts of a plan changed. None leaves a part unchanged, and the text "none" removes
    it.

    Texts are those that the command accepts, such as "5000/min". Streams may be an integer, and networks a list.
    `networks` returns all known names. An expiry must be later than `now_s`, if that is given. Raises `InvalidOption`.
    """
    unknown = parts.keys() - _PARSERS.keys()
    if unknown:
        name = min(unknown)
        hint = did_you_mean(closest_names(name, _PARSERS)) or f"a plan can have {', '.join(_PARSERS)}"
        raise InvalidOption(f"{describe(name)} is not part of a plan", hint=hint)
    changes: dict[str, Any] = {}
    for name, value in parts.items():
        if value is not None:
            field, parse = _PARSERS[name]
            changes[field] = None if value == NONE else parse(value)
    plan = base._replace(**changes)
    if plan.networks is not None and changes.get("networks"):
        _check_networks(plan.networks, networks())
    if now_s is not None and changes.get("expires_s") is not None and (plan.expires_s or 0) <= now_s:
        raise InvalidOption(f"expires: {parts['expires']} is in the past", hint="set a later date")
    return plan


def _parse_limit(value: object) -> RequestRate:
    return _parse_rate("limit", value, _LIMIT_PERIODS_S, _MAX_LIMIT, "5000/min")


def _parse_quota(value: object) -> RequestRate:
    return _parse_rate("quota", value, _QUOTA_PERIODS, _MAX_REQUESTS, "1M/month")


def _parse_rate(name: str, value: object, periods: Collection[str], maximum: int, example: str) -> RequestRate:
    found = _RATE.fullmatch(value) if isinstance(value, str) else None
    requests = Decimal(found[1]) * _FACTORS[found[2]] if found else Decimal(0)
    if found is None or found[3] not in periods or requests % 1:
        hint = f"the period is one of {', '.join(periods)}; k stands for 1,000 and M for 1,000,000"
        raise InvalidOption(
            f"{name}: expected requests per period, such as {example}, not {describe(value)}", hint=hint
        )
    if not 1 <= requests <= maximum:
        hint = "to stop a key, revoke it" if not requests else f"{NONE} removes the {name}"
        raise InvalidOption(f"{name}: expected 1 to {maximum:,} requests, not {int(requests):,}", hint=hint)
    return RequestRate(int(requests), found[3])


def _parse_streams(value: object) -> int:
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value
    if type(number) is not int or not 0 <= number <= _MAX_STREAMS:
        raise InvalidOption(
            f"streams: expected an integer from 0 to {_MAX_STREAMS:,}, not {describe(value)}",
            hint="0 allows no event streams",
        )
    return number


def _parse_networks(value: object) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not names or not all(isinstance(each, str) and each for each in names):
        raise InvalidOption(
            f"networks: expected network names, such as base,monad, not {describe(value)}",
            hint=f"{NONE} allows every network",
        )
    return tuple(sorted({each.strip().lower() for each in names}))


def _check_networks(names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            hint = did_you_mean(closest_names(name, known)) or "swapcli networks --all lists them"
            raise InvalidOption(f"networks: unknown network {describe(name)}", hint=hint)


def _parse_expires(value: object) -> int:
    return parse_date("expires", value)


def parse_date(name: str, value: object) -> int:
    """Return the Unix time at which a UTC day begins. Raises `InvalidOption`, whose message contains `name`."""
    try:
        day = date.fromisoformat(value) if isinstance(value, str) and len(value) == len("2027-01-01") else None
    except ValueError:
        day = None
    if day is None or day.year < _EPOCH.year:
        raise InvalidOption(
            f"{name}: expected a date such as 2027-01-01, not {describe(value)}", hint="dates are in UTC"
        )
    return (day - _EPOCH).days * DAY_S


_PARSERS: Final[Mapping[str, tuple[str, Callable[[object], object]]]] = {
    "limit": ("limit", _parse_limit),
    "streams": ("streams", _parse_streams),
    "networks": ("networks", _parse_networks),
    "quota": ("quota", _parse_quota),
    "expires": ("expires_s", _parse_expires),
}
"""The parts of a plan: each field, and the parser of its text."""
