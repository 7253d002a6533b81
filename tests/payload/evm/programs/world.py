"""A local chain with the routers of every dialect and real pools, on which programs are executed without being mined.

The sender has code at its address, which makes the call of a program and reports which balances changed. Each program
is a call of that code at a block: block by block, another token became dear in all pools, so that a minimum that no
router enforces is missed in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from eth_abi.abi import decode, encode

from swapcli.core.model.market import MarketState
from swapcli.core.model.network import FIBROUS, OWN, SETTLER, UNIVERSAL_ROUTER, Deployment, DialectRouter, Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.families.row import PoolUse
from swapcli.payload.evm import encode_call
from swapcli.payload.evm.extra_data import encode_extra_data
from swapcli.testing.evm import Contract, selector
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.contract_fixture import CENTS, DECIMALS, WETH
from tests.chain.market_reader import read_market
from tests.chain.settler_fixture import PROTOCOLS as SETTLER_PROTOCOLS
from tests.chain.trader import INTEGRATOR, USER
from tests.chain.universal_fixture import CHAIN_ID, PROTOCOLS, UniversalFixture
from tests.contracts.evm import compile_solidity
from tests.payload.evm.programs.program import ExecutedProgram, Program

RECIPIENT: Final = "0x" + "be" * 20
STRANGERS: Final = ("0x" + "ba" * 20, "0x" + "d1" * 20)
"""Accounts that no honest program pays."""
UNIVERSAL_2_0, UNIVERSAL_2_1 = "universal-router 2.0", "universal-router 2.1.0"
TARGETS: Final = (UNIVERSAL_2_0, UNIVERSAL_2_1, SETTLER, OWN, FIBROUS)
"""What programs are for: a dialect, or a release of one.

