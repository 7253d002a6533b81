"""A node of Starknet for tests: real JSON-RPC over HTTP on loopback, on a chain of contracts in memory.

It keeps the state after every block, returns events in pages, forgets blocks in a reorganization, and can refuse
batches or return invalid results. It speaks version 0.8, 0.9 or 0.10 of the specification, and refuses every request
that the patterns of that version do not allow. Contracts are models: of Ekubo's core as in `ekubo_core`, of others just
their views.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from Crypto.Hash import keccak

from tests.payload.starknet.ekubo_core import PoolKey, PoolState, Reverted
from tests.support.loopback_server import FakeExchange, http_response, loopback_server

CHAIN_ID = 0x534E5F4D41494E
PRIME = 2**251 + 17 * 2**192 + 1
NOW_S = 1_790_000_000
HALF = 1 << 128
GAS_PRICE = 8_000_000_000
L1_GAS_PRICE = 70_000_000_000_000
DATA_GAS_PRICE = 54_000_000_000_000
"""Prices in fri, as on mainnet in October 2026."""


def name_hash(name: str) -> int:
    """Return the selector of a name."""
    return int(keccak.new(digest_bits=256, data=name.encode()).hexdigest(), 16) % 2**250


def u256(number: int) -> list[int]:
    return [number % HALF, number // HALF]


def i129(number: int) -> list[int]:
    return [abs(number), int(number < 0)]


def short_string(text: str) -> int:
    return int.from_bytes(text.encode())


class Contract:
    """A contract: each method `do_NAME(*felts)` is a function of it, which returns felts."""

    class_hash = 0xC1A55

    def call(self, selector: int, felts: list[int]) -> list[int] | None:
        """Return the result of a function; None if there is no such function."""
        for name in dir(self):
            if name.startswith("do_") and name_hash(name.removeprefix("do_")) == selector:
                result: list[int] = getattr(self, name)(*felts)
                return result
        return None


@dataclass
class Account(Contract):
    """A deployed account, with the nonce of its next transaction."""

    nonce: int = 0


@dataclass
class TokenContract(Contract):
    """A token; with `is_long`, its texts are byte arrays as newer tokens have them."""

    symbol: str
    decimals: int
    is_long: bool = False

    def do_symbol(self) -> list[int]:
        return self._text(self.symbol)

    def do_name(self) -> list[int]:
        return self._text(f"The token {self.symbol}, whose name is longer than a felt" if self.is_long else self.symbol)

    def do_decimals(self) -> list[int]:
        return [self.decimals]

    def _text(self, text: str) -> list[int]:
        if not self.is_long:
            return [short_string(text)]
        content = text.encode()
        whole = [int.from_bytes(content[at : at + 31]) for at in range(0, len(content) - 30, 31)]
        rest = content[31 * len(whole) :]
        return [len(whole), *whole, int.from_bytes(rest), len(rest)]


@dataclass
class Pair(Contract):
    """A pair that answers as Uniswap V2's do."""

    tokens: tuple[int, int]
    reserves: list[int]

    def do_token0(self) -> list[int]:
        return [self.tokens[0]]

    def do_token1(self) -> list[int]:
        return [self.tokens[1]]


class JediPair(Pair):
    def do_get_reserves(self) -> list[int]:
        return [*u256(self.reserves[0]), *u256(self.reserves[1]), NOW_S]


@dataclass
class JediFactory(Contract):
    pairs: list[int]

    def do_get_all_pairs(self) -> list[int]:
        return [len(self.pairs), *self.pairs]


