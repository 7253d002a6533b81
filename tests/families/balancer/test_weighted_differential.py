"""Weighted pools against Balancer's Vault and pool contracts of all published factories, to the unit.

Seeds are fixed. Weights, which a contract is born with, come from a fresh pool each time.
"""

from __future__ import annotations

from random import Random

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import PoolError
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.balancer.weighted import Weighted
from swapcli.testing.evm import DEPLOYER, Chain, Contract, ContractArtifact, RevertedError, parse_bytecode
from tests.contracts.evm import compile_solidity, load_artifact, load_json
from tests.examples import fuzzed_seeds

POOLS_PER_CASE = 25
SWAPS_PER_POOL = 20
FACTORIES = ("v1 pair", "v1", "v2", "v3")
SEEDS = 8

_TASKS = "@balancer-labs/v2-deployments/dist/tasks"
_FOREVER = 2**60
_PERCENT = WAD // 100


class Balancer:
    """The Vault, and pools of every factory on it."""

    def __init__(self) -> None:
        self.chain = Chain()
        token = compile_solidity("kit.sol")["Token"]
        self.vault = self.chain.deploy(
            load_artifact(f"{_TASKS}/20210418-vault/artifact/Vault.json"), "0x" + "a1" * 20, "0x" + "ee" * 20, 0, 0
        )
        self.fees = self.chain.deploy(
            load_artifact(
                f"{_TASKS}/20220725-protocol-fee-percentages-provider/artifact/ProtocolFeePercentagesProvider.json"
            ),
            self.vault.address,
            WAD,
            WAD,
        )
        self.tokens = {places: [self.chain.deploy(token, places) for _ in range(8)] for places in (0, 2, 6, 8, 18)}
        for tokens in self.tokens.values():
            for each in tokens:
                each.send("setBalance", DEPLOYER, 2**255)

    def choose_tokens(self, decimals: list[int]) -> list[tuple[str, int]]:
        """(address, decimals) of different tokens with these decimals, in address order as the Vault wants them."""
        left = {places: iter(tokens) for places, tokens in self.tokens.items()}
        return sorted(((next(left[places]).address, places) for places in decimals), key=lambda t: int(t[0], 16))

    def deploy(self, factory: str, tokens: list[str], weights: list[int], fee: int) -> Contract:
        """A pool as that factory deploys it; `fee` is a 10^18 fraction."""
        no_owner, vault = ZERO_ADDRESS, self.vault.address
        if factory == "v1 pair":
            pair = (vault, "", "", *tokens, *weights, fee, 0, 0, False, no_owner)
            return self.chain.deploy(_published("deprecated/20210418-weighted-pool", "WeightedPool2Tokens"), pair)
        if factory == "v1":
            artifact = _published("deprecated/20210418-weighted-pool", "WeightedPool")
            return self.chain.deploy(artifact, vault, "", "", tokens, weights, fee, 0, 0, no_owner)
        no_providers = [no_owner] * len(tokens)
        parameters = ("", "", tokens, weights, no_providers, no_providers, fee)
        if factory == "v2":
            artifact = _published("20220908-weighted-pool-v2", "WeightedPool")
            return self.chain.deploy(artifact, parameters, vault, self.fees.address, 0, 0, no_owner)
        artifact = load_artifact(f"{_TASKS}/20230206-weighted-pool-v3/artifact/WeightedPool.json")
        return self.chain.deploy(artifact, parameters, vault, self.fees.address, 0, 0, no_owner, "")


class RealWeighted:
    """One pool with its first liquidity."""

    def __init__(self, balancer: Balancer, factory: str, pool: Weighted) -> None:
        self.vault = balancer.vault
        tokens, reserves = list(pool.tokens), list(pool.reserves)
        contract = balancer.deploy(factory, tokens, list(pool.weights), pool.swap_fee)
        (self.pool_id,) = contract.call("getPoolId")
        first = encode(["uint256", "uint256[]"], [0, reserves])
        self.vault.send("joinPool", self.pool_id, DEPLOYER, DEPLOYER, (tokens, reserves, first, False))

    def swap(self, token_in: str, token_out: str, amount_in: int) -> int:
        """Amount out. Raises `RevertedError`."""
        one_swap = (self.pool_id, 0, token_in, token_out, amount_in, b"")
        funds = (DEPLOYER, False, DEPLOYER, False)
        (amount_out,) = self.vault.send("swap", one_swap, funds, 0, _FOREVER)
        return int(amount_out)

    def reserves(self) -> tuple[int, ...]:
        """Balances in the Vault."""
        return tuple(self.vault.call("getPoolTokens", self.pool_id)[1])


