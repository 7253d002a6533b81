"""Calls of 0x Settler: what eth_abi decodes does what the quote says, on a model of the contract."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from swapcli.core.errors import InvalidOption, InvalidRoute, PoolError
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import FIBROUS, SETTLER, DialectRouter, Kind, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.quote import Step
from swapcli.core.model.router_dialect import ReplayedSwap
from swapcli.core.model.swap_terms import Integrator, after_fee
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import Purpose, RouterRouteParam, UnsignedTransaction
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.replay import FlatSwap, execute, replay
from swapcli.families.balancer.weighted import Weighted
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.payload.dialects import check_executable, executable_market, router_dialect
from swapcli.payload.evm.basic_calls import BASIC_FAMILIES
from swapcli.payload.evm.decoding.decode import decode_calldata
from swapcli.payload.evm.dialects.settler import SettlerDialect
from swapcli.payload.payloads import MAX_BYTES_A_STEP, MAX_BYTES_OF_TERMS
from tests.chain.random_routes import random_route
from tests.examples import examples, generator
from tests.families.maverick.test_maverick_v2 import build as build_maverick
from tests.payload.evm.router_model import embedded
from tests.payload.evm.settler_model import RevertError, SettlerModel
from tests.support.outside_ids import v4_id

SETTLER_ADDRESS = "0x" + "5e" * 20

RECIPIENT, INTEGRATOR = "0x" + "c0" * 20, "0x" + "ca" * 20

DEADLINE_S = 1_900_000_000

FORKS = {
    "base": {0: "uniswapV3", 1: "pancakeSwapV3", 2: "sushiSwapV3", 4: "aerodromeV3", 6: "alienbaseV3"},
    "monad": {0: "UniswapV3", 1: "PancakeSwapV3"},
    "hyperevm": {32: "kittenSwapV3", 33: "hybraFinanceV3", 34: "hyperSwapV3", 39: "projectX"},
}
"""From github 0xProject/0x-settler, `src/core/univ3forks`."""


def settler_market(name: str) -> MarketState:
    """Return an embedded market with the pools as Settler executes them."""
    market = embedded(name)
    return executable_market(market._replace(network=market.network.for_dialect(SETTLER)))


class Case:
    """A random swap of an embedded market."""

    def __init__(self, rng: Random, market: MarketState) -> None:
        self.market, network = market, market.network
        pools = market.pools
        wrapped = network.wrapped_native_address
        token_in, token_out = rng.sample(sorted({token for pool in pools.values() for token in pool.tokens}), 2)
        self.swap_type = SwapType.TOKEN_TO_TOKEN
        if wrapped in (token_in, token_out) and rng.random() < 0.7:
            self.swap_type = SwapType.NATIVE_TO_TOKEN if token_in == wrapped else SwapType.TOKEN_TO_NATIVE
        self.integrator = Integrator(INTEGRATOR, rng.randint(1, 500)) if rng.random() < 0.3 else None
        amount = max(1, int(10 ** rng.uniform(-4, 1) * 10 ** market.tokens[token_in].decimals))
        self.replay = replay(pools, random_route(rng, pools, token_in, token_out), amount, self.dialect.execution)
        self.due = after_fee(self.replay.amount_out, self.integrator.fee_bps if self.integrator else 0)
        amounts = amount, self.replay.amount_out, self.due
        self.route = RouterRouteParam(token_in, token_out, *amounts, RECIPIENT, self.swap_type)

    @property
    def dialect(self) -> SettlerDialect:
        dialect = router_dialect(self.market.network)
        assert isinstance(dialect, SettlerDialect)
        return dialect

    def build(self, *, minimum: int | None = None) -> UnsignedTransaction:
        route = self.route if minimum is None else self.route._replace(min_received=minimum)
        swap = ReplayedSwap(route, self.replay.steps, self.market.pools, self.integrator, DEADLINE_S)
        return self.dialect.build_payload(swap, SETTLER_ADDRESS)

    def model(self) -> SettlerModel:
        """Return Settler over the pools as they are, not as the dialect changes them."""
        network = self.market.network
        spender, wrapped = network.routers[SETTLER].spender, network.wrapped_native_address
        assert spender is not None
        assert wrapped is not None
        pools = [embedded(network.name).pools[key] for key in self.market.pools]
        return SettlerModel(SETTLER_ADDRESS, spender, wrapped, pools, FORKS[network.name])


def random_cases(seed: str, count: int) -> list[Case]:
    rng = generator(seed)
    cases: list[Case] = []
    markets = [settler_market(name) for name in FORKS]
    while len(cases) < count:
        try:
            cases.append(Case(rng, rng.choice(markets)))
        except PoolError:
            continue
    return cases


def call(model: SettlerModel, payload: UnsignedTransaction, time_s: int = DEADLINE_S) -> int:
    payment = model.call(payload.to, bytes.fromhex(payload.calldata[2:]), payload.value, time_s)
    assert payment.recipient == RECIPIENT
    return payment.received


@pytest.mark.fuzz
def test_random_routes_decode_to_what_the_quote_says() -> None:
    seen: Counter[str] = Counter()
    for case in random_cases("settler", examples(400, full=1_000, fuzz=10_000)):
        payload, model = case.build(), case.model()
        assert len(payload.calldata) // 2 <= len(case.replay.steps) * MAX_BYTES_A_STEP + MAX_BYTES_OF_TERMS
        assert call(model, payload) == case.due
        assert sum(model.others.values()) == case.replay.amount_out - case.due
        assert model.left == {}
        assert model.used == [step.pool for step in case.replay.steps]
        seen.update(features(case))
    families = ["constant_product", "concentrated", "stableswap", "v4", "native v4", "solidly"]
    assert [each for each in (*families, *(each.name for each in SwapType), "fee", "paid pair") if not seen[each]] == []


def features(case: Case) -> set[str]:
    pools = [case.market.pools[step.pool] for step in case.replay.steps]
    found = {case.swap_type.name, *(pool.family for pool in pools)}
    found |= {"solidly" for pool in pools if isinstance(pool, ConstantProduct) and pool.has_v2_output}
    traits = [pool.api_extra_data() for pool in pools]
    found |= {"native v4" if each["token0"] == ZERO_ADDRESS else "v4" for each in traits if "poolId" in each}
    sellers = [step for step in case.replay.steps if step.token_in == case.route.token_in]
    if len(sellers) == 1 and pools[0].family == "constant_product" and case.swap_type is not SwapType.NATIVE_TO_TOKEN:
        found.add("paid pair")
    return found | ({"fee"} if case.integrator else set())


def test_pools_of_maverick_are_sold_to_without_a_limit() -> None:
    market = settler_market("base")
    network, wrapped = market.network, market.network.wrapped_native_address or ""
    tokens = (wrapped, network.stablecoins[0])
    decimals = tuple(market.tokens[token].decimals for token in tokens)
    pool = replace(build_maverick(), protocol="maverickV2", tokens=tokens, decimals=decimals)
    rng, seen = Random("maverick"), set()
    for _ in range(20):
        case = Case(rng, market._replace(pools={pool.key: pool}))
        payload = case.build()
        model = SettlerModel(SETTLER_ADDRESS, network.routers[SETTLER].spender or "", wrapped, [pool], {})
        assert call(model, payload) == case.due
        assert (model.used, model.left) == ([pool.key], {})
        decoded = decode_calldata(payload.calldata, wrapped)
        (swap,) = decoded.swaps
        assert (swap.token_in, swap.pool.key, decoded.oddities) == (case.route.token_in, pool.key, ())
        assert pool.tokens[swap.pool.coin_out or 0] == case.route.token_out
        seen.add(case.route.token_in)
    assert seen == set(tokens)


def test_a_minimum_one_unit_too_high_reverts() -> None:
    for case in random_cases("minimum", 30):
        with pytest.raises(RevertError, match="TooMuchSlippage"):
            call(case.model(), case.build(minimum=case.due + 1))


def test_a_call_after_the_deadline_reverts() -> None:
    for case in random_cases("deadline", 30):
        with pytest.raises(RevertError, match="SignatureExpired"):
            call(case.model(), case.build(), DEADLINE_S + 1)


def test_tokens_are_approved_for_allowance_holder() -> None:
    case = next(each for each in random_cases("approval", 9) if each.swap_type is SwapType.TOKEN_TO_TOKEN)
    approval, swap = case.dialect.build_transactions(case.build())
    assert (approval.to, approval.purpose, approval.spender_name) == (
        case.route.token_in,
        Purpose.APPROVE,
        "AllowanceHolder",
    )
    assert swap.to == case.market.network.routers[SETTLER].spender
    assert swap.to[2:] in approval.calldata


def test_the_catalogue_has_the_forks_that_settler_knows() -> None:
    for name, forks in FORKS.items():
        network = find_network(name)
        actions = network.routers[SETTLER].protocols
        numbers = {
            protocol: action.split()[1] for protocol, action in actions.items() if action.startswith("UNISWAPV3")
        }
        assert numbers == {protocol: str(number) for number, protocol in forks.items()}
        families = {protocol.amm_name: protocol.family for protocol in network.protocols}
        expected = {
            "UNISWAPV2": {"constant_product"},
            "UNISWAPV3": {"concentrated"},
            "UNISWAPV4": {"concentrated"},
            "DODOV2": {"dodo_v2"},
            "MAVERICKV2": {"maverick_v2"},
        }
        for protocol, action in actions.items():
            assert families[protocol] in expected.get(action.split()[0], BASIC_FAMILIES)


@pytest.mark.parametrize(("fee_ppm", "is_executable"), [(3_000, True), (100, True), (0, True), (3_050, False)])
@pytest.mark.parametrize("variant", ["uniswap_v2", "solidly"])
def test_only_pairs_with_a_fee_of_whole_bps_are_used(variant: str, fee_ppm: int, is_executable: bool) -> None:
    identity = PoolIdentity(PAIR, "v2", (A, B), (18, 18), fee_ppm)
    pool = ConstantProduct.from_state(identity, {"reserves": ["1000000", "1000000"], "variant": variant})
    executed = SettlerDialect(example_market().network).executable_pool(pool)
    assert (executed is not None) == is_executable
    if isinstance(executed, ConstantProduct):
        assert executed.has_v2_output == (variant == "solidly")
        assert executed.reserves == pool.reserves


def test_stable_pools_of_solidly_are_left_out() -> None:
    market = embedded("base")
    stable = {key for key, pool in market.pools.items() if pool.family == "solidly_stable"}
    assert stable
    assert stable.isdisjoint(settler_market("base").pools)


def test_pools_that_settler_would_not_find_are_left_out() -> None:
    market = settler_market("base")
    dialect = router_dialect(market.network)
    moved = {
        protocol: replace(next(each for each in market.pools.values() if each.protocol == protocol), address=A)
        for protocol in ("uniswapV3", "pancakeSwapV3", "aerodromeV3")
    }
    found = {protocol: dialect.executable_pool(pool) is not None for protocol, pool in moved.items()}
    # Slipstream has a second factory, whose pools the catalogue cannot derive.
    assert found == {"uniswapV3": False, "pancakeSwapV3": False, "aerodromeV3": True}


def test_a_pool_of_the_second_factory_gets_its_own_number() -> None:
    market = settler_market("base")
    first = next(pool for pool in market.pools.values() if pool.protocol == "aerodromeV3")
    for pool, number in ((first, 4), (replace(first, address=A), 35)):
        token_in, token_out = pool.tokens
        step = Step(pool.key, token_in, token_out, 10_000, 1, 1)
        route = RouterRouteParam(token_in, token_out, 1, 1, 1, RECIPIENT, SwapType.TOKEN_TO_TOKEN)
        swap = ReplayedSwap(route, [step], {pool.key: pool})
        payload = router_dialect(market.network).build_payload(swap, SETTLER_ADDRESS)
        assert f"{token_in[2:]}{number:02x}" in payload.calldata


def test_a_pool_that_settler_cannot_execute_is_refused() -> None:
    market = embedded("base")
    pool = next(pool for pool in market.pools.values() if pool.family == "solidly_stable")
    token_in, token_out = pool.tokens
    step = Step(pool.key, token_in, token_out, 10_000, 1, 1)
    route = RouterRouteParam(token_in, token_out, 1, 1, 1, RECIPIENT, SwapType.TOKEN_TO_TOKEN)
    dialect = SettlerDialect(market.network.for_dialect(SETTLER))
    with pytest.raises(InvalidRoute, match="the router settler cannot execute pool"):
        dialect.build_payload(ReplayedSwap(route, [step], market.pools), SETTLER_ADDRESS)
    with pytest.raises(InvalidRoute, match="which is not in the market"):
        dialect.build_payload(ReplayedSwap(route, [step], {}), SETTLER_ADDRESS)


WETH_AND_DAI = ("0x4200000000000000000000000000000000000006", "0x50c5725949a6f0c72e6c4a641f24049a917db0cb")


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        (
            Weighted(
                "0x" + "ee" * 20, "balancerV2Weighted", WETH_AND_DAI, (18, 18), 500, (10**21,) * 2, (5 * 10**17,) * 2
            ),
            "its pool ID in Balancer's vault is unknown: run swapcli sync",
        ),
        (
            ConstantProduct("0x" + "ee" * 20, "uniswapV2", WETH_AND_DAI, (18, 18), 2_550, (10**21, 10**24)),
            "its fee is not in whole basis points",
        ),
    ],
)
def test_a_refusal_of_a_posted_route_says_why(pool: Weighted | ConstantProduct, reason: str) -> None:
    market = embedded("base")
    market = market._replace(pools={pool.key: pool}, network=market.network.for_dialect(SETTLER))
    check_executable([pool.key], market._replace(network=market.network.for_dialect(FIBROUS)))
    check_executable(["unknown"], market)
    with pytest.raises(InvalidRoute, match=f"the router settler cannot execute pool {pool.key} .*: {reason}$"):
        check_executable([pool.key], market)


def test_a_share_of_the_surplus_is_refused() -> None:
    case = random_cases("surplus", 1)[0]
    case.integrator = Integrator(INTEGRATOR, surplus_bps=100)
    with pytest.raises(InvalidRoute, match="cannot pay integrators a share of the surplus"):
        case.build()


def test_a_network_without_settler_is_refused() -> None:
    with pytest.raises(InvalidOption, match="0x Settler is not known on citrea"):
        SettlerDialect(find_network("citrea").for_dialect(SETTLER))


def test_the_hint_names_the_dialects_that_a_network_has() -> None:
    """The Fibrous API's router is on Citrea; a network without any router has only the user's own."""
    citrea = find_network("citrea")
    with pytest.raises(InvalidOption) as caught:
        router_dialect(citrea.for_dialect(SETTLER))
    assert caught.value.hint == "use the router dialect fibrous"
    with pytest.raises(InvalidOption) as caught:
        router_dialect(citrea._replace(router=None, routers={}).for_dialect(SETTLER))
    hint = "set networks.citrea.router to a router that you trust, or use the router dialect own"
    assert caught.value.hint == hint


A, B = "0x5fbdb2315678afecb367f032d93f642f64180aa3", "0xe7f1725e7734ce288f8367e1bb143e90bb3f0512"

PAIR, V3_POOL = "0xfa803697c45c71b3f0a249db2a17d9bf2507eeea", "0x9b0661f6014efa47a242b9d6e4c29e675bbea146"

EXAMPLE_SETTLER = "0x09635f643e140090a9a8dcd712ed6285858cebef"

EXAMPLE_CALLER = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"

SQRT_2_X96 = 112045541949572287496682733568
"""`floor(sqrt(2) * 2^96)`: two of the second token for one of the first."""

EXAMPLE_RECEIVED = 29834482228833298953


def example_market() -> MarketState:
    """Return the pools of a swap that was executed on 0x Settler, compiled from its source, on a local chain."""
    tokens = {address: Token(address, symbol, symbol, 18) for address, symbol in ((A, "A"), (B, "B"))}
    protocols = (
        ProtocolInfo(1, "v2", "V2", "constant_product"),
        ProtocolInfo(2, "v3", "V3", "concentrated", ("fee",)),
        ProtocolInfo(
            3,
            "v4",
            "V4",
            "concentrated",
            ("poolId", "token0", "token1", "fee", "tickSpacing", "hooks"),
            contracts=("uniswap_v4",),
        ),
    )
    holder = find_network("base").routers[SETTLER].spender
    actions = {"v2": "UNISWAPV2", "v3": "UNISWAPV3 0", "v4": "UNISWAPV4"}
    network = Network(
        "example", Kind.EVM, 31337, Token(ZERO_ADDRESS, "ETH", "Ether", 18), None, tuple(tokens.values()), protocols,
        router_dialect=SETTLER, routers={SETTLER: DialectRouter(spender=holder, protocols=actions)},
    )  # fmt: skip
    pools: list[Pool] = [ConstantProduct(PAIR, "v2", (A, B), (18, 18), 3000, (1000 * 10**18, 2000 * 10**18))]
    for address, protocol, fee, spacing, edge, units in (
        (V3_POOL, "v3", 3000, 60, 887_220, 3000), ("0x" + "44" * 20, "v4", 500, 10, 887_270, 2000),
    ):  # fmt: skip
        liquidity = units * 10**18
        state: dict[str, object] = {
            "sqrt_price_x96": str(SQRT_2_X96), "tick": 6931, "liquidity": str(liquidity), "tick_spacing": spacing,
            "ticks": [[-edge, str(liquidity)], [edge, str(-liquidity)]],
        }  # fmt: skip
        if protocol == "v4":
            state["pool_id"] = v4_id(A, B, fee, spacing)
        pools.append(Concentrated.from_state(PoolIdentity(address, protocol, (A, B), (18, 18), fee), state))
    return MarketState(network, tokens, {pool.key: pool for pool in pools}, Provenance.SYNTHETIC, "example", 0)


def test_a_swap_that_settler_executed_is_encoded_to_the_byte() -> None:
    market = example_market()
    keys = V3_POOL, PAIR, v4_id(A, B, 500, 10)
    swaps = tuple(FlatSwap(key, A, B, bps) for key, bps in zip(keys, (4000, 4444, 10_000), strict=True))
    done = execute(market.pools, swaps, 15 * 10**18, SettlerDialect.execution)
    assert done.amount_out == EXAMPLE_RECEIVED
    assert done.steps[1].amount_out == 7943526783067607468
    route = RouterRouteParam(A, B, 15 * 10**18, done.amount_out, 1, EXAMPLE_CALLER, SwapType.TOKEN_TO_TOKEN)
    swap = ReplayedSwap(route, done.steps, market.pools, None, DEADLINE_S)
    assert SettlerDialect(market.network).build_payload(swap, EXAMPLE_SETTLER).calldata == f"0x{EXAMPLE_CALLDATA}"


EXAMPLE_CALLDATA = (
    "2213bc0b00000000000000000000000009635f643e140090a9a8dcd712ed6285858cebef0000000000000000000000005fbdb2315678afec"
    "b367f032d93f642f64180aa3000000000000000000000000000000000000000000000000d02ab486cedc0000000000000000000000000000"
    "09635f643e140090a9a8dcd712ed6285858cebef00000000000000000000000000000000000000000000000000000000000000a000000000"
    "000000000000000000000000000000000000000000000000000006441fff991f000000000000000000000000f39fd6e51aad88f6f4ce6ab8"
    "827279cfffb92266000000000000000000000000e7f1725e7734ce288f8367e1bb143e90bb3f051200000000000000000000000000000000"
    "0000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000a00000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004"
    "0000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000"
    "00000000000001a000000000000000000000000000000000000000000000000000000000000002c000000000000000000000000000000000"
    "000000000000000000000000000003c000000000000000000000000000000000000000000000000000000000000000e4c1fb425e00000000"
    "000000000000000009635f643e140090a9a8dcd712ed6285858cebef0000000000000000000000005fbdb2315678afecb367f032d93f642f"
    "64180aa3000000000000000000000000000000000000000000000000d02ab486cedc00000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000713fb300000000000000000000000000"
    "00000000000000000000000000000000000000c0000000000000000000000000000000000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000e4"
    "8d68a15600000000000000000000000009635f643e140090a9a8dcd712ed6285858cebef0000000000000000000000000000000000000000"
    "000000000000000000000fa00000000000000000000000000000000000000000000000000000000000000080000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000405fbdb231"
    "5678afecb367f032d93f642f64180aa300000bb800000000000000000000000000000001000276a4e7f1725e7734ce288f8367e1bb143e90"
    "bb3f051200000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "00000000000000c4103b48be00000000000000000000000009635f643e140090a9a8dcd712ed6285858cebef000000000000000000000000"
    "5fbdb2315678afecb367f032d93f642f64180aa3000000000000000000000000000000000000000000000000000000000000115c00000000"
    "0000000000000000fa803697c45c71b3f0a249db2a17d9bf2507eeea00000000000000000000000000000000000000000000000000000000"
    "00001e0100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000000000000000184af72634f000000000000000000000000"
    "09635f643e140090a9a8dcd712ed6285858cebef0000000000000000000000005fbdb2315678afecb367f032d93f642f64180aa300000000"
    "0000000000000000000000000000000000000000000000000000271000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000000000"
    "00000000ffffffffffffffc50000000000000000000000000000000000000000000000000000000000000100000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004827100000"
    "0000000000000000000000000001000276a401e7f1725e7734ce288f8367e1bb143e90bb3f05120001f400000a0000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000000000000"
)
