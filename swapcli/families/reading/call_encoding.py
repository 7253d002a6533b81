"""Encode the calls that read pools and tokens, and decode their return data.

Contract return data is untrusted: the expected words are read and trailing bytes are ignored. Every reader raises
`InvalidUpstreamResponse`, whose message begins with the name of the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD, decode_list, decode_text, decode_word, decode_words, encode_word, to_signed
from swapcli.core.encoding.abi import to_address as address_of_word
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.families.reading.calls import ReturnData

SELECTORS: Final[dict[str, str]] = {
    "A()": "f446c1d0",
    "_BASE_TARGET_()": "e539ef49",
    "_BASE_TOKEN_()": "4a248d2a",
    "_MIN_BASE_SWAP_AMOUNT_()": "b5abeb6a",
    "_MIN_QUOTE_SWAP_AMOUNT_()": "4b0a2644",
    "_QUOTE_TOKEN_()": "d4b97046",
    "areBuffersPaused()": "55cba7fe",
    "computeCurrentVirtualBalances()": "4f149b3f",
    "DOMAIN_SEPARATOR()": "3644e515",
    "feeTo()": "017e7e58",
    "getECLPParams()": "7be219a2",
    "getERC4626BufferAsset(address)": "4afbaf5a",
    "getFictiveReserves()": "9a20767b",
    "getGyro2CLPPoolImmutableData()": "7e148d61",
    "getMinimumWrapAmount()": "53956aa2",
    "getPairFees()": "003b15fd",
    "getPMMStateForCall()": "fd1ed7e9",
    "getPriceAverage()": "ee2046c7",
    "getProjectToken()": "4837c596",
    "getReserveTokenVirtualBalance()": "f898f16e",
    "getUserFeeRate(address)": "44096609",
    "getFee(address)": "b88c9148",
    "pairFee(address)": "841fa66b",
    "isProjectTokenSwapInBlocked()": "95146efb",
    "isSwapEnabled()": "351a964d",
    "limitOrderData(int24)": "8790aca3",
    "orderOrEndpoint(int24)": "edcba3b2",
    "PERMIT_TYPEHASH()": "30adf81f",
    "nonces(address)": "7ecebe00",
    "pointBitmap(int16)": "98a0f72e",
    "pointDelta()": "58c51ce6",
    "points(int24)": "75c0e0d5",
    "previewDeposit(uint256)": "ef8b30f7",
    "previewRedeem(uint256)": "4cdad506",
    "rateProvider0()": "828a7c34",
    "rateProvider1()": "62ced092",
    "state()": "c19d93fb",
    "tokenX()": "16dc165b",
    "tokenY()": "b7d19fc4",
    "totalAssets()": "01e1d114",
    "version()": "54fd4d50",
    "A_precise()": "76a2f0f0",
    "N_COINS()": "29357750",
    "aggregate3((address,bool,bytes)[])": "82ad56cb",
    "allowance(address,address)": "dd62ed3e",
    "allowance(address,address,address)": "927da105",
    "allPairs(uint256)": "1e3dd18b",
    "allPairsLength()": "574f2ba3",
    "allPools(uint256)": "41d1de97",
    "allPoolsLength()": "efde4e64",
    "balanceOf(address)": "70a08231",
    "balances(uint256)": "4903b0d1",
    "baseFeeScalar()": "c5985918",
    "blobBaseFee()": "f8206140",
    "blobBaseFeeScalar()": "68d5dca6",
    "coins(uint256)": "c6610657",
    "decimals()": "313ce567",
    "extsload(bytes32[])": "dbd035ff",
    "factory()": "c45a0155",
    "currentFee()": "da3c300d",
    "isPaused()": "b187bd26",
    "quoteExactInputSingle((address,address,address,uint256,uint160))": "e94764c4",
    "quoteExactInputSingle((address,address,uint256,uint160))": "5e5e6e0f",
    "fee()": "ddca3f43",
    "feeAmountTickSpacing(uint24)": "22afcccb",
    "future_A()": "b4b577ad",
    "getBlockNumber()": "42cbb15c",
    "getFee(address,bool)": "cc56b2c5",
    "getRealFee(address)": "6652f0bf",
    "getFee(bool)": "512b45ea",
    "getAmountOut(uint256,address)": "f140a35a",
    "getGradualWeightUpdateParams()": "7beed220",
    "getAmplificationParameter()": "6daccffa",
    "getBptIndex()": "82687a56",
    "getHooksConfig(address)": "ce8630d4",
    "getLastJoinExitData()": "3c975d51",
    "getMaxSurgeFeePercentage(address)": "1a4a64be",
    "getMinTokenBalances()": "d67f280b",
    "getMinimumTradeAmount()": "e2cb0ba0",
    "getPoolConfig(address)": "f29486a1",
    "getPoolData(address)": "13d21cdf",
    "getPoolTokens(address)": "ca4f2803",
    "getPriceRateCache(address)": "b867ee5a",
    "getProtocolFeePercentageCache(uint256)": "70464016",
    "getRate()": "679aefce",
    "getRateProviders()": "238a2d59",
    "getScalingFactors()": "1dd746ea",
    "getSurgeThresholdPercentage(address)": "e2381602",
    "getTokenRateCache(address)": "7f1260d1",
    "inRecoveryMode()": "b35056b8",
    "isTokenExemptFromYieldProtocolFee(address)": "ab7759f1",
    "isVaultPaused()": "098401f5",
    "getLastBlockHash()": "27e86d6e",
    "getLastPostJoinExitInvariant()": "b1096278",
    "getNormalizedWeights()": "f89f27ed",
    "getPair(address,address)": "e6a43905",
    "getPair(address,address,bool)": "6801cc30",
    "getPausedState()": "1c0de051",
    "getPool(address,address,bool)": "79bc57d5",
    "getPool(address,address,int24)": "28af8d0b",
    "getPool(address,address,uint24)": "1698ee82",
    "getPoolId()": "38fff2d0",
    "getPoolTokens(bytes32)": "f94d4668",
    "getReserves()": "0902f1ac",
    "getSwapFeePercentage()": "55c67628",
    "getVault()": "8d928af8",
    "globalState()": "e76c01e4",
    "l1BaseFee()": "519b4bd3",
    "liquidity()": "1a686502",
    "ma_exp_time()": "1be913a5",
    "name()": "06fdde03",
    "offpeg_fee_multiplier()": "8edfdd5f",
    "oracle(uint256)": "8874f628",
    "ownerOf(uint256)": "6352211e",
    "poolByPair(address,address)": "d9a641e1",
    "slot0()": "3850c7bd",
    "stable()": "22be3de1",
    "stored_rates()": "fd0684b1",
    "symbol()": "95d89b41",
    "tickBitmap(int16)": "5339c296",
    "tickSpacing()": "d0c93a7c",
    "tickSpacings()": "9cbbbe86",
    "tickTable(int16)": "c677e3e0",
    "tickTreeRoot()": "578b9a36",
    "tickTreeSecondLayer(int16)": "d8619037",
    "ticks(int24)": "f30dba93",
    "getActiveId()": "dbe65edc",
    "getBinStep()": "17f11ecc",
    "getStaticFeeParameters()": "7ca0de30",
    "getVariableFeeParameters()": "8d7024e5",
    "getLBHooksParameters()": "781a8915",
    "getBin(uint24)": "0abe9688",
    "getTokenX()": "05e8746d",
    "getTokenY()": "da10610c",
    "getNumberOfLBPairs()": "4e937c3a",
    "getLBPairAtIndex(uint256)": "7daf5d66",
    "token0()": "0dfe1681",
    "token1()": "d21220a7",
    "D()": "0f529ba2",
    "MATH()": "ed6c1546",
    "gamma()": "b1373929",
    "future_A_gamma_time()": "f9ed9597",
    "xcp_profit()": "7ba1a74d",
    "virtual_price()": "0c46b72a",
    "totalSupply()": "18160ddd",
    "mid_fee()": "92526c0c",
    "out_fee()": "ee8de675",
    "fee_gamma()": "72d4f0e2",
    "allowed_extra_profit()": "49fe9e77",
    "adjustment_step()": "083812e5",
    "price_scale()": "b9e8c9fd",
    "price_oracle()": "86fc88d3",
    "last_prices()": "c146bf94",
    "price_scale(uint256)": "a3f7cdd5",
    "price_oracle(uint256)": "68727653",
    "last_prices(uint256)": "59189017",
    "pool_count()": "956aae3a",
    "pool_list(uint256)": "3a1d5d8e",
    "getCurrentBlockTimestamp()": "0f28c97d",
    "BASE_POOL()": "71511a5e",
    "get_virtual_price()": "bb7b8b80",
    "is_meta(address)": "e4d332a9",
    "get_base_pool(address)": "6f20d6dd",
    "initial_A()": "5409491a",
    "initial_A_time()": "2081066c",
    "future_A_time()": "14052288",
    "usdc()": "3e413bee",
    "usds()": "4cf282fb",
    "susds()": "58b8f19c",
    "pocket()": "cccef9e2",
    "previewSwapExactIn(address,address,uint256)": "00d8088a",
    "JUSD()": "a012e78d",
    "usd()": "d63a6ccd",
    "minted()": "4f02c420",
    "limit()": "a4d66daf",
    "mintTo(address,uint256)": "449a52f8",
    "burnAndSend(address,uint256)": "9e41b44d",
    "asset()": "38d52e0f",
    "maxDeposit(address)": "402d267d",
    "getAllPoolAddresses()": "c56f1b44",
    "getPoolReservesAdjusted(address)": "bd964d38",
    "constantsView2()": "1595cbd3",
    "readFromStorage(bytes32)": "b5c736e4",
    "getDexPricesAndExchangePrices(address)": "015f6cfa",
}
"""The first four bytes of the Keccak-256 hashes of common signatures: hashing takes an import and time."""

_selector_bytes: Final = {signature: bytes.fromhex(selector) for signature, selector in SELECTORS.items()}

ANY_ADDRESS: Final = f"0x{'b41d6e' * 6}{'00' * 2}"
"""An arbitrary account without tokens, for functions that depend on an account but treat all such accounts alike."""


NATIVE_CURRENCY: Final = "0x" + "ee" * 20
"""The address that Curve and Fluid use for native currency."""


def encode_call(signature: str, *arguments: int | str) -> bytes:
    """Return the calldata of a function whose arguments are single words.

    Arguments are numbers of any sign, booleans, addresses, or 32 bytes in hex.
    Example: `encode_call("balanceOf(address)", "0x" + "12" * 20)`.
    """
    return _selector(signature) + b"".join(map(encode_word, arguments))


def encode_list_call(signature: str, entries: Sequence[int]) -> bytes:
    """Return the calldata of a function whose only argument is a list of words."""
    words = (encode_word(WORD), encode_word(len(entries)), *map(encode_word, entries))
    return b"".join((_selector(signature), *words))


def _selector(signature: str) -> bytes:
    known = _selector_bytes.get(signature)
    if known is None:
        known = _selector_bytes[signature] = keccak256(signature.encode())[:4]
    return known


def signature_of(calldata: bytes) -> str:
    """Return the signature of a call that this module encoded, otherwise the call's first four bytes in hex."""
    begin = calldata[:4]
    return next((signature for signature, known in _selector_bytes.items() if known == begin), f"0x{begin.hex()}")


