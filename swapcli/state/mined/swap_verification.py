"""Compare mined swaps with the pools' own computation. Each swap is quoted on the state just before it.

That state is the one at the parent block, updated with the block's events before the swap. If an event contains the
resulting state (the price of a concentrated pool, the reserves of a pair), that state is used. For other pools, the
earlier swaps are replayed. Once anything else has changed a pool, its state counts as unknown.

A swap may come with other events: deposits and loans in its vaults, or liquidity changes in its base pool. A table
lists these events for each kind of pool, and how much of the swap each accounts for. Events directly before the swap
that add up to its amounts belong to the swap; all others are changes by someone else. When a swap changes a contract
that pools share, the other pools' states follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from swapcli.core.encoding.abi import WORD, to_signed
from swapcli.core.errors import InvalidInput, InvalidPoolState, PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import Log
from swapcli.families.reading.contract_kinds import KINDS, KindTable, topic_of
from swapcli.families.reading.pool_change_events import EVENTS
from swapcli.families.row import SwapAmounts
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.state.mined.swap_events import SwapEvent, find_swaps, swap_shapes
from swapcli.state.mined.swapped_pools import SwappedPool


class Outcome(StrEnum):
    """Whether the quote equals the mined output. `NOT_EXPLAINED` comes with a reason, and does not mean that the quote
    is wrong."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_EXPLAINED = "notExplained"


class SwapsOfBlock(NamedTuple):
    """The swaps that alone led a pool from its state at the parent block to a state within the block."""

    pool_at_parent: Pool
    swaps: tuple[SwapEvent, ...]


class VerifiedSwap(NamedTuple):
    """A mined swap with its quote. `pool` is the pool's state just before the swap, None if unknown.

    `quoted` is the output in base units; None if the pool rejects the swap, or if its state is unknown. `earlier` are
    the swaps before it in the block that led to the pool's state, each equal to its quote; None if anything else
    changed the pool first.
    """

    event: SwapEvent
    outcome: Outcome
    pool: Pool | None
    quoted: int | None = None
    reason: str = ""
    earlier: SwapsOfBlock | None = None

    @property
    def token_in(self) -> str | None:
        """The address of the sold token; None if unknown."""
        return _token(self.pool, self.event.amounts.sold)

    @property
    def token_out(self) -> str | None:
        """The address of the bought token; None if unknown."""
        return _token(self.pool, self.event.amounts.bought)


SYNCS: Final = frozenset(topic_of(each) for each in ("Sync(uint112,uint112)", "Sync(uint256,uint256)"))
"""The events of pairs that contain both reserves."""
_MINT: Final = topic_of("Mint(address,address,int24,int24,uint128,uint256,uint256)")
_BURNS: Final = frozenset(
    topic_of(each)
    for each in (
        "Burn(address,int24,int24,uint128,uint256,uint256)",
        "Burn(address,int24,int24,uint128,uint256,uint256,uint24)",  # Algebra Integral 1.2
    )
)
_MODIFY: Final = topic_of("ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)")
_TOKEN_TOPICS: Final = frozenset(
    topic_of(each) for each in ("Transfer(address,address,uint256)", "Approval(address,address,uint256)")
)
"""Events of a pool that is its own liquidity token; a change of reserves emits another event as well."""
_IGNORED: Final = KindTable(
    lambda row: frozenset((*map(topic_of, row.harmless), *(() if row.events else _TOKEN_TOPICS)))
)
"""Events that by themselves change nothing, by contract kind."""
_PARTS: Final = KindTable(lambda row: {topic_of(signature): decode for signature, decode in row.parts.items()})
"""The events of the parts of swaps by first topic, by contract kind."""
_NO_EXACT_INPUT: Final = (
    "it was an exact-output swap, or it stopped at its price limit: its input is the smallest that pays this output"
)


_LESS_THAN_ALLOWED: Final = "its caller took less than the pool would have paid, so the quote cannot be compared"
_FEE_STEP_PPM: Final = 10
_MAX_FEE_PPM: Final = 100_000
"""The fees of pairs are whole thousandths of a percent, or coarser, and at most a few percent."""
_TELLING_UNITS: Final = 10**8
"""An output this large differs by a thousand units between two such fees."""


