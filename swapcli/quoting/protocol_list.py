"""List the protocols of a network, and how swapcli supports each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal

from swapcli.core.model.network import Network, ProtocolInfo
from swapcli.core.model.number_format import format_time
from swapcli.core.plugins import FAMILY_GROUP, Plugin, plugins
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.families import family
from swapcli.interface.own_document import own_document
from swapcli.quoting.openers.program_setup import open_program_sources
from swapcli.quoting.recorded_swaps import recorded_swaps

if TYPE_CHECKING:
    from swapcli.interface.document_types import ProtocolDocumentJson
    from swapcli.quoting.openers.choose_source import SourceChooser
    from swapcli.state.agreements_file import Agreement


ENOUGH_SWAPS: Final = 20
"""The number of recorded swaps from which a family counts as compared with the chain; chosen."""


class QuoteKind(StrEnum):
    """The way in which a protocol's pools are quoted: with their maths, through their contracts, or not at all."""

    EXACT = "exact"
    SAMPLED = "sampled"
    NOT_SUPPORTED = "not supported"


class ContractCertainty(StrEnum):
    """The certainty about the address of the contract that creates a protocol's pools."""

    CONFIRMED = "confirmed"
    """The sources leave no doubt, or several of them agree."""
    UNCONFIRMED = "unconfirmed"
    """A single source names it, which is not the protocol's own."""


class ProtocolSupport(NamedTuple):
    """The support for a protocol: how its pools are quoted, and whether `swapcli sync` finds them on the network.

    `reason` is a sentence about the missing fact. It is empty if both are possible, and for the wrapper, which has no
    pools to find. `contract` is None if the network's definition names no contract for the protocol. `dialects` are the
    dialects of routers that execute swaps in its pools. `recorded_swaps` is the number of recorded swaps in its family
    that match swapcli's quotes; None if the contracts themselves quote, or nothing does.
    """

    protocol: ProtocolInfo
    quotes: QuoteKind
    can_sync: bool
    reason: str
    contract: ContractCertainty | None = None
    dialects: tuple[str, ...] = ()
    recorded_swaps: int | None = None

    @property
    def is_compared(self) -> bool | None:
        """Whether enough recorded swaps match the quotes of its family; None if `recorded_swaps` is None."""
        return None if self.recorded_swaps is None else self.recorded_swaps >= ENOUGH_SWAPS


class ListedProtocol(NamedTuple):
    """A protocol with its support in swapcli, the number of its known pools, and the last swap that confirmed a quote.

    `pools` is None if the network's pools are unknown. `unexplained` is the number of pools of an unknown version.
    `facts_date` is the day on which the facts about the network were checked, and `agreement` the newest swap that
    matched its quote. `package` is the installed package, with its version, that provides the pool family; None for
    swapcli's own families.
    """

    support: ProtocolSupport
    pools: int | None
    pools_source: Literal["store", "embedded"] | None
    unexplained: tuple[str, ...]
    facts_date: str
    agreement: Agreement | None
    package: str | None = None

    @property
    def agreed_at(self) -> str | None:
        """The time and the block of the newest swap that matched its quote."""
        agreement = self.agreement
        if agreement is None:
            return None
        return f"{format_time(agreement.timestamp, has_seconds=False)}, block {agreement.block:,}"

    @property
    def quotes(self) -> str:
        """A description of how its pools are quoted, and whether the quotes still have to be compared with the
        chain."""
        return self.support.quotes.value + (", not compared" if self.support.is_compared is False else "")

    @property
    def reason(self) -> str:
        """A description of the missing fact or the unknown pool version; empty if nothing is missing."""
        support, date = self.support, self.facts_date
        missing = f"{support.reason} (as of {date})" if support.reason and date else support.reason
        keys = ", ".join(self.unexplained)
        return "; ".join(filter(None, (missing, f"of an unknown version, read at every block: {keys}" if keys else "")))

    def document(self) -> ProtocolDocumentJson:
        """Return the protocol as a row of JSON."""
        support, agreement = self.support, self.agreement
        protocol = support.protocol
        return {
            "protocolId": protocol.id,
            "protocol": protocol.amm_name,
            "displayName": protocol.display_name,
            "family": protocol.family,
            "package": self.package,
            "extended": protocol.is_extended,
            "confirmed": protocol.confirmed,
            "pools": self.pools,
            "poolsSource": self.pools_source,
            "quotes": support.quotes.value,
            "canSync": support.can_sync,
            "reason": support.reason or None,
            "contract": support.contract.value if support.contract else None,
            "dialects": list(support.dialects),
            "recordedSwaps": support.recorded_swaps,
            "compared": support.is_compared,
            "factsDate": self.facts_date or None,
            "lastAgreed": None
            if agreement is None
            else {"block": agreement.block, "timestamp": agreement.timestamp, "swaps": agreement.swaps},
            "unexplained": list(self.unexplained),
        }


class ProtocolList(NamedTuple):
    """The protocols of a network. `pools_source` is the source of the counted pools, None if no pools are known.

    `families` are pool families in installed packages that no protocol of the network uses. Only their names are known,
    because their packages are not imported.
    """

    network: Network
    protocols: tuple[ListedProtocol, ...]
    pools_source: Literal["store", "embedded"] | None
    families: tuple[Plugin, ...] = ()

    @own_document
    def document(self) -> list[ProtocolDocumentJson]:
        """Return the JSON that `swapcli protocols` prints."""
        return [*(each.document() for each in self.protocols), *map(_unused_document, self.families)]


