"""Prices outside a route to compare a quote with: averages in other pools, HyperCore's oracle, and price feeds.

Each reference gives the value of the order's input in the output token. All are read in one call to a node, with the
rehearsal of the swap. A reference that does not respond, or whose price is too old, is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD, encode_fields, encode_list, encode_uint, to_signed
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.skipped_pool import pass_request_errors
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import Transaction
from swapcli.core.model.units import PPM
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.families.tick_math import MAX_TICK, MIN_TICK, sqrt_ratio_at_tick
from swapcli.payload.evm.token_powers import selector_of
from swapcli.payload.verdict.verdict import PriceKind, PriceReference

TWAP_S: Final = 1_800
"""Half an hour: to move its average by 5%, a price must be off by more than 5% for the whole time."""
MAX_FEED_AGE_S: Final = 90_000
"""The longest heartbeat of Chainlink's feeds is one day; one hour is added."""

_MAX_TWAPS: Final = 3  # of the deepest pools
_DEPTH_PARTS: Final = 2
"""A pool is deeper than the order if it pays more than half of the value at its first unit's rate."""
_SMALL_PART: Final = 1_000
_Q192: Final = 192  # fractional bits of a squared Q64.96
_OBSERVE: Final = "observe(uint32[])"
_LATEST_ROUND: Final = "latestRoundData()"
_DECIMALS: Final = "decimals()"
_HYPERCORE_CHAIN: Final = 999  # HyperEVM
_ORACLE_PRICE: Final = f"0x{0x807:040x}"
"""The precompile that returns the oracle's price of a perpetual, with 6 decimals less those of its sizes."""
_PERP_INFO: Final = f"0x{0x80A:040x}"
"""The precompile that returns the name of a perpetual, in a tuple whose third word has the decimals of its sizes."""
_PRICE_DECIMALS: Final = 6  # of perpetuals, less the decimals of their size
_PERPS: Final[Mapping[str, tuple[int, str]]] = {
    "0x5555555555555555555555555555555555555555": (159, "HYPE"),
    "0x9fdbda0a5e284c32744d2f17ee5c74b284993463": (0, "BTC"),
    "0xbe6727b535545c67d5caa73dea54865b92cf7907": (1, "ETH"),
}
"""The index and name of the perpetual for a token on HyperEVM: WHYPE, UBTC and UETH. The name is checked."""
_DOLLARS: Final = frozenset(
    {
        "0xb8ce59fc3717ada4c02eadf9682a9e934f625ebb",
        "0xb88339cb7199b77e23db6e890353e22632ba630f",
        "0x5d3a1ff2b6bab83b63cd9ad0787074081a52ef34",
    }
)
"""USDT0, USDC and USDe on HyperEVM, the units of the oracle."""


class PricedOrder(NamedTuple):
    """The order whose price is compared: its tokens in the form in which pools list them, and its input in base
    units."""

    token_in: Token
    token_out: Token
    amount_in: int


class Question(NamedTuple):
    """The calls that give one reference price.

    From their return data, `read` returns the output that the input is worth at the block's Unix time; None if the
    calls give no price.
    """

    kind: PriceKind
    source: str
    calls: tuple[Transaction, ...]
    read: Callable[[Sequence[bytes], int], int | None]


def plan_references(
    order: PricedOrder, network: Network, pools: Mapping[str, Pool], route_pools: Iterable[str]
) -> tuple[Question, ...]:
    """Return the calls for an order's references: known `pools` (by key) outside the route, and oracles."""
    others = [pool for key, pool in pools.items() if key not in set(route_pools)]
    questions = [*_twaps(order, network, others), *_feeds(order, network), *_hypercore(order, network)]
    return tuple(questions)


def read_references(
    questions: Sequence[Question], outputs: Sequence[bytes], amount_out: int, now_s: int
) -> tuple[PriceReference, ...]:
    """Return the references that responded, with how far the quote's `amount_out` is below each, in ppm."""
    found, position = [], 0
    for question in questions:
        own = outputs[position : position + len(question.calls)]
        position += len(question.calls)
        worth = question.read(own, now_s)
        if worth:
            loss_ppm = (worth - amount_out) * PPM // worth
            found.append(PriceReference(question.kind, question.source, worth, loss_ppm))
    return tuple(found)


def _twaps(order: PricedOrder, network: Network, pools: Sequence[Pool]) -> Iterator[Question]:
    ends = {order.token_in.address, order.token_out.address}
    deep = [(depth, pool) for pool in pools if ends <= set(pool.tokens) and (depth := _depth(order, pool))]
    for _, pool in sorted(deep, key=lambda entry: -entry[0])[:_MAX_TWAPS]:
        words = encode_fields(encode_list([encode_uint(TWAP_S, 32, "age"), encode_uint(0, 32, "age")]))
        call = Transaction(pool.address, f"0x{selector_of(_OBSERVE).hex()}{words}")
        name = f"average of {TWAP_S // 60} minutes of {pool.protocol} {display_address(pool.address, network.kind)}"
        yield Question(PriceKind.AVERAGE, name, (call,), _average_reader(order, pool))


