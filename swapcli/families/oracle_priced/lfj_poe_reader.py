"""Read POE pools in two rounds: the pool and its oracle's address, then the oracle's data and quotes from the pool.

The pool quotes some sales of either token, sized by its reserves. The quotes must match the maths, which also covers
expired data, for which a pool quotes nothing. Pools that have a different key at their oracle are also skipped.
"""

from __future__ import annotations

from typing import Any, Final

from swapcli.core.encoding.keccak import keccak256
from swapcli.core.errors import InsufficientLiquidity, PoolError
from swapcli.core.model.pool import Pool
from swapcli.families.oracle_priced.lfj_poe import LfjPoe
from swapcli.families.reading.block_time import time_view
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import invalid_response, read_address, read_words, to_address
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import optional_view, read_views, view, words

_TOKENS: Final = "getTokens()"
_DATA: Final = "getData(bytes32)"
_QUOTE: Final = "getQuote(bool,uint256)"
_PARTS: Final = (10_000, 100, 7)
"""The sales to compare: these parts of a reserve."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in two rounds of calls."""
    pool = yield from read_views(
        view("oracle", ref.address, "getOracle()", decode=read_address),
        view("reserves", ref.address, "getBalances()", decode=words(2)),
    )
    key = keccak256(b"".join(bytes.fromhex(token[2:]) for token in ref.tokens)).hex()
    sales = {
        f"{_QUOTE} {i} {size}": (i, pool["reserves"][i] // size)
        for i in range(2)
        for size in _PARTS
        if pool["reserves"][i] // size
    }
    values = yield from read_views(
        view("data", pool["oracle"], _DATA, f"0x{key}", decode=words(4)),
        time_view("after which the oracle's price expires"),
        *(
            optional_view(name, ref.address, _QUOTE, 1 - i, amount, decode=words(2))
            for name, (i, amount) in sales.items()
        ),
    )
    price, fee_ppm, alpha_bps, expiry = values["data"]
    if values["timestamp"] > expiry:
        raise invalid_response(_DATA, f"the price has expired at {expiry}")
    built = build_pool(ref, fee_ppm, {"reserves": list(pool["reserves"]), "price": price, "alpha_bps": alpha_bps})
    assert isinstance(built, LfjPoe)
    for name, (i, amount) in sales.items():
        if not _is_quoted(built, i, amount, values[name]):
            raise invalid_response(_QUOTE, f"the quote for {amount} does not follow the known rule")
    return built


def _is_quoted(pool: LfjPoe, i: int, amount: int, answer: tuple[int, ...] | None) -> bool:
    """Return whether the pool's own quote matches the maths, in the output and in the part of the input that it
    takes."""
    try:
        return answer == (pool.swap(pool.tokens[i], pool.tokens[1 - i], amount)[0], amount)
    except InsufficientLiquidity:
        return answer is None or answer[1] < amount
    except PoolError:
        return answer is None or not answer[0]


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pool in one round of calls."""
    values = yield from read_views(view("tokens", address, _TOKENS, decode=read_pair))
    return factory.new_ref(address, values["tokens"])


def read_pair(data: Any, name: str) -> tuple[str, ...]:
    """Decode the two addresses that a function returns."""
    return tuple(to_address(word, name) for word in read_words(data, 2, name))