The public router's code is in no package: ours, which has the same calls, stands for it.
"""
_UNLIMITED: Final = 2**256 - 1
_DAY_S: Final = 86_400
_GAS: Final = hex(200_000_000)
_SHIFT_DOLLARS: Final = 1_000_000
"""Spent in each pool of a token to make it dear: pools hold four million dollars of each token."""
_CALL, _RESULT = "(address,uint256,bytes)", ["bool", "bytes", "int256[]"]


class State(NamedTuple):
    """A state of the pools: `dear` is the token that became dear, None of the state that quotes are made on."""

    dear: str | None
    block: int


class ProgramWorld(UniversalFixture):
    """Pools of every generation of Uniswap and of some other families, and a router of each dialect."""

    def __init__(self, chain: AnvilChain) -> None:
        super().__init__(chain)
        self.anvil = chain
        self.own = self.deploy_router(self.network._replace(router=None))
        self.universal = {UNIVERSAL_2_0: self.router}
        self.use_release("2.1.0")
        self.universal[UNIVERSAL_2_1] = self.router
        contracts = compile_solidity("settler.sol")
        self.holder = chain.deploy(contracts["AllowanceHolder"])
        self.settler = chain.deploy(contracts["SettlerModel"], self.holder.address, self.manager.address)
        for place in self.places:
            if place.protocol in ("uniswapV3", "pancakeSwapV3"):
                fork = ("uniswapV3", "pancakeSwapV3").index(place.protocol)
                self.settler.send("register", fork, *place.tokens, place.fee_ppm, place.contract.address)
        self.networks = {target: self._target_network(target) for target in TARGETS}
        self.owners = (
            *(USER, RECIPIENT, INTEGRATOR, *STRANGERS),
            *(self.own.address, self.settler.address, *(each.address for each in self.universal.values())),
            *(self.holder.address, PERMIT2, ZERO_ADDRESS, "0x" + "1".zfill(40), "0x" + "2".zfill(40)),
        )
        self.assets = (*(token.address for token in self.tokens.values()), ZERO_ADDRESS)
        self.sender = self._place_sender()
        self._fund_user()
        self.market = read_market(self)
        self.now_s = int(chain.node.ask("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
        self.deadline_s = self.now_s + _DAY_S
        self.states = (State(None, self._block()), *self._shifted_states())

    def router_of(self, target: str) -> str:
        """Return the router that holds the tokens while a program of a target runs."""
        return self.networks[target].router or ""

    def target_market(self, target: str) -> MarketState:
        """Return the market with the routers of a target."""
        return self.market._replace(network=self.networks[target])

    def execute(self, program: Program, state: State) -> ExecutedProgram:
        """Run a program on a state of the pools, without changing it."""
        call = (program.to, program.value, bytes.fromhex(program.calldata[2:]))
        arguments = encode([_CALL, "address[]", "address[]"], [call, self.owners, self.assets])
        data = selector(f"measure({_CALL},address[],address[])") + arguments
        request = {"from": USER, "to": USER, "data": f"0x{data.hex()}", "gas": _GAS}
        returned = self.anvil.node.ask("eth_call", request, hex(state.block))
        succeeded, output, changes = decode(_RESULT, bytes.fromhex(returned[2:]))
        pairs = ((owner, asset) for asset in self.assets for owner in self.owners)
        return ExecutedProgram(succeeded, output, {pair: n for pair, n in zip(pairs, changes, strict=True) if n})

    def _open_pools(self) -> None:
        super()._open_pools()
        self.open_solidly("USDC", "DAI", True, 500)
        self.open_solidly(WETH, "TKN", False, 3000)
        self.open_pancake_v3("DAI", WETH, 500, 10)
        self.open_stableswap("USDC", "USDT", "DAI")
        self.open_weighted((WETH, "WBTC", "DAI"), (50, 25, 25), 3000)

    def _target_network(self, target: str) -> Network:
        (vault,) = next(each for each in self.places if each.protocol == "balancerV2Weighted").contract.call("getVault")
        balancer = Deployment(("balancerV2Weighted",), "Balancer V2", {"vault": vault})
        version = "2.1.0" if target == UNIVERSAL_2_1 else "2.0"
        universal = self.universal[UNIVERSAL_2_1 if target == UNIVERSAL_2_1 else UNIVERSAL_2_0]
        routers = {
            OWN: DialectRouter(self.own.address),
            FIBROUS: DialectRouter(self.own.address),
            UNIVERSAL_ROUTER: DialectRouter(universal.address, version=version, protocols=PROTOCOLS),
            SETTLER: DialectRouter(self.settler.address, spender=self.holder.address, protocols=SETTLER_PROTOCOLS),
        }
        dialect = UNIVERSAL_ROUTER if target in self.universal else target
        return self.network._replace(
            routers=routers,
            router_dialect=dialect,
            router=routers[dialect].address,
            deployments=(*self.network.deployments, balancer),
        )

    def _place_sender(self) -> Contract:
        artifact = compile_solidity("programs.sol")["ProgramSender"]
        return self.chain.place(USER, artifact)

    def _fund_user(self) -> None:
        """Give the user everything, and every router all allowances: only a program limits what it takes."""
        calls: list[tuple[str, int, bytes]] = []
        token = self.contracts["USDC"]
        for symbol, places in DECIMALS.items():
            self.give(symbol, USER, 10**8 * 10**places)
            address = self.address(symbol)
            spenders = PERMIT2, self.own.address, self.holder.address
            calls += [(address, 0, token.calldata("approve", each, _UNLIMITED)) for each in spenders]
            for router in self.universal.values():
                terms = address, router.address, 2**160 - 1, 2**47
                words = encode(["address", "address", "uint160", "uint48"], terms)
                calls.append((PERMIT2, 0, selector("approve(address,address,uint160,uint48)") + words))
        self.chain.fund(USER, 10**27)
        self._run(calls)

    def _run(self, calls: list[tuple[str, int, bytes]]) -> None:
        """Make calls of the user, most of which must succeed: some pools have less liquidity than is bought."""
        data = self.sender.calldata("run", calls)
        sent = {"from": USER, "to": USER, "data": f"0x{data.hex()}", "gas": _GAS}
        succeeded = int(self.anvil.node.ask("eth_call", sent, "latest"), 16)
        assert succeeded >= len(calls) * 3 // 4, f"{succeeded} of {len(calls)}"
        assert self.anvil.receipt(self.anvil.node.ask("eth_sendTransaction", sent)).succeeded

    def _block(self) -> int:
        return int(self.anvil.node.ask("eth_blockNumber"), 16)

    def _shifted_states(self) -> Iterator[State]:
        """Make one token after the other dear: buy it in every pool, and sell as much again afterwards."""
        for symbol in DECIMALS:
            dear = self.address(symbol)
            before = {token: self.balance(token, USER) for token in self.assets[:-1]}
            self._run([self._swap(pool, other, dear) for pool, other in self._pools_of(dear)])
            yield State(dear, self._block())
            bought = self.balance(dear, USER) - before[dear]
            pools = self._pools_of(dear)
            self._run([self._swap(pool, dear, other, bought // len(pools)) for pool, other in pools])

    def _pools_of(self, token: str) -> list[tuple[Pool, str]]:
        return [
            (pool, other)
            for pool in self.market.pools.values()
            if token in pool.tokens
            for other in pool.tokens
            if other != token
        ]

    def _swap(self, pool: Pool, sold: str, bought: str, amount: int | None = None) -> tuple[str, int, bytes]:
        symbol = self.symbol(sold)
        amount = amount or _SHIFT_DOLLARS * 100 * 10 ** DECIMALS[symbol] // CENTS[symbol]
        protocol = self.network.protocol(pool.protocol)
        assert protocol is not None
        extra = encode_extra_data(PoolUse(pool, sold, bought, protocol))
        swap = RouterSwapParam(sold, bought, 10**6, protocol.id, pool.address, SwapType.TOKEN_TO_TOKEN, extra)
        route = RouterRouteParam(sold, bought, amount, 1, 0, USER, SwapType.TOKEN_TO_TOKEN)
        return self.own.address, 0, bytes.fromhex(encode_call(RouterCall(route, (swap,)))[2:])


@contextmanager
def open_program_world() -> Iterator[ProgramWorld]:
    """On a fresh node, which ends with the block."""
    with running_anvil(CHAIN_ID) as chain:
        yield ProgramWorld(chain)


def symbols(world: ProgramWorld) -> Mapping[str, str]:
    """Return the symbol of each asset, for messages."""
    return {**{token.address: symbol for symbol, token in world.tokens.items()}, ZERO_ADDRESS: "ETH"}
