"""RingSwap pairs: Uniswap V2 between wrapped tokens, which wrappers exchange one to one.

A swap wraps the input, sells it in the pair, and unwraps the output; `tokens` are the underlying ones. All wrapped
tokens have 18 decimals, but base units are exchanged one to one. The protocol may mint wrapped tokens without a
deposit, so a wrapper may hold less of its token than the pair holds of the wrapped one: then only that much can be
bought.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Self
from swapcli.core.encoding.abi import ADDRESS_BYTES
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, SharedState
from swapcli.core.model.units import PPM
from swapcli.core.validation.values import parse_hex
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_pair
from swapcli.families.rounding import require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices
from swapcli.families.uniswap.constant_product import MAX_RESERVE, ConstantProductCurve


@dataclass(frozen=True, slots=True)
class RingPair(Pool):
    """A RingSwap pair.

    `reserves` are its balances of the wrapped tokens; `deposits` are the balances of `tokens` in the `wrappers`.
    """

    reserves: tuple[int, int]
    deposits: tuple[int, int]
    wrappers: tuple[str, str]

    family: ClassVar[str] = "ring_pair"
    swap_gas: ClassVar[int] = 225_000
    """The estimate of kyberswap-dex-lib, including wrapping and unwrapping; a Uniswap V2 pair alone takes 59,900."""

    @property
    def shared_states(self) -> tuple[SharedState, ...]:
        """The deposits of each wrapper, which swaps in other pairs also change."""
        return tuple(SharedState(*each) for each in zip(self.wrappers, zip(self.deposits), strict=True))

    def with_shared_state(self, shared: SharedState) -> Self:
        """Return the pair with the deposits in one wrapper replaced by those in `shared`."""
        held = (
            shared.reserves[0] if wrapper == shared.address else own
            for wrapper, own in zip(self.wrappers, self.deposits, strict=True)
        )
        after: Self = _replace_amounts(self, self.reserves, tuple(held))
        return after

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Wrap `amount_in`, sell it, and unwrap the output. Raises the same errors as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        x, y = self.reserves[i], self.reserves[j]
        if not (x and y):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        if x + amount_in > MAX_RESERVE:
            raise SwapReverts(f"pool {self.key}: {amount_in} would raise a reserve above 2^112 - 1")
        scaled_in = amount_in * (PPM - self.fee_ppm)
        amount_out = scaled_in * y // (x * PPM + scaled_in)
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        if amount_out > self.deposits[j]:
            raise InsufficientLiquidity(f"the wrapper of pool {self.key} holds less than {amount_out} of {token_out}")
        require_uint256(self.deposits[i] + amount_in)
        reserves, deposits = list(self.reserves), list(self.deposits)
        for amounts in (reserves, deposits):
            amounts[i] += amount_in
            amounts[j] -= amount_out
        after: Self = _replace_amounts(self, tuple(reserves), tuple(deposits))
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> ConstantProductCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`, up to the bought token's balance in
        its wrapper."""
        i, j = token_indices(self, token_in, token_out)
        x, y, held = self.reserves[i], self.reserves[j], self.deposits[j]
        max_in = MAX_RESERVE - x
        if held < y:
            max_in = min(max_in, held * x * PPM // ((y - held) * (PPM - self.fee_ppm)))
        return ConstantProductCurve(x, y, self.fee_ppm, max_in)

    def state(self) -> dict[str, object]:
        """Return `reserves`, `deposits` and `wrappers`."""
        return {
            "reserves": [str(reserve) for reserve in self.reserves],
            "deposits": [str(deposit) for deposit in self.deposits],
            "wrappers": list(self.wrappers),
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves`, `deposits` and the addresses in `wrappers`."""
        check_pair(identity)
        fields = StateFields(state)
        first, second = (
            fields.parse(path, entry, parse_hex, ADDRESS_BYTES) for path, entry in fields.items("wrappers", 2, 2)
        )
        if first == second:
            raise InvalidPoolState("wrappers", "both are the same contract")
        x, y = fields.uints("reserves", 2, 112)
        held_x, held_y = fields.uints("deposits", 2)
        return cls(*identity, (x, y), (held_x, held_y), (first, second))


_replace_amounts = fast_replace(RingPair, "reserves", "deposits")
