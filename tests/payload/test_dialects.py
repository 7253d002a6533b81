"""Each kind of network has its encoder."""

from __future__ import annotations

import subprocess
import sys

import pytest

from swapcli.core.errors import InvalidRoute
from swapcli.core.model.network import FIBROUS, SETTLER, UNIVERSAL_ROUTER
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.networks.catalogue import find_network
from swapcli.payload.dialects import executable_market, executing_dialects, interface_dialect, update_executable
from swapcli.payload.evm.dialects.fibrous import FibrousDialect
from swapcli.payload.starknet.dialect import StarknetDialect
from tests.support.markets import embedded_market

INTEGRATOR = Integrator("0x" + "ab" * 20, fee_bps=9)


def test_each_kind_of_network_has_its_encoder() -> None:
    assert isinstance(interface_dialect(find_network("base")), FibrousDialect)
    assert isinstance(interface_dialect(find_network("starknet")), StarknetDialect)


@pytest.mark.parametrize(("name", "other"), [("base", "swapcli.payload.starknet"), ("starknet", "swapcli.payload.evm")])
def test_an_encoder_loads_no_module_of_the_other_kind(name: str, other: str) -> None:
    script = (
        "import sys\n"
        "from swapcli.payload.dialects import interface_dialect\n"
        "from swapcli.core.networks.catalogue import find_network\n"
        f"interface_dialect(find_network({name!r}))\n"
        f"assert not [name for name in sys.modules if name.startswith({other!r})]"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("dialect", [FIBROUS, SETTLER, UNIVERSAL_ROUTER])
def test_executable_pools_follow_the_changes_of_a_market(dialect: str) -> None:
    market = embedded_market("base")
    before = market._replace(network=market.network.for_dialect(dialect))
    pair = next(pool for pool in market.pools.values() if pool.protocol == "uniswapV2")
    gone = next(pool for pool in market.pools.values() if pool.protocol == "uniswapV3")
    sold, bought = pair.tokens
    moved = pair.swap(sold, bought, 10**15)[1]
    pools = {key: pool for key, pool in before.pools.items() if key != gone.key} | {pair.key: moved}
    after = before._replace(pools=pools)
    updated = update_executable(executable_market(before), after, {pair.key, gone.key})
    assert updated.pools == executable_market(after).pools
    assert updated.pools[pair.key] == moved


def test_only_evm_routers_pay_integrators() -> None:
    evm, starknet = interface_dialect(find_network("base")), interface_dialect(find_network("starknet"))
    assert evm.pays_integrators
    assert evm.encode_integrator_data(INTEGRATOR)
    assert not starknet.pays_integrators
    assert starknet.encode_integrator_data(None) == b""
    with pytest.raises(InvalidRoute, match="the router on starknet cannot pay an integrator"):
        starknet.encode_integrator_data(INTEGRATOR)


@pytest.mark.parametrize("name", ["base", "starknet"])
def test_no_list_says_that_the_public_router_executes_the_families_of_packages(name: str) -> None:
    network = find_network(name)
    protocol = next(each for each in network.protocols if each.family == "constant_product")
    assert FIBROUS in executing_dialects(protocol, network)
    assert FIBROUS not in executing_dialects(protocol._replace(family="of_a_package"), network)
