"""The best prices of HyperCore's spot books, which HyperEVM contracts can read, but not trade with in a swap.

The precompiles take plain words and return plain structures. A registry contract returns HyperCore's index for a token;
the token's own structure confirms that the index is right. A market is found among the markets of its base token.

Source: hyperliquid-dev/hyper-evm-lib @6abf28fc src/PrecompileLib.sol, src/common (addresses of precompiles, structures,
the indices of USDC and HYPE, decimals of prices, the asset of a spot market).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD, encode_word
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import encode_call, read_word, read_words
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead

NAME: Final = "HyperCore spot"
_SPOT_INFO: Final = "0x000000000000000000000000000000000000080b"
_TOKEN_INFO: Final = "0x000000000000000000000000000000000000080c"
_BEST_PRICES: Final = "0x000000000000000000000000000000000000080e"
_TOKEN_INDEX: Final = "getTokenIndex(address)"
_HYPE_INDEX: Final = 150
_USDC: Final = "0xb88339cb7199b77e23db6e890353e22632ba630f"
_USDC_INDEX: Final = 0
"""Circle links USDC through a separate contract, so the registry does not have it."""
_FIRST_SPOT: Final = 10_000
"""The asset number of the first spot market: spot markets follow perpetuals, with their index added to this."""
_PRICE_DECIMALS: Final = 8
"""The decimals of spot market prices, less those of the base token's sizes."""
_MAX_MARKETS: Final = 64  # of a token's markets; chosen
_SPOTS, _CONTRACT, _SIZE_DECIMALS, _FIELDS = 1, 4, 5, 8
"""The position in the structure of a token, and the number of its fields."""


class SpotBook(NamedTuple):
    """The best prices of a market, times 10^`decimals`; the base is the first or the second of the requested tokens.

    A price is 0 if there is no offer.
    """

    base_is_first: bool
    bid: int
    ask: int
    decimals: int


class _CoreToken(NamedTuple):
    markets: tuple[int, ...]
    contract: str
    size_decimals: int


def read_spot_book(registry: str, first: str, second: str, native: Sequence[str]) -> BatchRead[SpotBook | None]:
    """Read the book of two tokens in three rounds, or return None if HyperCore has none.

    `registry` has the indices of tokens, and `native` are the addresses that represent HYPE.
    """
    tokens, indices = (first, second), [_known_index(each, native) for each in (first, second)]
    asked = [token for token, index in zip(tokens, indices, strict=True) if index is None]
    if asked:
        answers = yield [ContractCall(registry, encode_call(_TOKEN_INDEX, each), may_revert=True) for each in asked]
        found = iter(answers)
        indices = [_read_index(next(found)) if index is None else index for index in indices]
    if None in indices or indices[0] == indices[1]:
        return None
    numbers = [index for index in indices if index is not None]
    answers = yield [ContractCall(_TOKEN_INFO, encode_word(each), may_revert=True) for each in numbers]
    described = [_read_token(answer) for answer in answers]
    for token, known, core in zip(tokens, (_known_index(each, native) for each in tokens), described, strict=True):
        if core is None or (known is None and core.contract != token):
            return None
    cores = [core for core in described if core is not None]
    # USDC, which is in most markets, has a long list, so the shorter one is read.
    markets = min((core.markets for core in cores), key=len)[:_MAX_MARKETS]
    answers = yield [
        *(ContractCall(_SPOT_INFO, encode_word(market), may_revert=True) for market in markets),
        *(ContractCall(_BEST_PRICES, encode_word(_FIRST_SPOT + market), may_revert=True) for market in markets),
    ]
    for of_market, prices in zip(answers[: len(markets)], answers[len(markets) :], strict=True):
        pair = _read_pair(of_market)
        if pair in (tuple(numbers), tuple(numbers[::-1])) and prices:
            base_is_first = pair == tuple(numbers)
            decimals = _PRICE_DECIMALS - cores[0 if base_is_first else 1].size_decimals
            bid, ask = read_words(prices, 2, "best prices")
            return SpotBook(base_is_first, bid, ask, decimals) if decimals >= 0 else None
    return None


def _known_index(token: str, native: Sequence[str]) -> int | None:
    if token in native:
        return _HYPE_INDEX
    return _USDC_INDEX if token == _USDC else None


def _read_index(answer: ReturnData) -> int | None:
    return read_word(answer, _TOKEN_INDEX) if answer else None


def _read_token(answer: ReturnData) -> _CoreToken | None:
    """Return the relevant part of a token's structure, or None for an index without a token."""
    if not answer:
        return None
    body = answer[read_word(answer, "token") :]
    fields = read_words(body, _FIELDS, "token")
    spots = body[fields[_SPOTS] :]
    count = min(read_word(spots, "markets"), len(spots) // WORD - 1)
    markets = read_words(spots, count + 1, "markets")[1:]
    return _CoreToken(markets, f"0x{fields[_CONTRACT]:040x}", fields[_SIZE_DECIMALS])


def _read_pair(answer: ReturnData) -> tuple[int, ...]:
    """Return the tokens of a market: in its structure, they come before its name."""
    if not answer:
        return ()
    body = answer[read_word(answer, "market") :]
    return read_words(body, 3, "market")[1:]
