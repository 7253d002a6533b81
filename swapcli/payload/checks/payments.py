"""Find a swap's payments to strangers: to anyone but the signer, the recipient and the chosen integrator."""

from __future__ import annotations

from collections.abc import Collection

from swapcli.core.model.decoded_call import WHOLE_E18, DecodedCall, DecodedPayment
from swapcli.core.model.number_format import format_percentage
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.token import Token, whole_tokens
from swapcli.core.model.units import BPS, E18_PER_BPS


def find_strangers(
    call: DecodedCall, integrator: Integrator | None, own: Collection[str | None]
) -> tuple[DecodedPayment, ...]:
    """Return the payments to addresses outside `own`, except the payment that the integrator may receive."""
    expected = find_integrator_payment(call, integrator)
    return tuple(each for each in call.payments if each != expected and each.recipient not in own)


def find_integrator_payment(call: DecodedCall, integrator: Integrator | None) -> DecodedPayment | None:
    """Return the only payment that is within an integrator's shares of the output, or None unless there is exactly
    one."""
    if integrator is None or call.order is None:
        return None
    outputs = {call.order.token_out, *((ZERO_ADDRESS,) if call.order.is_native_out else ())}
    found = [each for each in call.payments if each.recipient == integrator.address]
    if len(found) != 1:
        return None
    (payment,) = found
    share_e18 = payment.share_e18 or 0
    is_allowed = (
        payment.token in outputs
        and payment.amount is None
        and share_e18 <= integrator.fee_bps * E18_PER_BPS
        and payment.surplus_bps <= integrator.surplus_bps
    )
    return payment if is_allowed else None


def describe_payment(payment: DecodedPayment, token: Token | None, shown: str) -> str:
    """Describe the amount of a payment; `shown` is the name of its token, and `token` is None if unknown."""
    if payment.amount is not None:
        return f"{whole_tokens(payment.amount, token.decimals) if token else payment.amount} {shown}"
    parts = []
    if payment.share_e18 is not None:
        parts.append(f"{format_percentage(payment.share_e18 / WHOLE_E18)} of the {shown}")
    if payment.surplus_bps:
        parts.append(f"{format_percentage(payment.surplus_bps / BPS)} of any surplus")
    return " and ".join(parts)
