"""Stable Solidly pools against Aerodrome's contract: the same quotes, reserves and refusals, to the unit."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.solidly.solidly_stable import SolidlyStable
from swapcli.testing.evm import Chain, RevertedError
from tests.contracts.evm import compile_solidity
from tests.examples import few_rows

FILLS_PER_PAIR = 30
SWAPS_PER_FILL = 12
FEES_PPM = (0, 100, 500, 3_000, 30_000)
DECIMALS = ((18, 18), (6, 6), (18, 6), (6, 18), (8, 18), (6, 8), (2, 18), (24, 18), (27, 6), (9, 9))
CASES = [(decimals, fee_ppm) for decimals in DECIMALS for fee_ppm in FEES_PPM]

_POOL = "sphere-mezo-solidity-files/domains/aerodrome/contracts/Pool.sol"


class RealStablePair:
    """The contract behind a factory that answers for its fee; reserves are set at will."""

    def __init__(self, decimals: tuple[int, int], fee_ppm: int) -> None:
        chain, kit = Chain(), compile_solidity("kit.sol")
        self.tokens = [chain.deploy(kit["Token"], places) for places in decimals]
        host, self.trader = chain.deploy(kit["PoolHost"]), chain.deploy(kit["Trader"])
        self.addresses = self.tokens[0].address, self.tokens[1].address
        artifact = compile_solidity(_POOL)["Pool"]
        (address,) = host.send("deploy", artifact.bytecode, *self.addresses, fee_ppm, 0)
        self.contract = chain.at(address, artifact)
        host.send("call", address, self.contract.calldata("initialize", *self.addresses, True))
        for token, places in zip(self.tokens, decimals, strict=True):
            token.send("mint", address, 10 ** (places + 6))
        self.contract.send("mint", self.trader.address)  # fees are booked per share: there must be one
        self.identity = PoolIdentity(address, "test", self.addresses, decimals, fee_ppm)

    def fill(self, reserves: tuple[int, int]) -> SolidlyStable:
        """Set the reserves."""
        self.trader.send("fill", self.contract.address, *self.addresses, *reserves)
        return SolidlyStable.from_state(self.identity, {"reserves": [str(reserve) for reserve in reserves]})

    def swap(self, i: int, amount_in: int) -> tuple[int, tuple[int, ...]]:
        """Quote, pay, take: (amount out, reserves afterwards). Raises `RevertedError`."""
        token_in = self.addresses[i]
        (amount_out,) = self.contract.call("getAmountOut", amount_in, token_in)
        outs = (amount_out, 0) if i else (0, amount_out)
        return amount_out, self.trader.send("swapPair", self.contract.address, token_in, amount_in, *outs)


@pytest.mark.parametrize(("decimals", "fee_ppm"), few_rows(CASES, 11))
def test_random_swaps_equal_the_contract_in_amounts_and_reserves(decimals: tuple[int, int], fee_ppm: int) -> None:
    rng = Random(f"{decimals} {fee_ppm}")
    real = RealStablePair(decimals, fee_ppm)
    for _ in range(FILLS_PER_PAIR):
        pool = real.fill(random_reserves(rng, decimals))
        for _ in range(SWAPS_PER_FILL):
            i = rng.randrange(2)
            pool = compare_one_swap(real, pool, i, random_amount(rng, pool.reserves[i]))


def test_the_cases_are_enough() -> None:
    assert len(CASES) * FILLS_PER_PAIR * SWAPS_PER_FILL >= 18_000


def compare_one_swap(real: RealStablePair, pool: SolidlyStable, i: int, amount_in: int) -> SolidlyStable:
    try:
        amount_out, after = pool.swap(pool.tokens[i], pool.tokens[1 - i], amount_in)
    except PoolError:
        with pytest.raises(RevertedError):
            real.swap(i, amount_in)
        return pool
    assert real.swap(i, amount_in) == (amount_out, after.reserves)
    return after


def random_reserves(rng: Random, decimals: tuple[int, int]) -> tuple[int, int]:
    """A thousandth of a token to a hundred billion, level, tilted or far off."""
    size = rng.uniform(-3, 11)
    x, y = (10 ** (places + size + rng.choice((0, rng.uniform(-0.5, 0.5), rng.uniform(-3, 3)))) for places in decimals)
    return max(1, int(x)), max(1, int(y))


def random_amount(rng: Random, reserve: int) -> int:
    """One unit to a hundred thousand times the reserve, mostly what a pool of that size can take."""
    if rng.random() < 0.05:
        return rng.randint(1, 1000)
    low, high = rng.choice(((-9, -4), (-4, -1), (-1, 0.5), (0.5, 5)))
    return max(1, int(reserve * 10 ** rng.uniform(low, high)))
