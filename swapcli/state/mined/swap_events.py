"""The events of swaps: which pool, which tokens, and the amounts that were paid.

Some say the state after the swap as well. An event alone proves nothing, since any contract can emit it: a reader of
the pool has to know that the contract which emitted it is the pool's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.abi import to_signed
from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import read_words, to_address
from swapcli.families.reading.calls import Log
from swapcli.families.reading.contract_kinds import (
    ContractKind,
    KeyOfEvent,
    address_in_first_topic,
    balancer_id_in_first_topic,
    first_topic,
    key_of_emitter,
    topic_of,
)


class SwapAmounts(NamedTuple):
    """What a swap sold and bought, by the position of the token in the pool or by its address, in base units.

    `state_after` are fields of the pool's state as in a market file. `fee_ppm` is the whole fee of the swap, None where
    the event does not say it. `problem` says why the amounts are not those of one swap of an exact input.
    """

    sold: int | str
    bought: int | str
    amount_in: int
    amount_out: int
    state_after: Mapping[str, object] = MappingProxyType({})
    fee_ppm: int | None = None
    problem: str = ""


class SwapEvent(NamedTuple):
    """A swap that a log announces: in the pool with this `key`, whose contract is one of `kinds`.

    `first_log` and `last_log` are the positions in the block of the logs that the swap consists of.
    """

    key: str
    kinds: tuple[ContractKind, ...]
    emitter: str
    first_log: int
    last_log: int
    amounts: SwapAmounts


_Decode = Callable[[Log], SwapAmounts]


class _Shape(NamedTuple):
    """How the swaps of some kinds of contracts are announced."""

    kinds: tuple[ContractKind, ...]
    key_of: KeyOfEvent
    decode: _Decode


def find_swaps(logs: Iterable[Log]) -> list[SwapEvent]:
    """Return the swaps that these logs of one block announce, in order. Malformed ones are left out.

    Liquidity Book emits one event for each bin: those that follow one another directly are one swap.
    """
    found: list[SwapEvent] = []
    for event in _decode_all(sorted(logs, key=lambda log: log.log_index)):
        last = found[-1] if found else None
        if last and _is_continued(last, event):
            found[-1] = _joined(last, event)
        else:
            found.append(event)
    return found


def _decode_all(logs: Iterable[Log]) -> Iterator[SwapEvent]:
    for log in logs:
        shape = SWAP_SHAPES.get(log.topics[0]) if log.topics else None
        if shape is None:
            continue
        try:
            amounts = shape.decode(log)
            key = shape.key_of(log)
        except (InvalidUpstreamResponse, IndexError):
            continue
        yield SwapEvent(key, shape.kinds, log.address, log.log_index, log.log_index, amounts)


def _is_continued(last: SwapEvent, event: SwapEvent) -> bool:
    by_bins = ContractKind.LIQUIDITY_BOOK in event.kinds
    is_next = (last.key, last.last_log + 1) == (event.key, event.first_log)
    return by_bins and is_next and last.amounts.sold == event.amounts.sold


def _joined(first: SwapEvent, second: SwapEvent) -> SwapEvent:
    amounts = second.amounts._replace(
        amount_in=first.amounts.amount_in + second.amounts.amount_in,
        amount_out=first.amounts.amount_out + second.amounts.amount_out,
        problem=first.amounts.problem or second.amounts.problem,
    )
    return first._replace(last_log=second.last_log, amounts=amounts)


def _pair(log: Log) -> SwapAmounts:
    """Read inputs and outputs of both tokens; a flash swap has more than one of each."""
    in0, in1, out0, out1 = read_words(log.data, 4, "Swap")
    return _two_sided(in0, in1, out0, out1)


def _two_sided(in0: int, in1: int, out0: int, out1: int) -> SwapAmounts:
    forward = in0 > 0
    is_plain = bool(in0) != bool(in1) and bool(out0) != bool(out1) and bool(in0) == bool(out1)
    problem = "" if is_plain else "it moves a token both ways, as a flash swap does"
    return SwapAmounts(
        *((0, 1, in0, out1) if forward else (1, 0, in1, out0)),
        problem=problem,
    )


def _concentrated(log: Log) -> SwapAmounts:
    """Read the amounts from the pool's view: what it receives is positive."""
    return _signed(log, 5)


