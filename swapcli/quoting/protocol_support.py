"""What the program can do with the pools of each protocol of a network."""

from __future__ import annotations

from enum import StrEnum

from swapcli.core.model.network import Network, ProtocolInfo
from swapcli.core.records import NamedTuple
from swapcli.families import family


class QuoteKind(StrEnum):
    """How a protocol's pools are quoted: by their maths, by asking their contracts, or not at all."""

    EXACT = "exact"
    SAMPLED = "sampled"
    NOT_SUPPORTED = "not supported"


class ContractCertainty(StrEnum):
    """Whether the address of the contract that a protocol's pools come from is sure."""

    CONFIRMED = "confirmed"
    """The sources leave no doubt, or there are several of them."""
    UNCONFIRMED = "unconfirmed"
    """One source names them that is not the protocol's own."""


class ProtocolSupport(NamedTuple):
    """How the pools of a protocol are quoted, and whether `swapcli sync` finds them on the network.

    `reason` is the fact that is missing, a sentence; empty if both are possible, and for the wrapper, which has no
    pools to find. `contract` is None where the network names no contract of the protocol. `dialects` are those of the
    routers that execute its pools.
    """

    protocol: ProtocolInfo
    quotes: QuoteKind
    can_sync: bool
    reason: str
    contract: ContractCertainty | None = None
    dialects: tuple[str, ...] = ()


def describe_protocols(network: Network) -> tuple[ProtocolSupport, ...]:
    """Return the support of each protocol of a network, in its order."""
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
    if protocol.family is None:
        reason = protocol.unsupported or "its pools are not known to this program"
        return ProtocolSupport(protocol, QuoteKind.NOT_SUPPORTED, can_sync=False, reason=reason)
    quotes = QuoteKind.SAMPLED if family(protocol.family).is_sampled else QuoteKind.EXACT
    if name in found or protocol.is_wrapper:
        return ProtocolSupport(protocol, quotes, can_sync=name in found, reason="")
    reason = protocol.unsupported or missing.get(name, "the catalogue knows no contract that its pools come from")
    return ProtocolSupport(protocol, quotes, can_sync=False, reason=reason)


def _certainty(protocol: ProtocolInfo, network: Network) -> ContractCertainty | None:
    from swapcli.core.networks.quoter_definitions import quoted_protocols

    own = [each for each in network.deployments if protocol.amm_name in each.protocols and each.addresses]
    if any("addresses" in each.unconfirmed for each in own):
        return ContractCertainty.UNCONFIRMED
    is_named = bool(own) or protocol.is_wrapper or protocol.amm_name in quoted_protocols(network)
    return ContractCertainty.CONFIRMED if is_named else None
