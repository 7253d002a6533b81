"""Compare mined swaps and past blocks with quotes on one market."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidAddress, InvalidOption, UpstreamError
from swapcli.core.model.network import Network
from swapcli.core.networks.address import parse_address
from swapcli.core.validation.values import describe
from swapcli.quoting.backtest import Backtest, BacktestOrder, PastQuotes
from swapcli.quoting.openers.past_nodes import open_archive_node, open_past_node
from swapcli.quoting.sources.quote_source import PoolSource, QuoteSource, require_pools
from swapcli.quoting.verification.hindsight import Hindsight, SwapHindsight, look_back, summarize
from swapcli.quoting.verification.transaction_verification import (
    Verification,
    check_transaction_hash,
    quote_at_block,
    verify_transaction,
)

if TYPE_CHECKING:
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.openers.router_memory import RouterMemory
    from swapcli.quoting.quote_options import QuoteOptions
    from swapcli.quoting.verification.recent_verification import OnSwap, RecentVerification
    from swapcli.quoting.verification.recording import Recording


_POOL_ID = re.compile(r"0x[0-9a-fA-F]{64}")


class MarketHistory:
    """Compares mined swaps and past blocks with quotes on a market's pools, read from the nodes in its settings."""

    def __init__(self, source: QuoteSource, nodes: NodeOpener, routers: RouterMemory) -> None:
        self._source, self._nodes, self._routers = source, nodes, routers

    def verify(self, transaction: str) -> Verification:
        """Return the swaps in a mined transaction with their quotes. Raises the same errors as `Market.verify`."""
        check_transaction_hash(transaction)  # checked before looking for a node, which prints notes
        known, network = self._known(), self._source.network
        with closing(self._nodes.require_node(network)) as node:
            node.read_head()  # checks the chain
            found = verify_transaction(node, known, transaction, quote_at_block(known, node))
        self._routers.agreements().add(network.chain_id, found.agreements())
        return found

    def verify_recent(
        self,
        count: int,
        *,
        protocols: Collection[str] | None,
        max_requests: int,
        max_duration_s: float | None,
        on_swap: OnSwap | None,
        pool: str | None = None,
    ) -> RecentVerification:
        """Return each protocol's latest swaps with their quotes. Raises the same errors as `Market.verify_recent`."""
        from swapcli.quoting.verification.recent_verification import check_recent_count, verify_recent_swaps

        check_recent_count(count)  # checked before looking for a node, which prints notes
        known, network = self._known(), self._source.network
        with closing(self._nodes.require_node(network)) as node:
            found = verify_recent_swaps(
                node,
                known,
                count,
                protocols=protocols,
                max_requests=max_requests,
                max_duration_s=max_duration_s,
                on_swap=on_swap,
                pool=pool,
            )
        self._routers.agreements().add(network.chain_id, found.agreements())
        return found

    def record(self, transaction: str) -> Recording:
        """Return the swaps in a mined transaction with the state of their pools. Raises the same errors as
        `Market.record`."""
        from swapcli.quoting.verification.recording import record_transaction

        return record_transaction(self.verify(transaction))

    def record_recent(
        self, count: int, *, pool: str | None, protocols: Collection[str] | None, max_requests: int
    ) -> Recording:
        """Return recent swaps with the state of their pools. Raises the same errors as `Market.record_recent`."""
        from swapcli.quoting.verification.recording import record_recent

        key = None if pool is None else _pool_key(pool, self._source.network)
        found = self.verify_recent(
            count, protocols=protocols, max_requests=max_requests, max_duration_s=None, on_swap=None, pool=key
        )
        return record_recent(found)

    def hindsight(self, transactions: Iterable[str], *, use_cache: bool) -> Hindsight:
        """Return mined transactions next to the best routes at their parent blocks. Raises the same errors as
        `Market.hindsight`."""
        known, network = self._known(), self._source.network
        hashes = list(dict.fromkeys(transaction.lower() for transaction in transactions))
        found: list[SwapHindsight] = []
        with open_archive_node(self._nodes, network, uses_cache=use_cache) as node:
            try:
                found.extend(look_back(node, known, hashes))
            except UpstreamError as error:
                if use_cache and len(hashes) > 1:
                    again = "run it again: the final blocks already read are stored"
                    error.hint = f"{error.hint}; {again}" if error.hint else again
                raise
        return Hindsight(network, tuple(found), summarize(found))

    @contextmanager
    def past_quotes(
        self, orders: Sequence[BacktestOrder], options: QuoteOptions, *, use_cache: bool
    ) -> Iterator[PastQuotes]:
        """Yield a source of quotes at past blocks. Its node stays open during the context. Raises the same errors as
        `Market.backtest`."""
        known = self._known()
        with open_past_node(self._nodes, self._source.network, uses_cache=use_cache) as node:
            yield PastQuotes(node, known, orders, options)

    def backtest(
        self, orders: Sequence[BacktestOrder], options: QuoteOptions, blocks: Sequence[int], *, use_cache: bool
    ) -> Backtest:
        """Return the quotes for orders at past blocks. Raises the same errors as `Market.backtest`."""
        _check_blocks(blocks)
        with self.past_quotes(orders, options, use_cache=use_cache) as past:
            past.check(max(blocks))
            quotes = [quote for block in blocks for quote in past.at(block)]
        return Backtest.of(self._source.network, blocks, orders, quotes)

    def _known(self) -> PoolSource:
        """Return the source if it knows its pools by their contracts. Raises `InvalidOption` for a service."""
        require_pools(self._source)
        return self._source  # type: ignore[return-value]


def _pool_key(text: str, network: Network) -> str:
    """Return a pool's key: its address, or its id if its contract has many pools. Raises `InvalidAddress`."""
    try:
        return parse_address(text, network.kind)
    except InvalidAddress:
        if _POOL_ID.fullmatch(text):
            return text.lower()
        raise


def _check_blocks(blocks: Sequence[object]) -> None:
    """Raise `InvalidOption` unless blocks are numbers in ascending order, as those of the command are."""
    hint = "such as range(23_000_000, 23_100_000, 1000)"
    if not blocks:
        raise InvalidOption("blocks: there is none", hint=hint)
    before = -1
    for block in blocks:
        if not isinstance(block, int) or isinstance(block, bool) or block < 0:
            raise InvalidOption(f"blocks: expected block numbers, not {describe(block)}", hint=hint)
        if block <= before:
            problem = "is given twice" if block == before else f"comes after {before:,}"
            raise InvalidOption(f"blocks: block {block:,} {problem}", hint="give them in ascending order")
        before = block
