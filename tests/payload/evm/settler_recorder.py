"""Executes random routes by 0x Settler itself, over pools of one family, and records what it paid.

    python -m tests.payload.evm.record_settler FOLDER FAMILY [ROUTES]

Settler and the pools are their published sources, compiled into FOLDER: `NAME.json` has the contracts of NAME, each
with `abi` and `bytecode`. None of it is in a package, and none of it is committed; what it paid is, in
`settler_executions/FAMILY.json.xz`, which `test_settler_executions.py` replays.

    settler.json   0xProject/0x-settler @f6b7303: `src/chains/Base/TakerSubmitted.sol` by solc 0.8.34 for Osaka, and
                   `src/allowanceholder/AllowanceHolder.sol` by solc 0.8.25
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.network import SETTLER, Deployment, DialectRouter, Kind, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.router_dialect import ReplayedSwap
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import RouterRouteParam
from swapcli.core.routing.gas import gas_of_terms, route_gas
from swapcli.core.routing.replay import replay
from swapcli.payload.evm.dialects.settler import SettlerDialect
from swapcli.state.markets.pools_field import pool_to_json
from swapcli.testing.evm import DEPLOYER, Contract, ContractArtifact, RevertedError
from tests.chain.anvil import CHAIN_ID, AnvilChain
from tests.chain.random_routes import random_route
from tests.contracts.evm import compile_solidity, load_artifact
from tests.support.outside_ids import keccak256

ALLOWANCE_HOLDER: Final = "0x0000000000001ff3684f28c67538d4d072c22734"
"""Where Settler's source expects it."""
EXECUTIONS: Final = Path(__file__).with_name("settler_executions")
USER, RECIPIENT = "0x" + "90" * 20, "0x" + "c0" * 20
WEALTH: Final = 10**34
BLOCK_S: Final = 12
DEADLINE_S: Final = 1_900_000_000
TOO_MUCH_SLIPPAGE: Final = "0x97a6f3b9"
PAIR: Final = ProtocolInfo(1, "pair", "Uniswap V2", "constant_product")
_PAIRS: Final = "@uniswap/v2-core/build"
_V2_FEE_PPM: Final = 3_000


def load_contracts(folder: Path, name: str) -> dict[str, ContractArtifact]:
    """Return the compiled contracts of a file, without those that need libraries."""
    document = json.loads((folder / f"{name}.json").read_text())
    return {
        contract: ContractArtifact(tuple(each["abi"]), bytes.fromhex(each["bytecode"]))
        for contract, each in document.items()
        if "__$" not in each["bytecode"]
    }


class World:
    """Tokens, Settler and AllowanceHolder on a node. `places` are pools with their protocol, by address or id."""

    def __init__(self, chain: AnvilChain, folder: Path) -> None:
        self.chain, self.folder = chain, folder
        settler = load_contracts(folder, "settler")
        self.settler = chain.deploy(settler["BaseSettler"], bytes(20))
        self.holder = chain.place(ALLOWANCE_HOLDER, settler["AllowanceHolder"])
        coins = compile_solidity("simulated.sol", "world.sol")
        weth = chain.deploy(load_artifact("canonical-weth/build/contracts/WETH9.json"))
        self.decimals = {weth.address: 18}
        self.tokens = [weth]
        for number, decimals in enumerate((6, 18, 8)):
            name = "Tether" if decimals == 6 else "Coin"
            token = chain.deploy(coins[name], *(() if decimals == 6 else (f"T{number}", decimals)))
            self.tokens.append(token)
            self.decimals[token.address] = decimals
        self.weth = weth
        chain.fund(USER, WEALTH)
        chain.fund(DEPLOYER, WEALTH)
        weth.send("deposit", value=10**33, sender=USER)
        weth.send("deposit", value=10**33)
        for token in self.tokens[1:]:
            for owner in (USER, DEPLOYER):
                token.send("mint", owner, WEALTH)
        for token in self.tokens:
            token.send("approve", ALLOWANCE_HOLDER, WEALTH, sender=USER)
        self.places: dict[str, tuple[str, Any]] = {}
        self.factory = chain.deploy(load_artifact(f"{_PAIRS}/UniswapV2Factory.json"), DEPLOYER)

    def open_pair(self, rng: Random, first: Contract, second: Contract) -> None:
        """Open a pair with random reserves."""
        (address,) = self.factory.send("createPair", first.address, second.address)
        pair = self.chain.at(address, load_artifact(f"{_PAIRS}/UniswapV2Pair.json"))
        for token in (first, second):
            token.send("transfer", pair.address, int(10 ** (self.decimals[token.address] + rng.uniform(4, 6))))
        pair.send("mint", DEPLOYER)
        self.places[pair.address] = ("pair", pair)

    def read_pair(self, pair: Contract) -> Pool:
        """Return a pair as it is."""
        from swapcli.families.uniswap.constant_product import ConstantProduct

        tokens = tuple(str(pair.call(name)[0]).lower() for name in ("token0", "token1"))
        decimals = tuple(self.decimals[token] for token in tokens)
        reserves = pair.call("getReserves")[:2]
        return ConstantProduct(pair.address, "pair", tokens, decimals, _V2_FEE_PPM, reserves)


