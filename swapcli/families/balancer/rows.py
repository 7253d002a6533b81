"""The `FAMILIES` and `KINDS` rows for pools in Balancer's second and third vaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.records import NamedTuple
from swapcli.families.row import (
    Event,
    ExtraData,
    FamilyRow,
    KeyOfEvent,
    KindRow,
    PoolUse,
    RouterEncoding,
    RouterPoolKind,
    SwapAmounts,
    address_in_first_topic,
    addresses_in_topics,
    key_of_emitter,
    read_words,
)


class BalancerV2Constants(NamedTuple):
    """The constants of a pool in Balancer's second vault."""

    vault: str = ""
    pool_id: str = ""


class BalancerV3Constants(NamedTuple):
    """The constants of a pool in Balancer's third vault.

    `pool_tokens` are a boosted pool's own tokens, empty for other pools.
    """

    vault: str = ""
    pool_tokens: tuple[str, ...] = ()


balancer_id_in_first_topic: Final = KeyOfEvent(lambda log: log.topics[1][:42])
"""The pool's address, with which Balancer V2's IDs begin."""


def _shares(use: PoolUse) -> ExtraData:
    """Return, for each token of the swap, the share that a boosted pool holds of it, or zero."""
    tokens, own = use.pool.tokens, use.pool.state()["pool_tokens"]
    shares = dict(zip(tokens, own, strict=True)) if isinstance(own, list) else {}
    used = (ZERO_ADDRESS if shares[token] == token else shares[token] for token in (use.token_in, use.token_out))
    return b"".join(bytes.fromhex(address[2:]) for address in used)


def _by_address(log: Event) -> SwapAmounts:
    """Read the tokens from the topics after the pool's topic."""
    sold, bought = addresses_in_topics(log, 2)
    amount_in, amount_out = read_words(log, 2)
    return SwapAmounts(sold, bought, amount_in, amount_out)


_V2: Final = RouterEncoding(RouterPoolKind.BALANCER_V2)
_V3: Final = RouterEncoding(RouterPoolKind.BALANCER_V3)
_ECLP_FIELDS: Final = (
    *("reserves", "rates", "alpha", "beta", "c", "s", "lambda", "tau_alpha", "tau_beta", "u", "v", "w", "z", "d_sq"),
)
_V2_SWAP: Final = "Swap(bytes32,address,address,uint256,uint256)"
_V3_SWAP: Final = "Swap(address,address,address,uint256,uint256,uint256,uint256)"
_HOOKS_CONFIG: Final = f"({'bool,' * 10}address)"
_REGISTERED_IN_V3: Final = (
    "PoolRegistered(address,address,(address,uint8,address,bool)[],uint256,uint32,"
    f"(address,address,address),{_HOOKS_CONFIG},(bool,bool,bool,bool))"
)

FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "weighted": FamilyRow(("reserves", "weights"), _V2),
    "balancer_v2_stable": FamilyRow(("reserves", "rates", "amp"), _V2),
    "balancer_v2_composable": FamilyRow(
        (
            *("reserves", "rates", "amp", "version", "total_supply", "last_amp", "last_invariant", "old_rates"),
            *("protocol_swap_fee", "protocol_yield_fee", "yield_fee_exempt"),
        ),
        _V2,
    ),
    "balancer_v2_eclp": FamilyRow(_ECLP_FIELDS, _V2),
    "balancer_v3_weighted": FamilyRow(("reserves", "rates", "weights"), _V3),
    "balancer_v3_stable": FamilyRow(("reserves", "rates", "amp"), _V3),
    "balancer_v3_stable_surge": FamilyRow(("reserves", "rates", "amp", "max_surge_fee", "surge_threshold"), _V3),
    "balancer_v3_boosted": FamilyRow(
        ("reserves", "rates", "amp", "pool_tokens", "share_prices"), RouterEncoding(RouterPoolKind.BALANCER_V3, _shares)
    ),
    "balancer_v3_eclp": FamilyRow(_ECLP_FIELDS, _V3),
    "balancer_v3_2clp": FamilyRow(("reserves", "rates", "sqrt_alpha", "sqrt_beta"), _V3),
    "balancer_v3_reclamm": FamilyRow(("reserves", "rates", "virtual_balances"), _V3),
    "balancer_v3_lbp": FamilyRow(("reserves", "rates", "weights", "project"), _V3),
    "balancer_v3_fixed_lbp": FamilyRow(("reserves", "rates", "project", "project_price"), _V3),
    "balancer_v3_quantamm": FamilyRow(("reserves", "rates", "weights", "max_trade_ratio"), _V3),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "balancer_v2": KindRow(
        ("weighted", "balancer_v2_stable", "balancer_v2_composable", "balancer_v2_eclp"),
        {
            **dict.fromkeys(
                (
                    _V2_SWAP,
                    "PoolBalanceChanged(bytes32,address,address[],int256[],uint256[])",
                    "PoolBalanceManaged(bytes32,address,address,int256,int256)",
                ),
                balancer_id_in_first_topic,
            ),
            **dict.fromkeys(
                (
                    "SwapFeePercentageChanged(uint256)",
                    "PausedStateChanged(bool)",
                    "RecoveryModeStateChanged(bool)",
                    "AmpUpdateStarted(uint256,uint256,uint256,uint256)",
                    "AmpUpdateStopped(uint256)",
                    "TokenRateProviderSet(uint256,address,uint256)",
                    "PriceRateProviderSet(address,address,uint256)",
                    "ProtocolFeePercentageCacheUpdated(uint256,uint256)",
                ),
                key_of_emitter,
            ),
        },
        {_V2_SWAP: _by_address},
        roles=("vault",),
        created=("PoolRegistered(bytes32,address,uint8)",),
        is_in_vault=True,
        constants=BalancerV2Constants,
    ),
    "balancer_v3": KindRow(
        (
            "balancer_v3_weighted",
            "balancer_v3_stable",
            "balancer_v3_stable_surge",
            "balancer_v3_boosted",
            "balancer_v3_eclp",
            "balancer_v3_2clp",
            "balancer_v3_reclamm",
            "balancer_v3_lbp",
            "balancer_v3_fixed_lbp",
            "balancer_v3_quantamm",
        ),
        {
            **dict.fromkeys(
                (
                    _V3_SWAP,
                    "LiquidityAdded(address,address,uint8,uint256,uint256[],uint256[])",
                    "LiquidityRemoved(address,address,uint8,uint256,uint256[],uint256[])",
                    "SwapFeePercentageChanged(address,uint256)",
                    "AggregateSwapFeePercentageChanged(address,uint256)",
                    "AggregateYieldFeePercentageChanged(address,uint256)",
                    "PoolPausedStateChanged(address,bool)",
                    "PoolRecoveryModeStateChanged(address,bool)",
                    "PoolInitialized(address)",
                ),
                address_in_first_topic,
            ),
            "AmpUpdateStarted(uint256,uint256,uint256,uint256)": key_of_emitter,
            "AmpUpdateStopped(uint256)": key_of_emitter,
        },
        {_V3_SWAP: _by_address},
        roles=("vault",),
        created=(_REGISTERED_IN_V3,),
        is_in_vault=True,
        constants=BalancerV3Constants,
    ),
}
