"""Commands on strict nodes of three versions that take no batches, with pools whose keys are recorded ones."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from swapcli.families.tick_math import sqrt_ratio_at_tick
from tests.payload.starknet.ekubo_core import PoolKey, PoolState
from tests.payload.starknet.fake_node import (
    Contract,
    EkuboCore,
    FakeChain,
    JediClPool,
    TokenContract,
    running_node,
)
from tests.payload.starknet.pools_on_chain import CORE, ETH, STARKNET, USDC, role
from tests.support.command import run_swapcli

KEY = PoolKey(ETH, USDC, 0x20C49BA5E353F80000000000000000, 1_000)
TICK = -19_600_000
"""About 3,100 USDC for one ETH, whose units are 10^12 times smaller."""
CL_POOL, CL_TICK, WAD = 0xB7, -196_020, 10**18


@dataclass
class JediClFactory(Contract):
    def do_get_pool(self, token_a: int, token_b: int, fee: int) -> list[int]:
        return [CL_POOL if {token_a, token_b} == {ETH, USDC} and fee == 500 else 0]

    def do_fee_amount_tick_spacing(self, fee: int) -> list[int]:
        return [{100: 2, 500: 10, 3_000: 60}.get(fee, 0)]


def build_recorded_chain() -> FakeChain:
    chain = FakeChain(int(time.time()))
    for each in STARKNET.tokens:
        chain.contracts[int(each.address, 16)] = TokenContract(each.symbol, each.decimals)
    pool = PoolState(KEY.tick_spacing, TICK)
    pool.update(TICK - 400_000, TICK + 400_000, 10**17)
    chain.contracts[CORE] = EkuboCore({KEY: pool})
    nets = {CL_TICK // 10 * 10 + 10 * step: net * 10**15 for step, net in ((-50, 1), (50, -1))}
    chain.contracts[CL_POOL] = JediClPool(sqrt_ratio_at_tick(CL_TICK), CL_TICK, 10**15, 500, 10, nets)
    chain.contracts[role("JediSwapCL", "factory")] = JediClFactory()
    chain.mine(4)
    return chain


def answers(folder: Path, version: str, refuses_large_pages: bool) -> dict[str, Any]:
    """Return the amounts of a first live quote and of one from synced pools, and the status of the health check."""
    chain = build_recorded_chain()
    options: dict[str, Any] = {"version": version, "refuses_large_pages": refuses_large_pages}
    with running_node(chain, max_batch=1, page_size=100, **options) as node:
        settings = folder / "config.yaml"
        settings.write_text(json.dumps({"store_dir": str(folder / "stores")}))
        env = {"SWAPCLI_CONFIG": str(settings), "XDG_DATA_HOME": str(folder)}

        def run(*arguments: str) -> Any:
            result = run_swapcli(*arguments, "--rpc-url", node.url, "--json", env=env)
            assert result.exit_code == 0, result.stderr
            return result.json

        first = run("route", "starknet", "ETH", "USDC", "1")["outputAmount"]
        health = run("health", "starknet")
        synced = run("sync", "starknet", "--tokens", "ETH,USDC")
        pools = {each["protocol"]: each["pools"] for each in synced["protocols"] if each["pools"]}
        second = run("route", "starknet", "ETH", "USDC", "1")["outputAmount"]
        assert all(each.code != -32602 for each in node.failures)
    return {"first": first, "second": second, "pools": pools, "health": bool(health)}


@pytest.mark.parametrize("version", [*(pytest.param(each, marks=pytest.mark.slow) for each in ("0.8", "0.9")), "0.10"])
def test_strict_nodes_of_every_version_give_equal_amounts(tmp_path: Path, version: str) -> None:
    found = answers(tmp_path, version, refuses_large_pages=True)
    assert found["pools"] == {"Ekubo": 1, "JediSwapCL": 1}
    core = build_recorded_chain().contracts[CORE]
    assert isinstance(core, EkuboCore)
    paid = -core.pools[KEY].swap(WAD, False, KEY.fee).amount1
    assert int(found["first"]) == paid > 2_000 * 10**6
    assert int(found["second"]) >= paid
