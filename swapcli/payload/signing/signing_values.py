"""Read the values that only a node can provide before transactions are signed: nonce, gas and fees.

Everything is read in one round trip, and nothing is required: a node that lacks a method leaves its value unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.signing_figures import NodeFigures
from swapcli.core.model.transaction import Transaction
from swapcli.core.records import NamedTuple
from swapcli.state.rpc.fee_history import FeeHistory, fee_history_request, parse_fee_history
from swapcli.state.rpc.json_rpc_client import RpcError, RpcRequest, RpcResult
from swapcli.state.rpc.node import StateOverride
from swapcli.state.rpc.rpc_node import render_overrides

_FEE_REQUEST: Final = fee_history_request("latest")
_is_quantity = re.compile(r"0x[0-9a-fA-F]{1,64}").fullmatch
_is_address = re.compile(r"0x[0-9a-fA-F]{40}").fullmatch
_is_slot = re.compile(r"0x[0-9a-fA-F]{64}").fullmatch

AccessList = tuple[tuple[str, tuple[str, ...]], ...]
"""Addresses with the storage slots that a transaction uses (EIP-2930); slots are 32 bytes in hex."""


class OptionalRequests(Protocol):
    """A node that accepts requests whose results are optional for the caller."""

    def send_optional(self, requests: Sequence[RpcRequest]) -> list[RpcResult]:
        """Return the results, with an `RpcError` for each request that the node rejects. Raises `UpstreamError`."""


class GasForecast(NamedTuple):
    """The gas of one transaction: `used` after refunds, `peak` before them; None if unknown.

    `peak` is the smallest gas limit of the transaction. `failure` is the node's message if the transaction would fail.
    `is_supported` is false if the node cannot simulate the transaction after others.
    """

    used: int | None = None
    peak: int | None = None
    failure: str = ""
    is_supported: bool = True


class TransactionForecast(NamedTuple):
    """A node's data on consecutive transactions that a sender is about to send; None if unknown.

    `nonce` is the first transaction's nonce; `latest_nonce` counts mined transactions. `gas` has one entry for each
    transaction, on the state after the previous ones. `access_list` belongs to a transaction that is sent alone; it is
    empty unless it saves gas.
    """

    nonce: int | None
    fees: FeeHistory | None
    gas: tuple[GasForecast, ...]
    access_list: AccessList = ()
    latest_nonce: int | None = None

    @property
    def figures(self) -> NodeFigures:
        """The node's values, for comparison with the fields of the transactions."""
        return NodeFigures(self.latest_nonce, self.nonce, self.fees.usual_price_wei if self.fees else None)


def read_transaction_forecast(
    node: OptionalRequests,
    sender: str,
    transactions: Sequence[Transaction],
    *,
    with_access_list: bool,
    tag: BlockTag = BlockTag.LATEST,
) -> TransactionForecast:
    """Return the forecast of `transactions` on the block with the tag `tag`, in one round trip.

    The first transaction's gas comes from `eth_estimateGas`, and the gas of the others from `eth_simulateV1`, which
    executes all of them in order. Few nodes support `eth_simulateV1`: without it, the gas of the others is unknown.
    Raises `UpstreamError` if the node does not respond.
    """
    calls = [_call(sender, each) for each in transactions]
    simulation = {"blockStateCalls": [{"calls": calls}], "validation": False}
    requests = [
        *_figure_requests(sender),
        RpcRequest("eth_estimateGas", (calls[0], tag)),
        RpcRequest("eth_simulateV1", (simulation, tag)),
    ]
    if with_access_list and len(calls) == 1:
        requests.append(RpcRequest("eth_createAccessList", (calls[0], tag)))
    latest, nonce, fees, estimate, simulated, *listed = node.send_optional(requests)
    gas = _simulated_gas(simulated, len(calls))
    access_list = _saving_access_list(listed[0], gas[0].used) if listed else ()
    return TransactionForecast(
        _quantity(nonce),
        parse_fee_history(fees),
        (_estimated(estimate, gas[0]), *gas[1:]),
        access_list,
        _quantity(latest),
    )


def read_node_figures(node: OptionalRequests, sender: str, chain_id: int) -> NodeFigures:
    """Return the sender's nonces and the usual gas price according to a second node, or no values if that node is on a
    different chain.

    Raises `UpstreamError` if the node does not respond.
    """
    requests = [*_figure_requests(sender), RpcRequest("eth_chainId", ())]
    latest, nonce, fees, chain = node.send_optional(requests)
    if _quantity(chain) != chain_id:
        return NodeFigures()
    history = parse_fee_history(fees)
    return NodeFigures(_quantity(latest), _quantity(nonce), history.usual_price_wei if history else None)


