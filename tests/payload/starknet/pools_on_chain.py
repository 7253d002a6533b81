"""A chain of Starknet with pools of every protocol that is read live, at the addresses of the catalogue."""

from __future__ import annotations

from typing import Final

from swapcli.core.networks.catalogue import find_network
from swapcli.families.tick_math import sqrt_ratio_at_tick
from tests.families.ekubo.random_ekubo import FEE_30_BPS
from tests.payload.starknet.ekubo_core import PoolKey, PoolState, Swapped, ratio_of
from tests.payload.starknet.fake_node import (
    NOW_S,
    EkuboCore,
    FakeChain,
    JediClPool,
    JediFactory,
    JediPair,
    NostraFactory,
    NostraPair,
    SithFactory,
    SithPair,
    StarkDefiFactory,
    StarkDefiPair,
    TenkFactory,
    TenkPair,
    TokenContract,
    TokenMigration,
    TwammExtension,
    i129,
    u256,
)

STARKNET: Final = find_network("starknet")


def role(protocol: str, name: str) -> int:
    """Return the address of a protocol's contract."""
    addresses = (each.addresses for each in STARKNET.deployments if protocol in each.protocols)
    return next(int(each[name], 16) for each in addresses if name in each)


def token(symbol: str) -> int:
    return next(int(each.address, 16) for each in STARKNET.tokens if each.symbol == symbol)


NATIVE_USDC = 0x033068F6539F8E6E6B131E6B2B814E6C34A5224BC66947C47DAB9DFEE93B35FB
ETH, STRK, USDC, USDT = (token(symbol) for symbol in ("ETH", "STRK", "USDC", "USDT"))
CORE = role("Ekubo", "core")
ORACLE = 0x005E470FF654D834983A46B8F29DFA99963D5044B993CB7B9C92243A69DAB38F
LIMIT_ORDERS = 0x050ED6AB03AEF492CD062E25FACF40CEEF63294C53D12B514226F8FB4753266E
TWAMM = role("Ekubo", "twamm_extension")
WAD = 10**18
PLAIN = PoolKey(STRK, ETH, FEE_30_BPS, 1_000)
BY_ORACLE = PoolKey(STRK, ETH, 0, 354_892, ORACLE)
BY_ORDERS = PoolKey(STRK, ETH, 0, 128, LIMIT_ORDERS)
BY_TWAMM = PoolKey(STRK, ETH, FEE_30_BPS, 354_892, TWAMM)
TICK = -9_210_340
"""About 0.0001 ETH for one STRK."""


def build_chain(start_s: int = NOW_S) -> FakeChain:
    """Return a chain whose second block has created all pools."""
    chain = FakeChain(start_s)
    chain.mine()
    for each in STARKNET.tokens:
        chain.contracts[int(each.address, 16)] = TokenContract(
            each.symbol, each.decimals, is_long=each.symbol == "STRK"
        )
    core = EkuboCore(call_points={TWAMM: [1, 0, 1, 0, 1, 0, 1, 0], ORACLE: [1, 1, 1, 0, 0, 0, 0, 0]})
    chain.contracts[CORE] = core
    for key, spread in ((PLAIN, 400_000), (BY_ORACLE, 80 * 354_892), (BY_ORDERS, 128 * 500), (BY_TWAMM, 0)):
        pool = PoolState(key.tick_spacing, TICK)
        center = TICK // key.tick_spacing * key.tick_spacing
        for number in range(1, 4):
            reach = spread * number // key.tick_spacing * key.tick_spacing
            if reach:
                pool.update(center - reach, center + reach, number * 10**20)
            else:  # over the whole range, as the extension requires
                pool.update(-249 * key.tick_spacing, 249 * key.tick_spacing, number * 10**20)
        core.pools[key] = pool
        chain.emit(CORE, "PoolInitialized", *key, *i129(TICK), *u256(ratio_of(TICK)))
    orders = TwammExtension((10**18 << 32, 10**13 << 32), start_s, {start_s + 1: (-(10**18) << 32, 10**13 << 32)})
    chain.contracts[TWAMM] = orders
    starkdefi = role("StarkDefiV2", "factory")
    pairs = {
        "JediSwap": (0xA1, JediPair((STRK, ETH), [10**6 * WAD, 100 * WAD])),
        "10kSwap": (0xA2, TenkPair((STRK, ETH), [10**5 * WAD, 10 * WAD])),
        "SithSwapV2": (0xA3, SithPair((STRK, ETH), [10**5 * WAD, 10 * WAD], is_stable=False, fee=1_500)),
        "SithSwapStable": (0xA4, SithPair((USDC, USDT), [10**11, 10**11], is_stable=True, fee=100)),
        "StarkDefiV2": (0xA5, StarkDefiPair((STRK, ETH), (18, 18), [10**5 * WAD, 10 * WAD], False, starkdefi)),
        "StarkDefiStable": (0xA6, StarkDefiPair((USDC, USDT), (6, 6), [10**11, 10**11], True, starkdefi)),
        "NostraV2": (0xA8, NostraPair((STRK, ETH), [10**5 * WAD, 10 * WAD], fee=5)),
    }
    for address, pair in pairs.values():
        chain.contracts[address] = pair
    chain.contracts[role("JediSwap", "factory")] = JediFactory([0xA1])
    chain.contracts[role("10kSwap", "factory")] = TenkFactory([0xA2])
    chain.contracts[role("SithSwapV2", "factory")] = SithFactory([0xA3, 0xA4])
    chain.contracts[NATIVE_USDC] = TokenContract("USDC", 6)
    chain.contracts[role("Circle", "bridge")] = TokenMigration(NATIVE_USDC, USDC, 10**12)
    chain.contracts[role("NostraV2", "factory")] = NostraFactory([0xA8])
    chain.contracts[starkdefi] = StarkDefiFactory({0xA5: 30, 0xA6: 4})
    tick = -92_100
    nets = {tick // 60 * 60 + 60 * step: net * 10**20 for step, net in ((-40, 1), (-5, 2), (6, -2), (50, -1))}
    chain.contracts[0xA7] = JediClPool(sqrt_ratio_at_tick(tick), tick, 3 * 10**20, 3_000, 60, nets)
    chain.emit(role("JediSwapCL", "factory"), "PoolCreated", STRK, ETH, 3_000, 60, 0xA7)
    chain.mine()
    return chain


def swap_on_chain(chain: FakeChain, amount: int, token1: bool, key: PoolKey = PLAIN) -> Swapped:
    """Swap in an Ekubo pool, and emit its event into the next block."""
    core = chain.contracts[CORE]
    assert isinstance(core, EkuboCore)
    swapped = core.pools[key].swap(amount, token1, key.fee)
    after = (*u256(swapped.ratio), *i129(swapped.tick), swapped.liquidity)
    deltas = (*i129(swapped.amount0), *i129(swapped.amount1))
    chain.emit(CORE, "Swapped", 0x10C, *key, *i129(amount), int(token1), *u256(1), 0, *deltas, *after)
    return swapped