def _depth(order: PricedOrder, pool: Pool) -> int:
    """Return a V3 pool's output for the order; 0 unless the pool is deeper than the order."""
    if pool.family != "concentrated" or pool.key != pool.address:
        return 0
    ends = order.token_in.address, order.token_out.address
    part = order.amount_in // _SMALL_PART
    try:
        paid, _ = pool.swap(*ends, order.amount_in)
        paid_for_part, _ = pool.swap(*ends, part)
    except Exception as error:
        pass_request_errors(error)
        return 0
    return paid if _DEPTH_PARTS * paid * part > paid_for_part * order.amount_in else 0


def _average_reader(order: PricedOrder, pool: Pool) -> Callable[[Sequence[bytes], int], int | None]:
    return lambda outputs, _: _average(order, pool, outputs[0])


def _average(order: PricedOrder, pool: Pool, output: bytes) -> int | None:
    """Return the output at the mean tick: `observe` returns the sums of ticks half an hour ago and now."""
    words = [int.from_bytes(output[at : at + WORD]) for at in range(0, len(output), WORD)]
    if len(words) < 5 or words[2] != 2:
        return None
    tick = (to_signed(words[4]) - to_signed(words[3])) // TWAP_S
    if not MIN_TICK <= tick <= MAX_TICK:
        return None
    price = sqrt_ratio_at_tick(tick) ** 2  # in token 1 per token 0, times 2^192
    if pool.tokens.index(order.token_in.address) < pool.tokens.index(order.token_out.address):
        return order.amount_in * price >> _Q192
    return (order.amount_in << _Q192) // price


def _feeds(order: PricedOrder, network: Network) -> Iterator[Question]:
    feeds = [network.price_feeds.get(token.address) for token in (order.token_in, order.token_out)]
    feed_in, feed_out = feeds
    if feed_in is None or feed_out is None:
        return
    calls = tuple(
        Transaction(feed, f"0x{selector_of(signature).hex()}")
        for feed in (feed_in, feed_out)
        for signature in (_LATEST_ROUND, _DECIMALS)
    )

    def read(outputs: Sequence[bytes], now_s: int) -> int | None:
        prices = [_feed_price(outputs[at], outputs[at + 1], now_s) for at in (0, 2)]
        return _worth(order, prices[0], prices[1])

    names = " and ".join(display_address(feed, network.kind) for feed in (feed_in, feed_out))
    yield Question(PriceKind.FEED, f"price feeds {names}", calls, read)


_Price = tuple[int, int]
"""The price in USD of a whole token, and the token's decimals."""


def _feed_price(latest: bytes, decimals: bytes, now_s: int) -> _Price | None:
    """Return the price from Chainlink's `latestRoundData`: (roundId, answer, startedAt, updatedAt, answeredInRound)."""
    if len(latest) < 5 * WORD or len(decimals) < WORD:
        return None
    answer, updated_s = to_signed(int.from_bytes(latest[WORD : 2 * WORD])), int.from_bytes(latest[3 * WORD : 4 * WORD])
    places = int.from_bytes(decimals[:WORD])
    is_fresh = updated_s > 0 and now_s - updated_s <= MAX_FEED_AGE_S
    return (answer, places) if answer > 0 and is_fresh and places <= WORD else None


def _hypercore(order: PricedOrder, network: Network) -> Iterator[Question]:
    ends = [token.address for token in (order.token_in, order.token_out)]
    if network.chain_id != _HYPERCORE_CHAIN or not all(end in _PERPS or end in _DOLLARS for end in ends):
        return
    asked = [end for end in ends if end in _PERPS]
    calls = tuple(
        Transaction(address, f"0x{encode_uint(_PERPS[end][0], 32, 'perpetual')}")
        for end in asked
        for address in (_ORACLE_PRICE, _PERP_INFO)
    )

    def read(outputs: Sequence[bytes], _: int) -> int | None:
        known = {end: _perp_price(outputs[2 * at], outputs[2 * at + 1], _PERPS[end][1]) for at, end in enumerate(asked)}
        prices = [known.get(end, (1, 0)) for end in ends]
        return _worth(order, prices[0], prices[1])

    if asked:
        yield Question(PriceKind.ORACLE, "HyperCore's oracle", calls, read)


def _perp_price(price: bytes, info: bytes, name: str) -> _Price | None:
    """Return the oracle's price of a perpetual, if it has the expected name."""
    words = [int.from_bytes(info[at : at + WORD]) for at in range(0, len(info), WORD)]
    # An offset, then the offset of the name, a table, the decimals, two more words, and the name.
    if len(price) < WORD or len(words) < 8 or words[:2] != [WORD, 5 * WORD]:
        return None
    start = 7 * WORD
    if info[start : start + words[6]] != name.encode() or words[3] > _PRICE_DECIMALS:
        return None
    value = int.from_bytes(price[:WORD])
    return (value, _PRICE_DECIMALS - words[3]) if value else None


def _worth(order: PricedOrder, price_in: _Price | None, price_out: _Price | None) -> int | None:
    """Return the output amount with the same value as the input, or None if a price is unknown."""
    if price_in is None or price_out is None:
        return None
    (value_in, places_in), (value_out, places_out) = price_in, price_out
    # amount_in / 10^decimals_in * price_in = output / 10^decimals_out * price_out, with value / 10^places for a price.
    numerator: int = order.amount_in * value_in * 10 ** (order.token_out.decimals + places_out)
    denominator: int = value_out * 10 ** (order.token_in.decimals + places_in)
    return numerator // denominator