def verify_swaps(
    pools: Mapping[str, SwappedPool], unknown: Mapping[str, str], logs: Sequence[Log], own_logs: Collection[int]
) -> list[VerifiedSwap]:
    """Return the swaps in one transaction, in order, each with its quote on the state just before it.

    `pools` have their state at the parent block, by key. `unknown` has the reason why each other pool could not be
    read. `logs` are all logs in the block, and `own_logs` the positions of the transaction's logs.
    """
    tracks = {key: _Track(known) for key, known in pools.items()}
    swaps = {event.first_log: event for event in find_swaps(logs)}
    logs_of_swaps = {number for event in swaps.values() for number in range(event.first_log, event.last_log + 1)}
    ordered = sorted(logs, key=lambda each: each.log_index)
    parts = _find_parts(tracks, swaps, ordered)
    verified: list[VerifiedSwap] = []
    for log in ordered:
        event = swaps.get(log.log_index)
        followed = None
        if event is not None:
            track = tracks.get(event.key)
            followed = track if track and track.is_of(event) else None
            found = followed.follow_swap(event) if followed else None
            if log.log_index in own_logs:
                verified.append(found or _unknown(event, pools, unknown))
        if log.log_index in parts:
            continue
        for key, track in tracks.items():
            # A contract with several pools emits the swaps of all of them: to one pool, a swap in another is like any
            # other event.
            is_swap_of_other_pool = event is not None and event.key != key
            if is_swap_of_other_pool and followed and track.shares_with(followed):
                track.follow_shared(followed)
            elif log.log_index not in logs_of_swaps or is_swap_of_other_pool:
                track.follow_other(log)
    return verified


def _find_parts(tracks: Mapping[str, _Track], swaps: Mapping[int, SwapEvent], logs: Sequence[Log]) -> frozenset[int]:
    """Return the positions of the logs that are parts of the swaps of known pools. `logs` are in order."""
    found: set[int] = set()
    for number, log in enumerate(logs):
        event = swaps.get(log.log_index)
        track = tracks.get(event.key) if event else None
        if event and track and track.is_of(event):
            found |= track.find_parts(event, logs, number)
    return frozenset(found)


def _unknown(event: SwapEvent, pools: Mapping[str, SwappedPool], unknown: Mapping[str, str]) -> VerifiedSwap:
    reason = unknown.get(event.key) or "its pool is unknown"
    if event.key in pools:
        reason = f"{event.emitter} emitted the event, not the pool's contract"
    return VerifiedSwap(event, Outcome.NOT_EXPLAINED, None, reason=reason)


