"""How tokens transfer, as a node has shown it in this process."""

from __future__ import annotations

from swapcli.core.model.market import MarketState
from swapcli.core.model.transfer_behaviour import UNKNOWN, TransferBehaviour
from swapcli.quoting.sources.quote_source import KnownMarket
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.state.rpc.node import BlockHeader, Node
from swapcli.state.transfers.transfer_trials import plan_trials, run_transfer_trials


class ProbedTransfers:
    """Tries transfers of tokens that nothing is known of, and has the `known` market remember them if it `records`."""

    def __init__(self, known: KnownMarket, *, records: bool = True) -> None:
        self._known, self._records = known, records
        self._probed: dict[str, TransferBehaviour] = {}

    def applied_to(self, part: SearchableMarket) -> SearchableMarket:
        """Return `part` with the transfers that were probed since; itself unless they change what is routable."""
        market = part.market
        found = {token: each for token, each in self._probed.items() if token in market.tokens and each.is_limiting}
        if found.items() <= market.transfers.items():
            return part
        return part.with_market(market._replace(transfers={**market.transfers, **found}))

    def probe(self, node: Node, block: BlockHeader, market: MarketState) -> MarketState:
        """Return the market with how its tokens transfer; probe the unknown ones in one request."""
        tokens = dict.fromkeys(token for pool in market.pools.values() for token in pool.tokens)
        known = self._probed.keys() | market.transfers.keys() | market.network.transfers.keys()
        new = [token for token in tokens if token not in known]
        if new:
            report = run_transfer_trials(node, block, plan_trials(new, market.pools.values(), market.network))
            self._probed.update(dict.fromkeys(new, UNKNOWN) | dict(report.behaviours))
            if self._records and not report.failure and not block.is_pending:
                self._known.record_transfers(report.behaviours, block.number)
        found = {token: self._probed[token] for token in tokens if token in self._probed}
        return market._replace(transfers={**market.transfers, **found})
