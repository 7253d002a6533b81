"""When state is read together with the block, over a real node."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swapcli.core.model.block_tag import BlockTag
from swapcli.families.reading.calls import ContractCall
from swapcli.quoting.sources.live_reading import FirstReading, LiveBlock
from swapcli.state.clock import SYSTEM_CLOCK
from tests.chain.failure_modes import connect_without_pauses
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import RpcAnswer, RpcRequest
from tests.chain.proxy import Proxy, open_proxy, rewrites
from tests.chain.trader import Trader

TRIED = [1, 2, 5, 10, 19, 36, 69, 134, 263, 520, 1033, 1546]
"""Two blocks, and then after 2, 4, 8 and so on more, up to 512."""


def is_ahead(request: RpcRequest) -> bool:
    return bool(request["method"] == "eth_call" and request["params"][1] == "latest")


class Blocks:
    """Reads blocks through a proxy, `tries` being those with which calls came."""

    def __init__(self, block: LiveBlock, reading: FirstReading, proxy: Proxy) -> None:
        self._block, self._reading, self.proxy = block, reading, proxy
        self.count = 0
        self.tries: list[int] = []
        self.lag = 0
        proxy.always = rewrites(self._answer)

    def _answer(self, requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        """Answer calls for the latest block from an older one, by the `lag`, as a node does that updates it late."""
        if any(map(is_ahead, requests)):
            self.tries.append(self.count)
        old = hex(proxy.head() - self.lag)
        return proxy.answer([r | {"params": [r["params"][0], old]} if is_ahead(r) else r for r in requests])

    def read(self) -> int:
        """Read another block; return how many results came with it."""
        self.count += 1
        self._block.discard()
        return len(self._block.newest_snapshot(self._reading).ahead)


@pytest.fixture
def blocks(trader: Trader) -> Iterator[Blocks]:
    network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    trader.chain.node.ask("anvil_mine", hex(2))
    calls = [ContractCall(trader.world.address("USDC"), bytes.fromhex("313ce567"))]
    with open_proxy(trader.chain.node.port) as proxy, connect_without_pauses(proxy.url) as node:
        block = LiveBlock(node, network, SYSTEM_CLOCK, BlockTag.LATEST)
        yield Blocks(block, lambda: (calls, ()), proxy)


def test_state_comes_with_each_block(blocks: Blocks) -> None:
    assert [blocks.read() for _ in range(5)] == [1] * 5
    assert len(blocks.proxy.exchanges) == 5


@pytest.mark.slow
def test_a_node_whose_calls_lag_is_tried_ever_more_rarely(blocks: Blocks) -> None:
    blocks.lag = 1
    assert {blocks.read() for _ in range(TRIED[-1])} == {0}
    assert blocks.tries == TRIED
    assert len(blocks.proxy.exchanges) == TRIED[-1], "one exchange a block, as without calls"


def test_a_node_that_recovers_is_used_again(blocks: Blocks) -> None:
    blocks.lag = 1
    for _ in range(30):
        blocks.read()
    blocks.lag = 0
    found = [blocks.read() for _ in range(31, 40)]
    assert found == [0] * 5 + [1] * 4, "from block 36 on"


def test_one_failure_alone_changes_nothing(blocks: Blocks) -> None:
    found = []
    for lag in (1, 0) * 5:
        blocks.lag = lag
        found.append(blocks.read())
    assert found == [0, 1] * 5
