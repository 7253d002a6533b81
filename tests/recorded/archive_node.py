"""An archive node of a chain on which the recorded swaps were mined, one in each block, on the recorded states.

It answers for pairs and for concentrated pools with a contract of their own, as their contracts would. The swaps of
other families are mined too, but their pools answer nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from swapcli.core.encoding.abi import WORD, encode_word
from swapcli.core.errors import InvalidPoolState, PoolError
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network
from swapcli.families import family
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.constant_product import ConstantProduct
from tests.chain.node.server import Refused
from tests.recorded.replay import recorded_pools
from tests.support.outside_ids import topic_of

FIRST_BLOCK = 1_000
MAX_SWAPS = 8
"""Of one pool: some have forty, which differ by their amounts alone."""
_TIME_S = 1_700_000_000
_PAIR_SWAP = topic_of("Swap(address,uint256,uint256,uint256,uint256,address)")
_POOL_SWAP = topic_of("Swap(address,address,int256,int256,uint160,uint128,int24)")
_CURVE_SWAP = topic_of("TokenExchange(address,int128,uint256,int128,uint256)")
_SENDER = "0x" + f"{7:064x}"
_GAS_USED, _GAS_PRICE_WEI = 150_000, 10**7


class RecordedTransaction(NamedTuple):
    """A swap that was mined in the block with this number; `is_served` if the node answers for its pool."""

    block: int
    hash: str
    pool: Pool
    token_in: str
    token_out: str
    amount_in: int
    amount_out: int
    is_served: bool

    @property
    def log(self) -> dict[str, Any]:
        """The event of the swap."""
        topics, words = self._event()
        return {
            "address": self.pool.address,
            "topics": topics,
            "data": f"0x{b''.join(words).hex()}",
            "blockNumber": hex(self.block),
            "logIndex": "0x0",
        }

    def _event(self) -> tuple[list[str], Sequence[bytes]]:
        sold, bought = (self.pool.tokens.index(token) for token in (self.token_in, self.token_out))
        if not self.is_served:
            words = (sold, self.amount_in, bought, self.amount_out)
            return [_CURVE_SWAP, _SENDER], [encode_word(word) for word in words]
        if isinstance(self.pool, ConstantProduct):
            pair = (self.amount_in, 0, 0, self.amount_out) if sold == 0 else (0, self.amount_in, self.amount_out, 0)
            return [_PAIR_SWAP, _SENDER, _SENDER], [encode_word(word) for word in pair]
        try:
            after = self.pool.swap(self.token_in, self.token_out, self.amount_in)[1]
        except PoolError:
            after = self.pool  # the contract pays for a part of the input
        assert isinstance(after, Concentrated)
        amounts = (self.amount_in, -self.amount_out) if sold == 0 else (-self.amount_out, self.amount_in)
        state = (after.sqrt_price_x96, after.liquidity, after.tick)
        return [_POOL_SWAP, _SENDER, _SENDER], [_signed_word(word) for word in (*amounts, *state)]


class RecordedChain:
    """The chain: its transactions, the market of the pools that it answers for, and its answers as a node."""

    def __init__(self) -> None:
        self._pools: dict[str, Pool] = {}
        self.transactions = list(self._mined())
        self._by_hash = {each.hash: each for each in self.transactions}
        self._by_block = {each.block: each for each in self.transactions}

    def _mined(self) -> Iterator[RecordedTransaction]:
        number = FIRST_BLOCK
        for at, recorded in enumerate(recorded_pools()):
            pool = _build_pool(recorded, f"0x{at + 1:040x}")
            if pool is None:
                continue
            is_served = _is_served(pool)
            if is_served:
                self._pools[pool.address] = pool
            paid = [swap for swap in recorded["swaps"] if int(swap["amount_out"] or 0)]
            for swap in paid[:MAX_SWAPS]:
                number += 2
                sides = swap["token_in"].lower(), swap["token_out"].lower()
                amounts = int(swap["amount_in"]), int(swap["amount_out"])
                yield RecordedTransaction(number, f"0x{number:064x}", pool, *sides, *amounts, is_served)

    @cached_property
    def market(self) -> MarketState:
        """The pools that the node answers for, as they are known before anything is read."""
        tokens = {
            address: Token(address, _symbol(address), _symbol(address), decimals)
            for pool in self._pools.values()
            for address, decimals in zip(pool.tokens, pool.decimals, strict=True)
        }
        network = find_network("base")._replace(multicall=None, l1_fee_oracle=None)
        return MarketState(network, tokens, self._pools, Provenance.SYNCED, "recorded pools", 0, FIRST_BLOCK, _TIME_S)

    def answer(self, request: Mapping[str, Any]) -> object:
        """Answer one request of JSON-RPC."""
        method, params = request["method"], request["params"]
        if method == "eth_getBlockByNumber":
            return _block(int(params[0], 16))
        if method == "eth_getTransactionReceipt":
            return self._receipt(params[0])
        if method == "eth_getLogs":
            mined = self._by_block.get(int(params[0]["fromBlock"], 16))
            return [mined.log] if mined and mined.log["address"] in params[0]["address"] else []
        if method == "eth_call":
            return f"0x{self._call(params[0].get('to', ''), bytes.fromhex(params[0]['data'][2:]), params[1]).hex()}"
        raise Refused(-32_601, f"the method {method} does not exist")

    def _receipt(self, transaction: str) -> object:
        mined = self._by_hash.get(transaction)
        if mined is None:
            return None
        block = _block(mined.block)
        return {
            "transactionHash": mined.hash,
            "blockNumber": block["number"],
            "blockHash": block["hash"],
            "status": "0x1",
            "gasUsed": hex(_GAS_USED),
            "effectiveGasPrice": hex(_GAS_PRICE_WEI),
            "logs": [mined.log],
        }

    def _call(self, to: str, data: bytes, block: str) -> bytes:
        if not to:
            return int(block, 16).to_bytes(WORD)  # the code that returns the number of its block
        pool = self._pools.get(to)
        found = _token_answers(to, self.market).get(data) if to in self.market.tokens else None
        if isinstance(pool, ConstantProduct):
            found = _pair_answers(pool).get(data)
        if isinstance(pool, Concentrated):
            found = _pool_answer(pool, data)
        if found is None:
            raise Refused(3, "execution reverted")
        return found


def _build_pool(recorded: Mapping[str, Any], address: str) -> Pool | None:
    """Return a recorded pool at an address of its own; None for a state that contradicts itself."""
    tokens = tuple(token.lower() for token in recorded["tokens"])
    protocol, decimals = _protocol(recorded["family"]), tuple(recorded["decimals"])
    identity = PoolIdentity(address, protocol, tokens, decimals, recorded["fee_ppm"])
    try:
        return family(recorded["family"]).from_state(identity, recorded["state"])
    except InvalidPoolState:
        return None


def _is_served(pool: Pool) -> bool:
    if isinstance(pool, ConstantProduct):
        return not pool.is_solidly
    return isinstance(pool, Concentrated) and bool(pool.tick_list.word_ticks) and not pool.tick_list.pool_id


def _protocol(name: str) -> str:
    return {"constant_product": "uniswapV2", "concentrated": "uniswapV3"}.get(name, "curve")


def _block(number: int) -> dict[str, str]:
    return {
        "number": hex(number),
        "hash": f"0x{number:064x}",
        "parentHash": f"0x{number - 1:064x}",
        "timestamp": hex(_TIME_S + number),
    }


def _symbol(address: str) -> str:
    return f"T{address[-4:]}"


def _token_answers(address: str, market: MarketState) -> Mapping[bytes, bytes]:
    text = _symbol(address).encode()
    encoded = encode_word(WORD) + encode_word(len(text)) + text.ljust(WORD, b"\0")
    decimals = encode_word(market.tokens[address].decimals)
    return {encode_call("decimals()"): decimals, encode_call("symbol()"): encoded, encode_call("name()"): encoded}


def _pair_answers(pool: ConstantProduct) -> Mapping[bytes, bytes]:
    return {encode_call("getReserves()"): b"".join(map(encode_word, (*pool.reserves, 0)))}


def _pool_answer(pool: Concentrated, data: bytes) -> bytes | None:
    ticks = pool.tick_list
    argument = int.from_bytes(data[4:], signed=True)
    match data[:4]:
        case selector if selector == encode_call("slot0()"):
            return b"".join(_signed_word(word) for word in (pool.sqrt_price_x96, pool.tick, 0, 0, 0, 0, 1))
        case selector if selector == encode_call("liquidity()"):
            return encode_word(pool.liquidity)
        case selector if selector == encode_call("fee()"):
            return encode_word(pool.fee_ppm)
        case selector if selector == encode_call("tickSpacing()"):
            return encode_word(ticks.tick_spacing)
        case selector if selector == encode_call("tickBitmap(int16)", 0)[:4]:
            places = (tick // ticks.tick_spacing for tick in ticks.ticks)
            return encode_word(sum(1 << (place & 255) for place in places if place >> 8 == argument))
        case selector if selector == encode_call("ticks(int24)", 0)[:4]:
            nets = dict(zip(ticks.ticks, ticks.liquidity_nets, strict=True))
            net = nets.get(argument, 0)
            return encode_word(abs(net)) + _signed_word(net) + bytes(6 * WORD)
    return None


def _signed_word(value: int) -> bytes:
    return value.to_bytes(WORD, signed=value < 0)
