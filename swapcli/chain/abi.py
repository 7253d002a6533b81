"""The contract ABI for the few calls that reading needs, packed and read by hand.

Contracts are strangers, and what they return is held to less than what we write ourselves: words are read where they
must stand, and anything beyond is ignored. Every reader raises `InvalidUpstreamResponse`, whose sentence begins with
the name of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.chain.node import ReturnData
from swapcli.errors import InvalidUpstreamResponse

WORD: Final = 32
MOST_ENTRIES: Final = 1 << 16
"""Of a list that a contract returns; more than any pool has."""

SELECTORS: Final[dict[str, str]] = {
    "A()": "f446c1d0",
    "A_precise()": "76a2f0f0",
    "N_COINS()": "29357750",
    "aggregate3((address,bool,bytes)[])": "82ad56cb",
    "allowance(address,address)": "dd62ed3e",
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
    "fee()": "ddca3f43",
    "feeAmountTickSpacing(uint24)": "22afcccb",
    "future_A()": "b4b577ad",
    "getBlockNumber()": "42cbb15c",
    "getFee(address,bool)": "cc56b2c5",
    "getGradualWeightUpdateParams()": "7beed220",
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
    "name()": "06fdde03",
    "offpeg_fee_multiplier()": "8edfdd5f",
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
    "token0()": "0dfe1681",
    "token1()": "d21220a7",
}
"""The first four bytes of the Keccak-256 of each signature, which costs an import and time to compute."""

_WRAP: Final = 1 << 256
_SIGN: Final = 1 << 255
_CODES: Final = {signature: bytes.fromhex(code) for signature, code in SELECTORS.items()}


def calldata(signature: str, *arguments: int | str) -> bytes:
    """Selector and arguments that are words: numbers of any sign, booleans, addresses and 32 bytes in hex."""
    return _CODES[signature] + b"".join(map(word, arguments))


def list_calldata(signature: str, entries: Sequence[int]) -> bytes:
    """Selector and one list of words."""
    return b"".join((_CODES[signature], word(WORD), word(len(entries)), *map(word, entries)))


def word(value: int | str) -> bytes:
    """A number in two's complement, or hex digits (at most 64) as a number."""
    number = int(value, 16) if isinstance(value, str) else value
    return (number % _WRAP).to_bytes(WORD)


def read_words(answer: ReturnData, count: int, name: str) -> tuple[int, ...]:
    """The first `count` words as unsigned numbers."""
    raw = _given(answer, WORD * count, name)
    return tuple(int.from_bytes(raw[at : at + WORD]) for at in range(0, WORD * count, WORD))


def read_word(answer: ReturnData, name: str) -> int:
    """The first word as an unsigned number."""
    return int.from_bytes(_given(answer, WORD, name)[:WORD])


def read_signed(answer: ReturnData, name: str) -> int:
    """The first word as a number in two's complement."""
    return signed(read_word(answer, name))


def read_address(answer: ReturnData, name: str) -> str:
    """The first word as an address."""
    return as_address(read_word(answer, name), name)


def read_list(answer: ReturnData, name: str, place: int = 0) -> tuple[int, ...]:
    """The list of words whose offset stands in the word at `place`."""
    raw = _given(answer, WORD * (place + 1), name)
    start = _number_at(raw, WORD * place, name)
    count = _number_at(raw, start, name)
    if count > MOST_ENTRIES:
        raise nonsense(name, f"a list of {count} entries")
    first = start + WORD
    _given(raw, first + WORD * count, name)
    return tuple(int.from_bytes(raw[at : at + WORD]) for at in range(first, first + WORD * count, WORD))


def read_text(answer: ReturnData, name: str) -> str:
    """A string, or 32 bytes filled up with zeros, as old tokens return them; what is no UTF-8 is replaced."""
    raw = _given(answer, WORD, name)
    if len(raw) == WORD:
        return raw.rstrip(b"\0").decode(errors="replace")
    start = _number_at(raw, 0, name)
    length = _number_at(raw, start, name)
    _given(raw, start + WORD + length, name)
    return raw[start + WORD : start + WORD + length].decode(errors="replace")


def signed(value: int) -> int:
    """A word's number in two's complement."""
    return value - _WRAP if value & _SIGN else value


def as_address(value: int, name: str) -> str:
    """A word's number as a canonical address."""
    if value >> 160:
        raise nonsense(name, "not an address")
    return f"0x{value:040x}"


def nonsense(name: str, problem: str) -> InvalidUpstreamResponse:
    """The error for an answer that is not what was asked for."""
    return InvalidUpstreamResponse(f"{name}: {problem}")


def _given(answer: ReturnData, least: int, name: str) -> bytes:
    if answer is None:
        raise nonsense(name, "the contract reverts")
    if len(answer) < least:
        raise nonsense(name, f"the contract returns {len(answer)} bytes where {least} are the least")
    return answer


def _number_at(raw: bytes, at: int, name: str) -> int:
    _given(raw, at + WORD, name)
    return int.from_bytes(raw[at : at + WORD])