@dataclass
class NostraPair(Contract):
    """A pair of Nostra: Uniswap V2 with a fee in basis points."""

    tokens: tuple[int, int]
    reserves: list[int]
    fee: int
    whole_fee: int = 10_000

    def do_token_0(self) -> list[int]:
        return [self.tokens[0]]

    def do_token_1(self) -> list[int]:
        return [self.tokens[1]]

    def do_get_reserves(self) -> list[int]:
        return [*u256(self.reserves[0]), *u256(self.reserves[1]), NOW_S]

    def do_swap_fee(self) -> list[int]:
        return [self.fee]

    def do_out_given_in(self, low: int, high: int, first_token_in: int) -> list[int]:
        x, y = self.reserves if first_token_in else self.reserves[::-1]
        after_fee = (low + (high << 128)) * (self.whole_fee - self.fee)
        return u256(after_fee * y // (x * self.whole_fee + after_fee))


@dataclass
class TokenMigration(Contract):
    """The migration of a token to another."""

    new_token: int
    legacy_token: int
    available: int

    def do_get_new_token(self) -> list[int]:
        return [self.new_token]

    def do_get_legacy_token(self) -> list[int]:
        return [self.legacy_token]

    def do_max_available_swap(self) -> list[int]:
        return u256(self.available)


@dataclass
class NostraFactory(Contract):
    pairs: list[int]

    def do_all_pairs(self) -> list[int]:
        return [len(self.pairs), *self.pairs]


class TenkPair(Pair):
    def do_getReserves(self) -> list[int]:  # noqa: N802
        return [*self.reserves, NOW_S]


@dataclass
class TenkFactory(Contract):
    pairs: list[int]

    def do_allPairsLength(self) -> list[int]:  # noqa: N802
        return [len(self.pairs)]

    def do_allPairs(self, *index: int) -> list[int]:  # noqa: N802
        if len(index) != 1:
            raise Reverted("ENTRYPOINT_FAILED")
        return [self.pairs[index[0]]]


@dataclass
class SithPair(Contract):
    tokens: tuple[int, int]
    reserves: list[int]
    is_stable: bool
    fee: int

    def do_getTokens(self) -> list[int]:  # noqa: N802
        return list(self.tokens)

    def do_getStable(self) -> list[int]:  # noqa: N802
        return [int(self.is_stable)]

    def do_getReserve0(self) -> list[int]:  # noqa: N802
        return u256(self.reserves[0])

    def do_getReserve1(self) -> list[int]:  # noqa: N802
        return u256(self.reserves[1])

    def do_getFee0(self) -> list[int]:  # noqa: N802
        return [self.fee]

    def do_getFee1(self) -> list[int]:  # noqa: N802
        return [self.fee]


@dataclass
class SithFactory(Contract):
    pairs: list[int]

    def do_allPairsLength(self) -> list[int]:  # noqa: N802
        return [len(self.pairs) + 1]

    def do_allPairs(self, index: int) -> list[int]:  # noqa: N802
        return [self.pairs[index - 1] if index else 0]


@dataclass
class StarkDefiPair(Contract):
    tokens: tuple[int, int]
    decimals: tuple[int, int]
    reserves: list[int]
    is_stable: bool
    factory: int

    def do_factory(self) -> list[int]:
        return [self.factory]

    def do_snapshot(self) -> list[int]:
        numbers = (10 ** self.decimals[0], 10 ** self.decimals[1], *self.reserves)
        return [*self.tokens, *(felt for number in numbers for felt in u256(number)), int(self.is_stable), 0]


@dataclass
class StarkDefiFactory(Contract):
    fees: dict[int, int]

    def do_all_pairs(self) -> list[int]:
        return [len(self.fees), len(self.fees), *self.fees]

    def do_get_fee(self, pair: int) -> list[int]:
        return [self.fees[pair]]


@dataclass
class JediClPool(Contract):
    price: int
    tick: int
    liquidity: int
    fee: int
    spacing: int
    nets: dict[int, int]

    def do_get_sqrt_price_X96(self) -> list[int]:  # noqa: N802
        return u256(self.price)

    def do_get_tick(self) -> list[int]:
        return i129(self.tick)

    def do_get_liquidity(self) -> list[int]:
        return [self.liquidity]

    def do_get_fee(self) -> list[int]:
        return [self.fee]

    def do_get_tick_spacing(self) -> list[int]:
        return [self.spacing]

    def do_get_tick_info(self, magnitude: int, sign: int) -> list[int]:
        net = self.nets.get(-magnitude if sign else magnitude)
        return [0] * 7 if net is None else [abs(net), *i129(net), 0, 0, 0, 0]


@dataclass
class EkuboCore(Contract):
    """The core. `call_points` are those of each extension."""

    pools: dict[PoolKey, PoolState] = field(default_factory=dict)
    call_points: dict[int, list[int]] = field(default_factory=dict)
    class_hash: int = 0x0423DF19E032F2D9BF9BB5BC1EA96DB2B06D4C752C8C130CBA7D577EED1DE20A

    def do_get_pool_price(self, *key: int) -> list[int]:
        pool = self.pools.get(PoolKey(*key))
        return [*u256(pool.ratio), *i129(pool.tick)] if pool else [0, 0, 0, 0]

    def do_get_pool_liquidity(self, *key: int) -> list[int]:
        return [self.pools[PoolKey(*key)].liquidity]

    def do_next_initialized_tick(self, *felts: int) -> list[int]:
        *key, magnitude, sign, skip_ahead = felts
        tick, is_initialized = self.pools[PoolKey(*key)].next_tick(-magnitude if sign else magnitude, skip_ahead)
        return [*i129(tick), int(is_initialized)]

    def do_get_pool_tick_liquidity_delta(self, *felts: int) -> list[int]:
        *key, magnitude, sign = felts
        return i129(self.pools[PoolKey(*key)].deltas.get(-magnitude if sign else magnitude, 0))

    def do_get_call_points(self, extension: int) -> list[int]:
        return self.call_points.get(extension, [0] * 8)


@dataclass
class TwammExtension(Contract):
    """Ekubo's TWAMM with the orders of one pool. `changes` are those of both sale rates by their times."""

    rates: tuple[int, int] = (0, 0)
    executed_at: int = NOW_S
    changes: dict[int, tuple[int, int]] = field(default_factory=dict)
    class_hash: int = 0x07F60FE1D7E48BB51695F675DE0475325D2D131A81FC87144023AE437FCFAC32

    def do_get_sale_rate_and_last_virtual_order_time(self, *key: int) -> list[int]:
        assert len(key) == 3
        return [*self.rates, self.executed_at]

    def do_next_initialized_time(self, *felts: int) -> list[int]:
        *_, since, until = felts
        later = [time for time in sorted(self.changes) if since < time <= until]
        return [later[0], 1] if later else [until, 0]

    def do_get_sale_rate_delta(self, *felts: int) -> list[int]:
        rate0, rate1 = self.changes.get(felts[-1], (0, 0))
        return [*i129(rate0), *i129(rate1)]


@dataclass
class Block:
    number: int
    hash: int
    parent: int
    contracts: dict[int, Contract]
    events: list[dict[str, Any]]


class FakeChain:
    """Blocks, the newest last. Change `contracts` and `emit` events, then `mine` them into a block."""

    def __init__(self, start_s: int = NOW_S) -> None:
        self.start_s = start_s
        self.contracts: dict[int, Contract] = {}
        self.blocks: list[Block] = []
        self._events: list[dict[str, Any]] = []
        self._mined = 0

    def emit(self, address: int, name: str, *data: int) -> None:
        """Add an event to the next block."""
        self._events.append({"from_address": hex(address), "keys": [hex(name_hash(name))], "data": [*map(hex, data)]})

    def mine(self, count: int = 1) -> Block:
        """Add blocks, the first with what has changed; return the last one."""
        for _ in range(count):
            self._mined += 1
            parent = self.blocks[-1].hash if self.blocks else 0
            number, block_hash = len(self.blocks), name_hash(f"block {self._mined}")
            events = [event | {"block_number": number, "block_hash": hex(block_hash)} for event in self._events]
            self.blocks.append(Block(number, block_hash, parent, deepcopy(self.contracts), events))
            self._events = []
        return self.blocks[-1]

    def reorganize(self, depth: int) -> None:
        """Remove the latest blocks; contracts are as they were before them."""
        del self.blocks[-depth:]
        self.contracts = deepcopy(self.blocks[-1].contracts)


is_felt = re.compile(r"0x(0|[a-fA-F1-9]{1}[a-fA-F0-9]{0,62})").fullmatch
"""The specification's pattern of a FELT."""
TAGS = {
    "0.8": ("latest", "pending"),
    "0.9": ("latest", "pre_confirmed", "l1_accepted"),
    "0.10": ("latest", "pre_confirmed", "l1_accepted"),
}
L1_LAG = 2
"""Blocks that Ethereum has not accepted yet."""


class RpcFailure(Exception):
    """An error of the JSON-RPC specification."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


@dataclass
class FakeNode:
    """Answers requests on a chain. `spoil` may change a result; `posts` are the sizes of the batches.

    Pages of events have at most `page_size` entries. With `refuses_large_pages` a larger `chunk_size` is error 31. Each
    valid transaction is estimated at `estimate`, a FEE_ESTIMATE without its unit; without one the method is unknown.
    With `reverts_with`, transactions revert for this reason.
    """

    chain: FakeChain
    url: str = ""
    version: str = "0.10"
    chain_id: int = CHAIN_ID
    max_batch: int | None = None
    page_size: int = 1_000
    refuses_large_pages: bool = False
    spoil: Callable[[str, Any], Any] | None = None
    estimate: dict[str, str] | None = None
    reverts_with: str | None = None
    methods: list[str] = field(default_factory=list)
    posts: list[int] = field(default_factory=list)
    requests: list[tuple[str, Any]] = field(default_factory=list)
    failures: list[RpcFailure] = field(default_factory=list)

    def respond(self, exchange: FakeExchange) -> None:
        """Answer one exchange."""
        content = json.loads(exchange.body)
        batch = content if isinstance(content, list) else [content]
        self.posts.append(len(batch))
        if isinstance(content, list) and self.max_batch is not None and len(batch) > self.max_batch:
            error = {"code": -32600, "message": "batches are not supported"}
            answer: Any = {"jsonrpc": "2.0", "id": None, "error": error}
        else:
            answers = [self._answer(request) for request in batch]
            answer = answers if isinstance(content, list) else answers[0]
        exchange.send(http_response(200, json.dumps(answer), "Content-Type: application/json"))

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        method = request["method"]
        self.methods.append(method)
        self.requests.append((method, request["params"]))
        outcome: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            respond = getattr(self, f"_{method.removeprefix('starknet_')}", None)
            if respond is None:
                raise RpcFailure(-32601, "Method not found")
            parameters = request["params"]
            result = respond(**parameters) if isinstance(parameters, dict) else respond(*parameters)
        except RpcFailure as failure:
            self.failures.append(failure)
            error = {"code": failure.code, "message": failure.message}
            return outcome | {"error": error | ({"data": failure.data} if failure.data else {})}
        return outcome | {"result": self.spoil(method, result) if self.spoil else result}

    def _chainId(self) -> str:  # noqa: N802
        return hex(self.chain_id)

    def _specVersion(self) -> str:  # noqa: N802
        return f"{self.version}.0"

    def _find_block(self, block_id: Any) -> Block:
        """Return a block; the one that is being built has the present contracts and no events."""
        blocks = self.chain.blocks
        if isinstance(block_id, str):
            if block_id not in TAGS[self.version]:
                raise RpcFailure(-32602, "Invalid params")
            if block_id in ("pending", "pre_confirmed"):
                return Block(len(blocks), 0, blocks[-1].hash, self.chain.contracts, [])
            return blocks[-1 if block_id == "latest" else self._newest_l1_accepted()]
        if not isinstance(block_id, dict) or len(block_id) != 1:
            raise RpcFailure(-32602, "Invalid params")
        if "block_number" in block_id:
            number = block_id["block_number"]
            if type(number) is not int or number < 0:
                raise RpcFailure(-32602, "Invalid params")
            found = [block for block in blocks if block.number == number]
        else:
            found = [block for block in blocks if block.hash == parse_felt(block_id.get("block_hash"))]
        if not found:
            raise RpcFailure(24, "Block not found")
        return found[0]

    def _newest_l1_accepted(self) -> int:
        return max(len(self.chain.blocks) - 1 - L1_LAG, 0)

    def _find_contract(self, block_id: Any, address: str) -> Contract:
        contract = self._find_block(block_id).contracts.get(parse_felt(address))
        if contract is None:
            raise RpcFailure(20, "Contract not found")
        return contract

    def _getBlockWithTxHashes(self, block_id: Any) -> dict[str, Any]:  # noqa: N802
        block = self._find_block(block_id)
        header: dict[str, Any] = {
            "timestamp": self.chain.start_s + 6 * block.number,
            "l1_gas_price": {"price_in_fri": hex(L1_GAS_PRICE), "price_in_wei": "0x1"},
            "l1_data_gas_price": {"price_in_fri": hex(DATA_GAS_PRICE), "price_in_wei": "0x1"},
            "l2_gas_price": {"price_in_fri": hex(GAS_PRICE), "price_in_wei": "0x1"},
            "transactions": [],
        }
        if block_id == "pending":
            return header | {"parent_hash": hex(block.parent)}
        header |= {"block_number": block.number}
        if block_id == "pre_confirmed":
            return header
        is_on_l1 = block.number <= self._newest_l1_accepted()
        return header | {
            "status": "ACCEPTED_ON_L1" if is_on_l1 else "ACCEPTED_ON_L2",
            "block_hash": hex(block.hash),
            "parent_hash": hex(block.parent),
        }

    def _call(self, request: dict[str, Any], block_id: Any) -> list[str]:
        if request.keys() != {"contract_address", "entry_point_selector", "calldata"}:
            raise RpcFailure(-32602, "Invalid params")
        felts = [parse_felt(felt) for felt in request["calldata"]]
        selector = parse_felt(request["entry_point_selector"])
        contract = self._find_contract(block_id, request["contract_address"])
        try:
            result = contract.call(selector, felts)
        except (Reverted, KeyError, IndexError, TypeError) as error:
            raise RpcFailure(40, "Contract error", {"revert_error": str(error)}) from None
        if result is None:
            raise RpcFailure(21, "Requested entry point does not exist in the contract")
        return [hex(felt % PRIME) for felt in result]

    def _getClassHashAt(self, block_id: Any, address: str) -> str:  # noqa: N802
        return hex(self._find_contract(block_id, address).class_hash)

    def _getNonce(self, block_id: Any, contract_address: str) -> str:  # noqa: N802
        return hex(self._account(block_id, contract_address).nonce)

    def _account(self, block_id: Any, address: str) -> Account:
        found = self._find_contract(block_id, address)
        if not isinstance(found, Account):
            raise RpcFailure(40, "Contract error", {"revert_error": "no account"})
        return found

    def _estimateFee(self, request: Any, simulation_flags: Any, block_id: Any) -> list[dict[str, str]]:  # noqa: N802
        """Estimate invoke transactions of version 3, as BROADCASTED_INVOKE_TXN; nothing is executed."""
        if self.estimate is None:
            raise RpcFailure(-32601, "Method not found")
        if not isinstance(request, list) or simulation_flags not in ([], ["SKIP_VALIDATE"]):
            raise RpcFailure(-32602, "Invalid params")
        for transaction in request:
            self._check_invoke(transaction, block_id, is_signed=not simulation_flags)
        if self.reverts_with is not None:
            inner: dict[str, Any] = {"contract_address": "0x1", "class_hash": "0x2", "selector": "0x3"}
            nested = inner | {"error": inner | {"error": self.reverts_with}}
            raise RpcFailure(41, "Transaction execution error", {"transaction_index": 0, "execution_error": nested})
        return [{**self.estimate, "unit": "FRI"} for _ in request]

    def _check_invoke(self, transaction: Any, block_id: Any, *, is_signed: bool) -> None:
        names = {
            *("type", "version", "sender_address", "calldata", "signature", "nonce", "resource_bounds", "tip"),
            *(
                "paymaster_data",
                "account_deployment_data",
                "nonce_data_availability_mode",
                "fee_data_availability_mode",
            ),
        }
        if not isinstance(transaction, dict) or transaction.keys() != names:
            raise RpcFailure(-32602, "Invalid params", str(transaction))
        if transaction["type"] != "INVOKE" or transaction["version"] not in ("0x3", hex(2**128 + 3)):
            raise RpcFailure(-32602, "Invalid params", "type or version")
        for felt in (*transaction["calldata"], *transaction["signature"], transaction["nonce"]):
            parse_felt(felt)
        for bound in transaction["resource_bounds"].values():
            if bound.keys() != {"max_amount", "max_price_per_unit"}:
                raise RpcFailure(-32602, "Invalid params", "resource_bounds")
        account = self._account(block_id, transaction["sender_address"])
        if parse_felt(transaction["nonce"]) != account.nonce:
            raise RpcFailure(52, "Invalid transaction nonce")
        if is_signed and not transaction["signature"]:
            raise RpcFailure(55, "Account validation failed", "no signature")

    def _getEvents(self, query: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        if not query.keys() <= {"from_block", "to_block", "address", "keys", "chunk_size", "continuation_token"}:
            raise RpcFailure(-32602, "Invalid params")
        first, last = (query[name]["block_number"] for name in ("from_block", "to_block"))
        keys = [[hex(parse_felt(each)) for each in choices] for choices in query.get("keys", [])]
        addresses = query.get("address")
        if isinstance(addresses, list) and self.version != "0.10":
            raise RpcFailure(-32602, "Invalid params", "address: expected a felt")
        if addresses is not None:
            listed = addresses if isinstance(addresses, list) else [addresses]
            addresses = [hex(parse_felt(each)) for each in listed]
        size = query["chunk_size"]
        if type(size) is not int or size < 1:
            raise RpcFailure(-32602, "Invalid params")
        if self.refuses_large_pages and size > self.page_size:
            raise RpcFailure(31, "Requested page size is too big")
        events = [
            self._event(event, number, index)
            for number, block in enumerate(self.chain.blocks[first : last + 1])
            for index, event in enumerate(block.events)
            if (addresses is None or event["from_address"] in addresses)
            and all(not choices or key in choices for key, choices in zip(event["keys"], keys, strict=False))
        ]
        size, start = min(self.page_size, size), int(query.get("continuation_token", 0))
        page = {"events": events[start : start + size]}
        return page | ({"continuation_token": str(start + size)} if start + size < len(events) else {})

    def _event(self, event: dict[str, Any], transaction: int, index: int) -> dict[str, Any]:
        if self.version != "0.10":
            return event
        return event | {"transaction_index": transaction, "event_index": index}


def parse_felt(text: Any) -> int:
    """Return a felt as the specification writes it, without leading zeros; refuse everything else."""
    if not isinstance(text, str) or not is_felt(text) or int(text, 16) >= PRIME:
        raise RpcFailure(-32602, "Invalid params", f"{text} is no felt")
    return int(text, 16)


@contextmanager
def running_node(chain: FakeChain, **options: Any) -> Iterator[FakeNode]:
    """Run a node on loopback."""
    node = FakeNode(chain, **options)
    with loopback_server(node.respond) as server:
        node.url = server.url
        yield node