class _Track:
    """The state of one pool over the events of a block."""

    def __init__(self, known: SwappedPool) -> None:
        self._known = known
        self._pool = known.pool
        self._lost = ""
        self._synced: tuple[int, ...] | None = None
        self._earlier: SwapsOfBlock | None = SwapsOfBlock(known.pool, ())

    def is_of(self, event: SwapEvent) -> bool:
        """Return whether one of the pool's contracts has emitted a swap event."""
        return event.emitter in self._known.emitters and self._known.kind in event.kinds

    def find_parts(self, event: SwapEvent, logs: Sequence[Log], number: int) -> set[int]:
        """Return the positions of the logs directly before a swap that are parts of it; none if they do not add up.

        The swap is the log with this `number`.
        """
        kind, amounts = self._known.kind, self._with_fee(event).amounts
        if not (decoders := _PARTS[kind]):
            return set()
        found: dict[str, int] = {}
        ins = outs = 0
        for log in map(logs.__getitem__, range(number - 1, -1, -1)):
            if log.transaction != logs[number].transaction:
                break
            if log.address not in self._known.emitters or not log.topics or log.topics[0] in _IGNORED[kind]:
                continue
            topic = log.topics[0]
            if topic not in decoders or topic in found:
                break
            try:
                part = decoders[topic](log, event.key)
            except (InvalidInput, IndexError):
                break
            if ins + part.amount_in > amounts.amount_in or outs + part.amount_out > amounts.amount_out:
                break
            ins, outs = ins + part.amount_in, outs + part.amount_out
            found[topic] = log.log_index
        adds_up = ins in (0, amounts.amount_in) or amounts.amount_in - amounts.fee_in <= ins
        return set(found.values()) if adds_up and outs in (0, amounts.amount_out) else set()

    def _with_fee(self, event: SwapEvent) -> SwapEvent:
        """Return the event with the whole input, if the event excludes the fee."""
        add_fee = KINDS[self._known.kind].add_fee
        return event if add_fee is None else event._replace(amounts=add_fee(self._pool, event.amounts))

    def follow_swap(self, event: SwapEvent) -> VerifiedSwap:
        """Quote a swap, then apply the state after it."""
        event = self._with_fee(event)
        if self._lost:
            found = VerifiedSwap(event, Outcome.NOT_EXPLAINED, self._pool, reason=self._lost)
        else:
            found = _quote(self._pool, event)._replace(earlier=self._earlier)
        self._take_over(event, found)
        if self._earlier is not None:
            is_equal = found.outcome is Outcome.EQUAL
            self._earlier = self._earlier._replace(swaps=(*self._earlier.swaps, event)) if is_equal else None
        return found

    def _take_over(self, event: SwapEvent, found: VerifiedSwap) -> None:
        """A pair emits its reserves just before its swap event: they belong to the state after the swap."""
        if event.amounts.state_after and isinstance(self._pool, Concentrated):
            if not self._lost:
                self._change(event.amounts.state_after, "an event's price and liquidity do not match the pool's ticks")
            return
        if self._synced is not None:
            self._apply_sync()
            return
        if self._lost:
            return
        if found.outcome is not Outcome.EQUAL:
            self._lost = "an earlier swap in the same pool and block is not explained"
            return
        amounts = event.amounts
        tokens = _token(self._pool, amounts.sold), _token(self._pool, amounts.bought)
        assert tokens[0] is not None
        assert tokens[1] is not None
        swapped = _swap(self._pool, tokens[0], tokens[1], amounts.amount_in)
        assert swapped is not None
        self._pool = swapped[1]

    def shares_with(self, other: _Track) -> bool:
        """Return whether another pool shares a contract with this one through which both swap."""
        if other is self:
            return False
        own = {shared.address for shared in self._pool.shared_states}
        return any(shared.address in own for shared in other._pool.shared_states)

    def follow_shared(self, other: _Track) -> None:
        """Apply a swap's changes in another pool to the contracts that both share."""
        if other._lost:
            self._lost = self._lost or "an earlier swap in a pool that shares its state is not explained"
            return
        self._earlier = None
        own = {shared.address for shared in self._pool.shared_states}
        for shared in other._pool.shared_states:
            if shared.address in own:
                self._pool = self._pool.with_shared_state(shared)

    def follow_other(self, log: Log) -> None:
        """Apply an event other than a swap, if it is about the pool."""
        if log.address not in self._known.emitters or not log.topics:
            return
        topic, kind = log.topics[0], self._known.kind
        if topic in _IGNORED[kind]:
            return
        if not KINDS[kind].events:
            self._lose(log)
            return
        key_of = EVENTS[kind].get(topic)
        try:
            is_about = key_of is not None and topic not in swap_shapes() and key_of(log) == self._pool.key
        except IndexError:
            is_about = False
        if not is_about:
            return
        if topic in SYNCS:
            if self._synced is not None:
                self._earlier = None
            self._apply_sync()
            self._synced = tuple(int.from_bytes(log.data[at : at + WORD]) for at in (0, WORD))
        elif isinstance(self._pool, Concentrated) and topic in (_MINT, _MODIFY, *_BURNS):
            self._earlier = None
            if not self._lost:
                self._add_liquidity(log)
        else:
            self._lose(log)

    def _apply_sync(self) -> None:
        """Apply the last reserves that a pair has announced; they are all that can change."""
        if self._synced is not None:
            self._lost = ""
            self._change({"reserves": list(self._synced)}, "an event reports impossible reserves")
            self._synced = None

    def _add_liquidity(self, log: Log) -> None:
        try:
            lower, upper, change = _read_position_change(log)
        except IndexError:
            self._lose(log)
            return
        pool = self._pool
        assert isinstance(pool, Concentrated)
        nets = dict(zip(pool.tick_list.ticks, pool.tick_list.liquidity_nets, strict=True))
        nets[lower] = nets.get(lower, 0) + change
        nets[upper] = nets.get(upper, 0) - change
        is_active = lower <= pool.tick < upper
        ticks = [[tick, net] for tick, net in sorted(nets.items()) if net or tick not in (lower, upper)]
        changes = {"ticks": ticks, "liquidity": pool.liquidity + (change if is_active else 0)}
        self._change(changes, "an earlier liquidity change in the block does not match the pool's ticks")

    def _change(self, fields: Mapping[str, object], problem: str) -> None:
        try:
            self._pool = self._pool.from_state(self._pool.identity, {**self._pool.state(), **fields})
        except InvalidPoolState:
            self._lost = problem

    def _lose(self, log: Log) -> None:
        self._lost = f"another kind of event changed its pool earlier in the block (log {log.log_index})"


