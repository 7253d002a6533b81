"""The calls that 0x Settler's action BASIC makes in order to swap, to pools or to their protocols' routers, by family.

    stableswap  exchange(int128 i, int128 j, uint256 dx, uint256 min_dy), of the pool
    weighted    swap((bytes32 poolId, uint8 kind, address assetIn, address assetOut, uint256 amount, bytes userData),
                (address sender, bool fromInternalBalance, address recipient, bool toInternalBalance),
                uint256 limit, uint256 deadline), of Balancer V2's vault
    gmx_vault   swap(address tokenIn, address tokenOut, address receiver), of the vault, which was paid before
    iziswap     swapAmount((bytes path, address recipient, uint128 amount, uint256 minAcquired, uint256 deadline)), of
                the contract Swap; the path is token, fee in 3 bytes, token
    smardex     swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256
                deadline), of the router
    kuru        anyToAnySwap(address[] markets, bool[] isBuy, bool[] nativeSend, address debitToken, address
                creditToken, uint256 amount, uint256 minAmountOut), of the router, in one market
    clober_v2   spend((uint192 id, uint256 limitPrice, uint256 baseAmount, uint256 minQuoteAmount, bytes hookData)[],
                address[] tokensToSettle, (address, uint256, (uint256, uint8, bytes32, bytes32))[] permits, uint64
                deadline), of the controller, in one book

Minima are 0, since Settler checks the minimum of the whole swap, and deadlines are the latest possible. Settler is both
sender and recipient, and overwrites the amount, which is 0 here, with the amount that it sells. Order books that trade
the native token use the zero address for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.abi import (
    SELECTOR_BYTES,
    WORD,
    encode_address,
    encode_bytes,
    encode_bytes32,
    encode_int,
    encode_uint,
)
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple

EXCHANGE: Final = "3df02124"
VAULT_SWAP: Final = "52bbbe29"
GMX_SWAP: Final = "93316212"
SWAP_AMOUNT: Final = "75ceafe6"
SWAP_EXACT_TOKENS: Final = "38ed1739"
ANY_TO_ANY_SWAP: Final = "ffa5210a"
SPEND: Final = "c0e8e89a"
WITHDRAW: Final = "2e1a7d4d"
"""`withdraw(uint256)` of WETH9."""
TRANSFER: Final = "a9059cbb"
"""`transfer(address to, uint256 amount)` of ERC-20."""

TRANSFER_AMOUNT: Final = SELECTOR_BYTES + WORD
WITHDRAW_AMOUNT: Final = SELECTOR_BYTES
_VAULT_HEAD_WORDS: Final = 7  # the offset of `singleSwap`: the length of all words before it
_VAULT_SWAP_WORDS: Final = 6  # the offset of `userData` in `singleSwap`
_FEE_BITS: Final = 24  # a V3 fee is a uint24
V3_FEE_BYTES: Final = 3
"""The number of bytes of a fee between the tokens of a packed V3 path."""
_ZERO: Final = "0" * 2 * WORD
_ONE: Final = f"{1:064x}"
_LATEST_UINT64: Final = (1 << 64) - 1
_LATEST: Final = "f" * 2 * WORD


AMOUNT_AT: Final[Mapping[str, int | None]] = MappingProxyType(
    {
        EXCHANGE: SELECTOR_BYTES + 2 * WORD,
        VAULT_SWAP: SELECTOR_BYTES + (_VAULT_HEAD_WORDS + 4) * WORD,
        GMX_SWAP: None,
        SWAP_AMOUNT: SELECTOR_BYTES + 3 * WORD,
        SWAP_EXACT_TOKENS: SELECTOR_BYTES,
        ANY_TO_ANY_SWAP: SELECTOR_BYTES + 5 * WORD,
        SPEND: SELECTOR_BYTES + 8 * WORD,
    }
)
"""The byte at which the sold amount begins in each call, by selector; None if the contract is paid first."""


class BasicSwap(NamedTuple):
    """A swap in a pool, through a call that `settler` makes. The native token is the zero address if the pool trades
    it."""

    pool: Pool
    sold: str
    bought: str
    settler: str
    sells_first: bool
    """Whether the pool's first token is sold."""


class BasicFamily(NamedTuple):
    """How the pools of a family are called.

    `contract` is the name of the called contract among the addresses of the protocol's deployment; empty if it is the
    pool itself. `call` returns the calldata of a swap, without 0x.
    """

    contract: str
    call: Callable[[BasicSwap], str]


