"""The code that Gyroscope's E-CLPs in both Balancer vaults share: the maths of `eclp_math` on scaled balances."""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.annotations import ClassVar
from swapcli.core.model.pool import RateCurve
from swapcli.families.balancer.balancer_pool import BalancerPool, FieldTable, FurtherField
from swapcli.families.balancer.eclp_curve import eclp_curve
from swapcli.families.balancer.eclp_math import EclpParameters
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices


def _read_parameters(fields: StateFields, _: int) -> EclpParameters:
    return EclpParameters.from_fields(fields)


class EclpPool(BalancerPool):
    """An E-CLP. The families that derive from it have the field `parameters`, as returned by the pool's
    `getECLPParams()`."""

    __slots__ = ()

    parameters: EclpParameters

    can_be_one_sided: ClassVar[bool] = True
    is_pair: ClassVar[bool] = True
    further_fields: ClassVar[FieldTable] = (FurtherField("parameters", _read_parameters, lambda _: None),)

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output on the ellipse; see `BalancerPool.scaled_amount_out`."""
        del j
        return self.parameters.amount_out((balances[0], balances[1]), i, amount_in)

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = token_indices(self, token_in, token_out)
        x, y = self.scaled_balances()
        return eclp_curve(self.parameters, (x, y), i, self.base_units_per_scaled(i, j))

    def state(self) -> dict[str, object]:
        """Return the Vault's fields and the parameters."""
        return BalancerPool.state(self) | self.parameters.state()