def _quote(pool: Pool, event: SwapEvent) -> VerifiedSwap:
    """Compare a swap with its quote on the state before it."""
    amounts = event.amounts
    token_in, token_out = _token(pool, amounts.sold), _token(pool, amounts.bought)
    if amounts.problem:
        return VerifiedSwap(event, Outcome.NOT_EXPLAINED, pool, reason=amounts.problem)
    if token_in is None or token_out is None:
        reason = "users of the pool cannot trade these tokens"
        return VerifiedSwap(event, Outcome.NOT_EXPLAINED, pool, reason=reason)
    quoted = _output(pool, token_in, token_out, amounts.amount_in)
    if quoted == amounts.amount_out:
        return VerifiedSwap(event, Outcome.EQUAL, pool, quoted)
    reason = _explain_difference(pool, event, token_in, token_out, quoted)
    outcome = Outcome.NOT_EXPLAINED if reason else Outcome.DIFFERENT
    return VerifiedSwap(event, outcome, pool, quoted, reason)


def _explain_difference(pool: Pool, event: SwapEvent, token_in: str, token_out: str, quoted: int | None) -> str:
    """Return why a difference does not contradict the quote; empty if it does."""
    amounts = event.amounts
    if isinstance(pool, Concentrated) and amounts.fee_ppm is not None:
        fee_ppm = pool.swap_fee_ppm(down=token_in == pool.tokens[0])
        if amounts.fee_ppm != fee_ppm:
            return f"a hook set its fee: it paid {amounts.fee_ppm} ppm, the pool had {fee_ppm} ppm"
    if pool.changes_without_events:
        return "its pool's state can change between blocks without an event"
    if quoted is not None and quoted > amounts.amount_out:
        less = amounts.amount_in - _rounding_units(pool, event)
        if less <= 0 or (_output(pool, token_in, token_out, less) or 0) <= amounts.amount_out:
            return _NO_EXACT_INPUT
        if amounts.names_output and not _is_of_other_fee(pool, token_in, token_out, amounts):
            return _LESS_THAN_ALLOWED
    return ""


def _is_of_other_fee(pool: Pool, token_in: str, token_out: str, amounts: SwapAmounts) -> bool:
    """Return whether a swap that paid less than its quote paid exactly the amount that a different fee leaves.

    One in a thousand random amounts would: amounts after two different fees are a thousand units or more apart.
    """
    if amounts.amount_out < _TELLING_UNITS:
        return False
    state = {name: value for name, value in pool.state().items() if name != "swap_fee"}

    def pays(step: int) -> int:
        identity = pool.identity._replace(fee_ppm=step * _FEE_STEP_PPM)
        return _output(pool.from_state(identity, state), token_in, token_out, amounts.amount_in) or 0

    low, high = 0, _MAX_FEE_PPM // _FEE_STEP_PPM
    while low < high:
        middle = (low + high) // 2
        if pays(middle) > amounts.amount_out:
            low = middle + 1
        else:
            high = middle
    return pays(low) == amounts.amount_out


