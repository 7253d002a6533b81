"""Pools that do not follow the maths of their family are skipped with the reason."""

from __future__ import annotations

import pytest
from eth_abi.abi import encode

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.pool import Pool
from swapcli.families.balancer.rows import BalancerV2Constants
from swapcli.families.curve.stableswap import StableSwap
from swapcli.families.reading.call_encoding import SELECTORS
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.row import FactoryConstants, PoolConstants
from swapcli.families.tick_math import sqrt_ratio_at_tick
from swapcli.families.uniswap.rows import V4Constants
from swapcli.testing.evm import Chain, Contract
from tests.chain.node.evm_node import sources, view_of
from tests.families.real_pools import ContractFixture, UniswapV4
from tests.support.outside_ids import v4_id

COINS = ("0x" + "11" * 20, "0x" + "22" * 20)

WAD = 10**18


def load(chain: Chain, place: PoolRef) -> Pool | SkippedItem:
    (found,) = load_pools(view_of(chain), [place])
    return found


@pytest.fixture
def curve() -> Contract:
    """Deploy a contract that answers as a StableSwap-NG pool with coins of 6 and 18 decimals, 1,000 base units each."""
    pool = Chain().deploy(sources()["OddToken"])
    say(pool, "A()", 200)
    say(pool, "A_precise()", 20_000)
    say(pool, "future_A()", 20_000)
    say(pool, "fee()", 4_000_000)
    say(pool, "offpeg_fee_multiplier()", 2 * 10**10)
    say_version(pool, "v7.0.0")
    say(pool, "balances(uint256)", 1_000)
    pool.send("say", "stored_rates()", encode(["uint256[]"], [[10**30, 11 * 10**17]]))
    return pool


def say(pool: Contract, signature: str, value: int) -> None:
    pool.send("say", signature, value.to_bytes(32))


def say_version(pool: Contract, version: str) -> None:
    pool.send("say", "version()", encode(["string"], [version]))


def read_curve(pool: Contract) -> Pool | SkippedItem:
    assert isinstance(pool.chain, Chain)
    return load(pool.chain, PoolRef(pool.address, "curve", "stableswap", "stableswap", COINS, (6, 18)))


def test_stableswap_ng_rates_and_fees_use_the_family_units(curve: Contract) -> None:
    assert read_curve(curve) == StableSwap(
        curve.address, "curve", COINS, (6, 18), 400, (1_000, 1_000), 200, (WAD, 11 * 10**17), 2 * 10**10
    )


PLAIN_VERSIONS = [("v5.0.0", "plain"), ("v5.0.0", "plain_ema"), ("v6.0.0", "plain_ema")]


@pytest.fixture
def plain() -> Contract:
    """Deploy a contract that answers as a plain pool of the factory before StableSwap-NG."""
    pool = Chain().deploy(sources()["OddToken"])
    for signature, value in (("A()", 200), ("A_precise()", 20_000), ("future_A()", 20_000), ("fee()", 4_000_000)):
        say(pool, signature, value)
    say(pool, "balances(uint256)", 1_000)
    say_version(pool, "v5.0.0")
    return pool


@pytest.mark.parametrize(("version", "variant"), PLAIN_VERSIONS)
def test_plain_pools_are_distinguished_by_their_answers(plain: Contract, version: str, variant: str) -> None:
    say_version(plain, version)
    if variant == "plain_ema":
        say(plain, "ma_exp_time()", 866)
    known = StableSwap(plain.address, "curve", COINS, (6, 18), 400, (1_000, 1_000), 200, (WAD, WAD), variant=variant)
    assert read_curve(plain) == known


@pytest.mark.parametrize(
    ("signature", "answer", "reason"),
    [
        ("version()", encode(["string"], ["v4.0.0"]), "version(): a pool of version v4.0.0 without ma_exp_time()"),
        ("version()", encode(["string"], ["v6.0.0"]), "version(): a pool of version v6.0.0 without ma_exp_time()"),
        ("version()", b"", "version(): a pool of version none without ma_exp_time() is not supported"),
        ("oracle(uint256)", bytes(32), "version(): a pool of version v5.0.0 with rates from oracles is not supported"),
        ("stored_rates()", encode(["uint256[2]"], [[10**30, WAD]]), "version(): a pool of version v5.0.0 with rates"),
        ("ma_exp_time()", bytes(32), "ma_exp_time(): is zero, so that swaps revert"),
        ("offpeg_fee_multiplier()", (2 * 10**10).to_bytes(32), "offpeg_fee_multiplier: the fee of"),
    ],
)
def test_unsupported_older_pools_are_skipped(plain: Contract, signature: str, answer: bytes, reason: str) -> None:
    plain.send("say", signature, answer)
    found = read_curve(plain)
    assert isinstance(found, SkippedItem)
    assert found.reason.startswith(reason)