class FamilyPools(ABC):
    """The contracts of a family on a world's node."""

    family: str
    source: str
    """Where the contracts are published."""
    protocols: Mapping[str, str]
    """The action of Settler for each protocol."""

    def __init__(self, world: World) -> None:
        """Subclasses set `routers`: the contract that Settler calls for each protocol, if not the pool itself."""
        self.world = world
        self.routers: dict[str, str] = {}

    def open_all(self, rng: Random) -> None:
        """Open a pool of each two tokens."""
        tokens = self.world.tokens
        for number, first in enumerate(tokens):
            for second in tokens[:number]:
                self.open(rng, *rng.sample((first, second), 2))

    @abstractmethod
    def open(self, rng: Random, first: Contract, second: Contract) -> None:
        """Open a pool of two tokens with random state, and enter it in the world's places."""

    @abstractmethod
    def read(self, protocol: str, place: Any, time_s: int) -> Pool:
        """Return a pool as a swap in a block at `time_s` finds it."""


def recorded_network(document: Mapping[str, Any]) -> Network:
    """Return the network of a file of executions."""
    actions = {PAIR.amm_name: "UNISWAPV2", **document["actions"]}
    return Network(
        "recorded",
        Kind.EVM,
        CHAIN_ID,
        Token(ZERO_ADDRESS, "ETH", "Ether", 18),
        Token(document["wrapped"], "WETH", "Wrapped Ether", 18),
        (),
        (PAIR, *(ProtocolInfo(10 + k, name, name, document["family"]) for k, name in enumerate(document["actions"]))),
        router_dialect=SETTLER,
        routers={SETTLER: DialectRouter(spender=ALLOWANCE_HOLDER, protocols=actions)},
        deployments=tuple(
            Deployment((name,), name, {"router": router}) for name, router in document["routers"].items()
        ),
    )


