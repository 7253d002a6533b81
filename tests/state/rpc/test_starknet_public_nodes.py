"""Public nodes of Starknet as one: the first proven block wins, and the others' faults do no harm."""

from __future__ import annotations

from contextlib import closing

import pytest

from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.network import Kind, PublicNode
from swapcli.state.rpc.node_records import NodeRecords
from swapcli.state.rpc.public_nodes import PublicEndpoint, open_public_node
from swapcli.state.rpc.rpc_node import RpcEndpoint
from swapcli.state.rpc.starknet_node import StarknetNode
from tests.payload.starknet.fake_node import CHAIN_ID, FakeChain, running_node

BLOCK_TIME_S = 2.0


@pytest.mark.parametrize("version", ["0.8", "0.9", "0.10"])
@pytest.mark.parametrize("tag", [BlockTag.LATEST, BlockTag.FINALIZED])
def test_a_good_node_wins_over_one_of_another_chain(version: str, tag: BlockTag) -> None:
    chain, lagging = FakeChain(), FakeChain()
    chain.mine(2_000)
    lagging.mine(20)
    with (
        running_node(chain, version=version) as good,
        running_node(chain, chain_id=5) as other,
        running_node(lagging) as stale,
    ):
        alone = StarknetNode([RpcEndpoint(good.url, good.url)], CHAIN_ID)
        latest, expected = alone.read_head().block, alone.read_head(tag)
        alone.close()
        node = open_public_node(
            [PublicEndpoint(PublicNode(each.url), each.url) for each in (other, stale, good)],
            kind=Kind.STARKNET,
            chain_id=CHAIN_ID,
            block_time_s=BLOCK_TIME_S,
            records=NodeRecords(None, lambda: latest.timestamp + 1.0),
        )
        with closing(node):
            assert node.read_head(tag) == expected
            assert good.url.endswith(node.host)
            assert node.read_block(latest.number) == latest
