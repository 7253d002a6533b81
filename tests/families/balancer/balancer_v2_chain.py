"""Stable pools of Balancer V2 of several factories, with their real bytecode, on an in-process chain."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from eth_abi.abi import encode

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families import family
from swapcli.families.balancer.balancer_v2_stable import BalancerV2Stable
from swapcli.testing.evm import DEPLOYER, Chain, Contract, ContractArtifact, parse_bytecode, selector
from tests.contracts.evm import compile_solidity, load_artifact, load_json
from tests.families.balancer.test_weighted_differential import Balancer

CACHE_DURATION_S = 3_600
"""How long the pools cache a rate."""
START_TIME = 1_700_000_000
FACTORIES = ("stable", "metastable", "composable v1", "composable v2", "composable v3")

_TASKS = "@balancer-labs/v2-deployments/dist/tasks"
_FOREVER = 2**60
_AUTHORIZER = "0x" + "a1" * 20
"""Like `Balancer` deploys the vault."""
_RETURN_1 = bytes.fromhex("600160005260206000f3")
_YIELD_FEE_TYPE = 2
_PREMINTED = 2**111
_QUERY_PROCESSOR = "__$7d2aa5f7ef8d6b62e49cb3fca3aaf3d8f4$__"
"""The link of MetaStablePool's bytecode to its library."""


class StableParameters(NamedTuple):
    """What a pool is deployed with. `providers` are zero for tokens without a rate; `is_exempt` is of the yield fee."""

    tokens: list[str]
    decimals: list[int]
    providers: list[str]
    amp: int
    swap_fee: int
    is_exempt: Sequence[bool] = ()


