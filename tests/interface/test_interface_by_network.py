"""Differences of the API between networks."""

from __future__ import annotations

import pytest

from swapcli.core.networks.catalogue import network_names
from swapcli.interface.interface_by_network import NetworkCalldata, NetworkVariant, network_variant


@pytest.mark.parametrize(
    ("network", "names_tokens", "has_transaction", "reverse", "own"),
    [
        ("base", False, True, False, None),
        ("hyperevm", True, False, True, NetworkCalldata.ORDER),
        ("citrea", True, True, False, NetworkCalldata.SIGNER),
        ("monad", True, True, False, None),
        ("starknet", True, True, False, NetworkCalldata.FELTS),
    ],
)
def test_each_network_speaks_as_the_specification_says(
    network: str,
    names_tokens: bool,
    has_transaction: bool,
    reverse: bool,
    own: NetworkCalldata | None,
) -> None:
    checks_balance = network == "hyperevm"
    assert network_variant(network) == NetworkVariant(
        names_tokens, has_transaction, reverse, reverse, own, checks_balance
    )


def test_a_network_of_which_nothing_is_known_speaks_plainly() -> None:
    assert network_variant("elsewhere") == NetworkVariant()


def test_every_network_with_a_dialect_is_in_the_catalogue() -> None:
    spoken = {name for name in ("base", "citrea", "hyperevm", "starknet") if network_variant(name) != NetworkVariant()}
    assert spoken <= set(network_names())
    assert len(spoken) == 4
