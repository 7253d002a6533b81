"""The kit notices each way in which a family can be wrong: the example's family, with one defect at a time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
from hypothesis import strategies as st

from swapcli.core.model.pool import PoolIdentity
from swapcli.families.fixed_rate.fixed_rate_curve import fixed_rate_curve
from swapcli.families.hull_curve import ZeroCurve
from swapcli.testing.family_tests import FamilyTests
from tests.examples import few

Members = dict[str, Any]
EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.fixture(scope="module")
def example() -> Iterator[ModuleType]:
    """The tests of the example's family."""
    folders = [str(EXAMPLE / "src"), str(EXAMPLE / "tests")]
    sys.path[:0] = folders
    try:
        yield import_module("test_capped_sum")
    finally:
        del sys.path[: len(folders)]


class _ConvexCurve(ZeroCurve):
    """A curve whose rate rises."""

    def __init__(self) -> None:
        self.start_rate, self.capacity = 1.0, 1e24

    def amount_out(self, amount_in: float) -> float:
        return amount_in * (1.0 + amount_in / self.capacity)

    def rate(self, amount_in: float) -> float:
        return 1.0 + 2.0 * amount_in / self.capacity


def _paying(output: Callable[[int, int], Any]) -> Members:
    """Return the defect that `swap` pays `output(amount_in, amount_out)`."""

    def swap(pool: Any, token_in: str, token_out: str, amount_in: int) -> Any:
        amount_out, after = super(type(pool), pool).swap(token_in, token_out, amount_in)
        return output(amount_in, amount_out), after

    return {"swap": swap}


def _unchecked(cls: Any, identity: PoolIdentity, state: Any) -> Any:
    return cls(*identity, tuple(map(int, state["reserves"])), int(state["max_swap"]))


LAWS, CURVE = "test_swaps_keep_the_laws", "test_the_curve_follows_the_swaps"
STATES, RECORDED = "test_contradictory_states_are_refused", "test_recorded_swaps_are_the_contracts"
DEFECTS: Final[dict[str, tuple[str, Members]]] = {
    "pays a unit more": (RECORDED, _paying(lambda _, amount_out: amount_out + 1)),
    "pays less for more": (LAWS, _paying(lambda amount_in, amount_out: amount_out // amount_in.bit_length())),
    "gives on the way back": (LAWS, _paying(lambda amount_in, _: amount_in * 101 // 100)),
    "fails for some inputs": (LAWS, _paying(lambda amount_in, amount_out: amount_out // (amount_in % 2))),
    "pays a float": ("test_any_tokens_and_any_integer_are_swapped_or_refused", _paying(lambda _, out: out * 1.0)),
    "keeps its state": (RECORDED, {"swap": lambda pool, _, __, amount_in: (amount_in * 997 // 1_000, pool)}),
    "pays what it does not hold": (STATES, {"swap": lambda pool, _, __, amount_in: (amount_in, pool)}),
    "has a curve without the fee": (CURVE, {"curve": lambda pool, *_: fixed_rate_curve(1.0, pool.reserves[1])}),
    "has a convex curve": ("test_the_curve_is_concave", {"curve": lambda *_: _ConvexCurve()}),
    "forgets in its state": (
        "test_state_survives_a_round_trip",
        {"state": lambda pool: {"reserves": [*map(str, pool.reserves)], "max_swap": "1000"}},
    ),
    "accepts any state": (STATES, {"from_state": classmethod(_unchecked)}),
}
"""By what is wrong: the test that must fail, and the members of the class that make it so."""


def kit_for(example: ModuleType, members: Members) -> FamilyTests:
    """Return the tests of the example's family, whose class has other members."""
    wrong: Any = type("Wrong", (example.CappedSum,), {"__slots__": (), **members})

    class Kit(example.TestCappedSum):  # type: ignore[name-defined,misc]
        def valid_pool(self) -> Any:
            return self._wrong(super().valid_pool())

        def pools(self) -> st.SearchStrategy[Any]:
            pools: st.SearchStrategy[Any] = example.random_pools().map(self._wrong)
            return pools

        def _wrong(self, pool: Any) -> Any:
            return wrong(*pool.identity, pool.reserves, pool.max_swap)

    kit: FamilyTests = Kit()
    return kit


@pytest.mark.parametrize("name", few(DEFECTS, 3))
def test_a_defect_fails_its_test(name: str, example: ModuleType) -> None:
    test, members = DEFECTS[name]
    getattr(kit_for(example, {}), test)()
    with pytest.raises((AssertionError, ArithmeticError, LookupError, TypeError, ExceptionGroup)):
        getattr(kit_for(example, members), test)()
