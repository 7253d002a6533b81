"""How this project's router contract calls pools: the kinds of its table of protocols."""

from __future__ import annotations

from enum import IntEnum


class RouterPoolKind(IntEnum):
    """How the contract calls the pools of a protocol; 0, which is not in this list, is one that it refuses."""

    WRAPPER = 1
    PAIR = 2
    CONCENTRATED = 3
    SINGLETON = 4
    """Uniswap V4."""
    STABLESWAP = 5
    BALANCER_V2 = 6
    BALANCER_V3 = 7
    CURVE_CRYPTO = 8
    INFINITY = 9
    FLUID = 10
    VAULT = 11
    """ERC-4626."""
    PSM = 12
    LIQUIDITY_BOOK = 13
    BRIDGE = 14
