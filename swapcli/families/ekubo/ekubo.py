"""Ekubo's concentrated liquidity on Starknet.

The maths follows the core's `swap` and its libraries `swap`, `sqrt_ratio`, `delta`, `fee` and `ticks` (commit a5b2c7fc
of EkuboProtocol/starknet-contracts). A word of the core's bitmap covers 251 multiples of the tick spacing, and the
call's `skip_ahead` is the number of additional words to search.

Version 4 of the core rounds the ratio after an input of token0 via whole units of token0, which can change the last
digits if a unit of token0 is worth many units of token1; version 5, from July 2026, does not.

Pools without an extension are exact. So are pools whose extension does not change amounts: the oracle, which records
the tick before a swap, and limit orders, which withdraw filled orders after a swap. So in a pool of limit orders `swap`
returns the state before that withdrawal, which is enough for further swaps in the same direction.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.validation.values import MAX_FELT
from swapcli.families.ekubo.ekubo_pool import (
    Core,
    EkuboKey,
    EkuboPool,
    read_id_and_fee,
    read_price,
    read_spaced_ticks,
    replace_position,
    tick_scale,
    ticks_state,
)
from swapcli.families.ekubo.ekubo_tick_math import STARKNET_TICKS
from swapcli.families.identity_checks import check_pair
from swapcli.families.state_fields import StateFields
from swapcli.families.uniswap.concentrated_state import read_liquidity

LATEST_CORE: Final = Core(
    fee_bits=128,
    amount_bits=128,
    ticks=STARKNET_TICKS,
    scale=tick_scale(STARKNET_TICKS.ratio_at),
    max_tick_spacing=354_892,
    net_bits=128,
    word_bits=251,  # as many bits as fit a felt
    passes_reached_ticks=True,
)
LATEST_VERSION: Final = 5
CORES: Final = {4: LATEST_CORE._replace(rounds_to_units=True), LATEST_VERSION: LATEST_CORE}
"""The cores, by version."""
MAX_TICK_SPACING: Final = LATEST_CORE.max_tick_spacing
fee_ppm_of: Final = LATEST_CORE.fee_ppm_of
"""Returns a fee, given with 128 fractional bits, in parts per million."""


class Ekubo(EkuboPool):
    """A pool of the core on Starknet; see `EkuboPool`."""

    __slots__ = ()

    family: ClassVar[str] = "ekubo"
    # Starknet's resource bounds are not known; these are the figures of Uniswap V3, which has the same steps.
    swap_gas: ClassVar[int] = 68_800
    crossing_gas: ClassVar[int] = 37_400

    @property
    def core(self) -> Core:
        """The entry in `CORES` for the pool's version."""
        return CORES[self.pool_key.version]

    def paid_of(self, amount_out: int, tick: int) -> int:
        """Return the whole output. Raises `SwapReverts` if it is 2^128 or more."""
        del tick
        if amount_out >> LATEST_CORE.amount_bits:
            raise SwapReverts(f"pool {self.key}: the output {amount_out} exceeds 2^{LATEST_CORE.amount_bits} - 1")
        return amount_out

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        key = self.pool_key
        return {
            "pool_id": key.pool_id,
            "fee_x128": str(key.fee),
            "tick_spacing": key.tick_spacing,
            "extension": key.extension,
            **({"skip_ahead": key.skip_ahead} if key.skip_ahead else {}),
            **({"version": key.version} if key.version != LATEST_VERSION else {}),
            "sqrt_ratio": str(self.sqrt_ratio),
            "tick": self.tick,
            "liquidity": str(self.liquidity),
            "ticks": ticks_state(key),
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `pool_id, fee_x128, tick_spacing, extension, sqrt_ratio, tick, liquidity, ticks: [[tick, net], ...]`.

        Optional: `skip_ahead` (0), `version` (5, or 4). `fee_ppm` must be `fee_x128` rounded as `fee_ppm_of` does.
        """
        check_pair(identity)
        fields = StateFields(state)
        pool_id, fee_x128 = read_id_and_fee(fields, identity, LATEST_CORE, is_native=False)
        spacing, ticks, nets = read_spaced_ticks(fields, LATEST_CORE)
        skip_ahead = fields.integer("skip_ahead", 0, STARKNET_TICKS.max_tick) if fields.has("skip_ahead") else 0
        version = fields.integer("version", min(CORES), max(CORES)) if fields.has("version") else LATEST_VERSION
        key = EkuboKey(pool_id, fee_x128, spacing, _read_extension(fields), ticks, nets, skip_ahead, version)
        sqrt_ratio, tick = read_price(fields, LATEST_CORE)
        return cls(*identity, sqrt_ratio, tick, read_liquidity(fields, tick, ticks, nets), key)

    def api_extra_data(self) -> dict[str, int | str]:
        """Return the members of the PoolKey besides the tokens, and `skipAhead`. The fee has 128 fractional bits."""
        key = self.pool_key
        return {
            "poolId": key.pool_id,
            "fee": str(key.fee),
            "tickSpacing": key.tick_spacing,
            "extension": key.extension,
            "skipAhead": key.skip_ahead,
        }


Ekubo.at = replace_position(Ekubo)


def _read_extension(fields: StateFields) -> str:
    text = fields.text("extension")
    try:
        felt = int(text, 16) if text.startswith("0x") else -1
    except ValueError:
        felt = -1
    if not 0 <= felt <= MAX_FELT:
        raise InvalidPoolState("extension", f"expected an address in hex, 0x0 for none, not {text[:80]}")
    return f"0x{felt:064x}" if felt else "0x0"
