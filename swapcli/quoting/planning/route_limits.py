"""The limits on the routes of a plan's forecast. Every part is built within them.

One rule holds for all of them: the plan's limits replace the defaults of the settings. Options and settings may narrow
a limit. A wider setting has no effect, and a wider option contradicts the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidOption
from swapcli.core.model.network import Network
from swapcli.core.model.order import MAX_HOPS
from swapcli.core.model.quote_request import QuoteRequest, SharePrecision
from swapcli.core.records import NamedTuple
from swapcli.core.validation.field_reader import FieldReader
from swapcli.core.validation.values import parse_text
from swapcli.interface.quote_parameters import PARAMETERS
from swapcli.quoting.config.settings import DEFAULT_ORIGIN
from swapcli.quoting.resolve import find_protocols

if TYPE_CHECKING:
    from swapcli.interface.plan_types import RouteLimitsJson
    from swapcli.quoting.config import Settings

LIMITS: Final = (
    "max_hops", "direct", "max_pools", "simple", "only_protocols", "exclude_protocols", "extended_protocols", "shares",
)  # fmt: skip
"""The quote parameters that limit routes."""
_MAX_POOLS: Final = 999_999
_HINT: Final = "remove it, or make a new plan"


class PlanRouteLimits(NamedTuple):
    """Limits on a route. Protocols are `amm_name`s.

    If `only` is not empty, it has the only protocols to use; otherwise all are allowed, with `is_extended` also those
    outside the Fibrous API. `max_pools` None means any number of pools.
    """

    only: frozenset[str]
    excluded: frozenset[str]
    is_extended: bool
    max_hops: int
    direct: bool
    max_pools: int | None
    simple: bool
    has_whole_shares: bool

    def as_fields(self) -> RouteLimitsJson:
        """Return the limits as the fields of a plan's file, without those that limit nothing."""
        document: RouteLimitsJson = {"maxHops": self.max_hops}
        if self.direct:
            document["direct"] = True
        if self.max_pools is not None:
            document["maxPools"] = self.max_pools
        if self.simple:
            document["simple"] = True
        if self.only:
            document["onlyProtocols"] = sorted(self.only)
        if self.excluded:
            document["excludedProtocols"] = sorted(self.excluded)
        if self.is_extended:
            document["extendedProtocols"] = True
        if self.has_whole_shares:
            document["shares"] = SharePrecision.WHOLE.value
        return document

    def keywords(self) -> dict[str, Any]:
        """Return the limits as keywords of a quote."""
        return {
            "only_protocols": tuple(sorted(self.only)),
            "exclude_protocols": tuple(sorted(self.excluded)),
            "extended_protocols": self.is_extended,
            "max_hops": self.max_hops,
            "direct": self.direct,
            "max_pools": self.max_pools,
            "simple": self.simple,
            **({"shares": SharePrecision.WHOLE} if self.has_whole_shares else {}),
        }

    def allowed(self, network: Network) -> frozenset[str]:
        """Return the protocols that a route may use. Wrapping is allowed unless it is excluded by its name."""
        names = frozenset(each.amm_name for each in network.protocols)
        wrappers = frozenset(each.amm_name for each in network.protocols if each.is_wrapper)
        if self.only:
            return (self.only | wrappers) - self.excluded
        return names - self.excluded - (frozenset() if self.is_extended else network.extended_protocols)

    def wider_than(self, other: PlanRouteLimits) -> Iterator[str]:
        """Yield the quote parameters, except those of protocols, whose limits here are wider than in `other`."""
        if self.max_hops > other.max_hops:
            yield "max_hops"
        if other.direct and not self.direct:
            yield "direct"
        if other.max_pools is not None and (self.max_pools is None or self.max_pools > other.max_pools):
            yield "max_pools"
        if other.simple and not self.simple:
            yield "simple"
        if other.has_whole_shares and not self.has_whole_shares:
            yield "shares"

    def options(self) -> list[str]:
        """Return the options of the command line that set the limits, except those that are defaults."""
        words = []
        for name, value in sorted(self.keywords().items()):
            row = PARAMETERS[name]
            if value is True:
                words.append(row.flag)
            elif value and value != row.default:
                words += [row.flag, ",".join(value) if isinstance(value, tuple) else str(value)]
        return words


def limits_of(request: QuoteRequest, network: Network) -> PlanRouteLimits:
    """Return the limits on the route of a request."""
    order = request.order
    names = frozenset(each.amm_name for each in network.protocols)
    wrappers = frozenset(each.amm_name for each in network.protocols if each.is_wrapper)
    extended = network.extended_protocols
    if order.allows_only:
        allowed = names - order.excluded_protocols
        only, excluded, is_extended = allowed - wrappers or allowed, order.excluded_protocols & wrappers, False
    else:
        is_extended = bool(extended) and not extended <= order.excluded_protocols
        only, excluded = frozenset(), order.excluded_protocols - (frozenset() if is_extended else extended)
    return PlanRouteLimits(
        only,
        excluded,
        is_extended,
        order.max_hops,
        order.direct,
        order.max_pools,
        order.single_path,
        request.shares is SharePrecision.WHOLE,
    )


