"""A network that only a definition file describes: a test chain with an id of a real network, and no store.

Its pools are of Uniswap V2, V3 and V4 and of Balancer V2, whose factories, manager and vault are real bytecode, and of
Curve, whose pool is modelled. Real Universal Routers and a model of Settler execute its routes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swapcli.core.model.network import SETTLER, UNIVERSAL_ROUTER, Deployment, ProtocolInfo
from swapcli.core.model.token import Token
from swapcli.testing.evm import Contract
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.contract_fixture import CALLED_AFTER_SWAPS, PROTOCOLS, WETH
from tests.chain.market_reader import read_market
from tests.chain.routers_fixture import RoutersFixture
from tests.chain.settings import describe_network, url_of
from tests.chain.trader import Trader
from tests.contracts.evm import compile_solidity
from tests.support.command import CommandResult, run_swapcli

ETHEREUM, ARBITRUM = 1, 42_161
LAUNCHER = ProtocolInfo(26, "launcher", "Launcher", "concentrated", ("poolId",), contracts=("uniswap_v4",))
"""The protocol of the Uniswap V4 pools with the hook that the definition names."""


class FileFixture(RoutersFixture):
    """The contracts of the network, and the definition of it as a user writes it."""

    def __init__(self, chain: AnvilChain, chain_id: int) -> None:
        self.curve_list: Contract = chain.deploy(compile_solidity("lists.sol")["PoolList"])
        super().__init__(chain)
        (weighted,) = (place for place in self.places if place.protocol == "balancerV2Weighted")
        factory = {"factory": self.factory.address}
        v3_fees = {100: 1, 500: 10, 3_000: 60, 10_000: 200}
        self.network = self.network._replace(
            name=f"file{chain_id}",
            chain_id=chain_id,
            router=None,
            protocols=(*PROTOCOLS, LAUNCHER),
            deployments=(
                Deployment(("uniswapV2",), "Uniswap V2", factory, fee_tiers={3_000: 0}),
                Deployment(("uniswapV3",), "Uniswap V3", {"factory": self.v3_factory.address}, fee_tiers=v3_fees),
                Deployment(("uniswapV4",), "Uniswap V4", {"pool_manager": self.manager.address}),
                Deployment(
                    ("launcher",), "Launcher", {"pool_manager": self.manager.address}, hooks={"launcher": (self.hook,)}
                ),
                Deployment(("curveFi",), "Curve", {"factory": self.curve_list.address}),
                Deployment(("balancerV2Weighted",), "Balancer V2", {"vault": weighted.contract.call("getVault")[0]}),
            ),
            block_time_s=12.0,
        )

    def _open_pools_with_hooks(self) -> None:
        """Open the one pool with a hook that the definition names: only events show others."""
        self.hook = self.open_uniswap_v4("WBTC", "USDT", 3_000, 60, CALLED_AFTER_SWAPS).hooks

    def _open_pools(self) -> None:
        super()._open_pools()
        self.curve_list.send("add", self.open_stableswap("USDC", "USDT", "DAI").contract.address)
        self.open_weighted((WETH, "WBTC", "DAI"), (50, 25, 25), 3_000)

    def definition(self) -> dict[str, Any]:
        """Return the definition, in the keys of a network's file."""
        routers = {}
        for dialect, name in ((UNIVERSAL_ROUTER, "v4"), (SETTLER, "UNISWAPV4")):
            router = self.network.routers[dialect]
            given = {"address": router.address, "registry": router.registry, "spender": router.spender}
            described = {**given, "version": router.version, "protocols": {**router.protocols, LAUNCHER.amm_name: name}}
            routers[dialect] = {key: value for key, value in described.items() if value is not None}
        return describe_network(self.network) | {"routers": routers}


@dataclass
class FileWorld:
    """The network on its node, and a user who has a definition of it in a file and nothing else."""

    trader: Trader
    chain: AnvilChain
    folder: Path

    def copy(self) -> FileWorld:
        """Return the same world, whose record can be changed."""
        return FileWorld(self.trader.copy(), self.chain, self.folder)

    @property
    def fixture(self) -> FileFixture:
        assert isinstance(self.trader.world, FileFixture)
        return self.trader.world

    @property
    def name(self) -> str:
        """The name of the network."""
        return self.fixture.network.name

    @property
    def tokens(self) -> Mapping[str, Token]:
        return self.fixture.tokens

    def use_folder(self, folder: Path) -> None:
        """Begin without any remembered pools and without a store."""
        self.folder = folder
        (folder / "stores").mkdir(exist_ok=True)

    def environment(self, *, url: str | None = "", changes: Mapping[str, Any] | None = None) -> dict[str, str]:
        """Write the definition, with `changes`, and the node at `url`, by default the chain's; return the variables."""
        definition = {"name": self.name} | self.fixture.definition() | dict(changes or {})
        if url is not None:
            definition["rpc_urls"] = [url or url_of(self.chain)]
        file, added = self.folder / "config.yaml", self.folder / "networks"
        added.mkdir(exist_ok=True)
        (added / f"{self.name}.json").write_text(json.dumps(definition))
        file.write_text(json.dumps({"store_dir": str(self.folder / "stores")}))
        data, home = str(self.folder / "data"), str(self.folder / "cache")
        return {"SWAPCLI_CONFIG": str(file), "SWAPCLI_LIVE": "auto", "XDG_DATA_HOME": data, "XDG_CACHE_HOME": home}

    def run(self, *words: str, stdin: bytes = b"", **given: Any) -> CommandResult:
        """Run a command on the network."""
        return run_swapcli(words[0], self.name, *words[1:], stdin=stdin, env=self.environment(**given))

    @property
    def remembered(self) -> Path:
        """The file of the pools that quotes have found."""
        return self.folder / "stores" / f"{self.name}.found-pools.json"


@contextmanager
def open_file_world(chain_id: int, folder: Path) -> Iterator[FileWorld]:
    """On a fresh node, which ends with the block."""
    with running_anvil(chain_id) as chain:
        fixture = FileFixture(chain, chain_id)
        trader = Trader(fixture, chain, read_market(fixture))
        trader.fund_user()
        world = FileWorld(trader, chain, folder)
        world.use_folder(folder)
        yield world
