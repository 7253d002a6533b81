"""Read the market of a contract fixture: the state of every pool, by its view functions, in one round of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from eth_abi.abi import decode

from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families import family
from swapcli.testing.evm import Contract, selector
from tests.chain.contract_fixture import ContractFixture, Place
from tests.support.outside_ids import keccak256

Question = tuple[str, bytes]
GAS_PRICE_WEI = 10**9

_POOLS_SLOT = 6
_LIQUIDITY_OFFSET = 3
_TICKS_OFFSET = 4
_EXTSLOAD = "extsload(bytes32)"


def read_market(world: ContractFixture) -> MarketState:
    """Read all pools at the latest block."""
    pools = read_pools(world, world.places)
    return MarketState(
        network=world.network,
        tokens={token.address: token for token in world.tokens.values()},
        pools={pool.key: pool for pool in pools},
        provenance=Provenance.SYNCED,
        source="the chain itself",
        gas_price_wei=GAS_PRICE_WEI,
    )


def read_pools(world: ContractFixture, places: Iterable[Place]) -> list[Pool]:
    """The pools at `places`, in order, all on one state."""
    readers = [READERS[place.protocol](world, place) for place in places]
    questions = [next(reader) for reader in readers]
    answers = iter(world.chain.call_all([each for some in questions for each in some]))
    pools = []
    for reader, requests in zip(readers, questions, strict=True):
        try:
            reader.send([next(answers) for _ in requests])
        except StopIteration as done:
            pools.append(done.value)
    return pools


# A reader says what it must ask, takes the answers, and returns the pool.
_Reader = Iterator[Any]


def _pair(world: ContractFixture, place: Place) -> Any:
    (answer,) = yield [question(place.contract, "getReserves")]
    reserves = [str(each) for each in place.contract.decode_output("getReserves", answer)[:2]]
    state: dict[str, object] = {"reserves": reserves}
    if place.protocol == "solidlyVolatile":
        state["variant"] = "solidly"
    return build_read_pool(world, place, state)


def _v3(world: ContractFixture, place: Place) -> Any:
    pool = place.contract
    algebra = place.protocol == "algebra"
    first = "globalState" if algebra else "slot0"
    requests = [
        question(pool, first),
        question(pool, "liquidity"),
        *(question(pool, "ticks", t) for t in place.ticks),
    ]
    position, liquidity, *ticks = yield requests
    sqrt_price, tick = pool.decode_output(first, position)[:2]
    ladder = [(t, pool.decode_output("ticks", each)[:2]) for t, each in zip(place.ticks, ticks, strict=True)]
    state = _concentrated(place, sqrt_price, tick, pool.decode_output("liquidity", liquidity)[0], ladder)
    return build_read_pool(world, place, {**state, **({"variant": "algebra_integral"} if algebra else {})})


def _v4(world: ContractFixture, place: Place) -> Any:
    """Read a pool from the storage of the manager, which has a mapping of pools and no view functions."""
    home = int.from_bytes(keccak256(bytes.fromhex(place.pool_id[2:]) + _POOLS_SLOT.to_bytes(32)))
    slots = [home, home + _LIQUIDITY_OFFSET, *(_tick_slot(home, tick) for tick in place.ticks)]
    words = yield [question(place.contract, _EXTSLOAD, slot.to_bytes(32)) for slot in slots]
    position, liquidity, *ticks = (int.from_bytes(word) for word in words)
    gross_and_net = ((_low(word, 128), _signed(word >> 128, 128)) for word in ticks)
    ladder = list(zip(place.ticks, gross_and_net, strict=True))
    tick = _signed(_low(position >> 160, 24), 24)
    state = _concentrated(place, _low(position, 160), tick, liquidity, ladder)
    traits = {
        "pool_id": place.pool_id,
        "native": place.native,
        "hooks": place.hooks,
        "dynamic_fee": place.has_dynamic_fee,
        "protocol_fees_ppm": [_low(position >> 184, 12), _low(position >> 196, 12)],
    }
    return build_read_pool(world, replace(place, fee_ppm=_low(position >> 208, 24)), {**state, **traits})


def _stableswap(world: ContractFixture, place: Place) -> Any:
    pool = place.contract
    words = yield [question(pool, "A"), *(question(pool, "balances", k) for k in range(len(place.tokens)))]
    amp, *balances = (int.from_bytes(word) for word in words)
    return build_read_pool(
        world,
        place,
        {
            "amp": amp,
            "reserves": [str(each) for each in balances],
            "rates": [str(10**18)] * len(balances),
        },
    )


def _weighted(world: ContractFixture, place: Place) -> Any:
    (pool_id,), (vault,) = place.contract.call("getPoolId"), place.contract.call("getVault")
    weights, pool_tokens = yield [
        question(place.contract, "getNormalizedWeights"),
        (vault, selector("getPoolTokens(bytes32)") + pool_id),
    ]
    _, reserves, _ = decode(["address[]", "uint256[]", "uint256"], pool_tokens)
    (parts,) = place.contract.decode_output("getNormalizedWeights", weights)
    state = {"reserves": [str(each) for each in reserves], "weights": [str(each) for each in parts]}
    return build_read_pool(world, place, {**state, "pool_id": f"0x{pool_id.hex()}"})


READERS: dict[str, Callable[[ContractFixture, Place], Any]] = {
    "uniswapV2": _pair,
    "solidlyStable": _pair,
    "solidlyVolatile": _pair,
    "uniswapV3": _v3,
    "pancakeSwapV3": _v3,
    "slipstream": _v3,
    "algebra": _v3,
    "uniswapV4": _v4,
    "curveFi": _stableswap,
    "balancerV2Weighted": _weighted,
}


def question(contract: Contract, function: str, *arguments: object) -> Question:
    return contract.address, contract.calldata(function, *arguments)


def _concentrated(
    place: Place, sqrt_price: int, tick: int, liquidity: int, ladder: Sequence[tuple[int, Sequence[int]]]
) -> dict[str, object]:
    return {
        "sqrt_price_x96": str(sqrt_price),
        "tick": tick,
        "liquidity": str(liquidity),
        "tick_spacing": place.tick_spacing,
        "ticks": [[t, str(net)] for t, (gross, net) in ladder if gross],
    }


def build_read_pool(world: ContractFixture, place: Place, state: dict[str, object]) -> Pool:
    info = world.network.protocol(place.protocol)
    assert info is not None
    assert info.family is not None
    decimals = tuple(world.tokens[world.symbol(token)].decimals for token in place.tokens)
    identity = PoolIdentity(place.contract.address, place.protocol, place.tokens, decimals, place.fee_ppm)
    return family(info.family).from_state(identity, state)


def _tick_slot(home: int, tick: int) -> int:
    return int.from_bytes(keccak256(tick.to_bytes(32, signed=True) + (home + _TICKS_OFFSET).to_bytes(32)))


def _low(value: int, bits: int) -> int:
    return value & (1 << bits) - 1


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value
