"""E-CLPs, 2-CLPs, ReClAMMs and boosted pools of Balancer V3 are read as they were recorded, or left out.

The vault's bytecode cannot be had from a registry: here, eth_abi encodes the results of a vault with
recorded pools, with the types of the published interfaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from eth_abi.abi import encode

from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.networks.catalogue import find_network
from swapcli.families.balancer import balancer_v3_reader as balancer_v3
from swapcli.families.balancer.balancer_v3 import BalancerV3
from swapcli.families.balancer.balancer_v3_2clp import BalancerV3TwoClp
from swapcli.families.balancer.balancer_v3_boosted import BalancerV3Boosted
from swapcli.families.balancer.balancer_v3_eclp import BalancerV3Eclp
from swapcli.families.balancer.balancer_v3_reclamm import BalancerV3Reclamm
from swapcli.families.balancer.boosted_shares import with_vault
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.share_price import share_price_calls
from tests.families.balancer.balancer_v3_steps import Build, replay_steps
from tests.families.balancer.test_balancer_v3_boosted import build_boosted
from tests.families.balancer.test_balancer_v3_gyro import build_2clp, build_eclp, build_reclamm
from tests.families.recorded import read_vectors
from tests.support.outside_ids import topic_of

VAULT = "0xba1333333333a1ba1108e8412f11850a5c319ba9"
ZERO = "0x" + "00" * 20
_POOL_DATA = "(bytes32,address[],(uint8,address,bool)[],uint256[],uint256[],uint256[],uint256[])"
_POOL_CONFIG = "((bool,bool,bool,bool),uint256,uint256,uint256,uint40,uint32,bool,bool,bool,bool)"
_HOOKS_CONFIG = f"({'bool,' * 10}address)"
_ECLP = ("(int256,int256,int256,int256,int256)", "((int256,int256),(int256,int256),int256,int256,int256,int256,int256)")
_TWO_CLP = "(address[],uint256[],uint256,uint256)"
RECORDED: list[tuple[str, Build]] = [
    ("balancer_v3_gyro_eclp", build_eclp),
    ("balancer_v3_gyro_2clp", build_2clp),
    ("balancer_v3_reclamm", build_reclamm),
    ("balancer_v3_stable_boosted", build_boosted),
]
NAMES = {
    "balancer_v3_eclp": "GyroECLPPool",
    "balancer_v3_2clp": "Gyro2CLPPool",
    "balancer_v3_reclamm": "ReClammPool",
    "balancer_v3_boosted": "StablePool",
}
"""What `version()` of a pool names itself, by family."""


class RecordedVault:
    """A vault with one pool: it answers the calls of a round; a call of anything else reverts."""

    def __init__(self, pool: Pool) -> None:
        assert isinstance(pool, BalancerV3 | BalancerV3Boosted)
        self.pool = pool
        self.at_vault = pool.share_pool if isinstance(pool, BalancerV3Boosted) else pool
        self.results: dict[tuple[str, bytes], bytes] = {}
        self.rounds = 0
        self.is_paused = self.is_in_recovery_mode = False
        self.hook_flags = [False] * 10
        self.set(VAULT, "getPoolTokens(address)", pool.address, types=["address[]"], values=[self.at_vault.tokens])
        self.set(VAULT, "getMinimumTradeAmount()", types=["uint256"], values=[self.at_vault.min_trade_amount])
        self.set(VAULT, "isVaultPaused()", types=["bool"], values=[False])
        self.set(VAULT, "areBuffersPaused()", types=["bool"], values=[False])
        self.set(VAULT, "getMinimumWrapAmount()", types=["uint256"], values=[10_000])
        version = f'{{"name":"{NAMES[pool.family]}","version":3,"deployment":"recorded"}}'
        self.set(pool.address, "version()", types=["string"], values=[version])
        self.set_state()
        self.set_family()

    def set(
        self, to: str, function: str, *arguments: int | str, types: Sequence[str], values: Sequence[object]
    ) -> None:
        """Set the result of a call."""
        self.results[to, encode_call(function, *arguments)] = encode(types, values)

    def set_state(self) -> None:
        """Set what the vault knows of the pool."""
        pool = self.at_vault
        factors = [10 ** (18 - places) for places in pool.decimals]
        infos = [(0, ZERO, False)] * len(pool.tokens)
        data = (bytes(32), pool.tokens, infos, pool.reserves, pool.scaled_balances(), pool.rates, factors)
        flags = (True, True, self.is_paused, self.is_in_recovery_mode)
        config = ((False,) * 4, pool.swap_fee, pool.aggregate_swap_fee, 0, 0, 0, *flags)
        hooks = (*self.hook_flags, "0x" + "11" * 20 if any(self.hook_flags) else ZERO)
        self.set(VAULT, "getPoolData(address)", pool.address, types=[_POOL_DATA], values=[data])
        self.set(VAULT, "getPoolConfig(address)", pool.address, types=[_POOL_CONFIG], values=[config])
        self.set(VAULT, "getHooksConfig(address)", pool.address, types=[_HOOKS_CONFIG], values=[hooks])

    def set_family(self) -> None:
        """Set what the pool itself knows, and the shares of a boosted pool."""
        pool, address = self.pool, self.pool.address
        if isinstance(pool, BalancerV3Eclp):
            p = pool.parameters
            numbers = (p.alpha, p.beta, p.c, p.s, p.lambda_)
            derived = (p.tau_alpha, p.tau_beta, p.u, p.v, p.w, p.z, p.d_sq)
            self.set(address, "getECLPParams()", types=_ECLP, values=[numbers, derived])
        elif isinstance(pool, BalancerV3TwoClp):
            data = (pool.tokens, (1, 1), pool.sqrt_alpha, pool.sqrt_beta)
            self.set(address, "getGyro2CLPPoolImmutableData()", types=[_TWO_CLP], values=[data])
        elif isinstance(pool, BalancerV3Reclamm):
            values = [*pool.virtual_balances, True]
            self.set(address, "computeCurrentVirtualBalances()", types=["uint256", "uint256", "bool"], values=values)
        elif isinstance(pool, BalancerV3Boosted):
            amp = [pool.share_pool.amp, False, 1000]
            self.set(address, "getAmplificationParameter()", types=["uint256", "bool", "uint256"], values=amp)
            for k in range(len(pool.tokens)):
                self.set_share(pool, k)

    def set_share(self, pool: BalancerV3Boosted, k: int) -> None:
        """Set what the vault knows of the k-th token, and the token itself, if it is a share."""
        share, price = pool.share_pool.tokens[k], pool.share_prices[k]
        asset = pool.tokens[k] if price else ZERO
        self.set(VAULT, "getERC4626BufferAsset(address)", share, types=["address"], values=[asset])
        if price is None:
            return
        self.set(share, "decimals()", types=["uint8"], values=[pool.share_pool.decimals[k]])
        for call in share_price_calls(share):
            amount, is_deposit = int.from_bytes(call.calldata[4:]), call.calldata[:4].hex() == "ef8b30f7"
            value = amount * price.shares // price.assets if is_deposit else amount * price.assets // price.shares
            self.results[call.to, call.calldata] = encode(["uint256"], [value])
        # Most shares count one more asset than they have.
        self.set(share, "totalAssets()", types=["uint256"], values=[price.assets - 1])

    def read(self, read: BatchRead[Any]) -> Any:
        """Return what a reader reads, or why it was left out."""
        (result,) = run_batched([(self.pool.address, read)], self._call)
        return result

    def load(self, **changes: Any) -> Pool | SkippedItem:
        """Read the pool by its reference, with `changes`."""
        ref = PoolRef(
            self.pool.address,
            self.pool.protocol,
            self.pool.family,
            "balancer_v3",
            self.pool.tokens,
            self.pool.decimals,
        )
        known = with_vault(balancer_v3.complete_ref(ref, self.pool), VAULT)._replace(**changes)
        result: Pool | SkippedItem = self.read(balancer_v3.load(known))
        return result

    def register(self) -> PoolRef | SkippedItem:
        """Read the pool's registration on the network that has protocols for it."""
        network = find_network("hyperevm")
        protocols = tuple(
            protocol for protocol in network.protocols if (protocol.family or "").startswith("balancer_v3")
        )
        factory = Factory(VAULT, "balancer_v3", protocols)
        topic = topic_of(KINDS["balancer_v3"].created[0])
        log = Log(VAULT, (topic, f"0x{self.pool.address[2:]:0>64}", f"0x{0:064x}"), b"", 1, 0)
        result: PoolRef | SkippedItem = self.read(balancer_v3.read_created(factory, log, None))
        return result

    def _call(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        self.rounds += 1
        return [self.results.get((call.to, call.calldata)) for call in calls]


def recorded_pools(name: str, build: Build) -> list[Pool]:
    """Return the first state of each recorded pool."""
    pools = read_vectors(name)["pools"]
    return [next(iter(replay_steps({**pool, "steps": [NOTHING]}, build))).pool_after for pool in pools]


NOTHING = {"i": 0, "j": 1, "amount_in": "0", "revert": "AmountGivenZero", "timestamp": 1_800_000_000}


@pytest.mark.parametrize(("name", "build"), RECORDED)
def test_recorded_pools_are_read_in_one_round(name: str, build: Build) -> None:
    for pool in recorded_pools(name, build):
        vault = RecordedVault(pool)
        assert vault.load() == pool
        assert vault.rounds == 1


@pytest.mark.parametrize(("name", "build"), RECORDED)
def test_a_registered_pool_is_found_and_read(name: str, build: Build) -> None:
    pool = recorded_pools(name, build)[0]
    vault = RecordedVault(pool)
    ref = vault.register()
    if pool.family == "balancer_v3_2clp":
        assert ref == SkippedItem(pool.address, f"{pool.address}: the catalogue has no protocol for it")
        return
    assert isinstance(ref, PoolRef)
    assert (ref.family, ref.tokens) == (pool.family, pool.tokens)
    assert vault.read(balancer_v3.load(ref._replace(decimals=pool.decimals))) == with_protocol(pool, ref.protocol)


def test_a_known_pool_keeps_its_shares() -> None:
    base = find_network("base")
    for pool in recorded_pools("balancer_v3_stable_boosted", build_boosted):
        known = with_protocol(pool, "balancerV3StableBoosted")
        ref = ref_of_pool(known, base)
        assert ref is not None
        assert RecordedVault(pool).read(balancer_v3.load(with_vault(ref, VAULT))) == known


def test_a_stable_pool_without_buffers_is_no_boosted_one() -> None:
    pool = recorded_pools("balancer_v3_stable_boosted", build_boosted)[0]
    vault = RecordedVault(pool)
    for share in vault.at_vault.tokens:
        vault.set(VAULT, "getERC4626BufferAsset(address)", share, types=["address"], values=[ZERO])
    ref = vault.register()
    assert isinstance(ref, PoolRef)
    assert (ref.family, ref.tokens) == ("balancer_v3_stable", vault.at_vault.tokens)


@pytest.mark.parametrize(("name", "build"), RECORDED)
def test_a_pool_that_cannot_swap_is_left_out(name: str, build: Build) -> None:
    pool = recorded_pools(name, build)[0]
    for attribute, reason in (("is_paused", "is paused"), ("is_in_recovery_mode", "in recovery mode")):
        vault = RecordedVault(pool)
        setattr(vault, attribute, True)
        vault.set_state()
        assert_left_out(vault, reason)
    vault = RecordedVault(pool)
    vault.hook_flags[4] = True
    vault.set_state()
    assert_left_out(vault, "which is not supported")


def test_a_boosted_pool_with_another_share_is_left_out() -> None:
    pool = recorded_pools("balancer_v3_stable_boosted", build_boosted)[0]
    assert isinstance(pool, BalancerV3Boosted)
    share = pool.share_pool.tokens[0]

    vault = RecordedVault(pool)
    vault.set(VAULT, "areBuffersPaused()", types=["bool"], values=[True])
    assert_left_out(vault, "the vault's buffers are paused")

    vault = RecordedVault(pool)
    vault.set(VAULT, "getERC4626BufferAsset(address)", share, types=["address"], values=[pool.tokens[1]])
    assert_left_out(vault, "is not a wrapper of")

    for call in share_price_calls(share)[1:]:
        vault = RecordedVault(pool)
        value = int.from_bytes(vault.results[call.to, call.calldata])
        vault.results[call.to, call.calldata] = (value - 1).to_bytes(32)
        assert_left_out(vault, "no constant price")


def with_protocol(pool: Pool, protocol: str) -> Pool:
    identity = PoolIdentity(pool.address, protocol, pool.tokens, pool.decimals, pool.fee_ppm)
    return type(pool).from_state(identity, pool.state())


def assert_left_out(vault: RecordedVault, reason: str) -> None:
    skipped = vault.load()
    assert isinstance(skipped, SkippedItem)
    assert reason in skipped.reason
