"""Transactions of Starknet accounts: version 3, unsigned, with a bound for each resource that they may use.

The bounds equal the bounds that starknet.js 10.8.0 computes (`toOverheadResourceBounds`, with its default
`resourceBoundsOverhead`): for each resource, the estimated units and their price, each raised by 50% and rounded down.
The account's maximum payment is the sum of the products, as in `toOverheadOverallFee`; no tip is paid. Prices and fees
are in fri, the base unit of STRK.

Source of the fields: BROADCASTED_INVOKE_TXN of the Starknet JSON-RPC specification, 0.10.
"""

from __future__ import annotations

from typing import Any, Final

from swapcli.core.model.signing_figures import FeeEstimate
from swapcli.core.records import NamedTuple
from swapcli.payload.starknet.felts import felt_of_address

_OVERHEAD_PERCENT: Final = 50
_VERSION: Final = "0x3"
_QUERY_VERSION: Final = hex((1 << 128) + 3)
"""The version of a transaction that can only be estimated: no node accepts it for execution."""
_STRK_DECIMALS: Final = 18


class ResourceBound(NamedTuple):
    """The maximum number of units of a resource that a transaction may use, and the maximum price per unit, in fri."""

    max_amount: int
    max_price_per_unit: int

    @property
    def max_fee(self) -> int:
        """The maximum cost of the resource, in fri."""
        return self.max_amount * self.max_price_per_unit


class ResourceBounds(NamedTuple):
    """The bounds of the three resources of a version 3 transaction."""

    l1_gas: ResourceBound
    l2_gas: ResourceBound
    l1_data_gas: ResourceBound

    @property
    def max_fee(self) -> int:
        """The maximum cost of the transaction, in fri."""
        return sum(bound.max_fee for bound in self)


NO_BOUNDS: Final = ResourceBounds(*(ResourceBound(0, 0) for _ in ResourceBounds._fields))


class InvokeTransaction(NamedTuple):
    """The transaction with which an account executes calls; `fee` is the node's estimate of its cost, in fri."""

    sender: str
    nonce: int
    calldata: tuple[int, ...]
    bounds: ResourceBounds
    fee: int

    def document(self) -> dict[str, Any]:
        """Return the transaction in the specification's form, without its signature."""
        return self._render(_VERSION)

    def unsigned(self) -> dict[str, Any]:
        """Return the transaction in the form in which a node estimates it, without a signature."""
        return {**self._render(_QUERY_VERSION), "signature": []}

    def _render(self, version: str) -> dict[str, Any]:
        bounds = self.bounds._asdict().items()
        return {
            "type": "INVOKE",
            "version": version,
            "sender_address": hex(felt_of_address(self.sender)),
            "calldata": [hex(felt) for felt in self.calldata],
            "nonce": hex(self.nonce),
            "resource_bounds": {name: _render_bound(bound) for name, bound in bounds},
            "tip": "0x0",
            "paymaster_data": [],
            "account_deployment_data": [],
            "nonce_data_availability_mode": "L1",
            "fee_data_availability_mode": "L1",
        }

    def details(self) -> dict[str, Any]:
        """Return the transaction's fields besides its calls, as in `document`, and its fee."""
        whole = self.document()
        return {
            "sender_address": whole["sender_address"],
            "nonce": whole["nonce"],
            "tip": whole["tip"],
            "resource_bounds": whole["resource_bounds"],
            "fee": {
                "estimated": str(self.fee),
                "max": str(self.bounds.max_fee),
                "estimatedStrk": in_strk(self.fee),
                "maxStrk": in_strk(self.bounds.max_fee),
            },
        }

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Return the nonce, the resource bounds and the fee, each as a name and a text."""
        bounds = (
            (name, f"up to {bound.max_amount:,} units at up to {bound.max_price_per_unit:,} fri")
            for name, bound in self.bounds._asdict().items()
        )
        fee = f"{in_strk(self.fee)} STRK, at most {in_strk(self.bounds.max_fee)} STRK"
        return (("nonce", str(self.nonce)), *bounds, ("fee", fee))


def in_strk(fri: int) -> str:
    """Return an amount of fri in whole STRK, such as "0.0123", without rounding."""
    whole, fraction = divmod(fri, 10**_STRK_DECIMALS)
    return f"{whole}.{fraction:0{_STRK_DECIMALS}d}".rstrip("0").rstrip(".")


def bounds_of(estimate: FeeEstimate) -> ResourceBounds:
    """Return the resource bounds that follow from a fee estimate."""
    return ResourceBounds(
        l1_gas=_bound(estimate.l1_gas_consumed, estimate.l1_gas_price),
        l2_gas=_bound(estimate.l2_gas_consumed, estimate.l2_gas_price),
        l1_data_gas=_bound(estimate.l1_data_gas_consumed, estimate.l1_data_gas_price),
    )


def _bound(amount: int, price: int) -> ResourceBound:
    return ResourceBound(_with_overhead(amount), _with_overhead(price))


def _with_overhead(number: int) -> int:
    return number + number * _OVERHEAD_PERCENT // 100


def _render_bound(bound: ResourceBound) -> dict[str, str]:
    return {"max_amount": hex(bound.max_amount), "max_price_per_unit": hex(bound.max_price_per_unit)}
