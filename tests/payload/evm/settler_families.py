"""The contracts of the families that `settler_recorder` executes, opened with random states.

Each family's contracts are compiled from their published sources into a file beside `settler.json`:

    dodo.json      DODOEX/contractV2: `DVM`, `DPP`, `DSP` and `ConstFeeRateModel` by solc 0.6.9
    gmx.json       gmx-io/gmx-contracts: `Vault`, `VaultUtils` and `USDG` by solc 0.6.12
    iziswap.json   izumiFinance/iZiSwap-core: the factory, the pool and its modules; iZiSwap-periphery: `Swap`; by solc
                   0.8.4
    smardex.json   SmarDex-Dev/smart-contracts: the factory, the pair and the router by solc 0.8.17
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from random import Random
from typing import Any, Final

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families.smardex.smardex import SmarDex
from swapcli.testing.contract_pool import read_pool
from swapcli.testing.evm import DEPLOYER, Contract
from tests.contracts.evm import compile_solidity
from tests.payload.evm.settler_recorder import FamilyPools, World, load_contracts

_WAD: Final = 10**18


class DodoPools(FamilyPools):
    """Vending machines, private pools and stable pools with constant fees."""

    family = "dodo_v2"
    protocols = {"dodoDVM": "DODOV2", "dodoDPP": "DODOV2", "dodoDSP": "DODOV2"}  # noqa: RUF012
    source = "DODO V2's pools (github DODOEX/contractV2, compiled by solc 0.6.9)"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.contracts = load_contracts(world.folder, "dodo")
        self.fees = world.chain.deploy(self.contracts["ConstFeeRateModel"])
        self.fees.send("init", 3 * 10**14)

    def open(self, rng: Random, first: Contract, second: Contract) -> None:
        kind = rng.choice(("dodoDVM", "dodoDPP", "dodoDSP"))
        decimals = [self.world.decimals[token.address] for token in (first, second)]
        rate = 10 ** rng.uniform(-1, 1) if kind != "dodoDSP" else 10 ** rng.uniform(-0.01, 0.01)
        price = max(1, int(rate * 10 ** (18 + decimals[1] - decimals[0])))
        slippage = rng.choice((_WAD, 10**17, 10**14, rng.randrange(_WAD)))
        lp_fee = rng.choice((0, 10**14, 3 * 10**15))
        pool = self.world.chain.deploy(self.contracts[kind.removeprefix("dodo")])
        tokens = first.address, second.address
        if kind == "dodoDPP":
            pool.send("init", DEPLOYER, DEPLOYER, *tokens, lp_fee, self.fees.address, slippage, price, False)
        else:
            pool.send("init", DEPLOYER, *tokens, lp_fee, self.fees.address, price, slippage, False)
        size = 10 ** rng.uniform(4, 6)
        amounts = int(size * 10 ** decimals[0]), int(size * rate * 10 ** decimals[1])
        for token, amount in zip((first, second), amounts, strict=True):
            token.send("transfer", pool.address, amount)
        if kind == "dodoDPP":
            pool.send("reset", DEPLOYER, lp_fee, price, slippage, 0, 0, 0, 0)
        else:
            pool.send("buyShares", DEPLOYER)
        self.world.places[pool.address] = (kind, pool)

    def read(self, protocol: str, place: Any, time_s: int) -> Pool:
        del time_s
        tokens = [str(place.call(name)[0]).lower() for name in ("_BASE_TOKEN_", "_QUOTE_TOKEN_")]
        decimals = tuple(self.world.decimals[token] for token in tokens)
        return replace(read_pool(self.world.chain, "dodo_v2", place.address, decimals), protocol=protocol)


class GmxPools(FamilyPools):
    """One vault of all tokens, with dynamic fees."""

    family = "gmx_vault"
    protocols = {"bmx": "BASIC"}  # noqa: RUF012
    source = "GMX V1's vault (github gmx-io/gmx-contracts @fe55c4b, compiled by solc 0.6.12)"

    def open_all(self, rng: Random) -> None:
        chain, contracts = self.world.chain, load_contracts(self.world.folder, "gmx")
        vault = chain.deploy(contracts["Vault"])
        usdg = chain.deploy(contracts["USDG"], vault.address)
        feed = chain.deploy(compile_solidity("settler_pools.sol")["FixedPrices"])
        vault.send("initialize", DEPLOYER, usdg.address, feed.address, 0, 0, 0)
        vault.send("setVaultUtils", chain.deploy(contracts["VaultUtils"], vault.address).address)
        vault.send("setFees", 50, 20, 25, 30, 4, 10, 0, 0, True)
        usdg.send("addVault", DEPLOYER)
        for token in self.world.tokens:
            decimals = self.world.decimals[token.address]
            is_stable = decimals == 6
            price = 10**30 if is_stable else int(10 ** rng.uniform(30, 34))
            feed.send("set", token.address, price, price + (0 if is_stable else price // rng.randrange(500, 5_000)))
            vault.send("setTokenConfig", token.address, decimals, rng.randrange(5_000, 30_000), 0, 0, is_stable, False)
            amount = int(10 ** rng.uniform(6, 8) * 10 ** (30 + decimals) / price)
            token.send("transfer", vault.address, amount)
            vault.send("directPoolDeposit", token.address)
            debt = int(amount * price * rng.uniform(0.5, 1) / 10 ** (12 + decimals))
            vault.send("setUsdgAmount", token.address, debt)
            usdg.send("mint", DEPLOYER, debt)
        self.world.places[vault.address] = ("bmx", vault)

    def open(self, rng: Random, first: Contract, second: Contract) -> None:
        del rng, first, second
        raise AssertionError("one vault has all tokens: open_all")

    def read(self, protocol: str, place: Any, time_s: int) -> Pool:
        del time_s
        decimals = tuple(self.world.decimals[token.address] for token in self.world.tokens)
        pool = read_pool(self.world.chain, "gmx_vault", place.address, decimals)
        return replace(pool, protocol=protocol)


class IziSwapPools(FamilyPools):
    """Pools with random liquidity and limit orders."""

    family = "iziswap"
    protocols = {"izumiV3": "BASIC"}  # noqa: RUF012
    source = "iZiSwap's pools and Swap (github izumiFinance/iZiSwap-core and iZiSwap-periphery, compiled by solc 0.8.4)"
    MODULES = ("SwapX2YModule", "SwapY2XModule", "LiquidityModule", "LimitOrderModule", "FlashModule")
    POINT_DELTAS = {100: 1, 400: 8, 2_000: 40, 10_000: 200}  # noqa: RUF012

    def __init__(self, world: World) -> None:
        super().__init__(world)
        chain = world.chain
        self.contracts = load_contracts(world.folder, "iziswap")
        modules = [chain.deploy(self.contracts[name]).address for name in self.MODULES]
        self.factory = chain.deploy(self.contracts["iZiSwapFactory"], DEPLOYER, *modules, 50)
        router = chain.deploy(self.contracts["Swap"], self.factory.address, world.weth.address)
        self.routers = {"izumiV3": router.address}
        self.provider = compile_solidity("settler_pools.sol")["IziProvider"]

    def open(self, rng: Random, first: Contract, second: Contract) -> None:
        x, y = sorted((first, second), key=lambda token: int(token.address, 16))
        fee_ppm = rng.choice(tuple(self.POINT_DELTAS))
        delta = self.POINT_DELTAS[fee_ppm]
        places = [self.world.decimals[token.address] for token in (x, y)]
        point = int(log(10 ** (rng.uniform(-1, 1) + places[1] - places[0])) / log(1.0001))
        (address,) = self.factory.send("newPool", x.address, y.address, fee_ppm, point)
        pool = self.world.chain.at(str(address).lower(), self.contracts["iZiSwapPool"])
        provider = self.world.chain.deploy(self.provider, pool.address, x.address, y.address)
        size = 10 ** rng.uniform(4, 6)
        for token in (x, y):
            token.send("transfer", provider.address, 10**30)
        liquidity = size * 10 ** places[1] / exp(point * 0.00005) / 2_000
        for _ in range(rng.randrange(4, 12)):
            left = (point + int(rng.gauss(0, 3_000))) // delta * delta
            width = max(1, int(abs(rng.gauss(0, 6_000)) / delta)) * delta
            provider.send("mint", left, left + width, max(1, int(liquidity * 10 ** rng.uniform(-1, 1))))
        wide = 60_000 // delta * delta
        center = point // delta * delta
        provider.send("mint", center - wide, center + wide, max(1, int(liquidity)))
        for _ in range(rng.randrange(6)):
            sells_x = rng.random() < 0.5
            distance = int(abs(rng.gauss(0, 1_000)))
            place = -(-(point + distance) // delta) * delta if sells_x else (point - distance) // delta * delta
            amount = int(size * 10 ** (places[0 if sells_x else 1] + rng.uniform(-4, -1)))
            provider.send("limit", sells_x, place, amount)
        self.world.places[pool.address] = ("izumiV3", pool)

    def read(self, protocol: str, place: Any, time_s: int) -> Pool:
        del time_s
        tokens = [str(place.call(name)[0]).lower() for name in ("tokenX", "tokenY")]
        decimals = tuple(self.world.decimals[token] for token in tokens)
        return replace(read_pool(self.world.chain, ContractKind.IZISWAP, place.address, decimals), protocol=protocol)


class SmarDexPools(FamilyPools):
    """Pairs of a factory whose protocol takes its fee."""

    family = "smardex"
    protocols = {"smarDexV2": "BASIC"}  # noqa: RUF012
    source = "SmarDex's pairs and router (github SmarDex-Dev/smart-contracts, compiled by solc 0.8.17)"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.contracts = load_contracts(world.folder, "smardex")
        self.factory = world.chain.deploy(self.contracts["SmardexFactory"])
        self.factory.send("closeWhitelist")
        self.factory.send("setFeeTo", DEPLOYER)
        self.router = world.chain.deploy(self.contracts["SmardexRouter"], self.factory.address, world.weth.address)
        self.routers = {"smarDexV2": self.router.address}
        for token in world.tokens:
            token.send("approve", self.router.address, 10**40)

    def open(self, rng: Random, first: Contract, second: Contract) -> None:
        (address,) = self.factory.send("createPair", first.address, second.address)
        pair = self.world.chain.at(str(address).lower(), self.contracts["SmardexPair"])
        # The router expects the code that its authors' compiler made.
        self.router.send("addPairToWhitelist", first.address, second.address)
        amounts = [int(10 ** (self.world.decimals[token.address] + rng.uniform(4, 6))) for token in (first, second)]
        self.router.send("addLiquidity", (first.address, second.address, *amounts, 0, 0, 0, 0, 0), DEPLOYER, 2**63)
        self.world.places[pair.address] = ("smarDexV2", pair)

    def read(self, protocol: str, place: Any, time_s: int) -> Pool:
        tokens = [str(place.call(name)[0]).lower() for name in ("token0", "token1")]
        decimals = tuple(self.world.decimals[token] for token in tokens)
        lp_fee_ppm, pool_fee_ppm = place.call("getPairFees")
        state = {
            "reserves": list(map(str, place.call("getReserves"))),
            "fictive_reserves": list(map(str, place.call("getFictiveReserves"))),
            "average": [*map(str, place.call("getPriceAverage")[:2]), place.call("getPriceAverage")[2]],
            "lp_fee_ppm": lp_fee_ppm,
            "timestamp": time_s,
        }
        identity = PoolIdentity(place.address, protocol, tuple(tokens), decimals, lp_fee_ppm + pool_fee_ppm)
        return SmarDex.from_state(identity, state)