def _concentrated_in_manager(log: Log) -> SwapAmounts:
    """Read the amounts from the swapper's view, and the whole fee."""
    amounts = _signed(log, 6, view=-1)
    return amounts._replace(fee_ppm=read_words(log.data, 6, "Swap")[5])


def _signed(log: Log, count: int, view: int = 1) -> SwapAmounts:
    words = read_words(log.data, count, "Swap")
    amount0, amount1, tick = view * to_signed(words[0]), view * to_signed(words[1]), to_signed(words[4])
    return _of_signs(amount0, amount1)._replace(
        state_after={"sqrt_price_x96": words[2], "liquidity": words[3], "tick": tick}
    )


def _from_swap_params(log: Log) -> SwapAmounts:
    """Read the direction from Maverick's SwapParams, and both amounts."""
    words = read_words(log.data, 8, "PoolSwap")
    sold = 0 if words[3] else 1
    problem = "it was a swap for an exact output" if words[4] else ""
    return SwapAmounts(sold, 1 - sold, words[6], words[7], problem=problem)


def _of_signs(amount0: int, amount1: int) -> SwapAmounts:
    return _two_sided(max(amount0, 0), max(amount1, 0), max(-amount0, 0), max(-amount1, 0))._replace(
        problem="" if amount0 * amount1 < 0 else "it pays nothing for what it takes, or takes nothing"
    )


def _bins_in_manager(log: Log) -> SwapAmounts:
    amount0, amount1 = (-to_signed(word) for word in read_words(log.data, 2, "Swap"))
    return _of_signs(amount0, amount1)._replace(fee_ppm=read_words(log.data, 4, "Swap")[3])


def _liquidity_book(log: Log) -> SwapAmounts:
    """Read the amounts of one bin: 128 bits for each token, the first in the lower half."""
    _, sold, bought = read_words(log.data, 3, "Swap")
    mask = (1 << 128) - 1
    return _two_sided(sold & mask, sold >> 128, bought & mask, bought >> 128)


def _by_number(log: Log) -> SwapAmounts:
    sold, amount_in, bought, amount_out = read_words(log.data, 4, "TokenExchange")
    return SwapAmounts(sold, bought, amount_in, amount_out)


def _by_underlying_number(log: Log) -> SwapAmounts:
    """Read the numbers of a metapool's exchange: its own coin, then the base pool's coins.

    The pool has the liquidity token between them.
    """
    amounts = _by_number(log)
    sold, bought = (int(number) + (int(number) > 0) for number in (amounts.sold, amounts.bought))
    return amounts._replace(sold=sold, bought=bought)


def _by_address_in_vault(log: Log) -> SwapAmounts:
    """Read the tokens from the topics after the pool's."""
    return _by_topics(log, 2)


def _by_address(log: Log) -> SwapAmounts:
    """Read the tokens from the first topics, and the amounts behind the sender's address."""
    sold, bought = _addresses(log, 1)
    _, amount_in, amount_out = read_words(log.data, 3, "Swap")
    return SwapAmounts(sold, bought, amount_in, amount_out)


def _by_topics(log: Log, first: int) -> SwapAmounts:
    sold, bought = _addresses(log, first)
    amount_in, amount_out = read_words(log.data, 2, "Swap")
    return SwapAmounts(sold, bought, amount_in, amount_out)


def _addresses(log: Log, first: int) -> tuple[str, str]:
    sold, bought = (to_address(int(topic, 16), "Swap") for topic in log.topics[first : first + 2])
    return sold, bought


def _pool_of_vault_swap(log: Log) -> str:
    return address_in_first_topic(log) if len(log.topics) > 1 else key_of_emitter(log)


