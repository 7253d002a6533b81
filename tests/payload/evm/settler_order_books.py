"""Order books that `settler_recorder` executes, as `settler_families`: half of those of the wrapped token are native.

kuru.json      Kuru-Labs/Kuru-contracts-dex-public: the router, the margin account, the order book, its vault and
               OpenZeppelin's `ERC1967Proxy` by solc 0.8.26
clober.json    clober-dex/v2-core and v2-periphery: the book manager with its library `Book` (under `links` where
               its address belongs), `Controller` and `BookViewer` by solc 0.8.26
"""

from __future__ import annotations

import json
from dataclasses import replace
from math import log
from random import Random
from typing import Any, Final

from eth_abi.abi import encode

from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.families.order_books.rows import CloberConstants, KuruConstants
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.row import PoolConstants
from swapcli.testing.contract_pool import load_pool
from swapcli.testing.evm import DEPLOYER, Contract, ContractArtifact
from tests.payload.evm.settler_recorder import FamilyPools, World, load_contracts
from tests.support.outside_ids import keccak256

_LATEST: Final = 2**63


class OrderBooks(FamilyPools):
    """Books whose places are a contract, its tokens and the constants of its reference."""

    kind: str

    def read(self, protocol: str, place: Any, time_s: int) -> Pool:
        del time_s
        contract, tokens, constants = place
        factory = Factory(contract.address, self.kind, (ProtocolInfo(1, protocol, protocol, self.family),))
        decimals = tuple(self.world.decimals[token] for token in tokens)
        ref = factory.new_ref(contract.address, tokens)._replace(constants=constants, decimals=decimals)
        return replace(load_pool(self.world.chain, self.kind, ref), protocol=protocol)

    def enter(self, key: str, contract: Contract, tokens: tuple[str, str], constants: PoolConstants) -> None:
        """Enter a book in the world's places."""
        (protocol,) = self.protocols
        self.world.places[key] = (protocol, (contract, tokens, constants))

    def native(self, rng: Random, *tokens: Contract) -> str:
        """Return which of the tokens is native, "base" or "quote"; empty if none is."""
        is_weth = [token is self.world.weth for token in tokens]
        return rng.choice(("base" if is_weth[0] else "quote", "")) if any(is_weth) else ""


class KuruMarkets(OrderBooks):
    """Markets with the orders of a maker, and most with those of a vault."""

    family = "kuru"
    kind = "kuru"
    protocols = {"kuru": "BASIC"}  # noqa: RUF012
    source = "Kuru's router and markets (github Kuru-Labs/Kuru-contracts-dex-public @2060bb2, compiled by solc 0.8.26)"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.contracts = load_contracts(world.folder, "kuru")
        book, vault = (world.chain.deploy(self.contracts[name]).address for name in ("OrderBook", "KuruAMMVault"))
        self.margin, self.router = self._proxy("MarginAccount"), self._proxy("Router")
        forwarder = "0x" + "f0" * 20
        self.margin.send("initialize", DEPLOYER, self.router.address, forwarder, forwarder)
        self.router.send("initialize", DEPLOYER, self.margin.address, book, vault, forwarder)
        self.routers = {"kuru": self.router.address}
        for token in world.tokens:
            token.send("approve", self.margin.address, 10**32)
            self.margin.send("deposit", DEPLOYER, token.address, 10**31)
        self.margin.send("deposit", DEPLOYER, ZERO_ADDRESS, 10**31, value=10**31)

    def open(self, rng: Random, first: Contract, second: Contract) -> None:
        native = self.native(rng, first, second)
        addresses = [
            ZERO_ADDRESS if native == name else token.address
            for name, token in zip(("base", "quote"), (first, second), strict=True)
        ]
        places = [self.world.decimals[token.address] for token in (first, second)]
        sizes, prices = 10 ** rng.randrange(5, 9), 10 ** rng.randrange(4, 7)
        fee_bps, spread = rng.choice((0, 1, 5, 30)), rng.choice((20, 30, 100))
        kind = {"": 0, "base": 1, "quote": 2}[native]
        (address,) = self.router.send("deployProxy", kind, *addresses, sizes, prices, 1, 1, 2**95, fee_bps, 0, spread)
        market = self.world.chain.at(str(address).lower(), self.contracts["OrderBook"])
        rate = 10 ** rng.uniform(-1, 1)
        if rng.random() < 0.7:
            vault = self.world.chain.at(str(market.call("getVaultParams")[0]).lower(), self.contracts["KuruAMMVault"])
            amount = 10 ** rng.uniform(4, 6)
            deposits = int(amount * 10 ** places[0]), int(amount * rate * 10 ** places[1])
            for token in (first, second):
                token.send("approve", vault.address, 0)
                token.send("approve", vault.address, 10**32)
            value = {"": 0, "base": deposits[0], "quote": deposits[1]}[native]
            vault.send("deposit", *deposits, 0, DEPLOYER, value=value)
        for _ in range(12):
            is_bid, size = rng.random() < 0.5, int(sizes * 10 ** rng.uniform(1, 4))
            price = int(prices * rate * (1 - rng.uniform(0.002, 0.1) if is_bid else 1 + rng.uniform(0.002, 0.1)))
            market.send("addBuyOrder" if is_bid else "addSellOrder", price, size, False)
        constants = KuruConstants(prices, sizes, fee_bps, native)
        self.enter(market.address, market, (first.address, second.address), constants)

    def _proxy(self, name: str) -> Contract:
        implementation = self.world.chain.deploy(self.contracts[name])
        proxy = self.world.chain.deploy(self.contracts["ERC1967Proxy"], implementation.address, b"")
        return self.world.chain.at(proxy.address, self.contracts[name])