def transfer_of_share(recipient: str) -> str:
    """Encode a token transfer whose amount Settler writes at `TRANSFER_AMOUNT`."""
    return TRANSFER + encode_address(recipient, "recipient") + _ZERO


def _exchange(swap: BasicSwap) -> str:
    tokens = swap.pool.tokens
    indices = (encode_int(tokens.index(token), 128, "coin") for token in (swap.sold, swap.bought))
    return f"{EXCHANGE}{''.join(indices)}{_ZERO}{_ZERO}"


def _vault_swap(swap: BasicSwap) -> str:
    """Encode a swap of an exact input between balances outside the vault."""
    account = encode_address(swap.settler, "settler")
    pool_id = encode_bytes32(bytes.fromhex(swap.pool.pool_id[2:]), "pool id")
    words = (
        f"{_VAULT_HEAD_WORDS * WORD:064x}", account, _ZERO, account, _ZERO, _ZERO, _LATEST, pool_id, _ZERO,
        _address(swap.sold), _address(swap.bought), _ZERO, f"{_VAULT_SWAP_WORDS * WORD:064x}", _ZERO,
    )  # fmt: skip
    return VAULT_SWAP + "".join(words)


def _gmx_swap(swap: BasicSwap) -> str:
    account = encode_address(swap.settler, "settler")
    return GMX_SWAP + _address(swap.sold) + _address(swap.bought) + account


def _swap_amount(swap: BasicSwap) -> str:
    fee = encode_uint(swap.pool.fee_ppm, _FEE_BITS, "fee")[-_FEE_BITS // 4 :]
    path = swap.sold[2:] + fee + swap.bought[2:]
    words = f"{WORD:064x}", f"{5 * WORD:064x}", encode_address(swap.settler, "settler"), _ZERO, _ZERO, _LATEST
    return SWAP_AMOUNT + "".join(words) + encode_bytes(bytes.fromhex(path))


def _swap_exact_tokens(swap: BasicSwap) -> str:
    words = (
        _ZERO, _ZERO, f"{5 * WORD:064x}", encode_address(swap.settler, "settler"), _LATEST,
        f"{2:064x}", _address(swap.sold), _address(swap.bought),
    )  # fmt: skip
    return SWAP_EXACT_TOKENS + "".join(words)


def _any_to_any_swap(swap: BasicSwap) -> str:
    is_buy = not swap.sells_first
    heads = (7 * WORD, 9 * WORD, 11 * WORD)
    words = (
        *(f"{head:064x}" for head in heads), _address(swap.sold), _address(swap.bought), _ZERO, _ZERO,
        _ONE, _address(swap.pool.address), _ONE, f"{is_buy:064x}", _ONE, f"{swap.sold == ZERO_ADDRESS:064x}",
    )  # fmt: skip
    return ANY_TO_ANY_SWAP + "".join(words)


def _spend(swap: BasicSwap) -> str:
    tokens = [_address(token) for token in (swap.sold, swap.bought) if token != ZERO_ADDRESS]
    book = encode_bytes32(bytes.fromhex(swap.pool.pool_id[2:]), "book id")
    words = (
        f"{4 * WORD:064x}", f"{12 * WORD:064x}", f"{(13 + len(tokens)) * WORD:064x}", f"{_LATEST_UINT64:064x}",
        _ONE, f"{WORD:064x}", book, _ZERO, _ZERO, _ZERO, f"{5 * WORD:064x}", _ZERO,
        f"{len(tokens):064x}", *tokens, _ZERO,
    )  # fmt: skip
    return SPEND + "".join(words)


def _address(token: str) -> str:
    return encode_address(token, "token")


BASIC_FAMILIES: Final[Mapping[str, BasicFamily]] = MappingProxyType(
    {
        "stableswap": BasicFamily("", _exchange),
        "weighted": BasicFamily("vault", _vault_swap),
        "gmx_vault": BasicFamily("", _gmx_swap),
        "iziswap": BasicFamily("router", _swap_amount),
        "smardex": BasicFamily("router", _swap_exact_tokens),
        "kuru": BasicFamily("router", _any_to_any_swap),
        "clober_v2": BasicFamily("router", _spend),
    }
)
"""The families whose pools BASIC can call."""