@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=SEEDS))
@pytest.mark.parametrize("factory", FACTORIES)
def test_random_swaps_equal_the_contract_in_amounts_and_balances(factory: str, seed: int) -> None:
    rng = Random(f"{factory} {seed}")
    balancer = Balancer()
    for _ in range(POOLS_PER_CASE):
        pool = random_pool(rng, balancer, factory)
        real = RealWeighted(balancer, factory, pool)
        for _ in range(SWAPS_PER_POOL):
            pool = compare_one_swap(rng, balancer, real, pool)
        assert real.reserves() == pool.reserves


def test_the_cases_are_enough() -> None:
    assert len(FACTORIES) * SEEDS * POOLS_PER_CASE * SWAPS_PER_POOL >= 16_000


@pytest.mark.parametrize("factory", FACTORIES)
def test_the_curve_and_the_vault_have_the_same_maximum_input(factory: str) -> None:
    rng = Random(factory)
    balancer = Balancer()
    for _ in range(20):
        pool = random_pool(rng, balancer, factory)
        real = RealWeighted(balancer, factory, pool)
        token_in, token_out = pool.tokens[:2]
        most = int(pool.curve(token_in, token_out).capacity)
        with balancer.chain.revert_after():
            assert most == 0 or real.swap(token_in, token_out, most) >= 0
        beyond = most + (most >> 50) + 4  # the rounding of a float and of the fee
        with pytest.raises(RevertedError, match="BAL#304"):
            real.swap(token_in, token_out, beyond)


def compare_one_swap(rng: Random, balancer: Balancer, real: RealWeighted, pool: Weighted) -> Weighted:
    token_in, token_out = rng.sample(pool.tokens, 2)
    amount_in = random_amount(rng, pool.reserves[pool.tokens.index(token_in)])
    try:
        amount_out, after = pool.swap(token_in, token_out, amount_in)
    except PoolError:
        with balancer.chain.revert_after():
            assert is_refused_or_zero(real, token_in, token_out, amount_in)
        return pool
    assert real.swap(token_in, token_out, amount_in) == amount_out
    return after


def is_refused_or_zero(real: RealWeighted, token_in: str, token_out: str, amount_in: int) -> bool:
    try:
        return real.swap(token_in, token_out, amount_in) == 0
    except RevertedError:
        return True


def random_pool(rng: Random, balancer: Balancer, factory: str) -> Weighted:
    n = 2 if factory == "v1 pair" else rng.randint(2, 8)
    tokens = balancer.choose_tokens([rng.choice((0, 2, 6, 8, 18, 18, 18)) for _ in range(n)])
    size = rng.uniform(0, 9)
    reserves = [str(max(1, int(10 ** (places + size + rng.uniform(-2, 2))))) for _, places in tokens]
    fee_ppm = rng.choice((1, 100, 1000, 3000, 10_000, 100_000, rng.randint(1, 100_000)))
    addresses, decimals = tuple(address for address, _ in tokens), tuple(places for _, places in tokens)
    identity = PoolIdentity("0x" + "b0" * 20, "test", addresses, decimals, fee_ppm)
    state: dict[str, object] = {
        "reserves": reserves,
        "weights": random_weights(rng, n),
        "version": 1 if factory.startswith("v1") else 3,
    }
    if fee_ppm < 100_000 and rng.random() < 0.5:  # the contracts allow up to a tenth
        state["swap_fee"] = str(fee_ppm * 10**12 + rng.randrange(10**12))
    return Weighted.from_state(identity, state)


def random_weights(rng: Random, n: int) -> list[str]:
    """Return round percentages, which give exponents 1, 2 and 4, or random weights."""
    round_ones = {2: ((50, 50), (80, 20), (20, 80), (99, 1), (1, 99)), 3: ((20, 40, 40), (25, 50, 25))}
    if rng.random() < 0.5:
        parts = rng.choice(round_ones.get(n, ((100 // n,) * n,)))
        weights = [part * _PERCENT for part in parts]
    else:
        raw = [rng.random() ** 2 + 1e-4 for _ in range(n)]
        weights = [_PERCENT + int(part / sum(raw) * (1 - 0.01 * n) * WAD) for part in raw]
    heaviest = weights.index(max(weights))
    weights[heaviest] += WAD - sum(weights)
    return [str(weight) for weight in weights]


def random_amount(rng: Random, reserve: int) -> int:
    """Return an input from one unit to slightly above the Vault's limit of 30% of the balance."""
    if rng.random() < 0.05:
        return rng.randint(1, 1000)
    part = 10 ** rng.uniform(-12, -0.6) if rng.random() < 0.8 else rng.uniform(0.1, 0.35)
    return max(1, int(reserve * part))


def _published(task: str, name: str) -> ContractArtifact:
    """Return the artifact of a contract whose ABI and bytecode are in two files."""
    abi = load_json(f"{_TASKS}/{task}/abi/{name}.json")
    return ContractArtifact(tuple(abi), parse_bytecode(load_json(f"{_TASKS}/{task}/bytecode/{name}.json")))
