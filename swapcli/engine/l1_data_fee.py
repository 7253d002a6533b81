"""What a network charges for a transaction beside its gas: on OP-stack networks, for its data on L1."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from swapcli.api.route_result import with_gas
from swapcli.engine.payloads import build_transaction
from swapcli.engine.quote import LocalQuote
from swapcli.errors import SwapcliError
from swapcli.evm.eip1559 import GasFees, encode_unsigned
from swapcli.evm.l1_fee import L1FeeParams, compute_l1_fee_wei
from swapcli.model.route import Quote
from swapcli.model.swap_terms import DEFAULT_SLIPPAGE_PPM, SwapTerms
from swapcli.model.transaction import Transaction, UnsignedTransaction

_PLACEHOLDER_ADDRESS: Final = "0x9f3c51d27e84ab06c1fd38e6527bd0894a1ee573"
"""Stands for an address that is not known: as hard to compress as any."""
_PLACEHOLDER_NONCE: Final = 1_000


def with_l1_fee(answer: LocalQuote, params: L1FeeParams, payload: UnsignedTransaction | None = None) -> LocalQuote:
    """An answer that tells the fee for its swap's data too, in its quote and its result.

    The fee goes by the size of the transaction, so it is that of `payload`. Without one, as for a route whose receiver
    nobody has named, a payload is made for some other receiver and slippage: sizes differ by a few bytes. What only
    the sender knows, as the nonce, is taken to be of usual length. An approval, where one is needed, is not counted,
    and the core does not weigh the fee of a pool's bytes against what the pool gains. An answer that is not the
    core's, or that no payload can be made for, is returned as it is.
    """
    quote = answer.quote
    built = payload or _build_placeholder_payload(answer, quote)
    if built is None:
        return answer
    # A limit leaves room for refunds, a fee for a base fee that rises.
    gas = GasFees(quote.gas_units * 5 // 4, 2 * quote.gas_price_wei, quote.gas_price_wei)
    swap = Transaction(built.to, built.calldata, built.value)
    fee_wei = compute_l1_fee_wei(encode_unsigned(swap, answer.network.chain_id, _PLACEHOLDER_NONCE, gas), params)
    charged = quote._replace(l1_fee_wei=fee_wei)
    return answer._replace(quote=charged, result=with_gas(answer.result, charged))


def _build_placeholder_payload(answer: LocalQuote, quote: Quote) -> UnsignedTransaction | None:
    """None where no router can be told of the route."""
    network = replace(answer.network, router=answer.network.router or _PLACEHOLDER_ADDRESS)
    terms = SwapTerms(DEFAULT_SLIPPAGE_PPM, _PLACEHOLDER_ADDRESS)
    try:
        return build_transaction(answer.result, quote.steps, quote.amount_out, answer.pools, network, terms)
    except SwapcliError:
        return None
