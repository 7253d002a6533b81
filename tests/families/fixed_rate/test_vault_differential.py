"""Deposits and redemptions against OpenZeppelin's ERC-4626 contract, read as from a node, to the unit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import ProtocolInfo
from swapcli.families.fixed_rate import vault_reader as vault
from swapcli.families.fixed_rate.vault import ShareVault
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.testing.evm import DEPLOYER, Chain, Contract, RevertedError
from tests.contracts.evm import compile_solidity
from tests.examples import fuzzed_seeds

SWAPS_PER_VAULT = 30


class Vaults:
    """A chain with vaults, and a reader of it."""

    def __init__(self) -> None:
        self.chain = Chain()
        self.token, self.shares = compile_solidity("kit.sol")["Token"], compile_solidity("vaults.sol")["Shares"]

    def open(self, decimals: int, amount: int) -> tuple[Contract, Contract]:
        """Return a new asset, and a vault with `amount` of it; the deployer has more."""
        asset = self.chain.deploy(self.token, decimals)
        shares = self.chain.deploy(self.shares, asset.address)
        asset.send("mint", DEPLOYER, 10**40)
        asset.send("approve", shares.address, 2**256 - 1)
        shares.send("deposit", amount, DEPLOYER)
        return asset, shares

    def send(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        return [self._answer(call) for call in calls]

    def _answer(self, call: ContractCall) -> ReturnData:
        try:
            return self.chain.call(call.to, call.calldata)
        except RevertedError:
            return None


@cache
def vaults() -> Vaults:
    return Vaults()


def read(share: str, decimals: int) -> ShareVault | SkippedItem:
    factory = Factory(share, ContractKind.VAULT, (ProtocolInfo(1, "test", "Test", "vault"),))
    (ref,) = run_batched([(share, vault.read_constants(factory, share))], vaults().send)
    assert isinstance(ref, PoolRef)
    (pool,) = run_batched([(share, vault.load(ref._replace(decimals=(decimals, decimals))))], vaults().send)
    assert isinstance(pool, ShareVault | SkippedItem)
    return pool


@pytest.mark.parametrize("seed", fuzzed_seeds(4, full=340))
def test_random_conversions_are_the_contracts(seed: int) -> None:
    rng = Random(seed)
    decimals = rng.choice([6, 8, 18])
    asset, shares = vaults().open(decimals, int(10 ** (decimals + rng.uniform(1, 9))))
    done = 0
    for _ in range(SWAPS_PER_VAULT):
        (total,) = shares.call("totalAssets")
        if rng.random() < 0.5:
            asset.send("mint", shares.address, int(total * 10 ** rng.uniform(-9, -1)) + 1)
        pool = read(shares.address, decimals)
        if isinstance(pool, SkippedItem):
            continue
        forward, amount = rng.random() < 0.6, max(1, int(total * 10 ** rng.uniform(-9, -0.5)))
        tokens = pool.tokens if forward else pool.tokens[::-1]
        try:
            amount_out, _ = pool.swap(tokens[0], tokens[1], amount)
        except PoolError:
            continue
        if forward:
            (received,) = shares.send("deposit", amount, DEPLOYER)
        else:
            if amount > shares.call("balanceOf", DEPLOYER)[0]:
                continue
            (received,) = shares.send("redeem", amount, DEPLOYER, DEPLOYER)
        assert received == amount_out
        done += 1
    assert done > SWAPS_PER_VAULT // 2
