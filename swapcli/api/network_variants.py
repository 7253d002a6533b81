"""How the interface differs from network to network: one record each, data only."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class NetworkCalldata(StrEnum):
    """What `GET /{network}/calldata` takes, on the networks that have it."""

    ORDER = "order"
    """An order in the query; a route and its call come back."""
    SIGNER = "signer"
    """A found route and a signer in the body; the encoded call comes back."""
    FELTS = "felts"
    """An order in the query; a route and the felts of its call come back."""


class FaultShape(StrEnum):
    """The form of an error body."""

    DETAILED = "detailed"
    """`{success: false, error, details}`"""
    BRIEF = "brief"
    """`{error, message}`"""
    STATUS = "status"
    """`{statusCode, message, error}`"""


class NetworkVariant(NamedTuple):
    """The peculiarities of a network, all of V1: V2 is the same everywhere."""

    call_names_tokens: bool = True
    """Does the payload's route name its two tokens?"""
    execute_has_transaction: bool = True
    """Does execute answer with `calldata`, `to` and `value` too?"""
    execute_fault: FaultShape = FaultShape.BRIEF
    reverse: bool = False
    """May the amount of an order be the wanted output?"""
    excludes_by_name: bool = False
    """Are excluded protocols named, rather than numbered?"""
    network_calldata: NetworkCalldata | None = None
    execute_checks_balance: bool = False
    """Does execute refuse a wallet that holds less than is sold?"""


_VARIANTS = {
    "base": NetworkVariant(call_names_tokens=False),
    "citrea": NetworkVariant(network_calldata=NetworkCalldata.SIGNER),
    "hyperevm": NetworkVariant(
        execute_has_transaction=False,
        execute_fault=FaultShape.DETAILED,
        reverse=True,
        excludes_by_name=True,
        network_calldata=NetworkCalldata.ORDER,
        execute_checks_balance=True,
    ),
    "starknet": NetworkVariant(network_calldata=NetworkCalldata.FELTS),
}
_DEFAULT = NetworkVariant()


def network_variant(network: str) -> NetworkVariant:
    """The dialect of the network of that name; the plain one where nothing is known of it."""
    return _VARIANTS.get(network, _DEFAULT)