def read_fee_history(node: OptionalRequests) -> FeeHistory | None:
    """Return the recent fees, or None if the node has no history. Raises `UpstreamError` if it does not respond."""
    (found,) = node.send_optional([_FEE_REQUEST])
    return parse_fee_history(found)


def read_gas_after(
    node: OptionalRequests, sender: str, transaction: Transaction, overrides: Sequence[StateOverride], tag: BlockTag
) -> GasForecast:
    """Return the gas of a transaction on overridden state, by `eth_estimateGas`. Raises `UpstreamError`.

    The overrides represent the state after the transactions before it. A node's rejection does not mean that the
    transaction fails: many nodes do not support overrides here, or ignore them.
    """
    parameters = (_call(sender, transaction), tag, render_overrides(overrides))
    (result,) = node.send_optional([RpcRequest("eth_estimateGas", parameters)])
    return GasForecast(peak=_quantity(result), is_supported=not isinstance(result, RpcError))


def _figure_requests(sender: str) -> tuple[RpcRequest, ...]:
    counts = (RpcRequest("eth_getTransactionCount", (sender, tag)) for tag in ("latest", "pending"))
    return (*counts, _FEE_REQUEST)


def _call(sender: str, transaction: Transaction) -> dict[str, str]:
    fields = {"from": sender, "to": transaction.to, "data": transaction.calldata}
    return fields | {"value": hex(transaction.value)}


def _estimated(result: RpcResult, simulated: GasForecast) -> GasForecast:
    """Return the forecast of the first transaction, whose simulation result is known."""
    if isinstance(result, RpcError):
        return simulated if simulated.peak else GasForecast(failure=result.message)
    return simulated._replace(peak=_quantity(result) or simulated.peak, failure="", is_supported=True)


def _simulated_gas(result: RpcResult, count: int) -> tuple[GasForecast, ...]:
    """Parse the result of `eth_simulateV1`: unknown gas if it is malformed or the node rejected the request."""
    if isinstance(result, RpcError):
        return (GasForecast(is_supported=False),) * count
    blocks = result if isinstance(result, list) else []
    calls = blocks[0].get("calls") if len(blocks) == 1 and isinstance(blocks[0], dict) else None
    if not isinstance(calls, list) or len(calls) != count:
        return (GasForecast(is_supported=False),) * count
    return tuple(map(_simulated_call, calls))


def _simulated_call(entry: object) -> GasForecast:
    if not isinstance(entry, dict):
        return GasForecast()
    if _quantity(entry.get("status")) != 1:
        error = entry.get("error")
        message = error.get("message") if isinstance(error, dict) else None
        return GasForecast(failure=message if isinstance(message, str) and message else "execution reverted")
    used = _quantity(entry.get("gasUsed"))
    if not used:
        return GasForecast()
    # Refunds are at most a fifth of the gas before them (EIP-3529). Recent versions of go-ethereum return that gas.
    return GasForecast(used, _quantity(entry.get("maxUsedGas")) or -(-used * 5 // 4))


def _saving_access_list(result: RpcResult, used_without: int | None) -> AccessList:
    """Return the access list if, according to the node, the transaction uses less gas with it."""
    if not isinstance(result, dict) or result.get("error") or used_without is None:
        return ()
    used_with, entries = _quantity(result.get("gasUsed")), result.get("accessList")
    if used_with is None or used_with >= used_without or not isinstance(entries, list):
        return ()
    parsed = [_access_list_entry(entry) for entry in entries]
    return tuple(each for each in parsed if each) if all(parsed) else ()


def _access_list_entry(entry: object) -> tuple[str, tuple[str, ...]] | None:
    if not isinstance(entry, dict):
        return None
    address, slots = entry.get("address"), entry.get("storageKeys")
    if not isinstance(slots, list) or not _is_address(str(address)) or not all(_is_slot(str(slot)) for slot in slots):
        return None
    return str(address).lower(), tuple(str(slot).lower() for slot in slots)


def _quantity(value: object) -> int | None:
    """Parse a quantity of JSON-RPC. Return None if it is not one."""
    return int(value, 16) if isinstance(value, str) and _is_quantity(value) else None
