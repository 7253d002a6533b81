"""No random program that passes `decode` breaks its promise on real bytecode, and none is an internal error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swapcli.core.model.decoded_call import DecodedCall
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.payload.decode.decode_payload import decode_payload
from tests.examples import examples, generator
from tests.payload.evm.programs.judge import Judge
from tests.payload.evm.programs.search import HONEST, HOSTILE, QUOTED, Finding, Search
from tests.payload.evm.programs.universal_plans import (
    SETTLE_ALL,
    SINGLE_IN,
    TAKE_ALL,
    V4,
    Action,
    Command,
)
from tests.payload.evm.programs.universal_programs import UniversalPlan, UniversalPrograms, promised_by_sum
from tests.payload.evm.programs.world import TARGETS, UNIVERSAL_2_0, ProgramWorld, open_program_world

LEAST_PASSING = 0.1
"""Of hostile programs: if fewer pass, the search no longer looks for what it should find."""


@pytest.fixture(scope="module")
def world() -> Iterator[ProgramWorld]:
    with open_program_world() as opened:
        yield opened


@pytest.fixture(scope="module")
def search(world: ProgramWorld) -> Search:
    return Search(world)


@pytest.mark.fuzz
@pytest.mark.parametrize("target", TARGETS)
def test_a_program_that_passes_keeps_its_promise(search: Search, target: str) -> None:
    count = examples(30, full=1_000, fuzz=4_000)
    tally = search.run(target, HOSTILE, generator(f"programs {target}").getrandbits(32), count)
    assert [message(search, each) for each in tally.findings] == []
    assert tally.counts["passed"] >= LEAST_PASSING * count
    assert tally.counts["executed"] >= tally.counts["passed"] / 6


@pytest.mark.fuzz
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("origin", [HONEST, QUOTED])
def test_every_honest_program_passes_and_keeps_its_promise(search: Search, target: str, origin: str) -> None:
    count = examples(30 if origin == HONEST else 10, full=200, fuzz=400)
    tally = search.run(target, origin, generator(f"{origin} programs {target}").getrandbits(32), count)
    assert [message(search, each) for each in tally.findings] == []
    assert tally.counts["passed"] == tally.counts["executed"] == count


def test_the_search_finds_a_promise_that_is_a_sum_of_minimums(world: ProgramWorld) -> None:
    """A reading that adds up minimums, whatever is sold again afterwards, is found to be wrong."""
    search = Search(world)
    search.judge = Judge(world, lambda given, wrapped: summed(decode_payload(given, wrapped), search.plan))
    tally = search.run(UNIVERSAL_2_0, HOSTILE, "sum", 60)
    assert "broken promise" in {each.kind for each in tally.findings}


def test_a_cycle_that_pays_dust_is_not_passed(world: ProgramWorld, search: Search) -> None:
    """The swap that was once mined: it buys for a minimum and sells all but one unit of it again, in one V4 swap."""
    programs = UniversalPrograms(world, UNIVERSAL_2_0)
    for sells_again in (False, True):
        plan = v4_cycle(world, sells_again=sells_again)
        program = programs.encode(plan, "mined")
        done = world.execute(program, world.states[0])
        read = search.judge.read(program)
        assert done.succeeded
        assert (done.change(world.owners[0], ZERO_ADDRESS) < promised_by_sum(plan, ZERO_ADDRESS)) == sells_again
        assert read.passes != sells_again


def v4_cycle(world: ProgramWorld, *, sells_again: bool) -> UniversalPlan:
    """Return a sale of USDC for the native currency, of which most may be sold again."""
    usdc, pool_key = world.address("USDC"), (ZERO_ADDRESS, world.address("USDC"), 500, 10, ZERO_ADDRESS)
    amount, minimum = 2_500 * 10**6, 99 * 10**16
    sale = Action(SINGLE_IN, (pool_key, False, amount, minimum, b""))
    cycle = (
        sale,
        Action(SINGLE_IN, (pool_key, True, minimum - 1, 0, b"")),
        Action(SINGLE_IN, (pool_key, False, 1_000, 0, b"")),
        Action(SETTLE_ALL, (usdc, amount)),
        Action(TAKE_ALL, (ZERO_ADDRESS, 0)),
        Action(TAKE_ALL, (usdc, 0)),
    )
    honest = (sale, Action(SETTLE_ALL, (usdc, amount)), Action(TAKE_ALL, (ZERO_ADDRESS, minimum)))
    return UniversalPlan((Command(V4, (cycle if sells_again else honest,)),), 0, None, world.deadline_s)


def summed(call: DecodedCall, plan: object) -> DecodedCall:
    """Return a call as a reader shows it that adds up the minimums of all V4 swaps to the bought token."""
    if call.order is None or not isinstance(plan, UniversalPlan):
        return call
    token = ZERO_ADDRESS if call.order.is_native_out else call.order.token_out
    promised = max(call.order.min_received, promised_by_sum(plan, token))
    return call._replace(order=call.order._replace(min_received=promised), oddities=())


def message(search: Search, finding: Finding) -> str:
    """Return the smallest form of a finding, as the search writes it."""
    smallest = search.minimize(finding)
    return f"{smallest.kind} of {smallest.program}: {smallest.sentences} shown {smallest.shown} by {smallest.plan}"
