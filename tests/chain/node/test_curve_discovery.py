"""Pools in the lists of Curve's factories are found with their coins."""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.chain.call_encoding import encode_call
from swapcli.chain.contract_kinds import ContractKind
from swapcli.chain.factory import Factory
from swapcli.chain.lockstep_reads import SkippedItem
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import BlockId, ContractCall, ReturnData
from swapcli.chain.pool_discovery import PoolList, read_listed_pools, read_pool_lists
from swapcli.chain.pool_ref import PoolRef
from swapcli.model.network import ProtocolInfo
from tests.chain.node.evm_node import BLOCK, EvmNode
from tests.contracts.evm import Chain
from tests.pools.random_pools import TOKENS

FACTORY = "0x" + "fa" * 20
PLAIN, META, BROKEN = ("0x" + f"{k}0" * 20 for k in (1, 2, 3))
STABLE = ProtocolInfo(1, "stable", "Stable", "stableswap")


class CurveFactoryNode(EvmNode):
    """A factory with a pool of three coins, a metapool, and a pool that does not answer."""

    def __init__(self) -> None:
        super().__init__(Chain())
        pools = (PLAIN, META, BROKEN)
        self.answers = {(FACTORY, encode_call("pool_count()")): word(len(pools))}
        for k, pool in enumerate(pools):
            self.answers[FACTORY, encode_call("pool_list(uint256)", k)] = word(int(pool, 16))
            self.answers[FACTORY, encode_call("is_meta(address)", pool)] = word(pool == META)
        for pool, count in ((PLAIN, 3), (META, 2)):
            for k in range(count):
                self.answers[pool, encode_call("coins(uint256)", k)] = word(int(TOKENS[k], 16))

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        del at
        return [self.answers.get((call.to, call.calldata)) for call in calls]


def word(value: int) -> bytes:
    return value.to_bytes(32)


def test_plain_pools_of_a_curve_factory_are_found() -> None:
    reader = BlockReader(CurveFactoryNode(), BLOCK, None)
    (listing,) = read_pool_lists(reader, [Factory(FACTORY, ContractKind.STABLESWAP, (STABLE,))])
    assert isinstance(listing, PoolList)
    assert listing.length == 3
    plain, meta, broken = read_listed_pools(reader, listing, 0, 3)
    assert plain == PoolRef(PLAIN, "stable", "stableswap", ContractKind.STABLESWAP, TOKENS[:3], ())
    assert isinstance(meta, SkippedItem)
    assert "metapool" in meta.reason
    assert isinstance(broken, SkippedItem)
    assert list(read_listed_pools(reader, listing, 2, 3)) == [broken]