def _rounding_units(pool: Pool, event: SwapEvent) -> int:
    """Return by how many units the input for an exact output may exceed the smallest possible one.

    Each step of a concentrated pool rounds up once, and a step ends at least every 256 spacings; other pools round once
    or twice, or by a relative error of their logarithms, which Balancer bounds by 1e-14 and doubles.
    """
    if isinstance(pool, Concentrated):
        after = event.amounts.state_after.get("tick", pool.tick)
        assert isinstance(after, int)
        low, high = sorted((pool.tick, after))
        crossed = sum(low < tick <= high for tick in pool.tick_list.ticks)
        words = (high - low) // pool.tick_list.word_ticks + 1 if pool.tick_list.word_ticks else 0
        return crossed + words + 2
    return 2 + (event.amounts.amount_in // 10**13 if pool.family == "weighted" else 0)


def _output(pool: Pool, token_in: str, token_out: str, amount_in: int) -> int | None:
    swapped = _swap(pool, token_in, token_out, amount_in)
    return swapped[0] if swapped else None


def _swap(pool: Pool, token_in: str, token_out: str, amount_in: int) -> tuple[int, Pool] | None:
    """Return the output and the pool after it; None if the pool rejects the swap.

    Lenders' limits change with time, even between blocks, but a mined swap was allowed.
    """
    try:
        return pool.swap(token_in, token_out, amount_in)
    except PoolError:
        unlimited = pool.without_lenders()
    if unlimited is pool:
        return None
    return _swap(unlimited, token_in, token_out, amount_in)


def _token(pool: Pool | None, token: int | str) -> str | None:
    """Return the address of a token by its position or its address; None if the pool does not have it."""
    if pool is None:
        return None
    if isinstance(token, str):
        return token if token in pool.tokens else None
    return pool.tokens[token] if 0 <= token < len(pool.tokens) else None


def _read_position_change(log: Log) -> tuple[int, int, int]:
    """Return (lower tick, upper tick, change of the liquidity between them). Raises `IndexError`."""
    words = [int.from_bytes(log.data[at : at + WORD]) for at in range(0, len(log.data), WORD)]
    if log.topics[0] == _MODIFY:
        return to_signed(words[0]), to_signed(words[1]), to_signed(words[2])
    lower, upper = (to_signed(int(topic, 16)) for topic in log.topics[2:4])
    return (lower, upper, words[1]) if log.topics[0] == _MINT else (lower, upper, -words[0])


class NetSwap(NamedTuple):
    """The total amounts that several swaps sold and bought, in base units."""

    token_in: str
    token_out: str
    amount_in: int
    amount_out: int


def find_net_swap(swaps: Iterable[tuple[str | None, str | None, int, int]]) -> NetSwap | None:
    """Return the net swap of several swaps, each given as (token in, token out, amount in, amount out).

    Return None if a token is unknown, or unless exactly one token was sold and one bought on balance. A remainder of an
    intermediate token is ignored if it is less than a millionth.
    """
    sold: dict[str, int] = {}
    bought: dict[str, int] = {}
    for token_in, token_out, amount_in, amount_out in swaps:
        if token_in is None or token_out is None:
            return None
        sold[token_in] = sold.get(token_in, 0) + amount_in
        bought[token_out] = bought.get(token_out, 0) + amount_out
    nets = {token: sold.get(token, 0) - bought.get(token, 0) for token in {**sold, **bought}}
    gross = {token: max(sold.get(token, 0), bought.get(token, 0)) for token in nets}
    relevant = {token: net for token, net in nets.items() if abs(net) * _DUST > gross[token]}
    ins, outs = ([token for token, net in relevant.items() if net * sign > 0] for sign in (1, -1))
    if len(ins) != 1 or len(outs) != 1:
        return None
    return NetSwap(ins[0], outs[0], nets[ins[0]], -nets[outs[0]])


_DUST: Final = 10**6  # a rest below a millionth of the amount passed on
