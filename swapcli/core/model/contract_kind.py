"""The kinds of contracts that pools belong to."""

from __future__ import annotations

from enum import StrEnum


class ContractKind(StrEnum):
    """Kinds of contracts, by how they are read."""

    UNISWAP_V2 = "uniswap_v2"
    SOLIDLY = "solidly"
    SOLIDLY_V1 = "solidly_v1"
    UNISWAP_V3 = "uniswap_v3"
    SOLIDLY_V3 = "solidly_v3"
    RAMSES_V3 = "ramses_v3"
    ALGEBRA = "algebra_integral"
    UNISWAP_V4 = "uniswap_v4"
    STABLESWAP = "stableswap"
    CRYPTOSWAP = "cryptoswap"
    JEDISWAP = "jediswap"
    TENKSWAP = "10kswap"
    SITHSWAP = "sithswap"
    STARKDEFI = "starkdefi"
    JEDISWAP_CL = "jediswap_cl"
    EKUBO = "ekubo"
    INFINITY_CL = "infinity_cl"
    INFINITY_BIN = "infinity_bin"
    BALANCER_V2 = "balancer_v2"
    BALANCER_V3 = "balancer_v3"
    FLUID_T1 = "fluid_t1"
    PSM = "psm"
    VAULT = "vault"
    BRIDGE = "bridge"
    LIQUIDITY_BOOK = "liquidity_book"
    CLOBER_V2 = "clober_v2"
    KURU = "kuru"
    DODO_V2 = "dodo_v2"
    IZISWAP = "iziswap"
    SMARDEX = "smardex"
    GMX_VAULT = "gmx_vault"
    HANJI = "hanji"
    SAMPLED = "sampled"
    """Any contract whose protocol quotes by itself: see `swapcli/state/readers/sampled/sampled_pools.py`."""
