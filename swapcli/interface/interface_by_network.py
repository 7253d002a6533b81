"""Differences of the API between networks: one record for each network, and one for each kind."""

from __future__ import annotations

from enum import StrEnum

from swapcli.core.model.network import Kind
from swapcli.core.records import NamedTuple


class NetworkCalldata(StrEnum):
    """The variants of `GET /{network}/calldata`, on the networks that have it."""

    ORDER = "order"
    """Takes an order in the query; returns a route and its call."""
    SIGNER = "signer"
    """Takes a route and a signer in the body; returns the encoded call."""
    FELTS = "felts"
    """Takes an order in the query; returns a route and the felts of its call."""


class NetworkVariant(NamedTuple):
    """How the V1 API of a network differs from the default. V2 is the same on all networks."""

    call_names_tokens: bool = True
    """Whether the route of a call contains `token_in` and `token_out`."""
    execute_has_transaction: bool = True
    """Whether execute also returns `calldata`, `to` and `value`."""
    reverse: bool = False
    """Whether orders accept `reverse`: `amount` is then the desired output."""
    excludes_by_name: bool = False
    """Whether excluded protocols are given by name instead of id."""
    network_calldata: NetworkCalldata | None = None
    execute_checks_balance: bool = False
    """Whether execute rejects a wallet that holds less than the input."""


class KindVariant(NamedTuple):
    """How the API of a kind of network differs from the default."""

    address_noun: str
    """The noun for a valid address, used in the error for an invalid one."""
    prices_are_text: bool = False
    lists_best_quotes: bool = False
    """Whether a route has the output of each protocol alone."""


_KIND_VARIANTS = {
    Kind.EVM: KindVariant("an Ethereum address"),
    Kind.STARKNET: KindVariant("a Starknet address", prices_are_text=True, lists_best_quotes=True),
}
_VARIANTS = {
    "base": NetworkVariant(call_names_tokens=False),
    "citrea": NetworkVariant(network_calldata=NetworkCalldata.SIGNER),
    "hyperevm": NetworkVariant(
        execute_has_transaction=False,
        reverse=True,
        excludes_by_name=True,
        network_calldata=NetworkCalldata.ORDER,
        execute_checks_balance=True,
    ),
    "starknet": NetworkVariant(network_calldata=NetworkCalldata.FELTS),
}
_DEFAULT = NetworkVariant()


def network_variant(network: str) -> NetworkVariant:
    """Return the V1 variant of the network with this name; the default variant for any other name."""
    return _VARIANTS.get(network, _DEFAULT)


def kind_variant(kind: Kind) -> KindVariant:
    """Return the API variant of a kind of network."""
    return _KIND_VARIANTS[kind]
