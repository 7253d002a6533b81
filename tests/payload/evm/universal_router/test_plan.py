"""Calls of the Universal Router: what eth_abi decodes does what the quote says, on a model of the contract."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from random import Random

import pytest

from swapcli.core.errors import ConfigError, InvalidRoute, PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import UNIVERSAL_ROUTER
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.router_dialect import ReplayedSwap
from swapcli.core.model.swap_terms import Integrator, SignedPermit, after_fee
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import Purpose, RouterRouteParam, UnsignedTransaction
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.core.routing.replay import replay
from swapcli.payload.dialects import executable_market, router_dialect
from swapcli.payload.payloads import MAX_BYTES_A_STEP, MAX_BYTES_OF_TERMS
from tests.chain.random_routes import random_route
from tests.examples import examples, generator
from tests.payload.evm.router_model import embedded
from tests.payload.evm.universal_router_model import V4_TYPES, RouterModel

ROUTER = "0x" + "5e" * 20
RECIPIENT, INTEGRATOR = "0x" + "c0" * 20, "0x" + "ca" * 20
DEADLINE_S = 1_900_000_000


@lru_cache
def universal_market(name: str, version: str) -> MarketState:
    """Return the pools of an embedded market that a release of the router executes."""
    market = embedded(name)
    network = market.network.for_dialect(UNIVERSAL_ROUTER)
    router = network.dialect_router._replace(version=version)
    return executable_market(market._replace(network=network._replace(routers={UNIVERSAL_ROUTER: router})))


class Case:
    """A random swap of an embedded market."""

    def __init__(self, rng: Random, market: MarketState) -> None:
        self.market, network = market, market.network
        pools, wrapped = market.pools, network.wrapped_native_address
        token_in, token_out = rng.sample(sorted({token for pool in pools.values() for token in pool.tokens}), 2)
        if rng.random() < 0.3:
            token_in = wrapped or token_in
        elif rng.random() < 0.3:
            token_out = wrapped or token_out
        if token_in == token_out:
            raise PoolError("the tokens are equal")
        self.swap_type = SwapType.TOKEN_TO_TOKEN
        if wrapped in (token_in, token_out) and rng.random() < 0.7:
            self.swap_type = SwapType.NATIVE_TO_TOKEN if token_in == wrapped else SwapType.TOKEN_TO_NATIVE
        self.integrator = Integrator(INTEGRATOR, rng.randint(1, 500)) if rng.random() < 0.3 else None
        amount = max(1, int(10 ** rng.uniform(-4, 1) * 10 ** market.tokens[token_in].decimals))
        execution = router_dialect(network).execution
        self.replay = replay(pools, random_route(rng, pools, token_in, token_out), amount, execution)
        self.due = after_fee(self.replay.amount_out, self.integrator.fee_bps if self.integrator else 0)
        amounts = amount, self.replay.amount_out, self.due
        self.route = RouterRouteParam(token_in, token_out, *amounts, RECIPIENT, self.swap_type)

    def build(self) -> UnsignedTransaction:
        swap = ReplayedSwap(self.route, self.replay.steps, self.market.pools, self.integrator, DEADLINE_S)
        return router_dialect(self.market.network).build_payload(swap, ROUTER)


def random_cases(seed: str, count: int, version: str = "2.0") -> list[Case]:
    rng = generator(f"{seed} {version}")
    cases: list[Case] = []
    while len(cases) < count:
        try:
            cases.append(Case(rng, universal_market(rng.choice(("base", "monad")), version)))
        except PoolError:
            continue
    return cases


@pytest.mark.fuzz
@pytest.mark.parametrize("version", V4_TYPES)
def test_random_routes_decode_to_what_the_quote_says(version: str) -> None:
    seen: Counter[str] = Counter()
    for case in random_cases("universal", examples(60, full=500, fuzz=3_400), version):
        payload, route = case.build(), case.route
        wrapped = case.market.network.wrapped_native_address
        assert wrapped is not None
        model = RouterModel(case.market.pools, wrapped, version)
        assert len(payload.calldata) // 2 <= len(case.replay.steps) * MAX_BYTES_A_STEP + MAX_BYTES_OF_TERMS
        assert model.execute(payload.calldata, payload.value) == DEADLINE_S
        token_out = ZERO_ADDRESS if case.swap_type is SwapType.TOKEN_TO_NATIVE else route.token_out
        assert model.paid[RECIPIENT, token_out] == case.due
        assert model.paid.total() == case.replay.amount_out
        is_native = case.swap_type is SwapType.NATIVE_TO_TOKEN
        assert model.caller == ({} if is_native else {route.token_in: route.amount_in})
        assert payload.value == (route.amount_in if is_native else 0)
        assert not any(model.balances.values())
        assert {key: model.pools[key] for key in case.replay.pools_after} == case.replay.pools_after
        seen.update(features(case))
    kinds = ["v2", "v3", "v4", "native v4", "wrapped v4", "fee", *(each.name for each in SwapType)]
    assert [kind for kind in kinds if not seen[kind]] == []


def features(case: Case) -> set[str]:
    pools = [case.market.pools[step.pool] for step in case.replay.steps]
    found = {case.swap_type.name, *(pool.protocol.lower().removeprefix("uniswap") for pool in pools)}
    for pool in pools:
        traits = pool.api_extra_data()
        if "poolId" in traits:
            found.add("native v4" if traits["token0"] == ZERO_ADDRESS else "wrapped v4")
    return found | ({"fee"} if case.integrator else set())


def test_tokens_are_approved_for_permit2_and_then_in_it() -> None:
    case = next(each for each in random_cases("approvals", 20) if each.swap_type is SwapType.TOKEN_TO_TOKEN)
    payload, dialect = case.build(), router_dialect(case.market.network)
    of_token, of_permit2, swap = dialect.build_transactions(payload)
    assert (of_token.to, of_token.purpose, of_token.spender_name) == (case.route.token_in, Purpose.APPROVE, "Permit2")
    assert PERMIT2[2:] in of_token.calldata
    assert (of_permit2.to, of_permit2.purpose) == (PERMIT2, Purpose.APPROVE_PERMIT2)
    words = [of_permit2.calldata[10 + k : 74 + k] for k in range(0, 256, 64)]
    assert [int(word, 16) for word in words] == [
        int(case.route.token_in, 16),
        int(ROUTER, 16),
        case.route.amount_in,
        DEADLINE_S,
    ]
    assert swap.calldata == payload.calldata
    enough = case.route.amount_in
    assert dialect.build_transactions(payload, (enough, enough)) == (swap,)
    assert dialect.build_transactions(payload, (enough, enough - 1)) == (of_permit2, swap)


def test_a_permit_replaces_the_allowance_in_permit2() -> None:
    case = next(each for each in random_cases("permits", 20) if each.swap_type is SwapType.TOKEN_TO_TOKEN)
    swap = ReplayedSwap(case.route, case.replay.steps, case.market.pools, case.integrator, DEADLINE_S)
    permit = SignedPermit(bytes(range(65)), 7)
    payload = router_dialect(case.market.network).build_payload(swap._replace(permit=permit), ROUTER)
    plain = case.build()
    assert (payload.approvals, payload.permitted) == (plain.approvals[:1], plain.approvals[1:])
    assert permit.signature.hex() in payload.calldata


def test_a_share_of_the_surplus_is_refused() -> None:
    (case,) = random_cases("surplus", 1)
    case.integrator = Integrator(INTEGRATOR, 0, 100)
    with pytest.raises(InvalidRoute, match=r"cannot pay integrators a share of the surplus$"):
        case.build()


def test_an_unknown_release_is_refused() -> None:
    (case,) = random_cases("release", 1)
    network = case.market.network
    router = network.dialect_router._replace(version="3.0")
    case.market = case.market._replace(network=network._replace(routers={UNIVERSAL_ROUTER: router}))
    with pytest.raises(ConfigError, match=r'^Universal Router version "3\.0" is not supported$'):
        case.build()


def test_pools_of_other_protocols_are_not_executable() -> None:
    market = embedded("base")
    dialect = router_dialect(market.network.for_dialect(UNIVERSAL_ROUTER))
    executable = {pool.protocol for pool in market.pools.values() if dialect.executable_pool(pool)}
    assert executable == {"uniswapV2", "uniswapV3", "uniswapV4"}