def _by_address_in_topics_or_data(log: Log) -> SwapAmounts:
    """Read Balancer V3's swap, or GMX V1's: account, tokens, input, and output before and after the fee."""
    if len(log.topics) > 1:
        return _by_address_in_vault(log)
    _, sold, bought, amount_in, _, amount_out = read_words(log.data, 6, "Swap")
    return SwapAmounts(to_address(sold, "Swap"), to_address(bought, "Swap"), amount_in, amount_out)


def _by_direction(log: Log) -> SwapAmounts:
    forward, amount_in, amount_out = read_words(log.data, 3, "Swap")
    return SwapAmounts(*((0, 1) if forward else (1, 0)), amount_in, amount_out)


def _two_signed(log: Log) -> SwapAmounts:
    """Read the amounts from the pool's view: what it receives is positive."""
    return _of_signs(*(to_signed(word) for word in read_words(log.data, 2, "Swap")))


def _by_tokens_in_data(log: Log) -> SwapAmounts:
    sold, bought, amount_in, amount_out = read_words(log.data, 4, "DODOSwap")
    return SwapAmounts(to_address(sold, "DODOSwap"), to_address(bought, "DODOSwap"), amount_in, amount_out)


def _by_point(log: Log) -> SwapAmounts:
    sells_x, amount_x, amount_y, point = read_words(log.data, 4, "Swap")
    sides = (0, 1, amount_x, amount_y) if sells_x else (1, 0, amount_y, amount_x)
    return SwapAmounts(*sides, state_after={"point": to_signed(point)})


def _by_direction_with_fee(log: Log) -> SwapAmounts:
    """Read the direction, the input including the fee, and the output; the fee stands between them."""
    forward, amount_in, _, amount_out = read_words(log.data, 4, "Swap")
    return SwapAmounts(*((0, 1) if forward else (1, 0)), amount_in, amount_out)


def _without_fees(log: Log) -> SwapAmounts:
    """Read the amounts of EulerSwap's first version, whose event has inputs without the fee."""
    amounts = _two_sided(*read_words(log.data, 4, "Swap"))
    return amounts._replace(problem=amounts.problem or "its event leaves the fee out of the input")


def _with_fees(log: Log) -> SwapAmounts:
    """Read the amounts of EulerSwap's second version, whose event also has the fees of both tokens."""
    in0, in1, out0, out1, fee0, fee1 = read_words(log.data, 6, "Swap")
    return _two_sided(in0 + fee0, in1 + fee1, out0, out1)


def _deposit(log: Log) -> SwapAmounts:
    assets, shares = read_words(log.data, 2, "Deposit")
    return SwapAmounts(0, 1, assets, shares)


def _withdrawal(log: Log) -> SwapAmounts:
    assets, shares = read_words(log.data, 2, "Withdraw")
    return SwapAmounts(1, 0, shares, assets)


_OWN_POOLS: Final = (
    ContractKind.UNISWAP_V3,
    ContractKind.RAMSES_V3,
    ContractKind.ALGEBRA,
    ContractKind.SOLIDLY_V3,
)
_V2_PAIRS: Final = (ContractKind.UNISWAP_V2, ContractKind.SOLIDLY_V1, ContractKind.RING_PAIR)

