"""Compute the cost of a transaction's data on L1. OP-stack networks charge a fee, and Arbitrum networks charge more
gas."""

from __future__ import annotations

from typing import Final

from swapcli.core.errors import SwapcliError
from swapcli.core.model.route_result import with_gas
from swapcli.core.model.swap_terms import DEFAULT_SLIPPAGE_PPM, SwapTerms
from swapcli.core.model.transaction import Transaction, UnsignedTransaction
from swapcli.core.networks.l1_fee import L1FeeParams, compute_l1_fee_wei
from swapcli.payload.evm.unsigned_transaction import GasFees, encode_unsigned
from swapcli.payload.payloads import build_transaction
from swapcli.quoting.quote_results import LocalQuote

_PLACEHOLDER_ADDRESS: Final = "0x9f3c51d27e84ab06c1fd38e6527bd0894a1ee573"
"""A random address that stands for an unknown one: it compresses as badly as any real address."""
_PLACEHOLDER_NONCE: Final = 1_000
"""Only its size matters: two bytes, as for most accounts that trade."""


def with_l1_fee(answer: LocalQuote, params: L1FeeParams, payload: UnsignedTransaction | None = None) -> LocalQuote:
    """Return the quote with the L1 fee for the swap's data added to its costs.

    The fee depends on the size of the transaction, taken from `payload`. Without a payload, for example before the
    recipient is known, the size is estimated with a placeholder recipient and the default slippage, and may be wrong by
    a few bytes. A nonce of usual length is assumed. The fee for an approval is not included, and routing does not take
    the fee into account. If the route cannot be encoded, return the quote unchanged.
    """
    quote = answer.quote
    built = payload or placeholder_payload(answer)
    if built is None:
        return answer
    # As in wallets: a gas limit with a margin of a quarter, and a fee cap of twice the current price.
    gas = GasFees(quote.gas_units * 5 // 4, 2 * quote.gas_price_wei, quote.gas_price_wei)
    swap = Transaction(built.to, built.calldata, built.value)
    fee_wei = compute_l1_fee_wei(encode_unsigned(swap, answer.network.chain_id, _PLACEHOLDER_NONCE, gas), params)
    charged = quote._replace(l1_fee_wei=fee_wei)
    return answer._replace(quote=charged, result=with_gas(answer.result, charged))


def with_l1_gas(answer: LocalQuote, gas_units: int) -> LocalQuote:
    """Return the quote with the gas that the network charges for the swap's data added to its costs.

    The single path with which the quote is compared gets the same gas added, because the cost of its own data is not
    known. Routing does not take the gas into account.
    """
    quote, single = answer.quote, answer.quote.best_single_path_gas_units
    charged = quote._replace(
        gas_units=quote.gas_units + gas_units,
        best_single_path_gas_units=None if single is None else single + gas_units,
        l1_gas_units=gas_units,
    )
    return answer._replace(quote=charged, result=with_gas(answer.result, charged))


def placeholder_payload(answer: LocalQuote) -> UnsignedTransaction | None:
    """Return a payload of about the same size as the real one; None if the route cannot be encoded."""
    quote = answer.quote
    network = answer.network._replace(router=answer.network.router or _PLACEHOLDER_ADDRESS)
    terms = SwapTerms(DEFAULT_SLIPPAGE_PPM, _PLACEHOLDER_ADDRESS)
    try:
        return build_transaction(answer.result, quote.steps, quote.amount_out, answer.pools, network, terms)
    except SwapcliError:
        return None
