"""Versions of the router are known by their code, whatever network it was deployed for."""

from __future__ import annotations

import json

import pytest

from swapcli.core.networks.catalogue import find_network
from swapcli.payload.evm.router import build_deployment
from swapcli.payload.evm.router.versions import find_version, read_versions
from swapcli.testing.evm import Chain
from tests.chain.contract_fixture import ContractFixture
from tests.contracts.build import ROUTER_VERSIONS, router_version, runtime_code

DEPLOYED_BEFORE = "0x0c30b9b4e8b314497282d5bb0a977f9d369409608d92dd499131173c07e3ca50"
"""The code of the version before deadlines."""


def test_the_present_version_is_the_last_that_is_known() -> None:
    assert json.loads(ROUTER_VERSIONS.read_text())[-1] == router_version()
    assert [each.has_deadlines for each in read_versions()] == [False] * 8 + [True]
    assert DEPLOYED_BEFORE in [each.code_hash for each in read_versions()]


@pytest.mark.parametrize("name", ["base", "monad", "citrea"])
def test_a_deployment_is_known_by_its_code(name: str) -> None:
    chain = Chain()
    address = chain.create(bytes.fromhex(build_deployment(find_network(name)).calldata[2:]))
    version = find_version(runtime_code(chain, address))
    assert version is not None
    assert version.has_deadlines


def test_code_that_differs_by_one_byte_is_unknown(fixture: ContractFixture) -> None:
    assert isinstance(fixture.chain, Chain)
    code = runtime_code(fixture.chain, fixture.router.address)
    assert find_version(code) == read_versions()[-1]
    arguments = {each + offset for each in read_versions()[-1].arguments_at for offset in range(32)}
    for position in (0, len(code) // 2, len(code) - 1):
        assert position not in arguments
        changed = bytearray(code)
        changed[position] ^= 1
        assert find_version(bytes(changed)) is None
    assert find_version(code + b"\0") is find_version(b"") is None
