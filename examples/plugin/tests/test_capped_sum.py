"""Pools of the family `capped_sum`: the tests of every family, against the contract `CappedSum`."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import strategies as st
from swapcli_example_plugin.capped_sum import CappedSum
from swapcli_example_plugin.capped_sum_reader import load

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState
from swapcli.core.model.pool import Pool
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.testing.contract_pool import ContractPool, read_answers, read_pool
from swapcli.testing.evm import DEPLOYER, Chain, Contract, RevertedError, read_artifact
from swapcli.testing.family_tests import FamilyTests
from swapcli.testing.strategies import ADDRESS, TOKENS, decimals, depths, fees_ppm

HERE = Path(__file__).parent


def word(value: int) -> bytes:
    """Return a word of return data."""
    return value.to_bytes(32)


@st.composite
def random_pools(draw: st.DrawFn) -> CappedSum:
    """Draw pools of any balance, whose limit is a hundredth to the hundredfold of it."""
    places = draw(decimals)
    reserves = draw(depths((places, places), 2.0))
    max_swap = int(reserves[0] * 10 ** draw(st.floats(-2.0, 2.0)))
    return CappedSum(ADDRESS, "test", TOKENS[:2], (places, places), draw(fees_ppm), reserves, max_swap)


class CappedSumContract(ContractPool):
    """A pool of two new tokens, with a random fee, random balances and a random limit."""

    def __init__(self, rng: Random) -> None:
        self.chain = Chain()
        self.tokens = sorted((self._token(), self._token()), key=lambda token: token.address)
        fee_ppm, max_swap = rng.choice((0, 500, 3_000)), int(10 ** rng.uniform(18, 25))
        addresses = [token.address for token in self.tokens]
        self.pool = self.chain.deploy(read_artifact(HERE / "contracts/CappedSum.json"), *addresses, fee_ppm, max_swap)
        for token in self.tokens:
            token.send("mint", self.pool.address, int(10 ** rng.uniform(20, 26)))
            token.send("mint", DEPLOYER, 10**30)

    def read(self) -> Pool:
        """Read it with the family's reader."""
        return read_pool(self.chain, "capped_sum", self.pool.address, (18, 18))

    def sell(self, token_in: str, token_out: str, amount_in: int) -> int | None:
        """Sell to it as its users do."""
        del token_out  # there are only two
        try:
            (paid,) = self.pool.send("swap", token_in == self.tokens[0].address, amount_in)
        except RevertedError:
            return None
        return int(paid)

    def _token(self) -> Contract:
        return self.chain.deploy(read_artifact(HERE / "contracts/PlainToken.json"), 18)


class TestCappedSum(FamilyTests):
    """What every family must keep."""

    vectors = HERE / "capped_sum.json"
    curve_tolerance = 2e-7  # the rate of `fixed_rate_curve` falls by a ten millionth

    def valid_pool(self) -> CappedSum:
        """Return a pool with a limit of a tenth of its balances."""
        return CappedSum(ADDRESS, "test", TOKENS[:2], (18, 18), 3_000, (10**24, 10**24), 10**23)

    def pools(self) -> st.SearchStrategy[Pool]:
        """Return random pools."""
        return random_pools()

    def contract(self, rng: Random) -> ContractPool:
        """Deploy a contract."""
        return CappedSumContract(rng)


REF = PoolRef(ADDRESS, "test", "capped_sum", "capped_sum", TOKENS[:2], (18, 18))
ANSWERS = {"feePpm()": word(3_000), "maxSwap()": word(10**23), "getReserves()": word(10**24) + word(10**24)}


def test_a_pool_is_read_from_recorded_answers() -> None:
    assert read_answers(load(REF), ANSWERS) == TestCappedSum().valid_pool()


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ({"feePpm()": word(10**6)}, "fee_ppm: expected a whole number from 0 to 999999"),
        ({"getReserves()": word(10**24)}, "getReserves()"),
        ({"maxSwap()": None}, "maxSwap(): the contract reverts"),
    ],
)
def test_answers_that_contradict_one_another_are_refused(answers: dict[str, bytes | None], problem: str) -> None:
    read = read_answers(load(REF), ANSWERS | answers)
    assert isinstance(read, SkippedItem)
    assert problem in read.reason


def test_an_input_above_the_limit_is_refused() -> None:
    pool = TestCappedSum().valid_pool()
    assert pool.swap(TOKENS[0], TOKENS[1], 10**23)[0] == 99_700 * 10**18
    with pytest.raises(InsufficientLiquidity, match="takes at most"):
        pool.swap(TOKENS[0], TOKENS[1], 10**23 + 1)


def test_tokens_of_different_decimals_are_refused() -> None:
    pool = TestCappedSum().valid_pool()
    with pytest.raises(InvalidPoolState, match="expected the same for both tokens") as raised:
        CappedSum.from_state(pool.identity._replace(decimals=(18, 6)), pool.state())
    assert raised.value.field == "decimals"
