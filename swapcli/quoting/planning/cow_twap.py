"""The parameters of a plan's order as a CoW Protocol TWAP order, which the user can enter in CoW's app. Nothing is
sent.

Source: github cowprotocol/composable-cow, commit bf7f79ce, read on 2026-11-30: TWAPOrder.Data and its validation in
src/types/twap/libraries/TWAPOrder.sol, and the deployments of README.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from swapcli.core.model.network import Network
from swapcli.core.model.token import Token
from swapcli.core.networks.address import display_address

if TYPE_CHECKING:
    from swapcli.interface.plan_types import CowTwapJson

HANDLER: Final = "0x6cF1e9cA41f7611dEf408122793c358a3d11E5a5"
"""The TWAP contract, at the same address on every chain."""
_CHAINS: Final = frozenset({1, 10, 56, 137, 8453, 42161, 43114})
"""The chains in the README that swapcli supports: Ethereum, Optimism, BNB, Polygon, Base, Arbitrum, Avalanche."""
_ZERO_WORD: Final = "0x" + "0" * 64
_OWN_SAFE: Final = "0x" + "0" * 40
_LAST_START_S: Final = 2**32 - 1


def cow_twap(
    network: Network, tokens: tuple[Token, Token], amount_in: int, times_s: tuple[int, int, int], low: Fraction
) -> CowTwapJson | None:
    """Return the parameters for equal parts, or None if the network has no TWAP orders, or for a single part.

    `times_s` has the start, the seconds between parts, and the number of parts. `low` is the lowest price at which a
    part is sold, in whole output tokens per whole input token. The receiver 0 stands for the Safe that places the
    order.
    """
    start_s, interval_s, count = times_s
    sold, bought = map(network.to_wrapped_token, tokens)
    part = amount_in // count if count else 0
    limit = int(part * low * Fraction(10**bought.decimals, 10**sold.decimals))
    if network.chain_id not in _CHAINS or count < 2 or not part or not limit or start_s >= _LAST_START_S:
        return None
    return {
        "handler": HANDLER,
        "sellToken": display_address(sold.address, network.kind),
        "buyToken": display_address(bought.address, network.kind),
        "receiver": _OWN_SAFE,
        "partSellAmount": str(part),
        "minPartLimit": str(limit),
        "t0": start_s,
        "n": count,
        "t": max(interval_s, 1),
        "span": 0,
        "appData": _ZERO_WORD,
        "unsold": str(amount_in - part * count),
    }
