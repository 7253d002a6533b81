"""Contracts that create or register pools."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.quoter import Quoter
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import invalid_response
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.pool_ref import PoolRef

MAX_LISTED_POOLS: Final = 100_000
"""The maximum length of an untrusted factory's list of pools."""


class Factory(NamedTuple):
    """A contract that creates or registers pools of one kind.

    `protocols` are the protocols of its pools: one, or several that differ in the family of their pools.
    `protocols_by_hook` are the protocols of a Uniswap V4 manager's pools with known hooks. `fee_ppm` is the constant
    fee of a kind that has one. `fee_tiers` are the known fee tiers, as in `Deployment`. Pools of `quoted_protocols`
    that cannot be computed can be sampled. `wrapped_native` is the token that represents native currency. `quoter`
    describes how sampled pools are announced and quoted. `swap_quoter` is the contract of a deployment of Algebra or
    Uniswap V4 that quotes swaps in its pools, `lens` the one that reads the pools of a kind that needs it; both are
    empty if the catalogue knows none. `hook_rules` are the rules of a V4 manager's hooks, as JSON, by address.
    """

    address: str
    kind: str
    protocols: tuple[ProtocolInfo, ...]
    fee_ppm: int = 0
    fee_tiers: Mapping[int, int] = MappingProxyType({})
    protocols_by_hook: Mapping[str, ProtocolInfo] = MappingProxyType({})
    quoted_protocols: frozenset[str] = frozenset()
    wrapped_native: str | None = None
    quoter: Quoter | None = None
    swap_quoter: str = ""
    lens: str = ""
    hook_rules: Mapping[str, str] = MappingProxyType({})

    @property
    def all_protocols(self) -> tuple[ProtocolInfo, ...]:
        """The protocols of the contract's pools, without duplicates."""
        return tuple(dict.fromkeys((*self.protocols, *self.protocols_by_hook.values())))

    @property
    def is_enumerable(self) -> bool:
        """Whether the contract has a list of its pools. Otherwise pools are found only through creation events."""
        traits = KINDS[self.kind]
        return traits.has_whole_list or traits.is_pool_itself or bool(traits.list_functions)

    @property
    def creation_events(self) -> tuple[str, ...]:
        """The signatures of the events that announce the contract's pools."""
        if self.quoter and self.quoter.created:
            return (self.quoter.created.signature,)
        return KINDS[self.kind].created

    def protocol_of(self, family: str) -> ProtocolInfo | None:
        """Return the protocol of the contract's pools of a family, or None if the catalogue has none.

        A protocol whose definition names its contract kinds may have pools of several families.
        """
        of_family = (each for each in self.protocols if each.family == family)
        return next(of_family, None) or next((each for each in self.protocols if each.contracts), None)

    def new_ref(
        self, address: str, tokens: tuple[str, ...], family: str | None = None, protocol: ProtocolInfo | None = None
    ) -> PoolRef:
        """Return the reference of a pool at `address`, without decimals; it belongs to the kind's first family by
        default.

        Raises `InvalidUpstreamResponse` if no `protocol` is given and none has pools of the family.
        """
        family = family or KINDS[self.kind].families[0]
        protocol = protocol or self.protocol_of(family)
        if protocol is None:
            raise invalid_response(address, "the catalogue has no protocol for it")
        return PoolRef(address, protocol.amm_name, family, self.kind, tokens, ())
