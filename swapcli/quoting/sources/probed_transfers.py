"""Probe how tokens transfer, and remember the results in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from swapcli.core.model.market import MarketState
from swapcli.core.model.transfer_behaviour import UNKNOWN, TransferBehaviour
from swapcli.core.records import NamedTuple
from swapcli.quoting.sources.quote_source import KnownMarket
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.state.rpc.node import BlockHeader, Node
from swapcli.state.transfers.transfer_probe import TransferTrial
from swapcli.state.transfers.transfer_trials import plan_trials, run_transfer_trials


class AheadTrials(NamedTuple):
    """Trial transfers that a node ran while it returned the header of `block`, and the results of their first calls."""

    block: BlockHeader
    trials: Sequence[TransferTrial]
    results: Sequence[bytes]


class ProbedTransfers:
    """Probes tokens with unknown transfer behaviour. If `records` is true, the `known` market remembers the results."""

    def __init__(self, known: KnownMarket, *, records: bool = True) -> None:
        self._known, self._records = known, records
        self._probed: dict[str, TransferBehaviour] = {}
        self._failed_ahead: AheadTrials | None = None
        self.trials: dict[str, list[TransferTrial]] = {}
        """The trials that the node has run, by token address."""
        self.tried: dict[str, TransferBehaviour] = {}
        """The behaviours that these trials showed, by token address."""
        self.on_trials: Callable[[Sequence[TransferTrial]], object] | None = None
        """Receives trials before the node runs them."""

    def applied_to(self, part: SearchableMarket) -> SearchableMarket:
        """Return `part` with the transfer behaviours probed so far. Return `part` itself unless they change which pools
        are routable."""
        market = part.market
        found = {token: each for token, each in self._probed.items() if token in market.tokens and each.is_limiting}
        if found.items() <= market.transfers.items():
            return part
        return part.with_market(market._replace(transfers={**market.transfers, **found}))

    def plan(self, market: MarketState) -> list[TransferTrial]:
        """Return the trials to run for tokens with unknown transfer behaviour."""
        return plan_trials(self._unknown(market), market.pools.values(), market.network)

    def _unknown(self, market: MarketState) -> list[str]:
        tokens = dict.fromkeys(token for pool in market.pools.values() for token in pool.tokens)
        known = self._probed.keys() | market.transfers.keys() | market.network.transfers.keys()
        return [token for token in tokens if token not in known]

    def probe(
        self,
        node: Node,
        block: BlockHeader,
        market: MarketState,
        ahead: AheadTrials | None = None,
        others: MarketState | None = None,
    ) -> MarketState:
        """Return the market with the transfer behaviour of its tokens. Unknown tokens, and those in `others`, are
        probed in one request.

        Tokens that were already tried `ahead`, at the same block, need no request. If the node fails, the market's own
        tokens are not tried again. The tokens in `others`, which belong to other threads' orders, are tried again when
        it is those orders' turn.
        """
        tokens = dict.fromkeys(token for pool in market.pools.values() for token in pool.tokens)
        own, pools = self._unknown(market), market.pools
        new = own
        if others is not None:
            new, pools = [*dict.fromkeys([*own, *self._unknown(others)])], {**pools, **others.pools}
        if new:
            trials = plan_trials(new, pools.values(), market.network)
            first_results: Sequence[bytes] = ()
            is_ahead = ahead is not None and ahead.block == block and set(trials) <= set(ahead.trials)
            if ahead is not None and is_ahead and ahead is not self._failed_ahead:
                trials, first_results = [*ahead.trials], ahead.results
            if self.on_trials is not None:
                self.on_trials(trials)
            report = run_transfer_trials(node, block, trials, first_results)
            if report.failure:
                self._probed.update(dict.fromkeys(own, UNKNOWN))
                if first_results:
                    self._failed_ahead = ahead
            else:
                for trial in trials:
                    self.trials.setdefault(trial.token, []).append(trial)
                self.tried |= report.behaviours
                self._probed.update(dict.fromkeys(new, UNKNOWN) | dict(report.behaviours))
                if self._records and not block.is_pending:
                    self._known.record_transfers(report.behaviours, block.number)
        found = {token: self._probed[token] for token in tokens if token in self._probed}
        return market._replace(transfers={**market.transfers, **found})
