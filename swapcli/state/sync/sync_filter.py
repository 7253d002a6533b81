"""Define which pools a sync stores."""

from __future__ import annotations

from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple
from swapcli.families.reading.pool_ref import PoolRef


class SyncFilter(NamedTuple):
    """The filter for a network's pools: store those that belong to `protocols` and whose tokens are all in `tokens`.
    None means all tokens, and all protocols in the Fibrous API's list.

    `min_liquidity_usd` is the minimum of the depth by which the store ranks pools. It requires one of the network's
    stablecoins among the tokens. `from_block` is the block from which the first sync reads creation events. With
    `tokens`, factories are queried for pairs of `tokens`, and events are read only if `from_block` is not 0.
    """

    protocols: frozenset[str] | None = None
    tokens: frozenset[str] | None = None
    min_liquidity_usd: float = 0.0
    from_block: int = 0

    def protocols_on(self, network: Network) -> frozenset[str] | None:
        """Return the names of the protocols on `network`; None for all of its protocols."""
        if self.protocols is not None or not network.extended_protocols:
            return self.protocols
        return frozenset(each.amm_name for each in network.protocols if not each.is_extended)

    def admits(self, ref: PoolRef) -> bool:
        """Return whether to store a pool. A token that represents the pool itself need not be among `tokens`, if it
        stands for several others."""
        if self.protocols is not None and ref.protocol not in self.protocols:
            return False
        others = frozenset(ref.tokens) - {ref.address}
        return self.tokens is None or self.tokens.issuperset(others if len(others) > 1 else ref.tokens)