class StableChain(Balancer):
    """The vault, tokens and the factories of stable pools."""

    def __init__(self) -> None:
        super().__init__()
        self.rate_provider = compile_solidity("rates.sol")["RateProvider"]
        self.libraries: dict[str, str] = {}
        self.set_time(START_TIME)

    def set_time(self, timestamp: int) -> None:
        assert isinstance(self.chain, Chain)
        self.now = timestamp
        self.chain.set_time(timestamp)

    def set_protocol_fees(self, swap_fee: int, yield_fee: int) -> None:
        """Set the protocol's parts, as 10^18 fractions, that later pools cache."""
        assert isinstance(self.chain, Chain)
        self.chain.set_code(_AUTHORIZER, _RETURN_1)
        (collector,) = self.vault.call("getProtocolFeesCollector")
        self.chain.send(collector, selector("setSwapFeePercentage(uint256)") + encode(["uint256"], [swap_fee]))
        self.fees.send("setFeeTypePercentage", _YIELD_FEE_TYPE, yield_fee)

    def provider(self, rate: int) -> Contract:
        return self.chain.deploy(self.rate_provider, rate)

    def deploy_stable(self, factory: str, given: StableParameters) -> Contract:
        """Return a pool as the factory deploys it."""
        tokens, providers, amp, fee = given.tokens, given.providers, given.amp, given.swap_fee
        durations = [CACHE_DURATION_S] * len(tokens)
        if factory == "stable":
            made = self._factory("20220609-stable-pool-v2", "StablePoolFactory", self.vault.address)
            (address,) = made.send("create", "", "", tokens, amp, fee, DEPLOYER)
            return self.chain.at(
                address,
                ContractArtifact(tuple(load_json(f"{_TASKS}/20220609-stable-pool-v2/abi/StablePool.json")), b""),
            )
        if factory == "metastable":
            parameters = (self.vault.address, "", "", tokens, providers, durations, amp, fee, 0, 0, False, DEPLOYER)
            return self.chain.deploy(self._metastable(), parameters)
        exempt = list(given.is_exempt) or [False] * len(tokens)
        version = json.dumps({"name": "ComposableStablePool", "version": int(factory[-1])})
        if factory == "composable v2":
            versions = "", version
            arguments = self.vault.address, self.fees.address, *versions
            made = self._factory("20221122-composable-stable-pool-v2", "ComposableStablePoolFactory", *arguments)
            (address,) = made.send("create", "", "", tokens, amp, providers, durations, exempt, fee, DEPLOYER)
            return self.chain.at(address, _composable_v3())
        first = (self.vault.address, self.fees.address, "", "", tokens, providers, durations, exempt, amp, fee, 0, 0)
        if factory == "composable v1":
            return self.chain.deploy(_composable_v1(), (*first, DEPLOYER))
        return self.chain.deploy(_composable_v3(), (*first, DEPLOYER, version))

    def _factory(self, task: str, name: str, *arguments: object) -> Contract:
        return self.chain.deploy(load_artifact(f"{_TASKS}/{task}/artifact/{name}.json"), *arguments)

    def _metastable(self) -> ContractArtifact:
        task = "deprecated/20210727-meta-stable-pool"
        library = self.libraries.get("QueryProcessor")
        if library is None:
            library = self.chain.deploy(load_artifact(f"{_TASKS}/{task}/artifact/QueryProcessor.json")).address
            self.libraries["QueryProcessor"] = library
        code = load_json(f"{_TASKS}/{task}/bytecode/MetaStablePool.json")["creationCode"]
        linked = code.replace(_QUERY_PROCESSOR, library[2:])
        return ContractArtifact(
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

    def set_rates(self, rates: Sequence[int]) -> None:
        """Set the rates of the tokens that have one."""
        for provider, rate in zip(self.given.providers, rates, strict=True):
            if int(provider, 16):
                self.chain.chain.at(provider, self.chain.rate_provider).send("setRate", rate)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens that the vault knows of, the pool's own one too."""
        return tuple(token.lower() for token in self.vault.call("getPoolTokens", self.pool_id)[0])

    def reserves(self) -> tuple[int, ...]:
        """Return the vault's balances."""
        return tuple(self.vault.call("getPoolTokens", self.pool_id)[1])

    def model(self, rates: Sequence[int]) -> BalancerV2Stable:
        """Return the pool with the vault's balances and these rates of the other tokens."""
        given, tokens = self.given, self.tokens
        rate_by_token = dict(zip(given.tokens, rates, strict=True)) | {self.address: WAD}
        decimals_by_token = dict(zip(given.tokens, given.decimals, strict=True)) | {self.address: 18}
        decimals = tuple(decimals_by_token[token] for token in tokens)
        identity = PoolIdentity(self.address, "test", tokens, decimals, given.swap_fee // 10**12)
        state: Mapping[str, Any] = {
            "reserves": list(self.reserves()),
            "rates": [rate_by_token[token] for token in tokens],
            "amp": self.contract.call("getAmplificationParameter")[0],
            "swap_fee": given.swap_fee,
            "is_metastable": self.factory == "metastable",
            "pool_id": f"0x{self.pool_id.hex()}",
        }
        if self.is_composable:
            state = {**state, **self._pool_token(rate_by_token)}
        name = "balancer_v2_composable" if self.is_composable else "balancer_v2_stable"
        pool = family(name).from_state(identity, state)
        assert isinstance(pool, BalancerV2Stable)
        return pool

    def _pool_token(self, rate_by_token: Mapping[str, int]) -> Mapping[str, Any]:
        given, pool = self.given, self.contract
        last_amp, last_invariant = pool.call("getLastJoinExitData")
        has_provider = [bool(int(provider, 16)) for provider in given.providers]
        old_rates = [
            pool.call("getTokenRateCache", token)[1] if has_rate else rate_by_token[token]
            for token, has_rate in zip(given.tokens, has_provider, strict=True)
        ]
        return {
            "version": int(self.factory[-1]),
            "total_supply": pool.call("totalSupply")[0],
            "last_amp": last_amp,
            "last_invariant": last_invariant,
            "old_rates": old_rates,
            "protocol_swap_fee": pool.call("getProtocolFeePercentageCache", 0)[0],
            "protocol_yield_fee": pool.call("getProtocolFeePercentageCache", _YIELD_FEE_TYPE)[0],
            "yield_fee_exempt": [int(pool.call("isTokenExemptFromYieldProtocolFee", each)[0]) for each in given.tokens],
        }


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
    # A token without a rate has no yield.
    is_exempt = [each and rng.random() < 0.4 for each in has_rate]
    amp = rng.choice((1, 10, 200, 2000, 5000))
    return StableParameters(tokens, decimals, providers, amp, fee, is_exempt), rates, balances


def _composable_v1() -> ContractArtifact:
    task, name = "20220906-composable-stable-pool", "ComposableStablePool"
    return ContractArtifact(_abi(task, name), parse_bytecode(load_json(f"{_TASKS}/{task}/bytecode/{name}.json")))


def _abi(task: str, name: str) -> tuple[Any, ...]:
    return tuple(load_json(f"{_TASKS}/{task}/abi/{name}.json"))


def _composable_v3() -> ContractArtifact:
    return load_artifact(f"{_TASKS}/20230206-composable-stable-pool-v3/artifact/ComposableStablePool.json")
