"""What 0x Settler's own bytecode paid for random routes over real pools is what they are quoted at.

`settler_recorder` executed them; the same routes are replayed here, encoded to the same calldata, and decoded again.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from functools import cache
from itertools import starmap
from typing import Any

import pytest

from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.router_dialect import ReplayedSwap
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterRouteParam, UnsignedTransaction
from swapcli.core.routing.gas import gas_of_terms, route_gas
from swapcli.core.routing.replay import FlatSwap, Replay, execute
from swapcli.families import family
from swapcli.payload.evm.basic_calls import AMOUNT_AT, BASIC_FAMILIES, BasicSwap
from swapcli.payload.evm.decoding.decode import decode_calldata
from swapcli.payload.evm.dialects.settler import SettlerDialect
from swapcli.payload.evm.settler_actions import ALL, encode_basic, encode_execute, encode_transfer_from
from swapcli.payload.review.route_warnings import is_pool
from tests.payload.evm.settler_recorder import DEADLINE_S, EXECUTIONS, RECIPIENT, recorded_network
from tests.support.outside_ids import keccak256

LEAST_ROUTES = 50
NAMES = sorted(path.name.partition(".")[0] for path in EXECUTIONS.glob("*.json.xz"))


@cache
def recorded(name: str) -> dict[str, Any]:
    """Return the file of a family."""
    document: dict[str, Any] = json.loads(lzma.decompress((EXECUTIONS / f"{name}.json.xz").read_bytes()))
    return document


class Execution:
    """A recorded route, replayed and encoded."""

    def __init__(self, document: dict[str, Any], record: dict[str, Any]) -> None:
        self.document, self.record = document, record
        self.network = recorded_network(document)
        self.dialect = SettlerDialect(self.network)
        pools = [read_pool(document, each) for each in record["pools"]]
        self.pools = {pool.key: pool for pool in pools}
        self.swap_type = SwapType[record["swap_type"]]
        swaps = tuple(starmap(FlatSwap, record["steps"]))
        self.done: Replay = execute(self.pools, swaps, int(record["amount_in"]), self.dialect.execution)

    def build(self) -> UnsignedTransaction:
        """Return the payload, whose minimum is the quote."""
        steps, amount_out = self.done.steps, self.done.amount_out
        ends = steps[0].token_in, steps[-1].token_out
        route = RouterRouteParam(
            *ends, int(self.record["amount_in"]), amount_out, amount_out, RECIPIENT, self.swap_type
        )
        return self.dialect.build_payload(
            ReplayedSwap(route, steps, self.pools, None, DEADLINE_S), self.document["settler"]
        )

    @property
    def estimate(self) -> int:
        """Return the gas that a quote says."""
        gas, steps = self.dialect.execution.gas, self.done.steps
        return route_gas(self.pools, self.done, gas) + gas_of_terms(self.pools, steps, self.swap_type, gas)


def read_pool(document: dict[str, Any], record: dict[str, Any]) -> Pool:
    """Return a pool of a record."""
    tokens, decimals = tuple(record["tokens"]), document["decimals"]
    identity = PoolIdentity(
        record["address"], record["protocol"], tokens, tuple(decimals[token] for token in tokens), record["fee_ppm"]
    )
    return family(record["family"]).from_state(identity, record)


def executions(name: str) -> list[Execution]:
    document = recorded(name)
    return [Execution(document, each) for each in document["executions"]]


@pytest.mark.parametrize("name", NAMES)
def test_quotes_are_what_settler_paid(name: str) -> None:
    seen: Counter[str] = Counter()
    for each in executions(name):
        assert each.done.amount_out == int(each.record["received"])
        families = {pool.family for pool in each.pools.values()}
        seen.update((*families, each.swap_type.name, "mixed" if len(families) > 1 else "alone"))
    assert seen[name] == len(recorded(name)["executions"]) >= LEAST_ROUTES
    assert all(seen[kind] for kind in (*(each.name for each in SwapType), "mixed", "alone"))


@pytest.mark.parametrize("name", NAMES)
def test_payloads_are_those_that_were_sent(name: str) -> None:
    for each in executions(name):
        calldata = bytes.fromhex(each.build().calldata[2:])
        assert keccak256(calldata).hex() == each.record["calldata_hash"]


@pytest.mark.parametrize("name", NAMES)
def test_payloads_are_read_back(name: str) -> None:
    for each in executions(name):
        network, steps = each.network, each.done.steps
        decoded = decode_calldata(each.build().calldata, network.wrapped_native_address)
        assert (decoded.oddities, decoded.trailing_bytes, len(decoded.swaps)) == ((), 0, len(steps))
        assert decoded.order is not None
        assert decoded.order.min_received == each.done.amount_out
        for swap, step in zip(decoded.swaps, steps, strict=True):
            pool = each.pools[step.pool]
            assert network.to_wrapped(swap.token_in) == step.token_in
            if swap.token_out is not None:
                assert network.to_wrapped(swap.token_out) == step.token_out
            else:
                assert swap.pool.coin_out is not None
                assert pool.tokens[swap.pool.coin_out] == step.token_out
            assert is_pool(swap.pool, pool, network, decoded.dialect)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gmx_vault"])
def test_gas_is_estimated_within_a_tenth_for_most_routes(name: str) -> None:
    """The vault of GMX V1 had fixed prices; on a network, its oracle takes most of the gas."""
    errors = [abs(each.estimate / each.record["gas"] - 1) for each in executions(name)]
    assert sum(error <= 0.1 for error in errors) >= 0.8 * len(errors)


@pytest.mark.parametrize("name", [name for name in NAMES if recorded(name)["routers"]])
def test_a_call_of_another_contract_means_no_known_pool(name: str) -> None:
    (router,) = recorded(name)["routers"].values()
    other = "0x" + "bd" * 20
    for each in executions(name)[:5]:
        wrapped = each.network.wrapped_native_address
        calldata = each.build().calldata
        assert router[2:] in calldata
        changed = decode_calldata(calldata.replace(router[2:], other[2:]), wrapped)
        called = [swap for swap in changed.swaps if swap.pool.contract == other]
        assert called
        for swap in called:
            assert not any(is_pool(swap.pool, pool, each.network, changed.dialect) for pool in each.pools.values())


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("dodo_v2", "gmx_vault")])
def test_an_amount_in_another_place_is_an_oddity(name: str) -> None:
    for each in executions(name)[:5]:
        step = next(step for step in each.done.steps if each.pools[step.pool].family == name)
        pool = each.pools[step.pool]
        sells_first = pool.tokens[0] == step.token_in
        swap = BasicSwap(pool, step.token_in, step.token_out, RECIPIENT, sells_first)
        data = BASIC_FAMILIES[name].call(swap)
        right = AMOUNT_AT[data[:8]]
        assert right is not None
        for amount_at, is_odd in ((right, False), (right + 32, True)):
            actions = [
                encode_transfer_from(RECIPIENT, step.token_in, 1, None),
                encode_basic(step.token_in, ALL, pool.address, amount_at, data),
            ]
            call = decode_calldata(f"0x{encode_execute(RECIPIENT, step.token_out, 1, actions)}", None)
            assert any("an amount that differs from its share" in oddity for oddity in call.oddities) == is_odd
