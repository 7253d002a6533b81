"""Tokens whose transfers are not what they seem, with pools, in a world of ordinary ones."""

from __future__ import annotations

from swapcli.core.model.token import Token
from swapcli.testing.evm import DEPLOYER, Contract, ContractArtifact
from tests.chain.contract_fixture import DECIMALS, ContractFixture, Place
from tests.contracts.evm import compile_solidity, load_artifact

UNIT = 10**18
WHOLE = 10**24
"""What pools hold of an odd token."""
STETH_POT = 1_234_567_890_123_456_789_012_345_678_901
"""A share is worth about 1.23 units, as that of stETH."""


def sources() -> dict[str, ContractArtifact]:
    """The contracts, by name."""
    return compile_solidity("traps.sol", "tokens.sol")


def add_token(world: ContractFixture, kind: str, *arguments: object, symbol: str = "ODD") -> Contract:
    """A new token of the world, described like the others."""
    contract = world.chain.deploy(sources()[kind], symbol, *arguments)
    world.contracts[symbol] = contract
    world.tokens[symbol] = Token(contract.address, symbol, symbol, 18)
    return contract


def forget_tokens(world: ContractFixture, *symbols: str) -> None:
    """The world as it was described before: for worlds that several tests share."""
    for symbol in symbols:
        world.contracts.pop(symbol, None)
        world.tokens.pop(symbol, None)
    known = {token.address for token in world.tokens.values()}
    world.places[:] = [place for place in world.places if known.issuperset(place.tokens)]


def open_pair(world: ContractFixture, symbol: str, other: str = "DAI", *, amount: int = WHOLE) -> Place:
    """A pair of Uniswap V2 that holds as much of either token."""
    tokens = world._addresses(*world._sorted(symbol, other))
    (address,) = world.factory.send("createPair", *tokens)
    pair = world.chain.at(address, load_artifact("@uniswap/v2-core/build/UniswapV2Pair.json"))
    return _filled(world, Place("uniswapV2", pair, tokens, 3000), amount)


def open_solidly(world: ContractFixture, symbol: str, other: str, stable: bool, *, amount: int = WHOLE) -> Place:
    """A pair of Solidly's kind that holds as much of either token."""
    artifact = compile_solidity("sphere-mezo-solidity-files/domains/aerodrome/contracts/Pool.sol")["Pool"]
    tokens = world._addresses(*world._sorted(symbol, other))
    host = world.chain.deploy(world.kit["PoolHost"])
    pair = world.chain.at(world._hosted(artifact, tokens, 500, 0, host), artifact)
    host.send("call", pair.address, pair.calldata("initialize", *tokens, stable))
    return _filled(world, Place("solidlyStable" if stable else "solidlyVolatile", pair, tokens, 500), amount)


def open_curve(world: ContractFixture, symbol: str, other: str, *, amount: int = WHOLE) -> Place:
    """A pool of Curve's kind that holds as much of either token."""
    tokens = world._addresses(symbol, other)
    pool = world.chain.deploy(world.sources["StableSwap"], tokens, [UNIT, UNIT], 200, 4_000_000)
    for each in (symbol, other):
        world.give(each, pool.address, amount)
    pool.send("fill")
    return world._add(Place("curveFi", pool, tokens, 400))


def _filled(world: ContractFixture, place: Place, amount: int) -> Place:
    """With as much of the other token as really came in of the odd one, which Solidly's stable pairs insist on."""
    pair = place.contract
    odd, other = sorted(map(world.symbol, place.tokens), key=lambda symbol: symbol in DECIMALS)
    world.give(odd, pair.address, amount)
    world.give(other, pair.address, world.balance(world.address(odd), pair.address))
    pair.send("mint", DEPLOYER)
    return world._add(place)