def read_limits(fields: FieldReader) -> PlanRouteLimits:
    """Return the limits in a plan's file. Raises the errors of `fields`."""
    return PlanRouteLimits(
        _read_names(fields, "onlyProtocols"),
        _read_names(fields, "excludedProtocols"),
        fields.boolean("extendedProtocols"),
        fields.integer("maxHops", 1, MAX_HOPS),
        fields.boolean("direct"),
        fields.integer("maxPools", 1, _MAX_POOLS) if fields.has("maxPools") else None,
        fields.boolean("simple"),
        fields.choice("shares", [each.value for each in SharePrecision], SharePrecision.FINE) == SharePrecision.WHOLE,
    )


def _read_names(fields: FieldReader, key: str) -> frozenset[str]:
    if not fields.has(key):
        return frozenset()
    return frozenset(fields.parse(path, value, parse_text) for path, value in fields.items(key))


def narrow_limits(
    planned: PlanRouteLimits | None,
    network: Network,
    settings: Settings,
    given: Mapping[str, object],
    name_option: Callable[[str], str] = str,
) -> PlanRouteLimits:
    """Return the limits for a part: those of its plan, narrowed by the options in `given` and by the settings.

    `given` has the values of options, by quote parameter; `settings` already contains those that are also settings.
    Older plan files record no limits, so that the options and settings alone apply. Raises `InvalidOption` for an
    option that contradicts the plan, in which `name_option` names it, and `UnknownProtocol`.
    """
    named = frozenset(find_protocols(settings.exclude_protocols, network))
    only = find_protocols(settings.only_protocols, network)
    pools = given.get("max_pools")
    assert pools is None or isinstance(pools, int)
    is_direct, is_simple = bool(given.get("direct")), bool(given.get("simple"))
    has_whole_shares = settings.shares is SharePrecision.WHOLE
    if planned is None:
        is_extended = settings.extended_protocols
        return PlanRouteLimits(
            only, named, is_extended, settings.max_hops, is_direct, pools, is_simple, has_whole_shares
        )
    for name, value, limit in (
        ("max_hops", settings.max_hops if "max_hops" in given else None, planned.max_hops),
        ("max_pools", pools, planned.max_pools),
    ):
        if value is not None and limit is not None and value > limit:
            raise _contradiction(f"{name_option(name)}: {value} is above the plan's limit of {limit}")
    if "shares" in given and planned.has_whole_shares and not has_whole_shares:
        raise _contradiction(f"{name_option('shares')}: the plan has whole shares")
    chosen_hops = settings.origin("max_hops") != DEFAULT_ORIGIN
    counts = [each for each in (pools, planned.max_pools) if each is not None]
    return PlanRouteLimits(
        *_narrow_protocols(planned, network, settings, (only, named), given, name_option),
        max_hops=min(planned.max_hops, settings.max_hops) if chosen_hops else planned.max_hops,
        direct=planned.direct or is_direct,
        max_pools=min(counts, default=None),
        simple=planned.simple or is_simple,
        has_whole_shares=planned.has_whole_shares or has_whole_shares,
    )


def _narrow_protocols(
    planned: PlanRouteLimits,
    network: Network,
    settings: Settings,
    chosen: tuple[frozenset[str], frozenset[str]],
    given: Mapping[str, object],
    name_option: Callable[[str], str],
) -> tuple[frozenset[str], frozenset[str], bool]:
    """Return the protocols to use, if there are only some, those to exclude, and whether others are allowed."""
    only, named = chosen
    key = "extended_protocols"
    is_extended = planned.is_extended
    if key in given and settings.extended_protocols and network.extended_protocols and not planned.only | only:
        if not is_extended:
            raise _contradiction(f"{name_option(key)}: the plan excludes these protocols")
    elif settings.origin(key) != DEFAULT_ORIGIN:
        is_extended = is_extended and settings.extended_protocols
    allowed = planned.allowed(network)
    if only and "only_protocols" in given and not only <= allowed:
        names = ", ".join(sorted(only - allowed))
        raise _contradiction(f"{name_option('only_protocols')}: the plan excludes {names}")
    if only and not only & allowed:
        raise _contradiction(
            "the setting only_protocols allows no protocol of the plan", "change the setting, or make a new plan"
        )
    kept = only & allowed if only else planned.only
    if kept and kept <= named:
        option = name_option("exclude_protocols") if "exclude_protocols" in given else "the setting exclude_protocols"
        raise _contradiction(f"{option} excludes every protocol that the plan allows: {', '.join(sorted(kept))}")
    known = frozenset(each.amm_name for each in network.protocols)
    return kept, (planned.excluded & known) | named, is_extended


def _contradiction(problem: str, hint: str = _HINT) -> InvalidOption:
    return InvalidOption(printable(problem), hint=hint)


def excluded_in(limits: PlanRouteLimits, network: Network, used: Iterable[str]) -> list[str]:
    """Return those of the `used` protocols that a route within the limits does not use, in alphabetical order."""
    return sorted(set(used) - limits.allowed(network))
