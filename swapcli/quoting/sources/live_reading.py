"""Read known pools at a node's latest block. All pools for one order are read at the same block."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from swapcli.core.errors import (
    BlockMismatch,
    ChainReorganized,
    InvalidUpstreamResponse,
    RequestBudgetSpent,
    UpstreamError,
    UpstreamRejected,
)
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import DEFAULT_BLOCK_TIME_S, OWN, Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.quoter import Sale
from swapcli.core.networks.address import hash_code
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.quoting.sources.freshness import archive_hint
from swapcli.quoting.sources.probed_transfers import AheadTrials, ProbedTransfers
from swapcli.quoting.sources.token_checks import TokenChecks
from swapcli.state.clock import Clock
from swapcli.state.rpc.multicall import AheadReading
from swapcli.state.rpc.node import AheadCalls, AheadNode, ChainHead, Node
from swapcli.state.snapshot_reader import BlockSnapshot, first_calls
from swapcli.state.transfers.transfer_probe import TransferTrial
from swapcli.state.transfers.transfer_trials import first_trial_calls

_MAX_ATTEMPTS = 3
_MAX_MISMATCHES = 6
"""Attempts with a node that responds from a different block than requested. A request takes 10 to 20% of the block
time, so this many requests practically never all meet a new block."""
_MAX_AHEAD_PAUSE = 512
"""Blocks. It is a quarter of an hour on Base."""
_PENDING_TIME_S = 0.2
"""The interval at which Base adds transactions to its pending block."""
_HINT_OLD_STATE = "the node may not have state that old: use the latest block, or a different node"


FirstReading = Callable[[], tuple[Sequence[ContractCall], Sequence[TransferTrial]]]
"""Returns the calls and trial transfers with which the read of a new block begins."""


Others = Callable[[], "tuple[MarketState, Callable[[UpstreamError], None]] | None"]
"""Returns the known market of other orders with the pools that they read first, and the function that reports an error
to them."""


class LiveBlock:
    """The block that `node` calls `tag`. It is read again once it may have changed. Without a tag, it never changes."""

    def __init__(self, node: Node, network: Network, clock: Clock, tag: BlockTag | None) -> None:
        self.node, self.tag = node, tag
        self._network, self._clock = network, clock
        self._snapshot: BlockSnapshot | None = None
        self._router_has_deadlines: bool | None = None
        self._is_pinned = False
        self._ahead_turns = _AheadTurns()
        self.ahead_trials: AheadTrials | None = None
        """The trials whose results came with the block."""
        self.on_use: Callable[[BlockSnapshot], object] | None = None
        """Receives each snapshot before it is used."""

    @property
    def is_past(self) -> bool:
        """Whether this is a past block, which never changes."""
        return self.tag is None

    @property
    def past_number(self) -> int | None:
        """The number of the block if it is a past block and has been read; otherwise None."""
        return self._snapshot.head.block.number if self._snapshot and self.is_past else None

    @property
    def last_snapshot(self) -> BlockSnapshot | None:
        """The last snapshot that was read, whatever its age; None before the first read and after `discard`."""
        return self._snapshot

    def newest_snapshot(self, ahead: FirstReading | None = None) -> BlockSnapshot:
        """Return a snapshot of the block that the node now calls `tag`. Orders within one block time share it.

        While the block is pinned, all orders share it. `ahead` are the first reads to make in the request for a new
        block, if the node supports that.
        """
        snapshot = self._find_snapshot(ahead)
        if self.on_use is not None:
            self.on_use(snapshot)
        return snapshot

    def has_read(self, pools: Iterable[Pool]) -> bool:
        """Return whether the snapshot for the next order has already been read and contains `pools`."""
        snapshot = self._snapshot
        if snapshot is None or (self._is_old(snapshot, self._clock.monotonic_s()) and not self._is_pinned):
            return False
        return all(pool.key in snapshot.pools for pool in pools)

    def _is_old(self, snapshot: BlockSnapshot, now_s: float) -> bool:
        block_time_s = self._network.block_time_s or DEFAULT_BLOCK_TIME_S
        return now_s - snapshot.read_at_s > (_PENDING_TIME_S if self.tag is BlockTag.PENDING else block_time_s)

    def _find_snapshot(self, ahead: FirstReading | None) -> BlockSnapshot:
        now_s = self._clock.monotonic_s()
        is_old = self._snapshot is not None and self._is_old(self._snapshot, now_s)
        if self._snapshot is not None and self.is_past:
            if is_old:
                self._snapshot.read_at_s = now_s
                self.node.read_head()
            return self._snapshot
        if self._snapshot is None or (is_old and not self._is_pinned):
            self._snapshot = self._read_snapshot(now_s, ahead)
        return self._snapshot

    def discard(self) -> None:
        """Discard the snapshot, so that the next order reads a new block."""
        self._snapshot = None

    def pin(self, *, pinned: bool) -> None:
        """Keep the block of the next order for all later orders, or stop keeping it if not `pinned`."""
        self._is_pinned = pinned
        if pinned and not self.is_past:
            self.discard()

    def _read_snapshot(self, now_s: float, ahead: FirstReading | None) -> BlockSnapshot:
        """Return a new snapshot. The router's code is read with the block if its variant is remembered, and once if it
        is this project's router, whose version decides whether swaps have deadlines.

        If quotes may choose that contract, its code is read instead of the public router's, whose remembered variant is
        then not used.
        """
        network = self._network
        own = None if self._router_has_deadlines is not None else network.for_dialect(OWN).router
        is_own = own is not None and (network.chooses_router or network.router_dialect == OWN)
        expected = None if is_own else network.router_code_hash
        head, results = self._read_head(own if is_own else network.router if expected else None, ahead)
        if expected is None:
            has_changed = bool(network.router_code_hash)  # perhaps: it was not read
        else:
            has_changed = head.code is not None and hash_code(head.code) != expected
        if is_own and head.code is not None:
            from swapcli.payload.evm.router.versions import find_version

            version = find_version(head.code)
            self._router_has_deadlines = version is not None and version.has_deadlines
        network = network._replace(router_has_deadlines=self._router_has_deadlines)
        return BlockSnapshot(self.node, network, head, now_s, self.tag, has_router_changed=has_changed, ahead=results)

    def _read_head(
        self, code_of: str | None, ahead: FirstReading | None
    ) -> tuple[ChainHead, Mapping[ContractCall, ReturnData]]:
        """Return the head, and the results that came with it, which belong to its block."""
        node, multicall = self.node, self._network.multicall
        may_run = ahead is not None and self.tag is BlockTag.LATEST and self._ahead_turns.next()
        if ahead is not None and multicall is not None and may_run and isinstance(node, AheadNode):
            calls, trials = ahead()
            if calls:
                return self._read_head_ahead(node, multicall, code_of, calls, trials)
        return node.read_head(self.tag or BlockTag.LATEST, code_of=code_of), {}

    def _read_head_ahead(
        self,
        node: AheadNode,
        multicall: str,
        code_of: str | None,
        calls: Sequence[ContractCall],
        trials: Sequence[TransferTrial],
    ) -> tuple[ChainHead, Mapping[ContractCall, ReturnData]]:
        """Same as `_read_head`, with these calls and trials."""
        reading = AheadReading.of(node, calls, multicall)
        sent = AheadCalls(reading.packed, reading.proves, first_trial_calls(trials) if trials else ())
        head, found = node.read_head_ahead(sent, code_of=code_of)
        if found is None:
            return head, {}
        results = reading.results(node, found.calls, head.block)
        self._ahead_turns.record(has_results=bool(results))
        complete = [each for each in found.trials if each is not None]
        has_trials = bool(results) and len(complete) == len(found.trials)
        self.ahead_trials = AheadTrials(head.block, trials, complete) if has_trials else None
        return head, results


class _AheadTurns:
    """The blocks at which calls are sent ahead: all, until none of their results were of the block twice in a row.

    On some networks that is always so: contracts see another chain's block numbers, so that nothing proves whose state
    the results are. A node may also fail for a while. So after each further failure, twice as many blocks are skipped.
    """

    def __init__(self) -> None:
        self._failures = self._skips = 0

    def next(self) -> bool:
        """Return whether calls are sent with the next block."""
        if self._skips:
            self._skips -= 1
            return False
        return True

    def record(self, *, has_results: bool) -> None:
        """Record whether results of calls were of the block."""
        self._failures = 0 if has_results else self._failures + 1
        self._skips = min(2 ** (self._failures - 1), _MAX_AHEAD_PAUSE) if self._failures > 1 else 0


class LivePoolReader:
    """Reads known pools for one order, all at one block. If that block is no longer on the chain, it reads all pools
    again.

    `has_gas_price` means that the order does not need the node's gas price. `checks` compares the pools' tokens, and
    `order_tokens`, with their contracts. If a first read is needed, it includes the pools for other orders: `others`
    returns their known market, and a function that receives an error of the read.
    """

    def __init__(
        self,
        block: LiveBlock,
        known: MarketState,
        transfers: ProbedTransfers,
        checks: TokenChecks,
        *,
        has_gas_price: bool = False,
        order_tokens: Collection[str] = (),
        others: Others | None = None,
    ) -> None:
        self._others = others
        self._block, self._known, self._transfers, self._has_gas_price = block, known, transfers, has_gas_price
        self._checks, self._order_tokens = checks, frozenset(order_tokens)
        self._snapshot: BlockSnapshot | None = None
        self._requested: dict[str, None] = {}

    def read(self, keys: Collection[str]) -> MarketState:
        """Return the known market with only the pools with `keys`, at the latest block.

        Raises `UpstreamError`, and `ConfigError` for a token that does not match its contract.
        """
        self._requested.update(dict.fromkeys(keys))
        pools = [self._known.pools[key] for key in keys if key in self._known.pools]
        real = [pool for pool in pools if pool.key not in self._known.placeholder_pools]
        others, self._others = self._others, None
        if others is None or self._block.has_read(real) or (found := others()) is None:
            return self._read(real, real, self._known)
        market, fail = found
        shared = {**{pool.key: pool for pool in real}, **market.pools}
        tokens, transfers = {**market.tokens, **self._known.tokens}, {**market.transfers, **self._known.transfers}
        try:
            return self._read(real, list(shared.values()), self._known._replace(tokens=tokens, transfers=transfers))
        except UpstreamError as error:
            # An order with a gas price does not need the node's.
            if self._snapshot is None or error is not self._snapshot.head.gas_price:
                fail(error)
            raise

    def _read(self, real: Sequence[Pool], shared: Sequence[Pool], known: MarketState) -> MarketState:
        """Same as `read`, with all `shared` pools in the same requests."""
        attempts = mismatches = 0
        while True:
            self._snapshot = self._snapshot or self._block.newest_snapshot(partial(self._first_reading, shared, known))
            try:
                self._snapshot.read(shared, self._unconfirmed(shared, known))
                keys = [pool.key for pool in real]
                market = self._snapshot.market(self._known, keys, has_gas_price=self._has_gas_price)
                market = self._without_wrong_tokens(market)
                others = None if shared is real else self._as_read(shared, known, self._snapshot)
                return self._transfers.probe(
                    self._block.node, self._snapshot.head.block, market, self._block.ahead_trials, others
                )
            except BlockMismatch as error:
                self._discard_snapshot()
                mismatches += 1
                if mismatches > _MAX_MISMATCHES or (
                    mismatches == _MAX_MISMATCHES and not self._block.node.use_spare(error)
                ):
                    raise
            except UpstreamRejected as error:
                if self._snapshot and self._snapshot.head.tag in (BlockTag.SAFE, BlockTag.FINALIZED):
                    error.hint = error.hint or _HINT_OLD_STATE
                if self._block.is_past:
                    error.hint = archive_hint(self._snapshot.head.block.number if self._snapshot else None)
                raise
            except ChainReorganized:
                self._discard_snapshot()
                attempts += 1
                if attempts == _MAX_ATTEMPTS:
                    raise
            except InvalidUpstreamResponse as error:
                self._discard_snapshot()
                attempts += 1
                if attempts == _MAX_ATTEMPTS or not self._block.node.use_spare(error):
                    if self._block.is_past:
                        error.hint = archive_hint(None)
                    raise

    def _as_read(self, pools: Sequence[Pool], known: MarketState, snapshot: BlockSnapshot) -> MarketState:
        """Return the known market with only those of some pools that could be read."""
        return known._replace(pools={each.key: pool for each in pools if (pool := snapshot.pools.get(each.key))})

    def _first_reading(
        self, pools: Sequence[Pool], known: MarketState
    ) -> tuple[Sequence[ContractCall], Sequence[TransferTrial]]:
        """Return the calls and trials with which a read of these pools at a new block begins."""
        calls = first_calls(known.network, pools, self._unconfirmed(pools, known))
        return calls, self._transfers.plan(known._replace(pools={pool.key: pool for pool in pools}))

    def _unconfirmed(self, pools: Sequence[Pool], known: MarketState) -> list[str]:
        """Return the tokens to compare with their contracts."""
        tokens = {token for pool in pools for token in pool.tokens}
        return self._checks.unconfirmed(sorted(tokens | self._order_tokens), known.tokens)

    def _without_wrong_tokens(self, market: MarketState) -> MarketState:
        """Return the market without pools of tokens that their contracts contradict. Raises the same errors as
        `TokenChecks.check`."""
        tokens = self._order_tokens.union(*(pool.tokens for pool in market.pools.values()))
        found = self._snapshot.token_facts if self._snapshot else {}
        facts = {token: found[token] for token in tokens if token in found}  # without those of other orders
        wrong = self._checks.check(market.tokens, facts, self._order_tokens) if facts else ()
        if not wrong:
            return market
        pools = {key: pool for key, pool in market.pools.items() if wrong.isdisjoint(pool.tokens)}
        return market._replace(pools=pools)

    def quote_sales(self, sales: Mapping[str, Sequence[Sale]]) -> Mapping[str, Pool | None]:
        """Return sampled pools with their protocols' quotes for `sales`, at the block at which the pools were sampled.

        If that block is no longer on the chain, or no requests are left, the outputs remain estimates.
        """
        snapshot = self._snapshot
        if snapshot is None:
            return {}
        try:
            snapshot.quote_sales(sales)
        except (BlockMismatch, ChainReorganized):
            self._discard_snapshot()
            return {}
        except RequestBudgetSpent:
            return {}
        return {key: snapshot.pools[key] for key in sales}

    def read_checks(self, sales: Mapping[str, Sale]) -> Mapping[str, int]:
        """Return the protocols' own quotes for `sales` to computed pools, as in `BlockSnapshot.read_checks`.

        The result is empty if the block is no longer on the chain, or no requests are left.
        """
        snapshot = self._snapshot
        if snapshot is None or not snapshot.network.quoters:
            return {}
        try:
            return snapshot.read_checks(sales)
        except (BlockMismatch, ChainReorganized):
            self._discard_snapshot()
            return {}
        except RequestBudgetSpent:
            return {}

    @property
    def requested(self) -> tuple[str, ...]:
        """The keys of the pools that were requested for the order."""
        return tuple(self._requested)

    def unread_reasons(self) -> list[str]:
        """Return the reasons why requested pools could not be read, in the order of the requests."""
        reasons = self._snapshot.reasons if self._snapshot else {}
        return [reasons[key] for key in self._requested if key in reasons]

    def _discard_snapshot(self) -> None:
        """Read another block next time, here and for other orders."""
        self._snapshot = None
        self._block.discard()