def read_words(data: ReturnData, count: int, name: str) -> tuple[int, ...]:
    """Return the first `count` words as unsigned numbers."""
    return decode_words(_require_success(data, name), count, name, invalid_response)


def read_word(data: ReturnData, name: str) -> int:
    """Return the first word as an unsigned number."""
    return decode_word(_require_success(data, name), name, invalid_response)


def read_signed(data: ReturnData, name: str) -> int:
    """Return the first word as a number in two's complement."""
    return to_signed(read_word(data, name))


def read_address(data: ReturnData, name: str) -> str:
    """Return the first word as an address in canonical form."""
    return to_address(read_word(data, name), name)


def read_list(data: ReturnData, name: str, index: int = 0) -> tuple[int, ...]:
    """Return a list of words. The offset of the list is in the word number `index`."""
    return decode_list(_require_success(data, name), name, invalid_response, index)


def read_pairs(data: ReturnData, name: str) -> tuple[tuple[int, int], ...]:
    """Return the list of pairs of words that is the only value in the data."""
    words = _require_success(data, name)
    start, count = decode_words(words, 2, name, invalid_response)
    if start != WORD:
        raise invalid_response(name, f"a list at {start}")
    values = decode_words(words, 2 + 2 * min(count, len(words) // WORD), name, invalid_response)[2:]
    if len(values) != 2 * count:
        raise invalid_response(name, f"a list that is shorter than its length of {count}")
    return tuple(zip(values[::2], values[1::2], strict=True))


def read_text(data: ReturnData, name: str) -> str:
    """Return a string, which old tokens return as 32 bytes padded with zeros."""
    return decode_text(_require_success(data, name), name, invalid_response)


def to_address(value: int, name: str) -> str:
    """Return an unsigned word as an address in canonical form."""
    return address_of_word(value, name, invalid_response)


def invalid_response(name: str, problem: str) -> InvalidUpstreamResponse:
    """Return the error for return data that does not have the expected form."""
    return InvalidUpstreamResponse(f"{name}: {problem}")


def _require_success(data: ReturnData, name: str) -> bytes:
    if data is None:
        raise invalid_response(name, "the contract reverts")
    return data
