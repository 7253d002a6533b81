"""`extra_data` by family: the values that the contracts derive the pool from."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from eth_abi.abi import decode
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.core.model.router_variant import ExtraDataForm
from swapcli.core.networks.pool_addresses import deployment_of
from swapcli.families.balancer.balancer_v3_boosted import BalancerV3Boosted
from swapcli.families.balancer.weighted import Weighted
from swapcli.families.curve.cryptoswap import CryptoSwap
from swapcli.families.curve.stableswap import StableSwap
from swapcli.families.row import PoolUse
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.payload.evm.extra_data import encode_extra_data
from tests.families.curve.test_curve_meta import recorded_steps
from tests.families.random_pools import (
    balancer_v3_boosted_pools,
    crypto_pools,
    solidly_stable_pools,
    stableswap_pools,
)
from tests.interface.build import AERO, NATIVE, USDC, WRAPPED, concentrated
from tests.payload.evm.router_model import embedded
from tests.support.outside_ids import keccak256, possible_pools

POOL, OTHER = "0x" + "ab" * 20, "0x" + "cd" * 20
BY_FEE = ProtocolInfo(5, "v3", "V3", family="concentrated", extra_keys=("fee",))
BY_SPACING = ProtocolInfo(3, "cl", "CL", family="concentrated", extra_keys=("tickSpacing",))
BY_TOKENS = ProtocolInfo(50, "algebra", "Algebra", family="concentrated")
UNKNOWN_FAMILY = ProtocolInfo(7, "unheardOf", "Unheard Of")


def extra(pool: Pool, protocol: ProtocolInfo | None = None) -> bytes:
    return encode_extra_data(PoolUse(pool, pool.tokens[0], pool.tokens[1], protocol))


def v3(fee_ppm: int, tick_spacing: int = 10) -> Pool:
    pool = concentrated(POOL, "v3", (WRAPPED, USDC), 0)
    assert isinstance(pool, Concentrated)
    return replace(pool, fee_ppm=fee_ppm, tick_list=pool.tick_list._replace(tick_spacing=tick_spacing))


@pytest.mark.parametrize("name", ["base", "hyperevm", "monad", "citrea"])
def test_the_key_leads_to_the_real_pool_by_create2(name: str) -> None:
    market = embedded(name)
    derived = Counter[str]()
    for pool in market.pools.values():
        if pool.family != "concentrated" or pool.key != pool.address:
            continue
        key = int.from_bytes(extra(pool, market.network.protocol(pool.protocol)))
        token_a, token_b = pool.tokens
        if derived_from := possible_pools(deployment_of(market.network, pool.protocol), token_a, token_b, key):
            assert pool.address in derived_from
            derived[pool.protocol] += 1
    assert derived.total() >= 20


@pytest.mark.parametrize(("name", "natives"), [("base", 7), ("monad", 5)])
def test_the_hash_of_a_pool_key_is_the_real_pools_id(name: str, natives: int) -> None:
    market = embedded(name)
    keyed = [pool for pool in market.pools.values() if pool.key != pool.address]
    assert sum(pool.api_extra_data()["token0"] == NATIVE.address for pool in keyed) == natives
    for pool in keyed:
        assert "0x" + keccak256(extra(pool, market.network.protocol(pool.protocol))).hex() == pool.key


@pytest.mark.parametrize(
    ("protocol", "address"),
    [
        ("aerodromeV3", "0xb2cc224c1c9fee385f8ad6a55b4d94e92359dc59"),
        ("pancakeSwapV3", "0x72ab388e2e2f6facef59e3c3fa2c4e29011c2d38"),
    ],
)
def test_the_published_samples_carry_0x0064(protocol: str, address: str) -> None:
    base = embedded("base")
    assert base.pools[address].protocol == protocol
    assert extra(base.pools[address], base.network.protocol(protocol)) == b"\x00\x64"


@pytest.mark.parametrize(
    ("fee_ppm", "expected"),
    [(0, "0000"), (100, "0064"), (2_500, "09c4"), (3_000, "0bb8"), (65_535, "ffff"), (65_536, "010000")],
)
def test_a_fee_takes_the_shortest_of_two_or_three_bytes(fee_ppm: int, expected: str) -> None:
    assert extra(v3(fee_ppm), BY_FEE).hex() == expected


@given(st.integers(0, 999_999))
def test_any_fee_can_be_read_back(fee_ppm: int) -> None:
    encoded = extra(v3(fee_ppm), BY_FEE)
    assert len(encoded) == 2 + (fee_ppm > 0xFFFF)
    assert int.from_bytes(encoded) == fee_ppm


@given(st.integers(1, 32_767))
def test_a_tick_spacing_takes_two_bytes(tick_spacing: int) -> None:
    encoded = extra(v3(3_000, tick_spacing), BY_SPACING)
    assert len(encoded) == 2
    assert int.from_bytes(encoded, signed=True) == tick_spacing


@pytest.mark.parametrize(
    ("pool", "protocol", "field"),
    [(v3(2**24), BY_FEE, "fee"), (v3(-1), BY_FEE, "fee"), (v3(100, 32_768), BY_SPACING, "tickSpacing")],
)
def test_a_key_that_does_not_fit_is_refused_by_name(pool: Pool, protocol: ProtocolInfo, field: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}: "):
        extra(pool, protocol)


def test_an_algebra_pool_has_no_extra_data() -> None:
    assert extra(v3(3_000), BY_TOKENS) == b""


@pytest.mark.parametrize("protocol", [UNKNOWN_FAMILY, None])
def test_unknown_concentrated_protocols_are_uniswap_v3_forks(
    protocol: ProtocolInfo | None,
) -> None:
    assert extra(v3(3_000), protocol) == b"\x0b\xb8"


@pytest.mark.parametrize("native", [True, False])
def test_a_pool_key_encodes_the_native_currency_as_zero(native: bool) -> None:
    pair = (WRAPPED, USDC) if native else (USDC, AERO)
    pool = concentrated(POOL, "uniswapV4", pair, 3_000, pool_id="0x" + "5" * 64, native=native)
    key = decode(["address", "address", "uint24", "int24", "address"], extra(pool, BY_FEE))
    currency0 = NATIVE.address if native else pool.tokens[0]
    assert key == (currency0, pool.tokens[1], 3_000, 10, NATIVE.address)


@pytest.mark.parametrize("fee_ppm", [2_500, 3_000, 80_000])
def test_a_uniswap_v2_pair_encodes_its_fee_and_solidly_nothing(fee_ppm: int) -> None:
    tokens = (WRAPPED.address, OTHER)
    pair = ConstantProduct(POOL, "v2", tokens, (18, 18), fee_ppm, (10**18, 10**18))
    assert int.from_bytes(extra(pair)) == fee_ppm
    assert extra(replace(pair, is_solidly=True)) == b""


@given(solidly_stable_pools())
def test_a_stable_solidly_pair_has_no_extra_data(pool: Pool) -> None:
    assert extra(pool) == b""


@pytest.mark.parametrize(
    ("sold", "bought", "expected"), [(0, 1, "0001"), (1, 0, "0100"), (0, 2, "000101"), (4, 0, "030001")]
)
def test_a_metapool_encodes_the_function_and_its_indices(sold: int, bought: int, expected: str) -> None:
    pool, _ = next(each for each in recorded_steps() if len(each[0].tokens) == 5)
    use = PoolUse(pool, pool.tokens[sold], pool.tokens[bought], None)
    assert encode_extra_data(use).hex() == expected


@given(crypto_pools())
def test_a_cryptoswap_pool_encodes_the_indices_of_its_coins(pool: CryptoSwap) -> None:
    use = PoolUse(pool, pool.tokens[-1], pool.tokens[0], None)
    assert encode_extra_data(use) == bytes((len(pool.tokens) - 1, 0))


@given(stableswap_pools(), st.data())
def test_a_stableswap_pool_encodes_the_indices_of_its_coins(pool: StableSwap, data: st.DataObject) -> None:
    i, j = data.draw(st.permutations(range(len(pool.tokens))))[:2]
    assert tuple(encode_extra_data(PoolUse(pool, pool.tokens[i], pool.tokens[j], None))) == (i, j)


@given(balancer_v3_boosted_pools())
def test_a_boosted_pool_encodes_its_shares_of_both_tokens(pool: BalancerV3Boosted) -> None:
    expected = "".join(
        share[2:] if price else "0" * 40 for share, price in zip(pool.share_pool.tokens, pool.share_prices, strict=True)
    )
    assert extra(pool).hex() == expected
    backwards = encode_extra_data(PoolUse(pool, pool.tokens[1], pool.tokens[0], None))
    assert backwards == extra(pool)[20:] + extra(pool)[:20]


@pytest.mark.parametrize("form", [ExtraDataForm.TWO_BYTES, ExtraDataForm.WORD])
def test_pools_of_the_vault_encode_nothing(form: ExtraDataForm) -> None:
    fields = POOL, "weighted", (WRAPPED.address, OTHER), (18, 18), 3_000, (10**18, 10**18), (10**18 // 2, 10**18 // 2)
    for pool_id in ("", "0x" + "7e" * 32):
        data = in_form(form, Weighted(*fields, pool_id=pool_id))
        assert data == (bytes(32) if form is ExtraDataForm.WORD else b"")


def in_form(form: ExtraDataForm, pool: Pool, protocol: ProtocolInfo | None = None) -> bytes:
    return encode_extra_data(PoolUse(pool, pool.tokens[0], pool.tokens[1], protocol), form)


NUMBER_BYTES = {ExtraDataForm.THREE_BYTES: 3, ExtraDataForm.WORD: 32}


@given(st.integers(0, 999_999), st.integers(1, 32_767), st.sampled_from(ExtraDataForm))
def test_every_form_has_the_fee_or_tick_spacing(fee_ppm: int, tick_spacing: int, form: ExtraDataForm) -> None:
    pool = v3(fee_ppm, tick_spacing)
    for protocol, number in ((BY_FEE, fee_ppm), (BY_SPACING, tick_spacing)):
        data = in_form(form, pool, protocol)
        if form is ExtraDataForm.EMPTY:
            assert data == b""
        else:
            assert int.from_bytes(data) == number
            assert len(data) == NUMBER_BYTES.get(form, 2 + (number > 0xFFFF))


@pytest.mark.parametrize("form", ExtraDataForm)
def test_pools_without_a_fee_have_nothing_or_zeros(form: ExtraDataForm) -> None:
    has_zeros = form in (ExtraDataForm.WORD, ExtraDataForm.TWO_BYTES_OR_WORD)
    assert in_form(form, v3(3_000), BY_TOKENS) == (bytes(32) if has_zeros else b"")


@pytest.mark.parametrize("form", ExtraDataForm)
def test_a_pool_key_is_the_same_in_every_form(form: ExtraDataForm) -> None:
    market = embedded("base")
    keyed = [pool for pool in market.pools.values() if pool.key != pool.address]
    assert keyed
    for pool in keyed:
        protocol = market.network.protocol(pool.protocol)
        assert in_form(form, pool, protocol) == extra(pool, protocol)
