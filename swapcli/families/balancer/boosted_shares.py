"""The state that Balancer V3's boosted pools have besides a stable pool's: shares, and the tokens that they
represent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.families.balancer.rows import BalancerV3Constants
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_address, read_word
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.share_price import read_share_price, share_price_calls

_BUFFER_ASSET: Final = "getERC4626BufferAsset(address)"
"""The token that a share represents; zero if the vault has no buffer for it, and therefore does not wrap it."""
_BUFFERS_PAUSED: Final = "areBuffersPaused()"
_MIN_WRAP: Final = "getMinimumWrapAmount()"
_DECIMALS: Final = "decimals()"
_POOL_TOKENS: Final = "pool_tokens"


def pool_tokens(ref: PoolRef) -> tuple[str, ...]:
    """Return the pool's tokens as registered with the vault. Some may be shares of the tokens that the pool trades."""
    return ref.constants_as(BalancerV3Constants).pool_tokens or ref.tokens


def vault_of(ref: PoolRef) -> str:
    """Return the address of a pool's vault, or an empty string if it is unknown."""
    return ref.constants_as(BalancerV3Constants).vault


def with_vault(ref: PoolRef, vault: str) -> PoolRef:
    """Return `ref` with the address of the pool's vault."""
    return ref._replace(constants=ref.constants_as(BalancerV3Constants)._replace(vault=vault))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the pool's own tokens, if the state of `pool` has them."""
    tokens = pool.state().get(_POOL_TOKENS)
    pool_tokens = tuple(str(token) for token in tokens) if isinstance(tokens, list) else ()
    return ref._replace(constants=BalancerV3Constants(pool_tokens=pool_tokens))


def buffer_calls(vault: str, tokens: Sequence[str]) -> list[ContractCall]:
    """Return the calls whose results `traded_tokens` decodes."""
    return [ContractCall(vault, encode_call(_BUFFER_ASSET, token)) for token in tokens]


def traded_tokens(tokens: Sequence[str], results: Sequence[ReturnData]) -> tuple[str, ...]:
    """Return, for each of a pool's tokens, the token that is traded: the one that a share represents, or the token
    itself."""
    assets = [read_address(answer, _BUFFER_ASSET) for answer in results]
    return tuple(token if asset == ZERO_ADDRESS else asset for token, asset in zip(tokens, assets, strict=True))


def share_calls(ref: PoolRef) -> list[ContractCall]:
    """Return the calls whose results `read_shares` decodes."""
    vault = vault_of(ref)
    shares = [share for share, token in zip(pool_tokens(ref), ref.tokens, strict=True) if share != token]
    by_share = [
        [*buffer_calls(vault, (share,)), ContractCall(share, encode_call(_DECIMALS)), *share_price_calls(share)]
        for share in shares
    ]
    of_vault = [ContractCall(vault, encode_call(name)) for name in (_BUFFERS_PAUSED, _MIN_WRAP)]
    return [*of_vault, *(call for calls in by_share for call in calls)]


def read_shares(ref: PoolRef, results: Sequence[ReturnData]) -> dict[str, object]:
    """Return the fields of `balancer_v3_boosted` that a stable pool does not have.

    Raises `InvalidUpstreamResponse` if the vault currently wraps no shares, or if a share's price is not constant.
    """
    paused, minimum, *rest = results
    if read_word(paused, _BUFFERS_PAUSED):
        raise invalid_response(_BUFFERS_PAUSED, "the vault's buffers are paused")
    shares = pool_tokens(ref)
    decimals, prices = list(ref.decimals), list[object]([None] * len(shares))
    count = len(rest) // max(1, sum(share != token for share, token in zip(shares, ref.tokens, strict=True)))
    for k, (share, token) in enumerate(zip(shares, ref.tokens, strict=True)):
        if share == token:
            continue
        (asset, places, *conversions), rest = rest[:count], rest[count:]
        if read_address(asset, _BUFFER_ASSET) != token:
            raise invalid_response(_BUFFER_ASSET, f"{share} is not a wrapper of {token}")
        decimals[k], prices[k] = read_word(places, _DECIMALS), list(read_share_price(share, conversions))
    return {
        _POOL_TOKENS: list(shares),
        "pool_decimals": decimals,
        "share_prices": prices,
        "min_wrap_amount": read_word(minimum, _MIN_WRAP),
    }
