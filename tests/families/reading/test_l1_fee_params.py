"""L1 fee parameters are read from the network's own contracts, in the same round as pools."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.networks.catalogue import find_network
from swapcli.core.networks.l1_fee import L1FeeParams
from swapcli.families.reading.calls import ReturnData
from swapcli.families.reading.l1_fee_params import read_l1_fee_params
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.testing.evm import BaseChain, Chain
from tests.chain.node.evm_node import BLOCK, EvmNode, deploy_multicall
from tests.payload.evm.l1_oracle import ORACLE, RealOracle, l1_block

WORD = st.integers(0, 2**256 - 1)
SCALAR = st.integers(0, 2**32 - 1)
REAL = RealOracle()


def read(chain: BaseChain, *, with_multicall: bool = False) -> tuple[L1FeeParams | SkippedItem | None, list[int]]:
    """Return the parameters and the size of each batch."""
    node = EvmNode(chain)
    view = MulticallReader(node, BLOCK, deploy_multicall(chain) if with_multicall else None)
    (params,) = run_batched([("l1", read_l1_fee_params(ORACLE))], view.call)
    return params, node.batch_sizes


@given(st.builds(L1FeeParams, WORD, WORD, SCALAR, SCALAR))
def test_params_equal_those_of_the_contract(params: L1FeeParams) -> None:
    REAL.set(params)
    assert read(REAL.chain) == (params, [4])


def test_params_share_one_round_trip_with_other_reads() -> None:
    params = L1FeeParams(7 * 10**9, 1, 2_269, 1_055_762)
    oracle = RealOracle()
    oracle.set(params)
    assert read(oracle.chain, with_multicall=True) == (params, [1])


def test_a_missing_or_partial_oracle_gives_none() -> None:
    chain = Chain()
    assert read(chain) == (None, [4])
    chain.place(ORACLE, l1_block())
    assert read(chain) == (None, [4])


def test_invalid_return_data_is_skipped() -> None:
    def return_large_words(calls: object) -> list[ReturnData]:
        del calls
        return [(2**32).to_bytes(32)] * 4

    def return_short_data(calls: object) -> list[ReturnData]:
        del calls
        return [b"short"] * 4

    for call, reason in ((return_large_words, "32 bits"), (return_short_data, "returned 5 bytes")):
        (found,) = run_batched([("l1", read_l1_fee_params(ORACLE))], call)
        assert isinstance(found, SkippedItem)
        assert reason in found.reason


def test_only_rollups_have_an_l1_fee_oracle() -> None:
    assert find_network("base").l1_fee_oracle == ORACLE
    assert [find_network(name).l1_fee_oracle for name in ("monad", "hyperevm", "citrea")] == [None] * 3