def test_a_fee_finer_than_a_part_per_million_is_read_whole(curve: Contract) -> None:
    say(curve, "fee()", 4_000_001)
    pool = read_curve(curve)
    assert isinstance(pool, StableSwap)
    assert (pool.fee_ppm, pool.swap_fee, pool.contract_fee) == (400, 400_000_100_000_000, 4_000_001)
    assert pool.state()["swap_fee"] == "400000100000000"


def test_a_ramp_of_the_amplification_is_read_as_of_the_block(curve: Contract) -> None:
    say(curve, "A_precise()", 20_037)
    say(curve, "future_A()", 30_000)
    pool = read_curve(curve)
    assert isinstance(pool, StableSwap)
    assert (pool.amp, pool.amp_hundredths, pool.is_ramping, pool.changes_without_events) == (200, 37, True, True)


@pytest.mark.parametrize(
    ("signature", "value", "reason"),
    [
        ("fee()", 6 * 10**9, "fee_ppm: expected at most half of the output"),
        ("A()", 0, "A(): 0 does not fit A_precise(), 20000"),
        ("offpeg_fee_multiplier()", 2**63, "offpeg_fee_multiplier: raises the fee above half"),
        ("balances(uint256)", 2**130, "reserves[0]: expected an integer"),
    ],
)
def test_unsupported_stableswap_pools_are_skipped(curve: Contract, signature: str, value: int, reason: str) -> None:
    say(curve, signature, value)
    found = read_curve(curve)
    assert isinstance(found, SkippedItem)
    assert found.reason.startswith(reason)


@pytest.mark.parametrize("rates", [[10**30], [10**30, WAD, WAD], [10**30 + 1, WAD], [10**30, 0]])
def test_stableswap_pools_with_invalid_rates_are_skipped(curve: Contract, rates: list[int]) -> None:
    curve.send("say", "stored_rates()", encode(["uint256[]"], [rates]))
    found = read_curve(curve)
    assert isinstance(found, SkippedItem)
    assert "rate" in found.reason


def test_a_uniswap_v4_pool_whose_key_does_not_match_is_skipped() -> None:
    real = UniswapV4(ContractFixture(), 3_000, 60, sqrt_ratio_at_tick(0))
    key = V4Constants(real.pool_id, 60)
    place = PoolRef(
        real.manager.address, "v4", "concentrated", ContractKind.UNISWAP_V4, real.world.tokens, (18, 6), 3_000, key
    )
    chain = real.world.chain
    assert isinstance(load(chain, place), Pool)
    for wrong in (
        place._replace(fee_ppm=500),
        place._replace(constants=key._replace(hooks="0x" + "12" * 18 + "1040")),
        place._replace(constants=key._replace(tick_spacing=10)),
        place._replace(constants=key._replace(has_dynamic_fee=True, hooks="0x" + "12" * 18 + "1040")),
    ):
        assert load(chain, wrong) == SkippedItem(real.pool_id, "pool_id: not the hash of the pool's key")
    refused = load(chain, place._replace(constants=key._replace(hooks="0x" + "12" * 18 + "00c8")))
    assert isinstance(refused, SkippedItem)
    assert "permissions (beforeSwap (bit 7), beforeSwapReturnsDelta (bit 3)) that let it" in refused.reason
    unpriced = place._replace(fee_ppm=500, constants=key._replace(pool_id=v4_id(*real.world.tokens, 500, 60)))
    assert load(chain, unpriced) == SkippedItem(unpriced.pool_id, "fee_ppm: expected the 500 of its key, not 0")


@pytest.mark.parametrize("word", [0, 1, 2**255, 2**256 - 1, 2**160 - 1])
@pytest.mark.parametrize(
    "kind",
    [
        ContractKind.UNISWAP_V2,
        ContractKind.UNISWAP_V3,
        ContractKind.SOLIDLY,
        "stableswap",
        "balancer_v2",
    ],
)
def test_a_contract_returning_one_word_is_skipped_or_worthless(kind: str, word: int) -> None:
    pool = Chain().deploy(sources()["OddToken"])
    for signature in SELECTORS:
        pool.send("say", signature, word.to_bytes(32) * 4)
    families = {
        ContractKind.UNISWAP_V3: "concentrated",
        "stableswap": "stableswap",
        "balancer_v2": "weighted",
    }
    place = PoolRef(pool.address, "odd", families.get(kind, "constant_product"), kind, COINS, (6, 18), 3_000)
    assert isinstance(pool.chain, Chain)
    contract: PoolConstants = FactoryConstants(pool.address)
    if kind == "balancer_v2":
        contract = BalancerV2Constants(pool.address)
    found = load(pool.chain, place._replace(constants=contract))
    assert isinstance(found, SkippedItem) or set(getattr(found, "reserves", ())) <= {0, 1, 2**160 - 1}
