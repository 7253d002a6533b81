"""Forks of Solidly are read with their own fee rules, and left out where their quotes differ."""

from __future__ import annotations

import pytest
from eth_abi.abi import encode

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.pool import Pool
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.row import FactoryConstants
from swapcli.families.solidly.solidly_stable import SolidlyStable
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.testing.evm import Chain, Contract
from tests.chain.node.evm_node import sources, view_of

UNIT = 10**18
TOKENS = ("0x" + "11" * 20, "0x" + "22" * 20)


def contract_that_says(chain: Chain, answers: dict[str, list[int]]) -> Contract:
    contract = chain.deploy(sources()["OddToken"])
    for signature, words in answers.items():
        contract.send("say", signature, encode(["uint256"] * len(words), words))
    return contract


NOTHING: dict[str, list[int]] = {}


def read_pair(
    factory_answers: dict[str, list[int]], *, quote: int, is_stable: bool, pair_answers: dict[str, list[int]] = NOTHING
) -> Pool | SkippedItem:
    """Read a pair of equal reserves, which therefore quotes the same amount each way."""
    chain = Chain()
    factory = contract_that_says(chain, factory_answers)
    answers = {"getReserves()": [1_000 * UNIT, 1_000 * UNIT, 0], "getAmountOut(uint256,address)": [quote]}
    pair = contract_that_says(chain, {**answers, **pair_answers})
    family = "solidly_stable" if is_stable else "constant_product"
    constants = FactoryConstants(factory.address)
    ref = PoolRef(pair.address, "fork", family, ContractKind.SOLIDLY_V1, TOKENS, (18, 18), constants=constants)
    (pool,) = load_pools(view_of(chain), [ref])
    return pool


VOLATILE_QUOTE = 995 * UNIT // 1_000 * (1_000 * UNIT) // (1_000 * UNIT + 995 * UNIT // 1_000)
"""One token at half a percent: 1000 * 0.995 / 1000.995."""


@pytest.mark.parametrize(
    "answers",
    [
        {"getFee(bool)": [50]},
        {"getRealFee(address)": [5 * 10**15], "getFee(bool)": [4 * 10**15]},
        {"getFee(address,bool)": [50], "isPaused()": [0]},
        {"getFee(address)": [50]},
        {"pairFee(address)": [50], "getFee(bool)": [20]},
        {"getRealFee(address)": [50], "getFee(address)": [50]},
    ],
    ids=["Solidly", "Equalizer", "Nest", "Velocimeter", "Ramses", "the view whose fee the quotes have"],
)
def test_the_fee_of_a_fork_comes_from_its_factory(answers: dict[str, list[int]]) -> None:
    pool = read_pair(answers, quote=VOLATILE_QUOTE, is_stable=False)
    assert isinstance(pool, Pool)
    assert pool.fee_ppm == 5_000
    assert pool.swap(*TOKENS, UNIT)[0] == VOLATILE_QUOTE


def test_a_pair_of_a_fork_may_know_its_fee() -> None:
    """The pairs of Ramses on HyperEVM have fees in ppm, and the factory the fee of new pairs."""
    pool = read_pair({"getFee(bool)": [30]}, quote=VOLATILE_QUOTE, is_stable=False, pair_answers={"fee()": [5_000]})
    assert isinstance(pool, Pool)
    assert pool.fee_ppm == 5_000


def test_pairs_of_a_paused_fork_are_left_out() -> None:
    skipped = read_pair({"getFee(bool)": [50], "isPaused()": [1]}, quote=VOLATILE_QUOTE, is_stable=False)
    assert isinstance(skipped, SkippedItem)
    assert skipped.reason.endswith("the factory has paused all swaps")


def test_a_stable_pair_of_a_fork_has_the_first_version() -> None:
    identity_pool = read_pair({"getFee(bool)": [0]}, quote=999_999_999_000_000_001, is_stable=True)
    assert isinstance(identity_pool, SkippedItem), "the quote is not that of the curve"
    stable = SolidlyStable("0x1", "fork", TOKENS, (18, 18), 0, (1_000 * UNIT, 1_000 * UNIT), version=1)
    quote = stable.swap(*TOKENS, UNIT)[0]
    pool = read_pair({"getFee(bool)": [0]}, quote=quote, is_stable=True)
    assert isinstance(pool, SolidlyStable)
    assert pool.version == 1


@pytest.mark.parametrize("off_by", [-1, 1])
def test_a_fork_that_quotes_otherwise_is_left_out(off_by: int) -> None:
    skipped = read_pair({"getFee(bool)": [50]}, quote=VOLATILE_QUOTE + off_by, is_stable=False)
    assert isinstance(skipped, SkippedItem)
    assert skipped.reason.endswith("the pair's quote differs from its family's maths")


def test_a_fork_without_a_fee_is_left_out() -> None:
    skipped = read_pair({}, quote=VOLATILE_QUOTE, is_stable=False)
    assert isinstance(skipped, SkippedItem)
    assert skipped.reason.endswith("neither the pair nor its factory reports a fee")


def test_the_fee_of_solidly_v3_is_in_its_first_slot() -> None:
    chain = Chain()
    pool = contract_that_says(
        chain, {"slot0()": [2**96, 0, 777, 1], "liquidity()": [0], "tickSpacing()": [50], "tickBitmap(int16)": [0]}
    )
    ref = PoolRef(pool.address, "solidlyV3", "concentrated", ContractKind.SOLIDLY_V3, TOKENS, (18, 6))
    (read,) = load_pools(view_of(chain), [ref])
    assert isinstance(read, Concentrated)
    assert (read.fee_ppm, read.tick_list.tick_spacing) == (777, 50)


@pytest.mark.parametrize(
    ("answers", "is_read"), [({}, True), ({"isPaused()": [0]}, True), ({"isPaused()": [1]}, False)]
)
def test_pairs_of_a_paused_factory_are_left_out(answers: dict[str, list[int]], is_read: bool) -> None:
    chain = Chain()
    factory = contract_that_says(chain, {"getFee(address,bool)": [30], **answers})
    pair = contract_that_says(chain, {"getReserves()": [UNIT, UNIT, 0]})
    constants = FactoryConstants(factory.address)
    ref = PoolRef(pair.address, "fork", "constant_product", ContractKind.SOLIDLY, TOKENS, (18, 18), constants=constants)
    (read,) = load_pools(view_of(chain), [ref])
    assert isinstance(read, Pool) is is_read
    assert is_read or read == SkippedItem(pair.address, f"{factory.address}: the factory has paused all swaps")
