"""The transactions of a swap in the order to send them, for both EVM networks and Starknet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from swapcli.core.model.network import Network
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import Purpose, Transaction, UnsignedTransaction
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.interface.fields import render_felts
from swapcli.payload.dialects import router_dialect

if TYPE_CHECKING:
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.token import Token
    from swapcli.payload.checks.presign_checks import PayloadCheck
    from swapcli.payload.signing.signing_fields import SigningFields

FIELDS_OF_NODE = ("nonce", "gas", "maxFeePerGas", "maxPriorityFeePerGas")
"""The quantities that only a node can provide."""
_MAX_EXACT_INTEGER = 2**53 - 1
"""The greatest integer that JavaScript's numbers represent exactly, along with all smaller ones."""


class RenderedTransaction(NamedTuple):
    """One transaction: `calldata` is hex with 0x or, on Starknet, the decimal felts of a call of `entrypoint`.

    `request` is the transaction in the form that libraries accept for signing; None on Starknet, whose accounts execute
    calls.

    `spender_name` names the approved spender, empty for a swap. `account_lines` has names and texts of the fields that
    a Starknet account's transaction has for all its calls; the last call has them.
    """

    purpose: Purpose
    to: str
    calldata: str | list[str]
    value: str
    entrypoint: str | None = None
    spender_name: str = ""
    request: dict[str, object] | None = None
    account_lines: tuple[tuple[str, str], ...] = ()

    @property
    def signed_fields(self) -> dict[str, object]:
        """The fields to sign, by name."""
        fields = {"to": self.to, "entrypoint": self.entrypoint, "calldata": self.calldata, "value": self.value}
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def fields_of_node(self) -> dict[str, object]:
        """The quantities that a node reported, by name."""
        request = self.request or {}
        return {name: request[name] for name in FIELDS_OF_NODE if name in request}


def render_transactions(
    payload: UnsignedTransaction, network: Network, checked: PayloadCheck | None = None
) -> list[RenderedTransaction]:
    """Render the swap, after the approvals that it needs beyond the current allowances, if these were checked."""
    allowances = checked.allowances if checked else ()
    transactions = router_dialect(network).build_transactions(payload, allowances)
    sender = checked.sender if checked else None
    plan = checked.signing.fields if checked and checked.signing else (None,) * len(transactions)
    rendered = [
        RenderedTransaction(
            purpose=each.purpose,
            to=display_address(each.to, network.kind),
            calldata=render_felts(each.felts) if each.felts else each.calldata,
            value=str(each.value),
            entrypoint=each.entrypoint,
            spender_name=each.spender_name,
            request=None if each.felts else dict(_request(each, network, sender, fields)),
        )
        for each, fields in zip(transactions, plan, strict=True)
    ]
    if checked and checked.invoke:
        rendered[-1] = rendered[-1]._replace(account_lines=checked.invoke.lines())
    return rendered


def traded_tokens(result: RouteResult, payload: UnsignedTransaction, network: Network) -> tuple[Token, Token]:
    """Return the tokens of a swap, with the native token in place of its wrapped form if it is paid or received."""
    kind = payload.call.route.swap_type
    token_in = network.native if kind is SwapType.NATIVE_TO_TOKEN else result.input_token
    return token_in, network.native if kind is SwapType.TOKEN_TO_NATIVE else result.output_token


def missing_fields(transactions: Sequence[RenderedTransaction]) -> list[str]:
    """Return a sentence for each group of fields that is omitted from transactions of an EVM network."""
    requests = [each.request or {} for each in transactions]
    if any("from" not in request for request in requests):
        return ["no from, nonce, gas and fees: they need --from ADDRESS and a node"]
    reasons = {
        "nonce": "no nonce: the node does not report it",
        "gas": "no gas: the node cannot estimate it (--simulate measures the swap's gas)",
        "maxFeePerGas": "no fees: the node does not report recent fees",
    }
    return [reason for name, reason in reasons.items() if any(name not in request for request in requests)]


def _request(
    transaction: Transaction, network: Network, sender: str | None, fields: SigningFields | None
) -> Iterator[tuple[str, object]]:
    """Yield the fields of a type 2 transaction (EIP-1559), which web3.py, viem and ethers accept unchanged.

    There is no `type`, because no spelling suits all of them: viem accounts accept only "eip1559", which ethers and
    web3.py reject in favour of 2. All of them infer it from the fees.
    """
    if sender is not None:
        yield "from", display_address(sender, network.kind)
    yield "to", display_address(transaction.to, network.kind)
    yield "data", transaction.calldata
    yield "value", _quantity(transaction.value)
    yield "chainId", network.chain_id
    if fields is None:
        return
    quantities = {
        "nonce": fields.nonce,
        "gas": fields.gas,
        "maxFeePerGas": fields.max_fee_wei,
        "maxPriorityFeePerGas": fields.max_priority_fee_wei,
    }
    yield from ((name, _quantity(value)) for name, value in quantities.items() if value is not None)
    if fields.access_list:
        entries = [{"address": address, "storageKeys": list(slots)} for address, slots in fields.access_list]
        yield "accessList", entries


def _quantity(value: int) -> int | str:
    """Return an integer if JavaScript represents it exactly, otherwise hex.

    No simpler form works in all libraries: viem encodes the hex of zero wrongly, as a zero byte, and web3.py rejects
    decimal strings.
    """
    return value if value <= _MAX_EXACT_INTEGER else hex(value)