SWAP_SHAPES: Final[Mapping[str, _Shape]] = MappingProxyType(
    {
        topic_of(signature): _Shape(kinds, key_of, decode)
        for signature, kinds, key_of, decode in (
            ("Swap(address,uint256,uint256,uint256,uint256,address)", _V2_PAIRS, key_of_emitter, _pair),
            (
                "Swap(address,address,uint256,uint256,uint256,uint256)",
                (ContractKind.SOLIDLY,),
                key_of_emitter,
                _pair,
            ),
            (
                "Swap(address,address,int256,int256,uint160,uint128,int24)",
                _OWN_POOLS,
                key_of_emitter,
                _concentrated,
            ),
            # PancakeSwap V3's has the protocol's fees behind.
            (
                "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)",
                (ContractKind.UNISWAP_V3,),
                key_of_emitter,
                _concentrated,
            ),
            # Algebra Integral 1.2's has the fees behind that its plugin has set for this swap.
            (
                "Swap(address,address,int256,int256,uint160,uint128,int24,uint24,uint24)",
                (ContractKind.ALGEBRA,),
                key_of_emitter,
                _concentrated,
            ),
            (
                "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
                (ContractKind.UNISWAP_V4,),
                first_topic,
                _concentrated_in_manager,
            ),
            (
                "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24,uint16)",
                (ContractKind.INFINITY_CL,),
                first_topic,
                _concentrated_in_manager,
            ),
            (
                "Swap(bytes32,address,int128,int128,uint24,uint24,uint16)",
                (ContractKind.INFINITY_BIN,),
                first_topic,
                _bins_in_manager,
            ),
            (
                "Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)",
                (ContractKind.LIQUIDITY_BOOK,),
                key_of_emitter,
                _liquidity_book,
            ),
            (
                "TokenExchange(address,int128,uint256,int128,uint256)",
                (ContractKind.STABLESWAP,),
                key_of_emitter,
                _by_number,
            ),
            (
                "TokenExchangeUnderlying(address,int128,uint256,int128,uint256)",
                (ContractKind.STABLESWAP,),
                key_of_emitter,
                _by_underlying_number,
            ),
            (
                "TokenExchange(address,uint256,uint256,uint256,uint256,uint256,uint256)",
                (ContractKind.CRYPTOSWAP,),
                key_of_emitter,
                _by_number,
            ),
            (
                "Swap(bytes32,address,address,uint256,uint256)",
                (ContractKind.BALANCER_V2,),
                balancer_id_in_first_topic,
                _by_address_in_vault,
            ),
            (
                "Swap(address,address,address,uint256,uint256,uint256,uint256)",
                # GMX V1's has the same signature, and nothing in its topics.
                (ContractKind.BALANCER_V3, ContractKind.GMX_VAULT),
                _pool_of_vault_swap,
                _by_address_in_topics_or_data,
            ),
            (
                "DODOSwap(address,address,uint256,uint256,address,address)",
                (ContractKind.DODO_V2,),
                key_of_emitter,
                _by_tokens_in_data,
            ),
            (
                "Swap(address,address,uint24,bool,uint256,uint256,int24)",
                (ContractKind.IZISWAP,),
                key_of_emitter,
                _by_point,
            ),
            ("Swap(address,address,int256,int256)", (ContractKind.SMARDEX,), key_of_emitter, _two_signed),
            (
                "Swap(address,bool,uint256,uint256,uint256)",
                (ContractKind.VALANTIS_STEX,),
                key_of_emitter,
                _by_direction_with_fee,
            ),
            (
                "PoolSwap(address,address,(uint256,bool,bool,int32),uint256,uint256)",
                (ContractKind.MAVERICK_V2,),
                key_of_emitter,
                _from_swap_params,
            ),
            (
                "Swap(address,uint256,uint256,uint256,uint256,uint112,uint112,address)",
                (ContractKind.EULER_SWAP,),
                key_of_emitter,
                _without_fees,
            ),
            (
                "Swap(address,uint256,uint256,uint256,uint256,uint256,uint256,uint112,uint112,address)",
                (ContractKind.EULER_SWAP,),
                key_of_emitter,
                _with_fees,
            ),
            ("Swap(bool,uint256,uint256,address)", (ContractKind.FLUID_T1,), key_of_emitter, _by_direction),
            (
                "Swap(address,address,address,address,uint256,uint256,uint256)",
                (ContractKind.PSM,),
                key_of_emitter,
                _by_address,
            ),
            ("Deposit(address,address,uint256,uint256)", (ContractKind.VAULT,), key_of_emitter, _deposit),
            ("Withdraw(address,address,address,uint256,uint256)", (ContractKind.VAULT,), key_of_emitter, _withdrawal),
        )
    }
)
"""How swaps are announced, by the first topic."""
