"""Stable pools of Balancer V2 of several factories, with their real bytecode, on an in-process chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from eth_abi.abi import encode

from swapcli.model.pool import PoolIdentity
from swapcli.model.units import WAD
from swapcli.pools import family
from swapcli.pools.balancer_v2_stable import BalancerV2Stable
from tests.contracts.evm import (
    DEPLOYER,
    ZERO_ADDRESS,
    Artifact,
    Chain,
    Contract,
    compile_solidity,
    load_artifact,
    load_json,
    parse_bytecode,
)
from tests.pools.test_weighted_differential import Balancer

CACHE_DURATION_S = 3_600
"""How long the pools cache a rate."""
FACTORIES = ("stable", "metastable", "composable v1", "composable v2", "composable v3")

_TASKS = "@balancer-labs/v2-deployments/dist/tasks"
_FOREVER = 2**60
_PREMINTED = 2**111
_QUERY_PROCESSOR = "__$7d2aa5f7ef8d6b62e49cb3fca3aaf3d8f4$__"
"""The link of MetaStablePool's bytecode to its library."""


class StableParameters(NamedTuple):
    """What a pool is deployed with. `providers` are zero for tokens without a rate."""

    tokens: list[str]
    decimals: list[int]
    providers: list[str]
    amp: int
    swap_fee: int


class StableChain(Balancer):
    """The vault, tokens and the factories of stable pools."""

    def __init__(self) -> None:
        super().__init__()
        self.rate_provider = compile_solidity("rates.sol")["RateProvider"]
        self.libraries: dict[str, str] = {}

    def set_time(self, timestamp: int) -> None:
        assert isinstance(self.chain, Chain)
        self.chain.set_time(timestamp)

    def provider(self, rate: int) -> Contract:
        return self.chain.deploy(self.rate_provider, rate)

    def deploy_stable(self, factory: str, given: StableParameters) -> Contract:
        """Return a pool as the factory deploys it."""
        tokens, providers, amp, fee = given.tokens, given.providers, given.amp, given.swap_fee
        durations = [CACHE_DURATION_S] * len(tokens)
        if factory == "stable":
            made = self._factory("20220609-stable-pool-v2", "StablePoolFactory", self.vault.address)
            (address,) = made.send("create", "", "", tokens, amp, fee, ZERO_ADDRESS)
            return self.chain.at(
                address, Artifact(tuple(load_json(f"{_TASKS}/20220609-stable-pool-v2/abi/StablePool.json")), b"")
            )
        if factory == "metastable":
            parameters = (self.vault.address, "", "", tokens, providers, durations, amp, fee, 0, 0, False, ZERO_ADDRESS)
            return self.chain.deploy(self._metastable(), parameters)
        exempt = [False] * len(tokens)
        if factory == "composable v2":
            versions = "", ""
            arguments = self.vault.address, self.fees.address, *versions
            made = self._factory("20221122-composable-stable-pool-v2", "ComposableStablePoolFactory", *arguments)
            (address,) = made.send("create", "", "", tokens, amp, providers, durations, exempt, fee, ZERO_ADDRESS)
            return self.chain.at(address, _composable_v3())
        first = (self.vault.address, self.fees.address, "", "", tokens, providers, durations, exempt, amp, fee, 0, 0)
        if factory == "composable v1":
            return self.chain.deploy(_composable_v1(), (*first, ZERO_ADDRESS))
        return self.chain.deploy(_composable_v3(), (*first, ZERO_ADDRESS, ""))

    def _factory(self, task: str, name: str, *arguments: object) -> Contract:
        return self.chain.deploy(load_artifact(f"{_TASKS}/{task}/artifact/{name}.json"), *arguments)

    def _metastable(self) -> Artifact:
        task = "deprecated/20210727-meta-stable-pool"
        library = self.libraries.get("QueryProcessor")
        if library is None:
            library = self.chain.deploy(load_artifact(f"{_TASKS}/{task}/artifact/QueryProcessor.json")).address
            self.libraries["QueryProcessor"] = library
        code = load_json(f"{_TASKS}/{task}/bytecode/MetaStablePool.json")["creationCode"]
        linked = code.replace(_QUERY_PROCESSOR, library[2:])
        return Artifact(
            _abi("deprecated/20210727-meta-stable-pool", "MetaStablePool"), bytes.fromhex(linked.removeprefix("0x"))
        )


