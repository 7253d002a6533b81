"""Pools of the kinds that no package has, modelled in `vaults.sol`, and the router that knows them.

Each trades in both directions; an `Offer` is one of them, with the data that the router needs and the pool's own quote.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import permutations

from eth_abi.abi import encode

from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterSwapParam
from swapcli.families.row import RouterPoolKind
from swapcli.testing.evm import DEPLOYER, BaseChain, Contract
from tests.chain.contract_fixture import CENTS, DECIMALS, PROTOCOLS, WETH, ContractFixture
from tests.contracts.evm import compile_solidity

FLUID_NATIVE = "0x" + "ee" * 20
INFINITY_KEY = "(address,address,address,address,uint24,bytes32)"
POOL_DOLLARS = 4_000_000
BUFFER_DOLLARS = 20_000
MOST_DOLLARS = 200_000
"""The largest input of an Infinity pool."""
SHARES = {"sUSDC": "USDC", "sDAI": "DAI"}
"""The asset of each token of shares."""
MINTED = "MINT"
FAMILIES = {
    RouterPoolKind.STABLESWAP: "stableswap",
    RouterPoolKind.BALANCER_V3: "balancer_v3_weighted",
    RouterPoolKind.CURVE_CRYPTO: "cryptoswap",
    RouterPoolKind.INFINITY: "infinity_bin",
    RouterPoolKind.FLUID: "fluid_t1",
    RouterPoolKind.VAULT: "vault",
    RouterPoolKind.PSM: "psm",
    RouterPoolKind.LIQUIDITY_BOOK: "liquidity_book",
    RouterPoolKind.BRIDGE: "bridge",
}
_FIRST_ID = 30
PROTOCOL_IDS = {kind: _FIRST_ID + k for k, kind in enumerate(FAMILIES)}


@dataclass(frozen=True)
class Offer:
    """One direction of a pool. `quote` returns the output of an input, and may revert."""

    kind: RouterPoolKind
    name: str
    pool_address: str
    token_in: str
    token_out: str
    extra_data: bytes
    quote: Callable[[int], int]

    def swap(self, rate: int = 1_000_000) -> RouterSwapParam:
        return RouterSwapParam(
            self.token_in,
            self.token_out,
            rate,
            PROTOCOL_IDS[self.kind],
            self.pool_address,
            SwapType.TOKEN_TO_TOKEN,
            self.extra_data,
        )


class VaultPools(ContractFixture):
    """The contract fixture, and the modelled pools. Its router knows both."""

    def __init__(self, chain: BaseChain) -> None:
        super().__init__(chain)
        self.models = compile_solidity("vaults.sol")
        more = tuple(
            ProtocolInfo(PROTOCOL_IDS[kind], f"modelled{kind.name}", kind.name, family)
            for kind, family in FAMILIES.items()
        )
        self.network = self.network._replace(protocols=(*PROTOCOLS, *more), router=None)
        self.router = self.deploy_router(self.network)
        self.network = self.network._replace(router=self.router.address)
        self.offers: list[Offer] = []
        for symbol, asset in SHARES.items():
            self.contracts[symbol] = chain.deploy(self.models["Shares"], self.address(asset))
        self.contracts[MINTED] = chain.deploy(self.models["MintedCoin"])
        self._open_vault_pools()

    def symbol(self, address: str) -> str:
        """As in the fixture; `contracts` also has the tokens that only modelled pools trade."""
        return next(symbol for symbol, contract in self.contracts.items() if contract.address == address)

    def give(self, symbol: str, owner: str, amount: int) -> None:
        """As in the fixture; shares come from a deposit."""
        if symbol not in SHARES:
            super().give(symbol, owner, amount)
            return
        asset = SHARES[symbol]
        (assets,) = self.contracts[symbol].call("previewMint", amount)
        super().give(asset, DEPLOYER, assets)
        self.contracts[asset].send("approve", self.address(symbol), assets)
        self.contracts[symbol].send("mint", amount, owner)

    def dollars(self, symbol: str, dollars: int) -> int:
        """Return about that value in base units of a token."""
        symbol = SHARES.get(symbol, symbol)
        symbol = symbol if symbol in DECIMALS else "DAI"
        unit: int = 10 ** DECIMALS[symbol]
        return dollars * unit * 100 // CENTS[symbol]

    def fill(self, pool: str, *symbols: str, dollars: int = POOL_DOLLARS) -> None:
        for symbol in symbols:
            self.give(symbol, pool, self.dollars(symbol, dollars))

    def open_share_token(self, sold: str, bought: str) -> list[Offer]:
        """Return offers of `sold` in new pools that are paid by a transfer before they swap."""
        known = len(self.offers)
        self._open_balancer_pool(sold, bought)
        self._open_book(sold, bought)
        for model, is_bin in (("InfinityTickManager", False), ("InfinityBinManager", True)):
            manager = self.chain.deploy(self.models[model], self.infinity.address)
            self.infinity.send("registerApp", manager.address)
            self._open_infinity_pool(manager, is_bin, sold, bought)
        opened, self.offers = self.offers[known:], self.offers[:known]
        return [offer for offer in opened if offer.token_in == self.address(sold)]

    def _open_vault_pools(self) -> None:
        self._open_indexed(RouterPoolKind.CURVE_CRYPTO, "CryptoPool", ("USDT", "WBTC", WETH))
        self._open_indexed(RouterPoolKind.STABLESWAP, "MetaPool", ("TKN", "USDC", "USDT"), b"\1")
        self._open_peg_module()
        for symbol, asset in SHARES.items():
            self._growing_shares(symbol, asset)
            self._offer_both(RouterPoolKind.VAULT, "Shares", self.contracts[symbol], (symbol, asset), (b"\1", b"\0"))
        self._open_bridge()
        self._open_book("WBTC", "USDT")
        self._open_fluid("USDC", "DAI")
        self._open_fluid("", "USDT")
        self._open_balancer()
        self._open_infinity()

    def _open_indexed(self, kind: RouterPoolKind, model: str, symbols: tuple[str, ...], suffix: bytes = b"") -> None:
        pool = self.chain.deploy(self.models[model], [self.address(symbol) for symbol in symbols])
        self.fill(pool.address, *symbols)
        for i, j in permutations(range(len(symbols)), 2):
            self._offer(kind, model, pool, symbols[i], symbols[j], bytes((i, j)) + suffix)

    def _open_peg_module(self) -> None:
        symbols = ("USDC", "DAI", "sDAI")
        units, rates = [10**6, 10**18, 10**18], self.chain.deploy(self.models["SavingsRate"])
        addresses = [self.address(symbol) for symbol in symbols]
        pool = self.chain.deploy(self.models["PegModule"], addresses, units, rates.address)
        self.fill(pool.address, *symbols)
        for sold, bought in permutations(symbols, 2):
            self._offer(RouterPoolKind.PSM, "PegModule", pool, sold, bought, b"")

    def _growing_shares(self, symbol: str, asset: str) -> None:
        """Make a share worth about 1.1 of its asset, with an uneven rate."""
        self.give(symbol, DEPLOYER, self.dollars(asset, POOL_DOLLARS))
        ContractFixture.give(self, asset, self.address(symbol), self.dollars(asset, POOL_DOLLARS) // 10 + 7)

    def _open_bridge(self) -> None:
        pool = self.chain.deploy(self.models["Bridge"], self.address("USDC"), self.address(MINTED))
        self.contracts[MINTED].send("suggestMinter", pool.address)
        self.fill(pool.address, "USDC")
        self._offer_both(RouterPoolKind.BRIDGE, "Bridge", pool, (MINTED, "USDC"), (b"\1", b"\0"))

    def _open_book(self, x: str, y: str) -> None:
        pool = self.chain.deploy(self.models["BookPair"], self.address(x), self.address(y))
        self.fill(pool.address, x, y)
        pool.send("fill")
        self._offer_both(RouterPoolKind.LIQUIDITY_BOOK, "BookPair", pool, (x, y), (b"\1", b"\0"))

    def _open_fluid(self, a: str, b: str) -> None:
        """A pool of the native currency where `a` is empty."""
        liquidity = self.chain.deploy(self.models["FluidLiquidity"])
        token0 = self.address(a) if a else FLUID_NATIVE
        pool = self.chain.deploy(self.models["FluidPool"], token0, self.address(b), liquidity.address)
        self.fill(liquidity.address, *filter(None, (a, b)))
        if not a:
            self.chain.fund(liquidity.address, self.dollars(WETH, POOL_DOLLARS))
        pair = (a or WETH, b)
        self._offer_both(RouterPoolKind.FLUID, "FluidPool" if a else "FluidPool, native", pool, pair, (b"\1", b"\0"))

    def _open_balancer(self) -> None:
        self.balancer = self.chain.deploy(self.models["BalancerVault"])
        self._open_balancer_pool("WBTC", "USDC")
        boosted = self._open_balancer_pool("sUSDC", "sDAI")
        for symbol, asset in SHARES.items():
            self.fill(self.balancer.address, symbol, asset, dollars=BUFFER_DOLLARS)
            self.balancer.send("registerBuffer", self.address(symbol))
        # The pool also trades shares as they are, on either side.
        for sold, bought in permutations(SHARES, 2):
            for wraps, unwraps in ((True, True), (True, False), (False, True)):
                self._offer_boosted(boosted, sold, bought, wraps, unwraps)

    def _open_balancer_pool(self, a: str, b: str) -> Contract:
        pool = self.chain.deploy(self.models["BalancerPool"], self.balancer.address)
        for symbol in (a, b):
            self.fill(self.balancer.address, symbol)
            self.balancer.send("register", pool.address, self.address(symbol))
        self._offer_both(RouterPoolKind.BALANCER_V3, "BalancerPool", pool, (a, b), (b"", b""))
        return pool

    def _offer_boosted(self, pool: Contract, sold: str, bought: str, wraps: bool, unwraps: bool) -> None:
        share_in, share_out = self.contracts[sold], self.contracts[bought]

        def quote(amount: int) -> int:
            if wraps:
                amount = share_in.call("previewDeposit", amount - 1)[0] - 1
            (amount,) = pool.call("quote", share_in.address, share_out.address, amount)
            return share_out.call("previewRedeem", amount - 1)[0] - 1 if unwraps else amount

        extra = b"".join(
            bytes.fromhex((share.address if is_wrapped else ZERO_ADDRESS)[2:])
            for share, is_wrapped in ((share_in, wraps), (share_out, unwraps))
        )
        name = f"boosted, wraps {wraps}, unwraps {unwraps}"
        offer = Offer(RouterPoolKind.BALANCER_V3, name, pool.address, "", "", extra, quote)
        ends = SHARES[sold] if wraps else sold, SHARES[bought] if unwraps else bought
        self.offers.append(replace(offer, token_in=self.address(ends[0]), token_out=self.address(ends[1])))

    def _open_infinity(self) -> None:
        self.infinity = self.chain.deploy(self.models["InfinityVault"])
        for model, is_bin in (("InfinityTickManager", False), ("InfinityBinManager", True)):
            manager = self.chain.deploy(self.models[model], self.infinity.address)
            self.infinity.send("registerApp", manager.address)
            for a, b in (("", "DAI"), ("USDT", "TKN")):
                self._open_infinity_pool(manager, is_bin, a, b)

    def _open_infinity_pool(self, manager: Contract, is_bin: bool, a: str, b: str) -> None:
        """A pool of the native currency where `a` is empty."""
        first, second = sorted((a, b), key=lambda symbol: int(self.address(symbol), 16) if symbol else 0)
        currencies = [self.address(symbol) if symbol else ZERO_ADDRESS for symbol in (first, second)]
        key = (*currencies, ZERO_ADDRESS, manager.address, 3000, (10 << 16).to_bytes(32))
        symbols = (first or WETH, second)
        for symbol in filter(None, (first, second)):
            self.fill(self.infinity.address, symbol)
        if not a:
            reserve = self.dollars(WETH, POOL_DOLLARS)
            self.chain.fund(self.infinity.address, self.chain.native_balance(self.infinity.address) + reserve)
        reserves = [self.dollars(symbol, POOL_DOLLARS) for symbol in symbols]
        most = max(self.dollars(symbol, MOST_DOLLARS) for symbol in symbols)
        manager.send("initialize", key, *reserves, most)
        encoded = encode([INFINITY_KEY], [key]) + (b"\1" if is_bin else b"")
        for forward in (True, False):

            def quote(amount: int, forward: bool = forward) -> int:
                return int(manager.call("quote", key, forward, amount)[0])

            sold, bought = symbols if forward else symbols[::-1]
            name = f"Infinity {'bins' if is_bin else 'ticks'}{'' if a else ', native'}"
            self.offers.append(
                Offer(
                    RouterPoolKind.INFINITY,
                    name,
                    manager.address,
                    self.address(sold),
                    self.address(bought),
                    encoded,
                    quote,
                )
            )

    def _offer_both(
        self, kind: RouterPoolKind, name: str, pool: Contract, symbols: tuple[str, str], extra: tuple[bytes, bytes]
    ) -> None:
        self._offer(kind, name, pool, *symbols, extra[0])
        self._offer(kind, name, pool, *symbols[::-1], extra[1])

    def _offer(self, kind: RouterPoolKind, name: str, pool: Contract, sold: str, bought: str, extra: bytes) -> None:
        token_in, token_out = self.address(sold), self.address(bought)

        def quote(amount: int) -> int:
            return int(pool.call("quote", token_in, token_out, amount)[0])

        self.offers.append(Offer(kind, name, pool.address, token_in, token_out, extra, quote))