def _unused_document(plugin: Plugin) -> ProtocolDocumentJson:
    """Return the row of a family that no protocol of the network uses."""
    return {
        "protocolId": None,
        "protocol": None,
        "displayName": None,
        "family": plugin.name,
        "package": plugin.origin,
        "extended": None,
        "confirmed": None,
        "pools": None,
        "poolsSource": None,
        "quotes": None,
        "canSync": None,
        "reason": None,
        "contract": None,
        "dialects": None,
        "recordedSwaps": None,
        "compared": None,
        "factsDate": None,
        "lastAgreed": None,
        "unexplained": None,
    }


class _KnownPools(NamedTuple):
    """The known pools and those of an unknown version, counted by protocol, in the store or the embedded market."""

    source: Literal["store", "embedded"] | None
    counts: Counter[str]
    unexplained: dict[str, list[str]]


@checks_arguments
def protocols(network: str, *, settings: Mapping[str, object] | SourceChooser | None = None) -> ProtocolList:
    """Return the protocols of a network, with the number of their pools in its store or its embedded market.

    Raises `UnknownNetwork`, `ConfigError`, `MarketError` for a damaged store.
    """
    sources = open_program_sources(settings)
    found, pools = _load_pools(sources, network)
    agreements = sources.networks.routers.agreements().load(found.chain_id)
    families = plugins(FAMILY_GROUP)
    package_of = {name: each.origin for name, each in families.items()}
    used = {each.family for each in found.protocols}
    listed = (
        ListedProtocol(
            each,
            pools.counts[each.protocol.amm_name] if pools.source else None,
            pools.source,
            tuple(pools.unexplained.get(each.protocol.amm_name, ())),
            found.facts_date,
            agreements.get(each.protocol.amm_name),
            package_of.get(each.protocol.family or ""),
        )
        for each in describe_protocols(found)
    )
    unused = tuple(each for name, each in families.items() if name not in used)
    return ProtocolList(found, tuple(listed), pools.source, unused)


def _load_pools(sources: SourceChooser, name: str) -> tuple[Network, _KnownPools]:
    """Return a network as its store describes it, if it has one, with the known pools."""
    store = sources.markets.find_store(name)
    if store is None:
        network = sources.networks.find(name)
        return network, _count_embedded(sources, network)
    with store:
        counts: Counter[str] = Counter()
        for holding in store.read_summary().protocols:
            counts[holding.protocol] += holding.pools
        unexplained: dict[str, list[str]] = {}
        for key, protocol in store.inventory.unexplained_pools().items():
            unexplained.setdefault(protocol, []).append(key)
        return store.network, _KnownPools("store", counts, unexplained)


def _count_embedded(sources: SourceChooser, network: Network) -> _KnownPools:
    from swapcli.state.markets.embedded import embedded_names

    if network.name not in embedded_names():
        return _KnownPools(None, Counter(), {})
    market = sources.markets.embedded_market(network.name)
    return _KnownPools("embedded", Counter(pool.protocol for pool in market.pools.values()), {})


def describe_protocols(network: Network) -> tuple[ProtocolSupport, ...]:
    """Return the support for each protocol of a network, in the network's order."""
    from swapcli.core.networks.quoter_definitions import quoted_protocols
    from swapcli.payload.dialects import executing_dialects
    from swapcli.state.discovery.pool_discovery import find_factories

    factories, skipped = find_factories(network)
    found = {protocol.amm_name for factory in factories for protocol in factory.all_protocols}
    found.update(quoted_protocols(network))
    missing = {item.key: item.reason for item in skipped}
    return tuple(
        _support(protocol, found, missing)._replace(
            contract=_certainty(protocol, network), dialects=executing_dialects(protocol, network)
        )
        for protocol in network.protocols
    )


def _support(protocol: ProtocolInfo, found: set[str], missing: dict[str, str]) -> ProtocolSupport:
    name = protocol.amm_name
    if protocol.family is None or (protocol.unsupported and name not in found):
        # Its maths may be known, but no contract lists its pools.
        reason = protocol.unsupported or "swapcli has no maths for its pools"
        return ProtocolSupport(protocol, QuoteKind.NOT_SUPPORTED, can_sync=False, reason=reason)
    quotes = QuoteKind.SAMPLED if family(protocol.family).is_sampled else QuoteKind.EXACT
    if name in found or protocol.is_wrapper:
        support = ProtocolSupport(protocol, quotes, can_sync=name in found, reason="")
    else:
        reason = missing.get(name, "the catalogue has no contract that lists its pools")
        support = ProtocolSupport(protocol, quotes, can_sync=False, reason=reason)
    is_computed = quotes is QuoteKind.EXACT
    return support._replace(recorded_swaps=recorded_swaps(protocol.family)) if is_computed else support


def _certainty(protocol: ProtocolInfo, network: Network) -> ContractCertainty | None:
    from swapcli.core.networks.quoter_definitions import quoted_protocols

    own = [each for each in network.deployments if protocol.amm_name in each.protocols and each.addresses]
    if any("addresses" in each.unconfirmed for each in own):
        return ContractCertainty.UNCONFIRMED
    is_named = bool(own) or protocol.is_wrapper or protocol.amm_name in quoted_protocols(network)
    return ContractCertainty.CONFIRMED if is_named else None