class RealStable:
    """One pool with its first liquidity."""

    def __init__(self, chain: StableChain, factory: str, given: StableParameters, balances: Sequence[int]) -> None:
        self.chain, self.vault, self.given, self.factory = chain, chain.vault, given, factory
        self.is_composable = factory.startswith("composable")
        self.contract = chain.deploy_stable(factory, given)
        (self.pool_id,) = self.contract.call("getPoolId")
        tokens = list(self.vault.call("getPoolTokens", self.pool_id)[0])
        amounts = dict(zip(given.tokens, balances, strict=True))
        first = [amounts.get(token.lower(), _PREMINTED) for token in tokens]
        limits = [2**112 - 1 if token.lower() not in amounts else amounts[token.lower()] for token in tokens]
        data = encode(["uint256", "uint256[]"], [0, first])
        self.vault.send("joinPool", self.pool_id, DEPLOYER, DEPLOYER, (tokens, limits, data, False))

    @property
    def address(self) -> str:
        return self.contract.address

    def swap(self, token_in: str, token_out: str, amount_in: int) -> int:
        """Return the amount out. Raises `RevertedError`."""
        one_swap = (self.pool_id, 0, token_in, token_out, amount_in, b"")
        (amount_out,) = self.vault.send("swap", one_swap, (DEPLOYER, False, DEPLOYER, False), 0, _FOREVER)
        return int(amount_out)

    def reserves(self) -> tuple[int, ...]:
        """Return the vault's balances, without the pool's own token."""
        tokens, balances, _ = self.vault.call("getPoolTokens", self.pool_id)
        by_token = dict(zip((token.lower() for token in tokens), balances, strict=True))
        return tuple(by_token[token] for token in self.given.tokens)

    def model(self, rates: Sequence[int]) -> BalancerV2Stable:
        """Return the pool with the vault's balances and these rates."""
        given = self.given
        identity = PoolIdentity(
            self.address, "test", tuple(given.tokens), tuple(given.decimals), given.swap_fee // 10**12
        )
        state: Mapping[str, Any] = {
            "reserves": list(self.reserves()),
            "rates": list(rates),
            "amp": given.amp * 1000,
            "swap_fee": given.swap_fee,
            "is_metastable": self.factory == "metastable",
            "pool_id": f"0x{self.pool_id.hex()}",
        }
        name = "balancer_v2_composable" if self.is_composable else "balancer_v2_stable"
        pool = family(name).from_state(identity, state)
        assert isinstance(pool, BalancerV2Stable)
        return pool


def random_parameters(rng: Random, chain: StableChain, factory: str) -> tuple[StableParameters, list[int], list[int]]:
    """Return parameters, the tokens' rates and the first balances."""
    n = 2 if factory == "metastable" else rng.randint(2, 5)
    selected = chain.choose_tokens([rng.choice((6, 8, 18, 18)) for _ in range(n)])
    tokens, decimals = [address for address, _ in selected], [places for _, places in selected]
    has_rate = [factory != "stable" and rng.random() < 0.5 for _ in tokens]
    rates = [int(WAD * rng.uniform(0.5, 3)) if each else WAD for each in has_rate]
    providers = [
        chain.provider(rate).address if each else ZERO_ADDRESS for each, rate in zip(has_rate, rates, strict=True)
    ]
    fee = rng.choice((10**12, 10**14, 4 * 10**14, 10**17, rng.randint(10**12, 10**17)))
    size = rng.uniform(1, 9)
    balances = [
        max(10, int(10 ** (places + size) * WAD / rate * 10 ** rng.uniform(-1.2, 0.4)))
        for places, rate in zip(decimals, rates, strict=True)
    ]
    return StableParameters(tokens, decimals, providers, rng.choice((1, 10, 200, 2000, 5000)), fee), rates, balances


def _composable_v1() -> Artifact:
    task, name = "20220906-composable-stable-pool", "ComposableStablePool"
    return Artifact(_abi(task, name), parse_bytecode(load_json(f"{_TASKS}/{task}/bytecode/{name}.json")))


def _abi(task: str, name: str) -> tuple[Any, ...]:
    return tuple(load_json(f"{_TASKS}/{task}/abi/{name}.json"))


def _composable_v3() -> Artifact:
    return load_artifact(f"{_TASKS}/20230206-composable-stable-pool-v3/artifact/ComposableStablePool.json")