class Recorder:
    """Executes routes over pairs and pools of a family, and records them."""

    def __init__(self, world: World, pools: FamilyPools) -> None:
        self.world, self.pools = world, pools
        self.network = recorded_network(self.document([]))
        self.dialect = SettlerDialect(self.network)

    def read_market(self, time_s: int) -> dict[str, Pool]:
        """Return all pools as a block at `time_s` finds them."""
        world = self.world
        found = (
            world.read_pair(place) if protocol == "pair" else self.pools.read(protocol, place, time_s)
            for protocol, place in world.places.values()
        )
        return {pool.key: pool for pool in found}

    def execute(self, rng: Random) -> dict[str, Any] | None:
        """Execute a random route and return its record; None if its pools refuse it or the family is not in it."""
        chain, settler = self.world.chain, self.world.settler.address
        self._empty_settler()
        time_s = int(chain.node.ask("eth_getBlockByNumber", "latest", False)["timestamp"], 16) + BLOCK_S
        market = self.read_market(time_s)
        token_in, token_out = rng.sample(sorted(self.world.decimals), 2)
        amount_in = max(1, int(10 ** (self.world.decimals[token_in] + rng.uniform(-2, 4))))
        try:
            done = replay(market, random_route(rng, market, token_in, token_out), amount_in, self.dialect.execution)
        except PoolError:
            return None
        used = {key: market[key] for key in done.pools_after}
        if all(pool.protocol == "pair" for pool in used.values()):
            return None
        weth = self.world.weth.address
        swap_type = SwapType.TOKEN_TO_TOKEN
        if weth in (token_in, token_out) and rng.random() < 0.5:
            swap_type = SwapType.NATIVE_TO_TOKEN if token_in == weth else SwapType.TOKEN_TO_NATIVE
        route = RouterRouteParam(token_in, token_out, amount_in, done.amount_out, done.amount_out, RECIPIENT, swap_type)
        swap = ReplayedSwap(route, done.steps, used, None, DEADLINE_S)
        payload = self.dialect.build_payload(swap, settler)
        dear = self.dialect.build_payload(
            swap._replace(route=route._replace(min_received=done.amount_out + 1)), settler
        )
        call = {"from": USER, "to": payload.to, "value": hex(payload.value), "gas": hex(30_000_000)}
        with pytest.raises(RevertedError, match=TOO_MUCH_SLIPPAGE):  # a minimum one unit too high
            chain.node.ask("eth_call", {**call, "data": dear.calldata}, "latest", {}, {"time": hex(time_s)})
        is_native = swap_type is SwapType.TOKEN_TO_NATIVE
        before = self._balance(token_out, is_native)
        chain.node.ask("evm_setNextBlockTimestamp", time_s)
        receipt = chain.receipt(chain.node.ask("eth_sendTransaction", {**call, "data": payload.calldata}))
        received = self._balance(token_out, is_native) - before
        assert receipt.succeeded, (swap, self._reason(call, payload.calldata))
        assert received == done.amount_out, (received, done)
        gas = self.dialect.execution.gas
        estimate = route_gas(used, done, gas) + gas_of_terms(used, done.steps, swap_type, gas)
        return {
            "pools": [pool_to_json(pool) for pool in used.values()],
            "steps": [[*step[:4]] for step in done.steps],
            "amount_in": str(amount_in),
            "swap_type": swap_type.name,
            "received": str(received),
            "gas": receipt.gas_used,
            "calldata_hash": keccak256(bytes.fromhex(payload.calldata[2:])).hex(),
            "estimate": estimate,
        }

    def _empty_settler(self) -> None:
        """Take what pools left of their input: Settler would pay it to the next recipient."""
        chain, settler = self.world.chain, self.world.settler.address
        chain.fund(settler, 10**18)  # for the gas
        for token in self.world.tokens:
            (left,) = token.call("balanceOf", settler)
            if left:
                token.send("transfer", DEPLOYER, left, sender=settler)
        chain.fund(settler, 0)

    def _balance(self, token: str, is_native: bool) -> int:
        if is_native:
            return self.world.chain.native_balance(RECIPIENT)
        (contract,) = (each for each in self.world.tokens if each.address == token)
        return int(contract.call("balanceOf", RECIPIENT)[0])

    def _reason(self, call: Mapping[str, str], calldata: str) -> str:
        try:
            return str(self.world.chain.node.ask("eth_call", {**call, "data": calldata}, "latest"))
        except RevertedError as error:
            return str(error)

    def document(self, executions: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the file of the executions."""
        return {
            "source": f"0x Settler (github 0xProject/0x-settler @f6b7303) and {self.pools.source}, on anvil",
            "settler": self.world.settler.address,
            "wrapped": self.world.weth.address,
            "decimals": self.world.decimals,
            "family": self.pools.family,
            "actions": dict(self.pools.protocols),
            "routers": self.pools.routers,
            "executions": executions,
        }
