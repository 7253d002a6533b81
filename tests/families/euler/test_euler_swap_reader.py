"""Pools of EulerSwap are read. No registry has their bytecode, so functions answer in the place of pool and vaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.units import WAD
from swapcli.core.networks.catalogue import find_network
from swapcli.families.euler.euler_swap import MAX_RESERVE, EulerSwap, VaultAccount
from swapcli.families.euler.euler_swap_reader import load, read_constants, read_list
from swapcli.families.reading.calls import MULTICALL3, ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.row import SwapAmounts
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.mined.swap_events import find_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.support.outside_ids import keccak256, topic_of

_T = TypeVar("_T")
NOW = 1_700_000_000
EVC, ACCOUNT, ORACLE, UNIT = (f"0x{digits * 20}" for digits in ("e0", "ac", "0c", "0d"))
SUPPLY = ("0x" + "51" * 20, "0x" + "52" * 20)
BORROW = ("0x" + "b1" * 20, "0x" + "b2" * 20)
MANAGER = "0x" + "4a" * 20
NONE, FEES, OTHER = (f"0x{digits * 20}" for digits in ("00", "fe", "01"))
POOL: dict[str, tuple[Any, ...]] = {
    "getReserves()": (10**24, 2 * 10**24, 1),
    "EVC()": (EVC,),
    "poolManager()": (MANAGER,),
    "poolKey()": (TOKENS[0], TOKENS[1], 300, 1, ADDRESS),
    "getStaticParams()": (*SUPPLY, *BORROW, ACCOUNT, NONE, FEES, 10**17),
    "getDynamicParams()": (
        10**24, 2 * 10**24, 5, 7, 2 * 10**18, 10**18, 9 * 10**17, 5 * 10**17, 3 * 10**15, 10**15, NOW + 1, 0, NONE,
    ),
}  # fmt: skip
PARAMETERS = (
    *SUPPLY,
    ACCOUNT,
    10**24,
    2 * 10**24,
    2 * 10**18,
    10**18,
    9 * 10**17,
    5 * 10**17,
    3 * 10**15,
    2 * 10**17,
    FEES,
)
VAULT: dict[str, tuple[Any, ...]] = {
    "maxDeposit(address)": (10**23,),
    "balanceOf(address)": (10**20,),
    "cash()": (10**22,),
    "previewMint(uint256)": (2,),
    "convertToAssets(uint256)": (11 * 10**19,),
    "debtOf(address)": (0,),
    "caps()": (0, 0),
    "totalBorrows()": (10**21,),
    "totalAssets()": (5 * 10**20,),
    "oracle()": (ORACLE,),
    "unitOfAccount()": (UNIT,),
    "LTVBorrow(address)": (9_000,),
    # Of the reserves: 10^24 and 2 x 10^24.
    "convertToShares(uint256)": (10**24,),
    "hookConfig()": (NONE, 0),
}
NAMES = {
    keccak256(name.encode())[:4]: name
    for name in (
        *POOL, *VAULT, "getParams()", "getAssets()", "pools()", "getQuotes(uint256,address,address)",
        "isAccountOperatorAuthorized(address,address)", "getControllers(address)",
        "getCollaterals(address)", "getCurrentBlockTimestamp()",
    )
}  # fmt: skip
Answers = dict[tuple[str, str], tuple[Any, ...] | None]


def words(values: Sequence[Any]) -> bytes:
    return encode(["address" if isinstance(each, str) else "uint256" for each in values], values)


def contracts(changes: Answers | None = None) -> Callable[[ContractCall], ReturnData]:
    """Return what a pool of the second version and its vaults answer; `changes` are by address and function."""
    known: Answers = {
        **{(ADDRESS, name): values for name, values in POOL.items()},
        **{(vault, name): values for vault in (*SUPPLY, *BORROW) for name, values in VAULT.items()},
        (EVC, "isAccountOperatorAuthorized(address,address)"): (1,),
        (EVC, "getControllers(address)"): (32, 1, BORROW[0]),
        (EVC, "getCollaterals(address)"): (32, 2, *SUPPLY),
        (MULTICALL3, "getCurrentBlockTimestamp()"): (NOW,),
        **{(token, "balanceOf(address)"): (10**30 + k,) for k, token in enumerate(TOKENS[:2])},
        (ADDRESS, "getAssets()"): (TOKENS[0], TOKENS[1]),
        # Bid and ask: of deposits with the reference amount, and of the reference amount.
        (ORACLE, "getQuotes(uint256,address,address)"): (10**24, 2 * 10**24),
        **(changes or {}),
    }

    def answer(call: ContractCall) -> ReturnData:
        values = known.get((call.to, NAMES[call.calldata[:4]]))
        assert values is not None or call.may_revert, (call.to, NAMES[call.calldata[:4]])
        return None if values is None else words(values)

    return answer


def run(read: BatchRead[_T], answer: Callable[[ContractCall], ReturnData]) -> tuple[_T, int]:
    """Return the result of a read, and how many rounds it took."""
    rounds = 0
    try:
        calls: Sequence[ContractCall] = next(read)
        while True:
            rounds += 1
            calls = read.send([answer(call) for call in calls])
    except StopIteration as end:
        return end.value, rounds


REF = PoolRef(ADDRESS, "test", "euler_swap", "euler_swap", TOKENS[:2], (18, 18), 0)
FIRST: Answers = {
    (EVC, "getControllers(address)"): (32, 0),
    (ADDRESS, "getParams()"): PARAMETERS,
    (ADDRESS, "getStaticParams()"): None, (ADDRESS, "getDynamicParams()"): None,
}  # fmt: skip


def read(changes: Answers | None = None, rounds: int = 3) -> EulerSwap:
    pool, done = run(load(REF), contracts(changes))
    assert isinstance(pool, EulerSwap)
    assert done == rounds
    return pool


def account_of(pool: EulerSwap) -> VaultAccount:
    assert pool.account is not None
    return pool.account


def test_a_pool_of_the_second_version_is_read_with_its_vaults() -> None:
    pool = read()
    assert (pool.version, pool.reserves, pool.fee_ppm, pool.v4_fee_ppm) == (2, (10**24, 2 * 10**24), 1_000, 300)
    assert (pool.equilibrium, pool.min_reserves, pool.prices) == ((10**24, 2 * 10**24), (5, 7), (2 * 10**18, 10**18))
    assert (pool.concentrations, pool.fees) == ((9 * 10**17, 5 * 10**17), (3 * 10**15, 10**15))
    assert (pool.debts, pool.deposit_capacity, pool.min_deposits) == ((0, 0), (10**23 - 10**15,) * 2, (2, 2))
    assert (pool.called_address, pool.manager_balances) == (MANAGER, (10**30, 10**30 + 1))
    assert pool.vaults == tuple(zip(SUPPLY, BORROW, strict=True))
    # The deposits of 110 can be withdrawn, and another vault lends its cash.
    assert pool.output_limits == (11 * 10**19 + 10**22,) * 2
    account = account_of(pool)
    assert (account.deposits, account.fee_paid_out) == ((11 * 10**19,) * 2, 10**17)
    # 110 of 2,000,110 deposits of the second token are worth so much of 10^24; 9/10 of it, at 2 for the first token.
    assert account.collateral[0] == 9 * 110 * 10**24 // (10 * 2 * 2_000_110)
    assert account.collateral[1] == 9 * 110 * 10**24 // (10 * 1_000_110)
    assert account.collateral_rates[0] == 9 * 10**36 * 10**6 // (10 * 2 * 2_000_110)


def test_a_recipient_gets_the_whole_fee() -> None:
    changes: Answers = {(ADDRESS, "getStaticParams()"): (*SUPPLY, *BORROW, ACCOUNT, FEES, FEES, 10**17)}
    assert account_of(read(changes)).fee_paid_out == WAD
    nobody: Answers = {(ADDRESS, "getStaticParams()"): (*SUPPLY, *BORROW, ACCOUNT, NONE, NONE, 10**17)}
    assert account_of(read(nobody)).fee_paid_out == 0


def test_a_pool_of_the_first_version_borrows_where_it_deposits() -> None:
    pool = read(FIRST)
    assert (pool.version, pool.min_reserves, pool.fees) == (1, (0, 0), (3 * 10**15, 3 * 10**15))
    assert pool.output_limits == (10**22, 10**22)
    assert [*map(len, pool.vaults)] == [1, 1]
    assert account_of(pool).fee_paid_out == 2 * 10**17


@pytest.mark.parametrize(
    ("changes", "outputs"),
    [
        # A cap of 12 x 10^20 of which 10^21 is lent, with some interest, and the deposits.
        ({(BORROW[1], "caps()"): (0, 120 << 6 | 21)}, 11 * 10**19 + 2 * 10**20 - 2 * 10**15),
        ({(BORROW[1], "caps()"): (0, 10 << 6 | 21)}, 11 * 10**19),
        # The vault of the deposits lacks the cash to pay them out, and that of the loans does not count.
        ({(SUPPLY[1], "cash()"): (10**19,)}, 10**19),
        ({(ADDRESS, "getStaticParams()"): (*SUPPLY, BORROW[0], NONE, ACCOUNT, NONE, NONE, 0)}, 11 * 10**19),
        ({(BORROW[1], "cash()"): (2**113,)}, MAX_RESERVE),
        # Vaults that refuse to lend, and to pay out; others have a contract decide.
        ({(BORROW[1], "hookConfig()"): (NONE, 1 << 6)}, 11 * 10**19),
        ({(SUPPLY[1], "hookConfig()"): (NONE, 1 << 2)}, 0),
        ({(SUPPLY[1], "hookConfig()"): (EVC, 1 << 2)}, 11 * 10**19 + 10**22),
        ({(SUPPLY[1], "hookConfig()"): None}, 11 * 10**19 + 10**22),
    ],
)
def test_what_the_vaults_can_pay(changes: Answers, outputs: int) -> None:
    assert read(changes).output_limits == (11 * 10**19 + 10**22, outputs)


@pytest.mark.parametrize(
    ("changes", "tokens"),
    [
        ({(BORROW[1], "LTVBorrow(address)"): (0,)}, 0.0),
        ({(EVC, "getCollaterals(address)"): (32, 1, SUPPLY[1])}, 0.0),
        ({(SUPPLY[0], "convertToAssets(uint256)"): (0,)}, 0.0),
        ({(ORACLE, "getQuotes(uint256,address,address)"): None}, 0.0),
        ({(ORACLE, "getQuotes(uint256,address,address)"): (10**24, 0)}, 0.0),
        ({(BORROW[1], "debtOf(address)"): (10**19,)}, 0.9 * 110),
        # Loans are counted in the token itself: what is worth 1 secures 0.9.
        ({(BORROW[1], "unitOfAccount()"): (TOKENS[1],)}, 0.9 * 110),
    ],
)
def test_what_the_deposits_secure(changes: Answers, tokens: float) -> None:
    account = account_of(read(changes))
    assert account.collateral[1] / 10**18 == pytest.approx(tokens, rel=1e-3)


def test_further_collateral_secures_debts_in_both_tokens() -> None:
    others = (32, 3, *SUPPLY, OTHER)
    changes: Answers = {(EVC, "getCollaterals(address)"): others, (OTHER, "balanceOf(address)"): (5,)}
    account = account_of(read(changes, rounds=4))
    # It is worth 10^24, of which nine tenths count.
    assert account.collateral[0] == 9 * 10**23 // 2 + account_of(read()).collateral[0]
    assert account.collateral[1] == 9 * 10**23 + account_of(read()).collateral[1]
    assert account_of(read({**changes, (OTHER, "balanceOf(address)"): (0,)})) == account_of(read())
    unknown: Answers = {**changes, (OTHER, "balanceOf(address)"): None}
    assert account_of(read(unknown)) == account_of(read())


def test_a_debt_is_repaid_first() -> None:
    pool = read({(BORROW[0], "debtOf(address)"): (10**21,)})
    assert (pool.debts, pool.deposit_capacity) == ((10**21, 0), (10**23 - 10**15,) * 2)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({(ADDRESS, "getReserves()"): (1, 1, 2)}, "not active"),
        ({(ADDRESS, "getDynamicParams()"): None}, "neither the first nor the second version"),
        ({(ADDRESS, "getDynamicParams()"): (*POOL["getDynamicParams()"][:11], 2, ADDRESS)}, "swap hook"),
        ({(MULTICALL3, "getCurrentBlockTimestamp()"): (NOW + 1,)}, f"expired at {NOW + 1}"),
        (
            {(MULTICALL3, "getCurrentBlockTimestamp()"): None},
            "the block's time, at which the pool may have expired, cannot be read",
        ),
        ({(ADDRESS, "poolKey()"): (NONE, NONE, 0, 0, NONE)}, "not the hook of a Uniswap V4 pool"),
        ({(EVC, "isAccountOperatorAuthorized(address,address)"): (0,)}, "no longer authorizes the pool"),
        ({(EVC, "getControllers(address)"): (32, 2, BORROW[0], SUPPLY[0])}, f"the account owes to {SUPPLY[0]}"),
        ({(SUPPLY[1], "hookConfig()"): (NONE, 1 << 14)}, "rejects all operations"),
        ({(BORROW[0], "hookConfig()"): (NONE, 1 << 14)}, "rejects all operations"),
        (
            {(BORROW[0], "hookConfig()"): (NONE, 1 << 7), (BORROW[0], "debtOf(address)"): (1,)},
            "rejects repayments",
        ),
    ],
)
def test_a_pool_that_does_not_swap_is_refused_with_the_reason(changes: Answers, reason: str) -> None:
    with pytest.raises(InvalidUpstreamResponse, match=reason):
        run(load(REF), contracts(changes))


def test_a_pool_without_an_end_needs_no_time() -> None:
    parameters = POOL["getDynamicParams()"]
    endless = (*parameters[:10], 0, *parameters[11:])
    changes: Answers = {
        (ADDRESS, "getDynamicParams()"): endless, (MULTICALL3, "getCurrentBlockTimestamp()"): None,
    }  # fmt: skip
    assert read(changes).version == 2


def test_pools_are_listed_with_their_tokens() -> None:
    factory = Factory(EVC, "euler_swap", (ProtocolInfo(102, "euler", "EulerSwap", "euler_swap"),))
    listed = encode(["address[]"], [[ADDRESS, ACCOUNT]])
    assert run(read_list(factory), lambda _: listed)[0] == (ADDRESS, ACCOUNT)
    ref, rounds = run(read_constants(factory, ADDRESS), contracts())
    assert (ref.tokens, ref.kind, rounds) == (TOKENS[:2], "euler_swap", 1)


def swap_of(types: str, *values: int) -> SwapAmounts:
    """Decode the event of a swap."""
    topics = topic_of(f"Swap(address,{types},uint112,uint112,address)"), f"0x{1:064x}", f"0x{2:064x}"
    (swap,) = find_swaps([Log(ADDRESS, topics, words((*values, 10, 20)), 1, 0)])
    assert swap.key == ADDRESS
    return swap.amounts


def test_the_event_of_a_swap_says_its_amounts_with_the_fee() -> None:
    types = ",".join(["uint256"] * 6)
    assert swap_of(types, 95, 0, 0, 30, 5, 0) == SwapAmounts(0, 1, 100, 30, fee_in=5)
    assert swap_of(types, 0, 95, 30, 0, 0, 5) == SwapAmounts(1, 0, 100, 30, fee_in=5)
    for both in ((95, 7, 0, 30, 5, 1), (95, 0, 1, 30, 5, 0)):
        assert swap_of(types, *both).problem == "it moves a token both ways, as a flash swap does"


def test_the_event_of_the_first_version_leaves_the_fee_out() -> None:
    types = ",".join(["uint256"] * 4)
    assert swap_of(types, 95, 0, 0, 30)[:4] == (0, 1, 95, 30)
    assert swap_of(types, 95, 0, 0, 30).problem == "its event leaves the fee out of the input"
    assert swap_of(types, 95, 9, 0, 30).problem == "it moves a token both ways, as a flash swap does"


@pytest.mark.parametrize(("name", "count"), [("base", 2), ("monad", 1)])
def test_the_networks_name_factory_and_registry(name: str, count: int) -> None:
    factories = [each for each in find_factories(find_network(name))[0] if each.kind == "euler_swap"]
    assert len(factories) == count
