"""What data costs on L1 is read as the network's own contracts tell it, in the round in which pools are read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.chain.l1_fee_params import read_l1_fee_params
from swapcli.chain.lockstep_reads import SkippedItem, run_batched
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import ReturnData
from swapcli.evm.l1_fee import L1FeeParams
from swapcli.networks.catalogue import network
from tests.chain.node.evm_node import BLOCK, EvmNode, deploy_multicall
from tests.contracts.evm import BaseChain, Chain
from tests.evm.l1_oracle import ORACLE, RealOracle, l1_block

WORD = st.integers(0, 2**256 - 1)
SCALAR = st.integers(0, 2**32 - 1)
REAL = RealOracle()


def read(chain: BaseChain, *, in_company: bool = False) -> tuple[L1FeeParams | SkippedItem | None, list[int]]:
    """The terms, and how many calls each exchange had."""
    node = EvmNode(chain)
    view = BlockReader(node, BLOCK, deploy_multicall(chain) if in_company else None)
    (terms,) = run_batched([("l1", read_l1_fee_params(ORACLE))], view.call)
    return terms, node.asked


@given(st.builds(L1FeeParams, WORD, WORD, SCALAR, SCALAR))
def test_the_terms_are_the_contracts(terms: L1FeeParams) -> None:
    REAL.set(terms)
    assert read(REAL.chain) == (terms, [4])


def test_they_are_asked_in_one_exchange_together_with_whatever_else_is() -> None:
    terms = L1FeeParams(7 * 10**9, 1, 2_269, 1_055_762)
    oracle = RealOracle()
    oracle.set(terms)
    assert read(oracle.chain, in_company=True) == (terms, [1])


def test_without_an_oracle_or_one_that_tells_all_there_are_none() -> None:
    chain = Chain()
    assert read(chain) == (None, [4])
    chain.place(ORACLE, l1_block())
    assert read(chain) == (None, [4])


def test_a_contract_that_tells_something_else_is_not_believed() -> None:
    def ask(calls: object) -> list[ReturnData]:
        del calls
        return [(2**32).to_bytes(32)] * 4

    def ask_briefly(calls: object) -> list[ReturnData]:
        del calls
        return [b"short"] * 4

    for asked, reason in ((ask, "32 bits"), (ask_briefly, "returned 5 bytes")):
        (found,) = run_batched([("l1", read_l1_fee_params(ORACLE))], asked)
        assert isinstance(found, SkippedItem)
        assert reason in found.reason


def test_base_names_its_oracle_and_networks_that_are_no_rollups_have_none() -> None:
    assert network("base").l1_fee_oracle == ORACLE
    assert [network(name).l1_fee_oracle for name in ("monad", "hyperevm", "citrea")] == [None] * 3
