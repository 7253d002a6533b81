"""Fluid's pools are listed and read through its resolver, as they were recorded; doubtful answers leave a pool out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from swapcli.core.model.network import ProtocolInfo
from swapcli.core.networks.catalogue import find_network
from swapcli.families.fluid import fluid_t1_reader as fluid_t1
from swapcli.families.fluid.fluid_t1 import FluidT1
from swapcli.families.fluid.rows import FluidConstants
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_readers import pool_reader
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.chain.node.recorded_curve import RecordedContracts
from tests.families.fluid.test_fluid_t1 import as_recorded
from tests.families.recorded import read_vectors

RESOLVER, WRAPPED, NATIVE = "0x" + "5e" * 20, "0x" + "42" * 20, "0x" + "ee" * 20
FACTORY = Factory(RESOLVER, "fluid_t1", (ProtocolInfo(1, "test", "Test", "fluid_t1"),), wrapped_native=WRAPPED)
LIMITS = (2**128, 2**128, 2**128, 2**128)


def recorded() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each pool, and a step of it that is the first swap of its block."""
    for pool in read_vectors("fluid_dex_t1")["pools"]:
        yield pool, next(step for step in pool["steps"] if is_first_in_block(step))


def is_first_in_block(step: Mapping[str, Any]) -> bool:
    return bool(int(step["before"]["dex_variables"]) >> 121 & (1 << 33) - 1 != step["timestamp"])


class Contracts(RecordedContracts):
    """A pool before a recorded swap, and the resolver."""

    def __init__(
        self, pool: dict[str, Any], step: dict[str, Any], tokens: tuple[str, ...] = TOKENS[:2], **changes: int
    ) -> None:
        super().__init__()
        before = step["before"]
        collateral, debt = before["collateral"] or {}, before["debt"] or {}
        words = [int(ADDRESS, 16), *(int(token, 16) for token in tokens), pool["fee"]]
        words.append(int(before["prices"]["center_price"]))
        words += [int(collateral.get(f"{kind}_{k}", 0)) for kind in ("real", "imaginary") for k in (0, 1)]
        words += [int(debt.get(f"{kind}_{k}", 0)) for kind in ("debt", "real", "imaginary") for k in (0, 1)]
        words += [word for limit in LIMITS for word in (limit, limit, 0)]
        self.put_words(RESOLVER, encode_call("getPoolReservesAdjusted(address)", ADDRESS), words)
        self.put_words(RESOLVER, encode_call("getPoolTokens(address)", ADDRESS), [int(each, 16) for each in tokens])
        self.put_words(RESOLVER, encode_call("getAllPoolAddresses()"), [32, 1, int(ADDRESS, 16)])
        for slot, name in enumerate(("dex_variables", "dex_variables2")):
            self.put(ADDRESS, "readFromStorage(bytes32)", changes.get(name, int(before[name])), slot)
        scales = [10 ** max(sign * (12 - places), 0) for places in pool["decimals"] for sign in (1, -1)]
        self.put_words(ADDRESS, encode_call("constantsView2()"), scales)

    def put_words(self, address: str, call: bytes, words: list[int]) -> None:
        self.answers[address, call] = b"".join(word.to_bytes(32) for word in words)


def found(contracts: Contracts) -> PoolRef | SkippedItem:
    (ref,) = run_batched([(ADDRESS, fluid_t1.read_constants(FACTORY, ADDRESS))], contracts.send)
    return ref


def read(contracts: Contracts, ref: PoolRef | SkippedItem, pool: dict[str, Any]) -> FluidT1 | SkippedItem:
    assert isinstance(ref, PoolRef)
    contracts.rounds = 0
    load = fluid_t1.load(ref._replace(decimals=tuple(pool["decimals"])))
    (result,) = run_batched([(ADDRESS, load)], contracts.send)
    assert isinstance(result, FluidT1 | SkippedItem)
    return result


def test_pools_are_read_in_one_round_as_recorded() -> None:
    for pool, step in recorded():
        contracts = Contracts(pool, step)
        state = read(contracts, found(contracts), pool)
        assert state == replace(as_recorded(pool, step), resolver=RESOLVER)
        assert contracts.rounds == 1


def test_the_resolver_lists_the_pools() -> None:
    contracts = Contracts(*next(recorded()))
    (addresses,) = run_batched([("", pool_reader("fluid_t1").read_list(FACTORY))], contracts.send)
    assert addresses == (ADDRESS,)
    assert FACTORY.is_enumerable
    factories = find_factories(find_network("base"))[0]
    (of_base,) = (each for each in factories if each.kind == "fluid_t1")
    assert of_base.wrapped_native == find_network("base").wrapped_native_address


def test_native_currency_is_its_wrapped_form() -> None:
    pool, step = next(recorded())
    contracts = Contracts(pool, step, (NATIVE, TOKENS[1]))
    ref = found(contracts)
    assert isinstance(ref, PoolRef)
    assert (ref.tokens, ref.constants_as(FluidConstants).is_native) == ((WRAPPED, TOKENS[1]), True)
    state = read(contracts, ref, pool)
    assert isinstance(state, FluidT1)
    assert state.is_native
    bare = PoolRef(ADDRESS, "test", "fluid_t1", "fluid_t1", ref.tokens, state.decimals)
    assert read(contracts, fluid_t1.complete_ref(bare, state), pool) == state
    unknown = read(contracts, bare, pool)
    assert isinstance(unknown, SkippedItem)


def test_a_pool_of_the_wrapped_token_itself_is_left_out() -> None:
    skipped = found(Contracts(*next(recorded()), (WRAPPED, TOKENS[1])))
    assert isinstance(skipped, SkippedItem)
    assert "cannot distinguish" in skipped.reason


@pytest.mark.parametrize("call", ["getPoolReservesAdjusted(address)", "constantsView2()", "readFromStorage(bytes32)"])
def test_a_pool_whose_contracts_revert_is_left_out(call: str) -> None:
    pool, step = next(recorded())
    contracts = Contracts(pool, step)
    ref = found(contracts)
    arguments = {"getPoolReservesAdjusted(address)": (ADDRESS,), "readFromStorage(bytes32)": (0,)}.get(call, ())
    selector = encode_call(call, *arguments)[:4]
    contracts.answers = {key: answer for key, answer in contracts.answers.items() if key[1][:4] != selector}
    assert isinstance(read(contracts, ref, pool), SkippedItem)


def test_zeros_of_the_resolver_leave_a_pool_out() -> None:
    pool, step = next(recorded())
    contracts = Contracts(pool, step)
    ref = found(contracts)
    key = RESOLVER, encode_call("getPoolReservesAdjusted(address)", ADDRESS)
    contracts.answers[key] = contracts.answers[key][: 32 * 4] + bytes(32 * 23)
    skipped = read(contracts, ref, pool)
    assert isinstance(skipped, SkippedItem)
    assert "which is enabled" in skipped.reason
    contracts.answers[key] = bytes(32 * 27)
    assert "a different pool" in str(read(contracts, ref, pool))


def test_paused_and_oddly_scaled_pools_are_left_out() -> None:
    pool, step = next(recorded())
    settings = int(step["before"]["dex_variables2"])
    contracts = Contracts(pool, step, dex_variables2=settings | 1 << 255)
    assert "paused" in str(read(contracts, found(contracts), pool))
    contracts = Contracts(pool, step)
    contracts.put_words(ADDRESS, encode_call("constantsView2()"), [1, 1, 1, 1])
    assert "scale tokens" in str(read(contracts, found(contracts), pool))
