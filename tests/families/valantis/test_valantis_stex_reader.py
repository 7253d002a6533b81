"""Pools of Valantis STEX are read. No registry has their bytecode, so a function answers in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from eth_abi.abi import decode, encode

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.units import WAD
from swapcli.core.networks.catalogue import find_network
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.valantis import valantis_stex_reader as valantis_stex
from swapcli.families.valantis.stex_fee import StexStepwiseFee
from swapcli.families.valantis.valantis_stex import ValantisStex
from swapcli.families.valantis.valantis_stex_reader import load, read_constants
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.mined.swap_events import find_swaps
from tests.families.valantis.test_valantis_stex import pool_of, valid_pool
from tests.support.outside_ids import keccak256, topic_of

AMM, MODULE, WITHDRAWALS = ("0x" + digit * 40 for digit in "abc")
STEPWISE = replace(pool_of(StexStepwiseFee(10**22, 3 * 10**22, (3, 20, 500))), owed=0, unstaking=0)
PROTOCOL = ProtocolInfo(27, "Valantis", "Valantis", "valantis_stex")
_FEE = "getSwapFeeInBips(address,address,uint256,address,bytes)"
_NAMES = (
    "alm()", "swapFeeModule()", "verifierModule()", "poolManagerFeeBips()", "getReserves()", "paused()", "pool()",
    "withdrawalModule()", "feeParams()", "getToken0FeeInBips()", "minThresholdToken1()", "maxThresholdToken1()", _FEE,
    "convertToToken1(uint256)", "convertToToken0(uint256)", "amountToken1LendingPool()", "token0()", "token1()",
    "amountToken0PendingUnstaking()", "amountToken1PendingLPWithdrawal()",
)  # fmt: skip
SELECTORS = {keccak256(name.encode())[:4]: name for name in _NAMES}
_T = TypeVar("_T")
Answer = Callable[[str, ContractCall], ReturnData]


def words(*values: int) -> bytes:
    return encode(["uint256"] * len(values), values)


def contracts_of(pool: ValantisStex, **changes: ReturnData) -> Answer:
    """Return the function that answers as the contracts of a pool do; `changes` are by the function's name."""
    module = pool.fee_module
    is_stepwise = isinstance(module, StexStepwiseFee)

    def answer(name: str, call: ContractCall) -> ReturnData:
        short = name.partition("(")[0]
        if short in changes:
            return changes[short]
        if name == _FEE:
            assert call.to == MODULE
            sold, _, amount, _, context = decode(
                ["address", "address", "uint256", "address", "bytes"], call.calldata[4:]
            )
            assert context == b""
            fee_bps = pool.fee_on_net_bps(amount) if sold == pool.tokens[0] else 0
            return encode(["(uint256,bytes)"], [(fee_bps, b"")])
        if short.startswith("convert"):
            assert call.to == WITHDRAWALS
            (amount,) = decode(["uint256"], call.calldata[4:])
            return words(amount * pool.rate_wad // WAD if short == "convertToToken1" else amount * WAD // pool.rate_wad)
        if isinstance(module, StexStepwiseFee):
            parameters = {
                "getToken0FeeInBips()": encode(["uint32[]"], [module.levels_bps]),
                "minThresholdToken1()": words(module.min_reserve),
                "maxThresholdToken1()": words(module.max_reserve),
            }
        else:
            parameters = {"feeParams()": words(*module)}
        if name in ("feeParams()", "getToken0FeeInBips()", "minThresholdToken1()", "maxThresholdToken1()"):
            return parameters.get(name)
        return {
            "alm()": words(int(AMM, 16)),
            "swapFeeModule()": words(int(MODULE, 16)),
            "verifierModule()": words(0),
            "poolManagerFeeBips()": words(pool.manager_fee_bps),
            "getReserves()": words(*pool.reserves),
            "paused()": words(0),
            "withdrawalModule()": words(int(WITHDRAWALS, 16)),
            "amountToken1LendingPool()": words(pool.lent),
            "amountToken0PendingUnstaking()": words(0 if is_stepwise else pool.unstaking),
            # Owed in the other token: as much as is worth `owed`, rounded up.
            "amountToken1PendingLPWithdrawal()": words(-(-pool.owed * pool.rate_wad // WAD)),
            "token0()": words(int(pool.tokens[0], 16)),
            "token1()": words(int(pool.tokens[1], 16)),
            "pool()": words(int(pool.address, 16)),
        }[name]

    return answer


def run(read: BatchRead[_T], answer: Answer) -> tuple[_T, int]:
    """Return the result of a read, and how many rounds it took."""
    rounds = 0
    try:
        calls: Sequence[ContractCall] = next(read)
        while True:
            rounds += 1
            calls = read.send([answer(SELECTORS[call.calldata[:4]], call) for call in calls])
    except StopIteration as end:
        return end.value, rounds


def ref_of(pool: ValantisStex) -> PoolRef:
    return PoolRef(pool.address, "test", "valantis_stex", "valantis_stex", pool.tokens, pool.decimals)


@pytest.mark.parametrize("pool", [valid_pool(), STEPWISE])
def test_pools_of_both_fee_modules_are_read_in_three_rounds(pool: ValantisStex) -> None:
    assert run(load(ref_of(pool)), contracts_of(pool)) == (pool, 3)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"verifierModule": words(7)}, "restricts who can swap"),
        ({"paused": words(1)}, "paused"),
        ({"feeParams": None}, "module is unknown"),
        ({"feeParams": words(2_000, 9_500, 1, 59)}, "do not follow the known rules"),
        ({"convertToToken0": words(10**24)}, "one rate"),
        ({"convertToToken1": words(0)}, "zero"),
        ({"getSwapFeeInBips": encode(["(uint256,bytes)"], [(1, b"")])}, "do not follow the known rules"),
        ({"withdrawalModule": None}, "reverts"),
    ],
)
def test_answers_that_the_maths_does_not_explain_are_refused(changes: dict[str, ReturnData], problem: str) -> None:
    pool = valid_pool()
    with pytest.raises(InvalidUpstreamResponse, match=problem):
        run(load(ref_of(pool)), contracts_of(pool, **changes))


def test_an_amm_names_its_pool_and_that_its_tokens() -> None:
    pool = valid_pool()
    factory = Factory(AMM, "valantis_stex", (PROTOCOL,))
    assert run(valantis_stex.read_list(factory), contracts_of(pool)) == ((pool.address,), 1)
    ref, rounds = run(read_constants(factory, pool.address), contracts_of(pool))
    assert (ref.tokens, ref.address, ref.protocol, rounds) == (pool.tokens, pool.address, "Valantis", 1)


def test_hyperevm_lists_two_amms() -> None:
    factories, _ = find_factories(find_network("hyperevm"), ["Valantis"])
    assert [factory.is_enumerable for factory in factories] == [True, True]


def test_the_event_of_a_swap_says_its_amounts() -> None:
    topics = topic_of("Swap(address,bool,uint256,uint256,uint256)"), f"0x{1:064x}"
    (swap,) = find_swaps([Log(AMM, topics, words(1, 1_000, 3, 998), 1, 0)])
    assert (swap.key, swap.amounts[:4]) == (AMM, (0, 1, 1_000, 998))
