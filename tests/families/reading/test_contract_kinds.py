"""A protocol's definition names families and kinds of contracts that exist."""

from __future__ import annotations

import pytest

from swapcli.core.errors import ConfigError
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.core.networks.definition import ROLES
from swapcli.families.reading.contract_kinds import KINDS, contract_kinds


@pytest.mark.parametrize("name", network_names())
def test_packaged_definitions_have_no_unknown_names(name: str) -> None:
    network = find_network(name)
    assert any(contract_kinds(protocol, network) for protocol in network.protocols)


@pytest.mark.parametrize(
    ("protocol", "details", "hint"),
    [
        (
            ProtocolInfo(99, "mine", "Mine", "sampeld"),
            {"protocol": "mine", "family": "sampeld"},
            "did you mean sampled",
        ),
        (
            ProtocolInfo(99, "mine", "Mine", "vault", contracts=("nope",)),
            {"protocol": "mine", "kind": "nope"},
            "it is one of uniswap_v2, ",
        ),
    ],
)
def test_unknown_names_are_refused(protocol: ProtocolInfo, details: dict[str, str], hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        contract_kinds(protocol, find_network("base"))
    assert caught.value.details == details
    assert str(caught.value.hint).startswith(hint)


def test_a_definition_may_name_every_role_that_pools_come_from() -> None:
    assert {role for traits in KINDS.values() for role in traits.roles} <= set(ROLES)
