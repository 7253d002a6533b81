"""Thirty kinds of hostile tokens: none whose effects are seen is judged ok, and what their owners can do is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import pytest

from swapcli.core.model.finding import FindingCode, Level
from swapcli.core.model.token import Token
from swapcli.payload.evm.token_powers import BEACON_SLOT, IMPLEMENTATION_SLOTS, Power
from swapcli.payload.verdict.verdict import Verdict
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.testing.evm import Contract
from tests.chain.contract_fixture import Place
from tests.chain.market_reader import read_market
from tests.chain.odd_tokens import UNIT, WHOLE, open_pair
from tests.chain.trader import USER, Trader
from tests.contracts.evm import solidity
from tests.examples import examples, few
from tests.payload.verdict.test_swap_rehearsal import BOB, judge
from tests.support.chain import restored

SOURCES = solidity("traps.sol", "tokens.sol")


class Kind(NamedTuple):
    """A kind of token: its contract, and what is done with it, before the quote and after."""

    name: str
    arguments: tuple[Any, ...] = ()
    before: Callable[[Trader, Contract, Place], object] = lambda *_: None
    after: Callable[[Contract], object] = lambda _: None


def knows_pool(_: Trader, token: Contract, place: Place) -> None:
    token.send("setPool", place.contract.address)


def has_hook(name: str) -> Callable[[Trader, Contract, Place], None]:
    def set_hook(trader: Trader, token: Contract, place: Place) -> None:
        hook = trader.chain.deploy(SOURCES()[name], place.contract.address)
        token.send("setHook", hook.address)

    return set_hook


TRAPS = {
    "no sale": Kind("TrapCoin", before=knows_pool),
    "no sale but by the owner": Kind("OwnerSalesCoin", before=knows_pool),
    "no sale above a limit": Kind("SmallSalesCoin", (UNIT,), knows_pool),
    "no sale in the block of the purchase": Kind("CooldownCoin", before=knows_pool),
    "no sale through routers": Kind("ForgetfulCoin"),
    "a hook that refuses sales": Kind("CallingCoin", before=has_hook("RefusingHook")),
    "a hook that sells first": Kind("CallingCoin", before=has_hook("SellingHook")),
    "a hook that burns the gas of sales": Kind("CallingCoin", before=has_hook("BurningHook")),
    "a hook that refuses with much data": Kind("CallingCoin", before=has_hook("ShoutingHook")),
    "tax on sale": Kind("FeeCoin", (0, 30_000, 0), knows_pool),
    "tiny tax on sale": Kind("FeeCoin", (0, 500, 0), knows_pool),
    "all is taxed on sale": Kind("FeeCoin", (0, 1_000_000, 0), knows_pool),
    "tax on sale that looks at the pool": Kind("LookingCoin", (30_000,), knows_pool),
    "fee on purchase": Kind("FeeCoin", (20_000, 0, 0), knows_pool),
    "fee on transfer": Kind("FeeCoin", (0, 0, 20_000), knows_pool),
    "fee on everything": Kind("FeeCoin", (10_000, 10_000, 10_000), knows_pool),
    "buyers are blocked": Kind("MarkingCoin", before=knows_pool),
    "recipient blocked": Kind("BlocklistCoin", after=lambda token: token.send("blacklist", BOB)),
    "paused": Kind("PausableCoin", after=lambda token: token.send("pause")),
    "burns on sale": Kind("BurningCoin", before=knows_pool),
    "shrinks after the purchase": Kind("ShrinkingCoin", before=knows_pool),
    "grows with transfers": Kind("GenerousCoin"),
    "false return without a transfer": Kind("FalseCoin"),
    "false return with a transfer": Kind("DenyingCoin", after=lambda token: token.send("close")),
    "limit of transfers": Kind("LimitedCoin", (UNIT,)),
    "burns all gas": Kind("GasCoin"),
}
"""Tokens whose effects a rehearsal sees."""

PROXIES = {**IMPLEMENTATION_SLOTS, "beacon": BEACON_SLOT[1]}
"""The slots of proxies, by their kinds."""


@pytest.fixture(scope="module")
def hostile_trader(shared_trader: Trader) -> Iterator[Trader]:
    with restored(shared_trader) as trader:
        yield trader


@pytest.fixture
def trader(hostile_trader: Trader) -> Iterator[Trader]:
    with restored(hostile_trader) as trader:
        yield trader


def judge_purchase(trader: Trader, node: RpcNode, token: Contract, kind: Kind, decimals: int = 18) -> Verdict:
    """The verdict on buying a token for DAI, in a pair of both."""
    world = trader.world
    world.contracts["ODD"], world.tokens["ODD"] = token, Token(token.address, "ODD", "ODD", decimals)
    place = open_pair(world, "ODD")
    kind.before(trader, token, place)
    trader.market = read_market(world)
    tokens = world.tokens
    return judge(trader, node, tokens["DAI"], tokens["ODD"], 100 * UNIT, change=lambda: kind.after(token))


def bought(trader: Trader, node: RpcNode, kind: Kind) -> Verdict:
    return judge_purchase(trader, node, trader.chain.deploy(SOURCES()[kind.name], "ODD", *kind.arguments), kind)


def powers_of(verdict: Verdict) -> set[Power]:
    return {power for each in verdict.facts.powers if each.symbol == "ODD" for power in each.names}


@pytest.mark.parametrize("name", few(TRAPS, 10))
def test_no_trap_is_judged_ok(trader: Trader, node: RpcNode, name: str) -> None:
    verdict = bought(trader, node, TRAPS[name])
    assert verdict.level is Level.BLOCK, verdict


@pytest.mark.parametrize(
    ("name", "code", "power"),
    [
        ("paused", FindingCode.TRANSFERS_PAUSED, Power.PAUSE),
        ("recipient blocked", FindingCode.ACCOUNT_BLOCKED, Power.BLOCKLIST),
        ("buyers are blocked", FindingCode.SWAP_REVERTS, Power.BLOCKLIST),
    ],
)
def test_a_power_in_use_is_named(trader: Trader, node: RpcNode, name: str, code: FindingCode, power: Power) -> None:
    verdict = bought(trader, node, TRAPS[name])
    assert code in [reason.code for reason in verdict.findings]
    assert power in powers_of(verdict)


@pytest.mark.parametrize("name", ["PausableCoin", "BlocklistCoin"])
def test_a_power_that_is_not_used_is_a_fact_only(trader: Trader, node: RpcNode, name: str) -> None:
    verdict = bought(trader, node, Kind(name))
    assert verdict.level is Level.INFO, verdict
    assert powers_of(verdict) == {Power.MINT, Power.PAUSE if name == "PausableCoin" else Power.BLOCKLIST}


def test_a_token_that_returns_nothing_is_ok(trader: Trader, node: RpcNode) -> None:
    assert bought(trader, node, Kind("SilentCoin")).level is Level.INFO


@pytest.mark.parametrize("decimals", [0, 36, 77, 255])
@pytest.mark.parametrize("is_trap", [False, True])
def test_decimals_change_no_verdict(trader: Trader, node: RpcNode, decimals: int, is_trap: bool) -> None:
    token = trader.chain.deploy(SOURCES()["FineCoin"], "ODD", decimals)
    assert token.call("decimals") == (decimals,)
    kind = Kind("FineCoin", before=knows_pool) if is_trap else Kind("FineCoin")
    verdict = judge_purchase(trader, node, token, kind, decimals)
    assert verdict.level is (Level.BLOCK if is_trap else Level.INFO), verdict
    assert all(len(reason.message) < 1_000 for reason in verdict.findings)


def test_a_token_that_calls_nobody_yet_is_ok(trader: Trader, node: RpcNode) -> None:
    """The very token whose hooks are traps."""
    assert bought(trader, node, Kind("CallingCoin")).level is Level.INFO


def proxy_of(trader: Trader, kind: str, implementation: Contract) -> str:
    """Deploy a proxy of a kind before a contract."""
    if kind == "minimal proxy":
        runtime = f"363d3d373d3d3d363d73{implementation.address[2:]}5af43d82803e903d91602b57fd5bf3"
        return trader.chain.create(bytes.fromhex(f"3d602d80600a3d3981f3{runtime}"))
    slot, target = PROXIES[kind], implementation.address
    if kind == "beacon":
        target = trader.chain.deploy(SOURCES()["Beacon"], target).address
    return trader.chain.deploy(SOURCES()["SlotProxy"], slot.to_bytes(32), target).address


@pytest.mark.parametrize("kind", [*PROXIES, "minimal proxy"])
@pytest.mark.parametrize(("behind", "power"), [("PausableCoin", Power.PAUSE), ("BlocklistCoin", Power.BLOCKLIST)])
def test_what_stands_behind_a_proxy_is_named(
    trader: Trader, node: RpcNode, kind: str, behind: str, power: Power
) -> None:
    implementation = trader.chain.deploy(SOURCES()[behind], "ODD")
    token = trader.chain.at(proxy_of(trader, kind, implementation), SOURCES()[behind])
    verdict = judge_purchase(trader, node, token, Kind(behind))
    assert verdict.level is Level.INFO, verdict
    upgrade = set() if kind == "minimal proxy" else {Power.UPGRADE}
    assert powers_of(verdict) == upgrade | {Power.MINT, power}


@pytest.mark.parametrize("kind", [*PROXIES, "minimal proxy"])
def test_a_trap_behind_a_proxy_is_no_better(trader: Trader, node: RpcNode, kind: str) -> None:
    implementation = trader.chain.deploy(SOURCES()["TrapCoin"], "ODD")
    token = trader.chain.at(proxy_of(trader, kind, implementation), SOURCES()["TrapCoin"])
    verdict = judge_purchase(trader, node, token, TRAPS["no sale"])
    assert verdict.level is Level.BLOCK, verdict


def test_plain_tokens_are_ok(trader: Trader, node: RpcNode) -> None:
    """Of any shares and amounts, and without any power that a function names."""
    rng = Random("plain tokens")
    for number in range(examples(12, full=200)):
        with trader.chain.revert_after():
            copied = trader.copy()
            token = copied.chain.deploy(SOURCES()["PlainCoin"])
            world, symbol = copied.world, f"P{number}"
            world.contracts[symbol] = token
            world.tokens[symbol] = Token(token.address, symbol, symbol, 18)
            other = rng.choice(["DAI", "TKN"])
            open_pair(world, symbol, other, amount=rng.randint(10**20, WHOLE))
            copied.market = read_market(world)
            ends = world.tokens[other], world.tokens[symbol]
            sender = rng.choice([None, USER])
            verdict = judge(copied, node, *ends, rng.randint(10**6, 10**18), sender=sender)
            assert verdict.level is Level.INFO, verdict
