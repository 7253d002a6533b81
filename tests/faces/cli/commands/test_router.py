"""`swapcli router`: what deploys the contract, ready to sign."""

from __future__ import annotations

import pytest

from swapcli.core.model.network import Kind
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.payload.evm.router import build_deployment, read_artifact
from tests.support.command import run_swapcli

EVM = [name for name in network_names() if find_network(name).kind is Kind.EVM]


@pytest.mark.parametrize("name", EVM)
def test_the_deployment_has_the_contract_and_its_arguments(name: str) -> None:
    printed = run_swapcli("router", "deploy-payload", name, "--json").json
    known = find_network(name)
    assert printed == {
        "network": name,
        "chainId": known.chain_id,
        "value": "0",
        "calldata": build_deployment(known).calldata,
    }
    assert printed["calldata"].startswith(read_artifact().bytecode)
    assert known.wrapped_native is not None
    assert known.wrapped_native.address[2:] in printed["calldata"]


def test_in_a_pipe_every_value_is_whole() -> None:
    ran = run_swapcli("router", "deploy-payload", "base")
    values = dict(line.split(maxsplit=1) for line in ran.stdout.splitlines()[2:])
    assert (ran.exit_code, values["to"], values["value"]) == (0, "none", "0")
    assert values["calldata"] == build_deployment(find_network("base")).calldata


def test_starknet_has_no_router_to_deploy() -> None:
    ran = run_swapcli("router", "deploy-payload", "starknet")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("error: starknet does not run EVM contracts")
