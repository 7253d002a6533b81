"""The tests that every pool family must pass, as a base class. `docs/families.md` is the tutorial.

    class TestGlider(FamilyTests):
        vectors = Path(__file__).parent / "glider.json"

        def valid_pool(self) -> Glider: ...
        def pools(self) -> SearchStrategy[Glider]: ...
        def contract(self, rng: Random) -> ContractPool: ...

pytest collects the tests from the subclass; the name of each test describes its requirement.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import permutations
from math import inf
from pathlib import Path
from random import Random
from typing import ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.model.pool import Pool
from swapcli.families import family, family_row
from swapcli.families.reading.contract_kinds import KINDS, kinds_of_family
from swapcli.testing.changed_pools import changed_pools
from swapcli.testing.contract_pool import (
    ContractPool,
    compare_swaps,
    record_swaps,
    require_family,
    require_reader,
)
from swapcli.testing.pool_laws import (
    LARGEST_AMOUNT,
    check_concave,
    check_curve_follows,
    check_state_round_trip,
    check_swap_laws,
)
from swapcli.testing.recorded_swaps import check_recorded_swaps, source_of, write_vectors
from swapcli.testing.row_checks import check_fields, check_kind
from swapcli.testing.strategies import parts
from swapcli.testing.swap_guarantee import check_any_tokens_and_amounts, check_random_swaps
from swapcli.testing.wrong_states import check_wrong_states

_NOTHING_PAID = "does the pool hold both tokens, and does the sender of `sell` hold them and approve the pool?"


class FamilyTests(ABC):
    """The laws, the recorded swaps and the differential test of one family.

    A subclass with a name that begins with "Test" provides the pools and the contract; pytest collects the tests from
    it.
    """

    vectors: ClassVar[Path]
    """A file in the format `recorded-swaps/1`, which `swapcli.testing.recorded_swaps` describes."""
    least_paid: ClassVar[int] = 10
    """How many recorded swaps must have paid in the contract."""
    dust: ClassVar[int] = 2
    """The most that a trader may gain in a swap from the contract's rounding, in base units of either token."""
    tolerance: ClassVar[float] = 0.0
    """The same gain as a part of the output, for contracts whose fee is rounded to coarse steps."""
    curve_tolerance: ClassVar[float] = 1e-9
    """The maximum difference between `curve` and `swap`, as a part of the output."""
    way_back_is_checked: ClassVar[bool] = True
    """Whether to check, in random changes of the valid state, that swapping back gains nothing."""
    random_states: ClassVar[int] = 60
    """How many of those states to try."""
    contracts: ClassVar[int] = 3
    """How many contracts the differential test deploys."""
    swaps_per_contract: ClassVar[int] = 40
    """How many swaps to try in each contract; more than a third of them must pay."""
    max_exponent: ClassVar[float] = 25.0
    """The maximum exponent of amounts, which are 10 to the power of 0 to this, in base units."""

    @abstractmethod
    def valid_pool(self) -> Pool:
        """Return a liquid pool. The tests derive contradictory and extreme states from its state."""

    @abstractmethod
    def pools(self) -> st.SearchStrategy[Pool]:
        """Return a strategy for random pools of the family, in states that its contract can have."""

    @abstractmethod
    def contract(self, rng: Random) -> ContractPool:
        """Deploy a pool contract with random parameters and liquidity."""

    def reserve_of(self, pool: Pool, k: int) -> float:
        """Return the number of base units of the k-th token that a pool can pay: `reserves[k]`, or infinity without
        reserves."""
        reserves: tuple[int, ...] | None = getattr(pool, "reserves", None)
        return inf if reserves is None else reserves[k]

    def amount_in(self, pool: Pool, i: int, j: int, part: float) -> int:
        """Return an input of the i-th token for the j-th: `part`, at most a quarter, of the reserve or the capacity, as
        a fraction."""
        largest = min(self.reserve_of(pool, i), pool.curve(pool.tokens[i], pool.tokens[j]).capacity, LARGEST_AMOUNT)
        return max(2, int(largest * part))

    def record(self, source: str, pools: int = 10, swaps: int = 8) -> None:
        """Record swaps in newly deployed contracts to the file `vectors`. `source` names the contract and its
        revision."""
        rngs = [Random(f"record {number}") for number in range(pools)]
        recorded = [record_swaps(self.contract(rng), rng, swaps, self.max_exponent) for rng in rngs]
        write_vectors(self.vectors, source, recorded)

    def test_swaps_keep_the_laws(self) -> None:
        """A larger input pays more; splitting an order or swapping back gains nothing."""
        self._for_trades(lambda pool, way, amount: check_swap_laws(pool, way, amount, self.dust, self.tolerance))

    def test_the_curve_follows_the_swaps(self) -> None:
        """The curve agrees with the swap."""
        self._for_trades(lambda pool, way, amount: check_curve_follows(pool, way, amount, self.curve_tolerance))

    def test_the_curve_is_concave(self) -> None:
        """Outputs increase and rates fall up to the capacity."""

        @settings(deadline=None)
        @given(self.pools(), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
        def check(pool: Pool, a: float, b: float) -> None:
            for way in permutations(pool.tokens, 2):
                check_concave(pool.curve(*way), a, b)

        check()

    def test_state_survives_a_round_trip(self) -> None:
        """A pool does not change in a round trip through a market file."""

        @settings(deadline=None)
        @given(self.pools())
        def check(pool: Pool) -> None:
            check_state_round_trip(pool)

        check()

    def test_any_tokens_and_any_integer_are_swapped_or_refused(self) -> None:
        """Unknown tokens and absurd amounts raise only pool errors."""
        check_any_tokens_and_amounts(self.valid_pool())

    def test_random_states_swap_or_refuse(self) -> None:
        """States with changed numbers are rejected, or keep the guarantee of `Pool.swap`."""
        pool = self.valid_pool()
        rng = Random(pool.family)
        accepted = [*changed_pools([pool], rng, self.random_states)]
        swapped = sum(check_random_swaps(each, rng, way_back=self.way_back_is_checked) for each in accepted)
        assert len(accepted) == self.random_states
        assert swapped > self.random_states // 10

    def test_contradictory_states_are_refused(self) -> None:
        """A state with wrong members is rejected, naming the field, or pays no more than the pool has."""
        check_wrong_states(self.valid_pool(), self.reserve_of)

    def test_recorded_swaps_are_the_contracts(self) -> None:
        """The pool pays the same amounts as the contract, and ends in the contract's state."""
        pool = self.valid_pool()
        paid = check_recorded_swaps(self.vectors, {pool.family: type(pool)}.__getitem__)
        assert paid >= self.least_paid, f"{source_of(self.vectors)}: {paid} recorded swaps were paid"

    def test_random_swaps_are_the_contracts(self) -> None:
        """The contract and the pool read from it pay the same amounts and end in the same state."""
        for seed in range(self.contracts):
            rng = Random(seed)
            name = f"the contract of Random({seed})"
            paid = compare_swaps(self.contract(rng), rng, self.swaps_per_contract, self.max_exponent, name)
            advice = "a lower max_exponent or more liquidity lets it pay more" if paid else _NOTHING_PAID
            assert paid > self.swaps_per_contract // 3, (
                f"{name} paid {paid} of {self.swaps_per_contract} swaps: {advice}"
            )

    def test_swapcli_finds_the_family(self) -> None:
        """The family's name in market files resolves to its class, its rows and its reader."""
        pool = self.valid_pool()
        require_family(pool.family)
        assert family(pool.family) is type(pool)
        check_fields(pool, family_row(pool.family))
        for kind in kinds_of_family(pool.family):
            check_kind(kind, KINDS[kind])
            assert callable(require_reader(kind).load)

    def _for_trades(self, check: Callable[[Pool, tuple[str, str], int], None]) -> None:
        """Check random trades in random pools."""

        @settings(deadline=None)
        @given(self.pools(), st.integers(0, 999), parts)
        def trade(pool: Pool, number: int, part: float) -> None:
            ways = [*permutations(range(len(pool.tokens)), 2)]
            i, j = ways[number % len(ways)]
            check(pool, (pool.tokens[i], pool.tokens[j]), self.amount_in(pool, i, j, part))

        trade()
