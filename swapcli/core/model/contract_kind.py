"""The contract kinds that the code distinguishes by name; `swapcli.families.KIND_NAMES` lists all kinds."""

from __future__ import annotations

from enum import StrEnum


class ContractKind(StrEnum):
    """The names of contract kinds, as used in network definitions and stores."""

    UNISWAP_V2 = "uniswap_v2"
    SOLIDLY = "solidly"
    SOLIDLY_V1 = "solidly_v1"
    UNISWAP_V3 = "uniswap_v3"
    SOLIDLY_V3 = "solidly_v3"
    RAMSES_V3 = "ramses_v3"
    ALGEBRA = "algebra_integral"
    UNISWAP_V4 = "uniswap_v4"
    JEDISWAP_CL = "jediswap_cl"
    EKUBO = "ekubo"
    EKUBO_EVM = "ekubo_evm"
    VAULT = "vault"
    IZISWAP = "iziswap"
    SMARDEX = "smardex"
    SAMPLED = "sampled"
    """Any contract whose protocol provides the quotes: see `swapcli/families/sampled/sampled_pools_reader.py`."""
