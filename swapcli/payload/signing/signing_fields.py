"""The fields of a transaction that only a node can provide before it is signed: nonce, gas limit, fees and access
list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.network import Network
from swapcli.core.model.signing_figures import NodeFigures
from swapcli.core.model.transaction import Transaction
from swapcli.core.records import NamedTuple
from swapcli.core.routing.gas import with_margin
from swapcli.payload.signing.signing_limits import FeeLimits, LimitedGas, find_excesses
from swapcli.payload.signing.signing_values import (
    AccessList,
    GasForecast,
    OptionalRequests,
    read_fee_history,
    read_gas_after,
    read_transaction_forecast,
)
from swapcli.state.rpc.fee_history import FeeHistory
from swapcli.state.rpc.node import StateOverride

_APPROVAL_GAS: Final = 60_000
"""The gas of an approval if the node cannot estimate it: a plain ERC-20 uses 46,000, and one behind a proxy, such as
USDC, up to 60,000."""
_BASE_FEE_FACTOR: Final = 2
"""The factor on the next block's base fee that `maxFeePerGas` allows for, besides the priority fee.

The base fee rises by at most an eighth per block (EIP-1559), so two is enough for five consecutive full blocks.
go-ethereum's bindings, ethers and web3.py use the same factor.
"""
_MIN_PRIORITY_FEE_WEI: Final = 1
"""The minimum priority fee that go-ethereum's pool accepts by default (`--txpool.pricelimit`)."""

_NO_FIGURES: Final = NodeFigures()


class SigningFields(NamedTuple):
    """The fields that a transaction needs besides target, value and data; None if unknown.

    `gas` is the gas limit with a margin; fees are in wei per unit of gas.
    """

    nonce: int | None
    gas: int | None
    max_fee_wei: int | None
    max_priority_fee_wei: int | None
    access_list: AccessList = ()

    @property
    def max_cost_wei(self) -> int:
        """The maximum gas cost in wei, which the sender must have; 0 if unknown."""
        return (self.gas or 0) * (self.max_fee_wei or 0)


class SwapGas(NamedTuple):
    """The swap's gas before refunds, if the node does not estimate it: from a simulation, otherwise our own estimate.

    None means unknown. Our own estimate is used only if the node's estimate fails, with a warning.
    """

    simulated: int | None = None
    own_estimate: int | None = None


class SigningPlan(NamedTuple):
    """The fields of each transaction, in order. `failure` is the reason why the node could not estimate the gas of the
    last transaction.

    `excesses` has a finding for each value from the node that is far from what was expected.
    """

    fields: tuple[SigningFields, ...]
    failure: str = ""
    excesses: tuple[Finding, ...] = ()


def read_signing_plan(
    node: OptionalRequests,
    sender: str,
    transactions: Sequence[Transaction],
    network: Network,
    swap_gas: SwapGas,
    *,
    tag: BlockTag = BlockTag.LATEST,
    find_grants: Callable[[], Sequence[StateOverride] | None] = lambda: None,
    limits: FeeLimits | None = None,
    second: NodeFigures = _NO_FIGURES,
) -> SigningPlan:
    """Return the fields of `transactions`, in one round trip. The last one is the swap.

    Gas is estimated on the block with this `tag`. If the node cannot execute several consecutive transactions, the
    swap's gas is estimated on the state after the approvals, which `find_grants` returns (None if unknown). The fields
    are compared with `limits`, if given, and with a `second` node's values. Raises `UpstreamError` if the node does not
    respond.
    """
    # On a rollup that charges for data, a listed slot saves 100 gas, about the L1 cost of its 32 bytes.
    pays_for_data = network.l1_fee_oracle is not None or network.l1_gas_oracle is not None
    forecast = read_transaction_forecast(node, sender, transactions, with_access_list=not pays_for_data, tag=tag)
    gas_forecasts = list(forecast.gas)
    if not gas_forecasts[-1].is_supported and (grants := find_grants()):
        gas_forecasts[-1] = read_gas_after(node, sender, transactions[-1], grants, tag)
    failure = next((gas.failure for gas in gas_forecasts if gas.failure), "")
    swap_peak = swap_gas.simulated or (swap_gas.own_estimate if failure else None)
    max_fee_wei, priority_fee_wei = _fees(forecast.fees)
    estimates = [_APPROVAL_GAS] * (len(transactions) - 1) + [swap_peak]
    fields = tuple(
        SigningFields(
            nonce=None if forecast.nonce is None else forecast.nonce + position,
            gas=_gas_limit(gas, estimate, network.block_gas_limit),
            max_fee_wei=max_fee_wei,
            max_priority_fee_wei=priority_fee_wei,
            access_list=forecast.access_list,
        )
        for position, (gas, estimate) in enumerate(zip(gas_forecasts, estimates, strict=True))
    )
    if limits is None:
        return SigningPlan(fields, failure)
    own_estimates = [_APPROVAL_GAS * network.gas_units_per_evm_gas] * (len(transactions) - 1) + [swap_gas.own_estimate]
    gas = [
        LimitedGas(transaction.purpose, each.gas, estimate)
        for transaction, each, estimate in zip(transactions, fields, own_estimates, strict=True)
    ]
    excesses = find_excesses(forecast.figures, second, gas, max_fee_wei, limits)
    return SigningPlan(fields, failure, tuple(map(FindingCode.FEES_UNUSUAL.finding, excesses)))


def read_max_fee_wei(node: OptionalRequests) -> int | None:
    """Return the current `maxFeePerGas` of transactions, or None if unknown. Raises `UpstreamError`."""
    return _fees(read_fee_history(node))[0]


def _gas_limit(forecast: GasForecast, own_estimate: int | None, block_gas_limit: int | None) -> int | None:
    """Return the gas limit with its margin, capped at a block's limit if the gas alone fits, or None if unknown."""
    needed = forecast.peak or own_estimate
    if needed is None:
        return None
    limit = with_margin(needed)
    return max(needed, min(limit, block_gas_limit)) if block_gas_limit else limit


def _fees(history: FeeHistory | None) -> tuple[int | None, int | None]:
    """Return the maximum fee, with room for a rising base fee, and the priority fee: the median of recent blocks."""
    if history is None:
        return None, None
    priority_fee = max(history.median_priority_fee_wei, _MIN_PRIORITY_FEE_WEI)
    return _BASE_FEE_FACTOR * history.next_base_fee_wei + priority_fee, priority_fee