class CloberBooks(OrderBooks):
    """Two books for each pair of tokens, one in each direction."""

    family = "clober_v2"
    kind = "clober_v2"
    protocols = {"cloberV2": "BASIC"}  # noqa: RUF012
    source = "Clober's books and controller (github clober-dex/v2-core @984774e, v2-periphery @c694288, solc 0.8.26)"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        contracts = json.loads((world.folder / "clober.json").read_text())
        chain = world.chain
        library = chain.deploy(_linked(contracts["Book"], ""))
        manager = _linked(contracts["BookManager"], library.address)
        self.manager = chain.deploy(manager, DEPLOYER, DEPLOYER, "", "", "", "")
        self.controller = chain.deploy(_linked(contracts["Controller"], ""), self.manager.address)
        self.viewer = chain.deploy(_linked(contracts["BookViewer"], ""), self.manager.address)
        self.routers = {"cloberV2": self.controller.address}
        for token in world.tokens:
            token.send("approve", self.controller.address, 10**32)

    def open(self, rng: Random, first: Contract, second: Contract) -> None:
        rate = 10 ** rng.uniform(-1, 1)
        self._open_book(rng, first, second, rate * 0.999)
        self._open_book(rng, second, first, 0.999 / rate)

    def _open_book(self, rng: Random, base: Contract, quote: Contract, rate: float) -> None:
        native = self.native(rng, base, quote)
        base_key, quote_key = (
            ZERO_ADDRESS if native == name else token.address
            for name, token in zip(("base", "quote"), (base, quote), strict=True)
        )
        places = [self.world.decimals[token.address] for token in (base, quote)]
        unit = 10 ** max(0, places[1] - 6)
        taker = _fee_policy(rng.choice((100, 500, 3_000)), rng.random() < 0.5)
        maker = _fee_policy(rng.choice((0, 100)), rng.random() < 0.5)
        key = (base_key, unit, quote_key, maker, ZERO_ADDRESS, taker)
        self.controller.send("open", [(key, b"")], _LATEST)
        encoded = encode(["address", "uint64", "address", "uint24", "address", "uint24"], key)
        book_id = int.from_bytes(keccak256(encoded)[-24:])
        center = int(log(rate * 10 ** (places[1] - places[0])) / log(1.0001))
        for _ in range(10):
            amount = int(10 ** (places[1] + rng.uniform(2, 4)))
            order = (book_id, center - rng.randrange(400), amount, ZERO_ADDRESS, b"")
            settled = [] if native == "quote" else [quote.address]
            self.controller.send("make", [order], settled, [], _LATEST, value=amount if native == "quote" else 0)
        constants = CloberConstants(self.viewer.address, f"0x{book_id:064x}", unit, maker, taker, ZERO_ADDRESS, native)
        self.enter(f"{book_id:064x}", self.manager, (base.address, quote.address), constants)


def _fee_policy(rate_ppm: int, uses_quote: bool) -> int:
    return uses_quote << 23 | rate_ppm + 500_000


def _linked(contract: dict[str, Any], library: str) -> ContractArtifact:
    """Return a contract with the address of its only library where that belongs."""
    code = contract["bytecode"]
    for libraries in contract["links"].values():
        for places in libraries.values():
            for place in places:
                start = 2 * place["start"]
                code = f"{code[:start]}{library[2:]}{code[start + 40 :]}"
    return ContractArtifact(tuple(contract["abi"]), bytes.fromhex(code))
