"""The deployment gives the router the protocols and contracts of its network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from eth_abi.abi import decode

from swapcli.core.errors import ConfigError
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import OWN, Deployment, Network, ProtocolInfo
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.families import FAMILIES, family_row
from swapcli.families.sampled.sampled import Sampled
from swapcli.payload.evm import router
from swapcli.payload.evm.dialects.fibrous import FibrousDialect
from swapcli.payload.evm.router import RouterPoolKind, build_deployment, pool_kinds_by_protocol, read_artifact
from swapcli.payload.evm.router.deployment import PROTOCOL_IDS
from tests.payload.evm.router.driving import NATIVE

EVM_NETWORKS = [name for name in network_names() if name != "starknet"]
MANAGER = "0x" + "44" * 20
EXECUTED = {
    "balancer_v2_composable",
    "balancer_v2_eclp",
    "balancer_v2_stable",
    "balancer_v3_2clp",
    "balancer_v3_boosted",
    "balancer_v3_eclp",
    "balancer_v3_fixed_lbp",
    "balancer_v3_lbp",
    "balancer_v3_quantamm",
    "balancer_v3_reclamm",
    "balancer_v3_stable",
    "balancer_v3_stable_surge",
    "balancer_v3_weighted",
    "bridge",
    "concentrated",
    "constant_product",
    "cryptoswap",
    "curve_meta",
    "euler_swap",
    "fluid_t1",
    "infinity_bin",
    "liquidity_book",
    "mento_fpmm",
    "psm",
    "solidly_stable",
    "stableswap",
    "uniswap_v4_hooked",
    "vault",
    "weighted",
    "wrapper",
}
"""Families that the contract executes."""


def constructor_arguments(net: Network) -> tuple[str, str, int]:
    """Return the wrapped token, the pool manager, and both words of the table as one number."""
    calldata = build_deployment(net).calldata
    code = read_artifact().bytecode
    assert calldata.startswith(code)
    arguments = bytes.fromhex(calldata[len(code) :])
    wrapped, manager, low, high = decode(["address", "address", "uint256", "uint256"], arguments)
    return wrapped, manager, low | high << 256


@pytest.mark.parametrize("name", EVM_NETWORKS)
def test_every_network_gets_its_protocols_and_its_own_contracts(name: str) -> None:
    net = find_network(name)
    wrapped, manager, table = constructor_arguments(net)
    assert net.wrapped_native is not None
    assert wrapped == net.wrapped_native.address
    kinds_in_table = {each: table >> 4 * each & 15 for each in range(PROTOCOL_IDS)}
    assert {each: kind for each, kind in kinds_in_table.items() if kind} == dict(pool_kinds_by_protocol(net))
    assert set(kinds_in_table) >= {protocol.id for protocol in net.protocols}
    for protocol in net.protocols:
        is_v4 = ContractKind.UNISWAP_V4 in protocol.contracts
        assert bool(kinds_in_table[protocol.id]) == (is_v4 or protocol.family in EXECUTED)
    assert (manager != NATIVE) == (RouterPoolKind.SINGLETON in kinds_in_table.values())
    payload = build_deployment(net)
    assert (payload.chain_id, payload.value) == (net.chain_id, 0)


def test_pool_managers_are_those_of_the_catalogue() -> None:
    assert constructor_arguments(find_network("base"))[1] == "0x498581ff718922c3f8e6a244956af099b2652b2b"
    assert constructor_arguments(find_network("monad"))[1] == "0x188d586ddcf52439676ca21a244753fa19f9ea8e"


@pytest.mark.parametrize("family", FAMILIES)
def test_the_router_supports_pools_of_every_exact_family(family: str) -> None:
    net = find_network("citrea")._replace(protocols=(ProtocolInfo(0 if family == "wrapper" else 7, "x", "X", family),))
    is_executed = len(pool_kinds_by_protocol(net)) == 2
    expected = family != "wrapper" and family in EXECUTED
    assert is_executed == expected, f"TODO {family}: its name in EXECUTED, or no call in its row"


def test_the_source_and_the_program_number_kinds_alike() -> None:
    source = (Path(router.__file__).parent / "contracts" / "Families.sol").read_text()
    constants = re.findall(r"uint256 private constant (\w+) = (\d+);", source)
    assert {name: int(number) for name, number in constants} == {kind.name: kind.value for kind in RouterPoolKind}


def test_sampled_pools_of_uniswap_v4_are_the_singleton() -> None:
    assert family_row("sampled").router.kind_of(["uniswap_v4"]) is RouterPoolKind.SINGLETON
    assert family_row("sampled").router.kind_of([]) is None


@pytest.mark.parametrize("contract", ["infinity_cl", "infinity_bin"])
def test_infinity_pools_are_known_by_their_contracts(contract: str) -> None:
    protocol = ProtocolInfo(7, "x", "X", "concentrated", contracts=(contract,))
    net = find_network("citrea")._replace(protocols=(protocol,))
    assert pool_kinds_by_protocol(net)[7] is RouterPoolKind.INFINITY
    assert constructor_arguments(net)[1] == NATIVE


def test_protocols_that_are_known_by_pool_ids_are_the_singleton() -> None:
    kinds = pool_kinds_by_protocol(find_network("base"))
    assert (kinds[25], kinds[5], kinds[50]) == (
        RouterPoolKind.SINGLETON,
        RouterPoolKind.CONCENTRATED,
        RouterPoolKind.CONCENTRATED,
    )
    assert (kinds[0], kinds[1], kinds[2], kinds[4]) == (
        RouterPoolKind.WRAPPER,
        RouterPoolKind.PAIR,
        RouterPoolKind.PAIR,
        RouterPoolKind.PAIR,
    )
    assert (kinds[27], kinds[34]) == (RouterPoolKind.STABLESWAP, RouterPoolKind.BALANCER_V2)
    assert 13 not in kinds


def v4(number: int, name: str = "v4") -> ProtocolInfo:
    return ProtocolInfo(number, name, name, "concentrated", ("poolId",), contracts=("uniswap_v4",))


def refused(net: Network, match: str, key: str) -> None:
    with pytest.raises(ConfigError, match=match) as caught:
        build_deployment(net)
    assert caught.value.details["key"] == f"networks.{net.name}.{key}"


def test_an_unsupported_deployment_names_the_setting() -> None:
    citrea = find_network("citrea")
    refused(citrea._replace(wrapped_native=None), "wrapped native token", "wrapped_native")
    refused(citrea._replace(protocols=(ProtocolInfo(128, "x", "X", "weighted"),)), "id 128, above 127", "protocols")
    refused(citrea._replace(protocols=(ProtocolInfo(0, "x", "X", "weighted"),)), "id 0, which is reserved", "protocols")
    refused(citrea._replace(protocols=(v4(3),)), "pool_manager of v4 is unknown", "deployments")
    deployments = tuple(Deployment(("v4",), "V4", {"pool_manager": each}) for each in (MANAGER, "0x" + "55" * 20))
    refused(citrea._replace(protocols=(v4(3),), deployments=deployments), "2 of pool_manager", "deployments")


def test_a_protocol_that_is_not_served_may_have_any_id() -> None:
    citrea = find_network("citrea")
    assert 500 not in pool_kinds_by_protocol(citrea._replace(protocols=(ProtocolInfo(500, "x", "X", None),)))


def test_several_protocols_may_share_one_pool_manager() -> None:
    deployments = (Deployment(("v4", "other"), "V4", {"pool_manager": MANAGER}),)
    net = find_network("citrea")._replace(protocols=(v4(3), v4(4, "other")), deployments=deployments)
    assert constructor_arguments(net)[1] == MANAGER


def test_starknet_has_no_router_deployment() -> None:
    with pytest.raises(ConfigError, match="starknet does not run EVM contracts"):
        build_deployment(find_network("starknet"))


@pytest.mark.parametrize("protocol", ["tessera", "uniswapV4Clanker"])
def test_the_own_dialect_names_the_family_that_it_cannot_execute(protocol: str) -> None:
    pool = Sampled("0x" + "ab" * 20, protocol, ("0x" + "11" * 20, "0x" + "22" * 20), (18, 6), 0)
    own = FibrousDialect(find_network("base")._replace(router_dialect=OWN))
    public = FibrousDialect(find_network("base"))
    assert public.executable_pool(pool) is pool
    if protocol == "tessera":
        assert own.executable_pool(pool) is None
        assert own.refusal_reason(pool) == "the contract has no step for sampled pools"
    else:
        assert own.executable_pool(pool) is pool
