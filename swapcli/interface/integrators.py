"""The rules for integrators, which are the same for queries, posted routes and command options."""

from __future__ import annotations

from swapcli.core.errors import IntegratorError, InvalidInput, InvalidOption
from swapcli.core.model.network import Kind
from swapcli.core.model.swap_terms import Integrator, check_shares
from swapcli.interface.fields import require_token_holder

ADDRESS = "integratorAddress"
FEE = "integratorFeePercentageBps"
SURPLUS = "integratorSurplusPercentageBps"


def check_integrator_shares(fee_bps: int, surplus_bps: int, path: str = "") -> None:
    """Raise `IntegratorError` if fee and surplus are both given, and `InvalidOption`, with the field's path, if either
    is out of range."""
    try:
        check_shares(fee_bps, surplus_bps)
    except (IntegratorError, InvalidOption) as error:
        error.details["field"] = path + (FEE if fee_bps else SURPLUS)
        raise


def build_integrator(
    address: str | None, fee_bps: int, surplus_bps: int, kind: Kind, *, name: str | None = None, path: str = ""
) -> Integrator | None:
    """Return the integrator in a request, given by a canonical address and basis points; None if there is none.

    An integrator with neither fee nor surplus earns nothing. Raises the errors of `check_integrator_shares`,
    `InvalidInput` if there is a share but no integrator, and `InvalidAddress` if the share would be lost.
    """
    check_integrator_shares(fee_bps, surplus_bps, path)
    if address is None and not (fee_bps or surplus_bps):
        return None
    holder = require_token_holder(path + ADDRESS, require_integrator(address, path), kind)
    return Integrator(holder, fee_bps, surplus_bps, name)


def require_integrator(address: str | None, path: str = "") -> str:
    """Return the integrator's address. Raises `InvalidInput` if there is none."""
    if address is None:
        raise InvalidInput(f"{path}{ADDRESS} should not be null or undefined", details={"field": path + ADDRESS})
    return address
