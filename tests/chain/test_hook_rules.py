"""A Uniswap V4 pool for each rule of `hook_rules`, read as the program reads: Multicall3, batches, two nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from swapcli.core.model.network import Deployment, Kind, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.core.networks.hook_rules import CLANKER_DYNAMIC, CLANKER_STATIC, DELI, FEES, FLAUNCH, RULES
from swapcli.families.tick_math import Q96
from tests.chain.anvil import CHAIN_ID, AnvilChain, running_anvil
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.settings import describe_network, write_settings
from tests.families.real_pools import ContractFixture
from tests.families.uniswap.hooked_pools import FEE_HOOK, LAUNCH_HOOK, HookedPool
from tests.families.uniswap.test_clanker_reader import LaunchedPool
from tests.families.uniswap.test_fee_in_token import DeliPool
from tests.families.uniswap.test_hook_reader import RATES
from tests.families.uniswap.test_hook_reader import RULE as FEE_RULE
from tests.families.uniswap.test_internal_swap import FlaunchedPool
from tests.support.command import CommandResult, run_swapcli
from tests.support.outside_ids import keccak256

PRICE = Q96 // 5
NOW = 1_700_000_000
OTHER_HOOK = 1 << 20
"""Above the bits of permissions, so that two hooks with the same ones have different addresses."""


def open_pools(fixture: ContractFixture) -> Iterator[tuple[HookedPool, Mapping[str, Any]]]:
    """Open a pool for each rule, all between the same tokens. Yield it with its rule."""
    rng = Random("rules")
    fees = HookedPool(rng, "FeeHook", FEE_HOOK, is_dynamic=True, price=PRICE, spacing=60, fixture=fixture)
    fees.set_fees(RATES)
    yield fees, FEE_RULE
    static = LaunchedPool(is_second_version=True, token_is_first=True, fixture=fixture)
    yield static.real, static.rule()
    dynamic = LaunchedPool(
        is_second_version=True, token_is_first=False, fixture=fixture, permissions=LAUNCH_HOOK | OTHER_HOOK
    )
    config, variables = (5_000, 50_000, 15, 120, -200, 5 * 10**8, 7_500), (-16_095, -16_000, NOW - 40, NOW - 3, 7, 9)
    dynamic.real.hook.send("setVolatility", bytes.fromhex(dynamic.real.pool_id[2:]), config, variables, 1_234)
    rule = {**dynamic.rule(locker=dynamic.pad.address), "rule": CLANKER_DYNAMIC}
    code = fixture.chain.node.ask("eth_getCode", dynamic.real.hooks, "latest")  # type: ignore[attr-defined]
    # Swaps of this hook have constant fees, so that a quoter would contradict the rule: its code proves it.
    yield dynamic.real, {**rule, "code_hash": f"0x{keccak256(bytes.fromhex(code[2:])).hex()}"}
    flaunched = FlaunchedPool(rng, 100, token_is_first=True, price=PRICE, fixture=fixture)
    flaunched.hook.send("setTokens", bytes.fromhex(flaunched.pool_id[2:]), 10**18)
    yield flaunched, {"rule": FLAUNCH, "gas": 9}
    yield DeliPool(rng, 3_000, token_is_first=True, price=PRICE, fixture=fixture), {"rule": DELI, "gas": 9}


def build_network(chain: AnvilChain, pools: Mapping[str, tuple[HookedPool, Mapping[str, Any]]]) -> Network:
    """Return the network of the pools, each of which has a pool manager and a protocol of its own."""
    fixture = next(iter(pools.values()))[0].world
    tokens = tuple(
        Token(token.address, token.call("symbol")[0], "Token", token.call("decimals")[0])
        for token in (fixture.token0, fixture.token1)
    )
    wrapped, dollar = sorted(tokens, key=lambda token: -token.decimals)  # 18 and 6
    return Network(
        name="rules",
        kind=Kind.EVM,
        chain_id=CHAIN_ID,
        native=Token(ZERO_ADDRESS, "ETH", "Ether", 18),
        wrapped_native=wrapped,
        tokens=tokens,
        protocols=tuple(
            ProtocolInfo(number, name, name, "concentrated", ("poolId",), contracts=("uniswap_v4",))
            for number, name in enumerate(pools)
        ),
        deployments=tuple(
            Deployment((name,), name, {"pool_manager": pool.manager.address, "quoter": pool.quoter.address})
            for name, (pool, _) in pools.items()
        ),
        hook_rules=tuple({**rule, "hooks": [pool.hooks]} for pool, rule in pools.values()),
        stablecoins=(dollar.address,),
        multicall=deploy_multicall(chain),
    )


@dataclass
class World:
    """A user with two nodes of the chain, and the pools by rule."""

    settings: Path
    network: Network
    pools: Mapping[str, HookedPool]
    nodes: tuple[Proxy, Proxy]

    def run(self, *words: str) -> CommandResult:
        return run_swapcli(*words, "--json", env={"SWAPCLI_CONFIG": str(self.settings)})


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with running_anvil() as chain:
        fixture = ContractFixture(chain)
        pools = dict(zip(RULES_IN_ORDER, open_pools(fixture), strict=True))
        for pool, _ in pools.values():
            tick = pool.position()[1] // pool.tick_spacing * pool.tick_spacing
            pool.mint(tick - 50 * pool.tick_spacing, tick + 50 * pool.tick_spacing, 10**22)
        network = build_network(chain, pools)
        folder = tmp_path_factory.mktemp("rules")
        with open_proxy(chain.node.port) as first, open_proxy(chain.node.port) as second:
            described = describe_network(network, first.url) | {"rpc_urls": [first.url, second.url]}
            described.pop("rpc_url")
            settings = write_settings(folder, network, None, networks={network.name: described})
            yield World(settings, network, {name: pool for name, (pool, _) in pools.items()}, (first, second))


RULES_IN_ORDER = (FEES, CLANKER_STATIC, CLANKER_DYNAMIC, FLAUNCH, DELI)


def test_a_pool_for_each_rule_is_synced_and_quoted(world: World) -> None:
    assert set(world.pools) == set(RULES)
    ran = world.run("sync", "rules")
    assert ran.exit_code == 0, ran.stderr
    assert "skipped" not in ran.json
    listed = {each["protocol"]: each for each in world.run("pools", "rules").json["pools"]}
    assert {name: each["pool"].lower() for name, each in listed.items()} == {
        name: pool.pool_id for name, pool in world.pools.items()
    }
    assert all("skippedReason" not in each for each in listed.values())
    pair = [token.address for token in world.network.tokens]
    for name, pool in world.pools.items():
        others = ",".join(each for each in world.pools if each != name)
        route = world.run("route", "rules", *pair, str(10**12), "--raw", "--exclude-protocols", others)
        assert route.exit_code == 0, (name, route.stderr)
        assert route.json["state"]["kind"] == "live"
        if name == CLANKER_DYNAMIC:
            continue
        with pool.world.chain.revert_after():
            assert pool.swap(True, 10**12).got == int(route.json["outputAmount"]), name
    assert all("eth_call" in node.methods for node in world.nodes), "both nodes have read pools"
