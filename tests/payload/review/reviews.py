"""A payload of Base with nothing wrong, which each test changes."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from swapcli.core.model.decoded_call import DecodedCall, DecodedOrder, DecodedSwap, PoolHint
from swapcli.core.model.network import FIBROUS
from swapcli.core.networks.catalogue import find_network
from swapcli.payload.review.decoded_replay import ReviewedSwap
from swapcli.payload.review.reviewed_payload import PayloadReview, Signing

BASE = find_network("base")
WETH, USDC = (next(token for token in BASE.tokens if token.symbol == symbol) for symbol in ("WETH", "USDC"))
ME, OTHER = "0x" + "1" * 40, "0x" + "22" * 20
ORDER = DecodedOrder(WETH.address, USDC.address, amount_in=10**18, min_received=2_000_000_000, recipient=ME)
SWAP = DecodedSwap(WETH.address, USDC.address, PoolHint(key="0x" + "77" * 20))
CALL = DecodedCall("swap", dialect=FIBROUS, order=ORDER, swaps=(SWAP,))
REVIEW = PayloadReview(
    call=CALL,
    network=BASE,
    signing=Signing(to=BASE.router, value=0, sender=ME),
    tokens=MappingProxyType({token.address: token for token in (WETH, USDC)}),
    swaps=(ReviewedSwap(SWAP, WETH.address, USDC.address, None, 1_000_000),),
    fresh_amount_out=2_010_000_000,
    state=None,
    warnings=(),
)


def with_order(**changes: Any) -> PayloadReview:
    """The payload with another order."""
    return REVIEW._replace(call=CALL._replace(order=ORDER._replace(**changes)))
