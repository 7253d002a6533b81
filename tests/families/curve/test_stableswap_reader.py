"""Pools in the lists of Curve's factories are found with their coins; metapools are read with their base pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from swapcli.core.model.network import ProtocolInfo
from swapcli.families.curve import stableswap_reader as stableswap
from swapcli.families.curve.curve_meta import CurveMeta
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.discovery.pool_discovery import FactoryPools, read_listed_pools, read_pool_lists
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockId
from swapcli.testing.evm import Chain
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.chain.node.evm_node import BLOCK, EvmNode
from tests.chain.node.recorded_curve import RecordedMetapool
from tests.families.curve.test_curve_meta import as_recorded
from tests.families.recorded import read_vectors

FACTORY = "0x" + "fa" * 20
PLAIN, META, BROKEN = ("0x" + f"{k}0" * 20 for k in (1, 2, 3))
META_PROTOCOL = ProtocolInfo(2, "meta", "Meta", "curve_meta")
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
    reader = MulticallReader(CurveFactoryNode(), BLOCK, None)
    (listing,) = read_pool_lists(reader, [Factory(FACTORY, "stableswap", (STABLE,))])
    assert isinstance(listing, FactoryPools)
    assert listing.length == 3
    plain, meta, broken = read_listed_pools(reader, listing, 0, 3)
    assert plain == PoolRef(PLAIN, "stable", "stableswap", "stableswap", TOKENS[:3], ())
    assert isinstance(meta, SkippedItem)
    assert "a metapool of version none, only v7.0.0 is supported" in meta.reason
    assert isinstance(broken, SkippedItem)
    assert list(read_listed_pools(reader, listing, 2, 3)) == [broken]


def recorded_metapools() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the last step of every recorded pool."""
    for pool in read_vectors("curve_meta")["pools"]:
        yield pool, pool["steps"][-1]


def test_metapools_are_found_and_read_as_recorded() -> None:
    factory = Factory(FACTORY, "stableswap", (STABLE, META_PROTOCOL))
    in_ramp = 0
    for pool, step in recorded_metapools():
        contracts = RecordedMetapool(FACTORY, pool, step)
        (ref,) = run_batched([(ADDRESS, stableswap.read_constants(factory, ADDRESS))], contracts.send)
        assert isinstance(ref, PoolRef)
        count = 2 + len(pool["base_decimals"])
        assert (ref.family, ref.protocol, ref.tokens) == ("curve_meta", "meta", TOKENS[:count])
        ref = ref._replace(decimals=(*pool["meta_decimals"], *pool["base_decimals"]))
        contracts.rounds = 0
        (read,) = run_batched([(ADDRESS, stableswap.load(ref))], contracts.send)
        assert contracts.rounds == 1
        assert isinstance(read, CurveMeta)
        known = as_recorded(pool, step)
        assert state_without_ramps(read) == {**state_without_ramps(known), "base_pool": TOKENS[1]}
        in_ramp += read.changes_without_events
        bare = ref._replace(constants=None)
        assert stableswap.complete_ref(bare, read) == ref
        assert run_batched([(ADDRESS, stableswap.load(bare))], contracts.send) == [read]
    assert in_ramp > 5


def state_without_ramps(pool: CurveMeta) -> dict[str, object]:
    own, base = (replace(each, is_ramping=False) for each in (pool.own, pool.base.pool))
    return replace(pool, own=own, base=pool.base._replace(pool=base)).state()


@pytest.mark.parametrize(("changed", "role"), [(ADDRESS, "metapool"), (TOKENS[1], "base pool")])
def test_metapools_of_other_versions_are_left_out(changed: str, role: str) -> None:
    contracts = RecordedMetapool(FACTORY, *next(recorded_metapools()))
    contracts.put_version(changed, "v6.0.1")
    factory = Factory(FACTORY, "stableswap", (STABLE, META_PROTOCOL))
    (skipped,) = run_batched([(ADDRESS, stableswap.read_constants(factory, ADDRESS))], contracts.send)
    assert isinstance(skipped, SkippedItem)
    assert f"a {role} of version v6.0.1" in skipped.reason


def test_a_factory_without_a_protocol_for_metapools_skips_them() -> None:
    contracts = RecordedMetapool(FACTORY, *next(recorded_metapools()))
    factory = Factory(FACTORY, "stableswap", (STABLE,))
    (skipped,) = run_batched([(ADDRESS, stableswap.read_constants(factory, ADDRESS))], contracts.send)
    assert isinstance(skipped, SkippedItem)
    assert "the catalogue has no protocol for it" in skipped.reason
