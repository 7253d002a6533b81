"""The keys of network files: the meaning of each key, the JSON schema of its value, and an example.

`core.networks` parses these keys. The texts and schemas here are only for `swapcli schema network` and
docs/network-keys.md, so no quote loads this module. A test checks that both have the same keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from swapcli.core.model.network import MAX_PROTOCOL_ID, Kind, dialect_names
from swapcli.core.model.token import MAX_TOKEN_DECIMALS
from swapcli.core.networks.definition import ROLES
from swapcli.core.networks.hook_rules import RULES
from swapcli.core.records import NamedTuple
from swapcli.families import KIND_NAMES, family_names

Schema = dict[str, Any]


class NetworkKey(NamedTuple):
    """A key: its meaning, the schema of its value, and an example.

    A null value counts as absent unless the key is `required`.
    """

    meaning: str
    form: Schema
    example: object
    required: bool = False

    @property
    def example_text(self) -> str:
        """The example as JSON."""
        return json.dumps(self.example, ensure_ascii=False)


KeyTable = Mapping[str, NetworkKey]

_TEXT: Final[Schema] = {"type": "string", "minLength": 1}
_FLAG: Final[Schema] = {"type": "boolean"}
_NUMBER: Final[Schema] = {"type": "number", "exclusiveMinimum": 0}
_ADDRESS: Final[Schema] = {"type": "string", "pattern": "^([a-zA-Z0-9_-]+:)?0[xX][0-9a-fA-F]{1,64}$"}
_HASH: Final[Schema] = {"type": "string", "pattern": "^0x[0-9a-fA-F]{64}$"}
_URL: Final[Schema] = {"type": "string", "pattern": "^https?://"}
_OBJECT: Final[Schema] = {"type": "object"}
_DAY: Final[Schema] = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}


def _whole(minimum: int, maximum: int | None = None) -> Schema:
    limits = {"minimum": minimum} | ({} if maximum is None else {"maximum": maximum})
    return {"anyOf": [{"type": "integer", **limits}, {"type": "string", "pattern": "^[0-9]{1,78}$"}]}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _map(of: Schema, names: Schema | None = None) -> Schema:
    return {"type": "object", "additionalProperties": of, **({"propertyNames": names} if names else {})}


def _record(table: KeyTable) -> Schema:
    return {"type": "object", **members_schema(table), "additionalProperties": False}


def members_schema(table: KeyTable) -> Schema:
    """Return the part of a schema that describes the keys in `table`: their properties, and which of them are
    required."""
    properties = {
        name: {**(key.form if key.required else {"anyOf": [key.form, {"type": "null"}]}), "description": key.meaning}
        for name, key in table.items()
    }
    return {"properties": properties, "required": [name for name, key in table.items() if key.required]}


_WETH: Final = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
_USDC: Final = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
_V2: Final = "0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"
_V2_CODE: Final = "0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f"
_VALUE: Final[Schema] = {"type": ["string", "integer", "boolean", "array", "object"]}
_TERM: Final[Schema] = {"type": ["string", "integer"]}

_HOOK: Final = "0x00000000000000000000000000000000000000c4"
_QUOTE: Final = {
    "contract": "$pool", "call": "getAmountOut(uint256,address)", "arguments": ["$amount", "$token_in"],
}  # fmt: skip
_READ: Final = {"name": "fee", "contract": "$pool", "call": "fee()"}

NATIVE_KEYS: Final[KeyTable] = {
    "address": NetworkKey(
        "its address; only on Starknet, where the native token is an ordinary token",
        _ADDRESS,
        "0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d",
    ),
    "symbol": NetworkKey("its symbol", _TEXT, "ETH", required=True),
    "name": NetworkKey("its name", _TEXT, "Ether", required=True),
    "decimals": NetworkKey("its decimals", _whole(0, MAX_TOKEN_DECIMALS), 18, required=True),
}
TOKEN_KEYS: Final[KeyTable] = {
    **NATIVE_KEYS,
    "address": NetworkKey("address of its contract", _ADDRESS, _WETH, required=True),
}
PROTOCOL_KEYS: Final[KeyTable] = {
    "id": NetworkKey("a number unique to this protocol", _whole(0, MAX_PROTOCOL_ID), 1, required=True),
    "amm_name": NetworkKey("its name in options and deployments", _TEXT, "uniswapV2", required=True),
    "display_name": NetworkKey("its display name", _TEXT, "Uniswap V2", required=True),
    "family": NetworkKey(
        "its pool family (see docs/pools.md), or sampled if a quoter quotes its pools",
        {"enum": list(family_names())},
        "constant_product",
    ),
    "extra_keys": NetworkKey(
        "the fields that identify its pools: fee, tickSpacing, or poolId if a manager contract holds the pools",
        _list(_TEXT),
        ["fee"],
    ),
    "contracts": NetworkKey(
        "the kinds of its contracts, if the family does not determine them",
        _list({"enum": list(KIND_NAMES)}),
        ["uniswap_v4"],
    ),
    "confirmed": NetworkKey("true if the Fibrous API lists the protocol under this id", _FLAG, True),
    "extended": NetworkKey("true if the Fibrous API does not list the protocol", _FLAG, True),
    "unsupported": NetworkKey(
        "if there is no family: why its pools cannot be quoted", _TEXT, "its maths is not public"
    ),
}
DEPLOYMENT_KEYS: Final[KeyTable] = {
    "protocols": NetworkKey("the amm_names of the protocols in this deployment", _list(_TEXT), ["uniswapV2"]),
    "name": NetworkKey("the name of the exchange", _TEXT, "Uniswap V2", required=True),
    "addresses": NetworkKey(
        "contract addresses by role; pools are found through factory, pool_manager, vault, ...",
        _map(_ADDRESS, {"enum": list(ROLES)}),
        {"factory": _V2},
    ),
    "init_code_hash": NetworkKey("hash of the init code of its pools", _HASH, _V2_CODE),
    "fee_tiers": NetworkKey(
        "maps each fee in ppm to its tick spacing; for pairs, one fee with spacing 0",
        _map(_whole(0), {"pattern": "^[0-9]+$"}),
        {"3000": 0},
    ),
    "hooks": NetworkKey(
        "Uniswap V4 hooks by amm_name; pools with one of these hooks belong to that protocol",
        _map(_list(_ADDRESS)),
        {"launcher": [_HOOK]},
    ),
    "source": NetworkKey("the sources of these facts", _TEXT, "docs.uniswap.org"),
    "unconfirmed": NetworkKey("keys whose value has only one weak source", _list(_TEXT), ["init_code_hash"]),
}
NODE_KEYS: Final[KeyTable] = {
    "url": NetworkKey("its http or https URL", _URL, "https://rpc.example", required=True),
    "requests_per_s": NetworkKey("allowed requests per second", _NUMBER, 25),
    "batch_requests": NetworkKey("allowed requests per batch", _whole(1), 100),
    "log_blocks": NetworkKey("allowed block range per request for events", _whole(1), 1000),
    "latest_only": NetworkKey("true if the node has only the latest state", _FLAG, False),
    "quote_requests": NetworkKey("maximum number of requests that one quote sends to the node", _whole(1), 12),
    "source": NetworkKey("where its limits are documented", _TEXT, "its operator's docs"),
    "date": NetworkKey("the day on which this documentation was read", _DAY, "2026-11-25"),
}
ROUTER_KEYS: Final[KeyTable] = {
    "address": NetworkKey("address of the router", _ADDRESS, "0x66a9893cc07d91d95644aedd05d03f95e1dba8af"),
    "registry": NetworkKey(
        "a contract that returns the router's address; use this key instead of address",
        _ADDRESS,
        "0x00000000000004533fe15556b1e086bb1a72ceae",
    ),
    "spender": NetworkKey(
        "the contract that takes the sold tokens, if this is not the router",
        _ADDRESS,
        "0x000000000022d473030f116ddee9f6b43ac78ba3",
    ),
    "version": NetworkKey("the release that defines its encoding", _TEXT, "2.0"),
    "protocols": NetworkKey(
        "the router's protocol names by amm_name; without this key, it supports all protocols",
        _map(_TEXT),
        {"uniswapV2": "v2"},
    ),
}
FUNCTION_KEYS: Final[KeyTable] = {
    "contract": NetworkKey("an address, or the $name of a value", _TEXT, "$pool", required=True),
    "call": NetworkKey("signature of the function", _TEXT, "getAmountOut(uint256,address)", required=True),
    "arguments": NetworkKey(
        "values, $names, or {packed: [[value, bytes], ...]}", _list(_VALUE), ["$amount", "$token_in"]
    ),
}
QUOTE_KEYS: Final[KeyTable] = {
    **FUNCTION_KEYS,
    "output": NetworkKey("the position of the output in the result", _whole(0, 255), 0),
    "negative": NetworkKey("true if the output is negative", _FLAG, False),
    "leftover": NetworkKey("the position of the unsold part of the input in the result", _whole(0, 255), 1),
    "taken": NetworkKey("the position of the sold part of the input in the result", _whole(0, 255), 1),
}
READ_KEYS: Final[KeyTable] = {
    **FUNCTION_KEYS,
    "name": NetworkKey("the name of the value", _TEXT, "fee", required=True),
    "word": NetworkKey("its position in the result", _whole(0, 255), 0),
}
LIST_KEYS: Final[KeyTable] = {
    **FUNCTION_KEYS,
    "entry": NetworkKey("a name for each word of an entry, or - if the word is not used", _list(_TEXT), ["pool"]),
    "length": NetworkKey(
        "the function that returns the number of entries; arguments then contains $index",
        _OBJECT,
        {"contract": _V2, "call": "allPairsLength()"},
    ),
    "nested": NetworkKey("true for a list of lists", _FLAG, False),
    "pairwise": NetworkKey("true if every pair of tokens in the list has a pool", _FLAG, False),
}
CREATED_KEYS: Final[KeyTable] = {
    "contract": NetworkKey("the contract that emits the event", _ADDRESS, _V2, required=True),
    "event": NetworkKey("signature of the event", _TEXT, "PoolCreated(address,address)", required=True),
    "entry": NetworkKey("names of the event's values, indexed values first", _list(_TEXT), ["token0", "token1"]),
}
QUOTER_KEYS: Final[KeyTable] = {
    "protocols": NetworkKey("amm_names; pools found by list belong to the first one", _list(_TEXT), ["myQuoted"]),
    "quote": NetworkKey(
        "the quote function, or one quote function for each token",
        {"anyOf": [_record(QUOTE_KEYS), _list(_record(QUOTE_KEYS))]},
        _QUOTE,
    ),
    "as_transaction": NetworkKey("true if the quote depends on the sender or the gas price", _FLAG, False),
    "values": NetworkKey("the values to read before every quote", _list(_record(READ_KEYS)), [_READ]),
    "holder": NetworkKey("the contract whose balances limit a pool's output", _TEXT, "$pool"),
    "list": NetworkKey(
        "the protocol's list of pools",
        _record(LIST_KEYS),
        {"contract": _V2, "call": "allPools()", "entry": ["pool"]},
    ),
    "created": NetworkKey(
        "the event that announces a pool",
        _record(CREATED_KEYS),
        {"contract": _V2, "event": "PoolCreated(address)", "entry": ["pool"]},
    ),
    "pools": NetworkKey(
        "pools that no list contains, each with its values by name",
        _list(_OBJECT),
        [{"pool": _HOOK, "token0": _WETH, "token1": _USDC}],
    ),
    "reads": NetworkKey(
        "calls that read a pool's remaining values, in the same form as values", _list(_record(READ_KEYS)), [_READ]
    ),
    "constants": NetworkKey("names of the values that are stored with a pool", _list(_TEXT), ["fee"]),
    "pool_ids": NetworkKey("true if several pools share one contract", _FLAG, False),
    "check": NetworkKey("true if the quoter is used only to check known maths", _FLAG, False),
    "source": NetworkKey("the sources of these facts", _TEXT, "its docs"),
}
FEE_KEYS: Final[KeyTable] = {
    "lp": NetworkKey("the pool's fee in ppm; without this key, the fee in the pool manager", _VALUE, 3000),
    "input": NetworkKey("the part of the input that the hook takes, in units of 1/fee_unit", _VALUE, 3000),
    "output": NetworkKey("the part of the output that the hook takes, in units of 1/fee_unit", _VALUE, 10000),
    "cut": NetworkKey("the hook's share of the LP fee, in ppm, taken from the input", _VALUE, 200_000),
    "cut_rounds_up": NetworkKey("true if the LP fee is rounded up before cut is applied", _FLAG, True),
}
_FEES: Final[Schema] = _record(FEE_KEYS)
HOOK_RULE_KEYS: Final[KeyTable] = {
    "rule": NetworkKey("use fees if the other keys describe the hooks completely", {"enum": list(RULES)}, "fees", True),
    "hooks": NetworkKey("the hooks with this rule", _list(_ADDRESS), [_HOOK], required=True),
    "code_hash": NetworkKey(
        "keccak256 of the hooks' code, if the code does not delegate to other code", _HASH, _V2_CODE
    ),
    "contracts": NetworkKey("the rule's contracts by name", _map(_ADDRESS), {"locker": _HOOK}),
    "values": NetworkKey("the values to read at the block, as in quoters", _list(_record(READ_KEYS)), [_READ]),
    "requires": NetworkKey("pairs of values that must be equal", _list(_list(_TERM)), [["$paused", 0]]),
    "opens_at": NetworkKey("swaps revert before this time", _TERM, "$start"),
    "fees": NetworkKey(
        "fees for both directions, or a list of two entries: for selling token0 and for selling token1",
        {"anyOf": [_FEES, _list(_FEES)]},
        {"lp": 3000, "output": 10000},
    ),
    "exchanged_unless": NetworkKey(
        "two values; if they differ, the fees of the two directions are swapped", _list(_TERM), ["$token0", "$base"]
    ),
    "fee_unit": NetworkKey("the divisor of input and output in fees; default 10^6", _whole(1), 1_000_000),
    "gas": NetworkKey("gas units the hook adds to a swap", _whole(0), 40_000),
    "source": NetworkKey("the sources of these facts", _TEXT, "its verified source"),
}
NETWORK_KEY_TABLE: Final[KeyTable] = {
    "name": NetworkKey(
        "lower-case name of a new network, or of the built-in network to extend",
        {"type": "string", "pattern": "^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$"},
        "mine",
        required=True,
    ),
    "chain_id": NetworkKey("chain ID; optional if the file extends a network", _whole(1), 31337),
    "kind": NetworkKey("evm (default) or starknet", {"enum": [kind.value for kind in Kind]}, "evm"),
    "native": NetworkKey(
        "the token that pays for gas", _record(NATIVE_KEYS), {"symbol": "ETH", "name": "Ether", "decimals": 18}
    ),
    "wrapped_native": NetworkKey(
        "the wrapped native token: an address or a token", {"anyOf": [_ADDRESS, _record(TOKEN_KEYS)]}, _WETH
    ),
    "tokens": NetworkKey(
        "tokens that orders can name by symbol",
        _list(_record(TOKEN_KEYS)),
        [{"address": _USDC, "symbol": "USDC", "name": "USD Coin", "decimals": 6}],
    ),
    "protocols": NetworkKey(
        "protocols, each with its pool maths",
        _list(_record(PROTOCOL_KEYS)),
        [{"id": 1, "amm_name": "uniswapV2", "display_name": "Uniswap V2", "family": "constant_product"}],
    ),
    "deployments": NetworkKey(
        "the contracts through which pools are found",
        _list(_record(DEPLOYMENT_KEYS)),
        [{"protocols": ["uniswapV2"], "name": "V2", "addresses": {"factory": _V2}, "fee_tiers": {"3000": 0}}],
    ),
    "rpc_urls": NetworkKey(
        "nodes: a URL is your own node, which swapcli never replaces; an object is a public node",
        _list({"anyOf": [_TEXT, _record(NODE_KEYS)]}),
        ["http://127.0.0.1:8545", {"url": "https://rpc.example"}],
    ),
    "public_rpc_urls": NetworkKey(
        "URLs of public nodes, used instead of the public nodes in rpc_urls", _list(_URL), ["https://rpc.example"]
    ),
    "multicall": NetworkKey(
        "address of Multicall3, so that quotes need fewer requests",
        _ADDRESS,
        "0xca11bde05977b3631167028862be2a173976ca11",
    ),
    "stablecoins": NetworkKey("tokens worth one dollar, from which all prices are derived", _list(_ADDRESS), [_USDC]),
    "gas_price_wei": NetworkKey("gas price to use if no node or market file provides one", _whole(0), 1_000_000_000),
    "max_gas_price_wei": NetworkKey("decode warns about a gas price above this", _whole(0), 500_000_000_000),
    "block_time_s": NetworkKey("seconds between blocks", _NUMBER, 12),
    "block_gas_limit": NetworkKey("the gas limit of a transaction", _whole(100_000), 30_000_000),
    "gas_units_per_evm_gas": NetworkKey("gas units charged per unit of EVM gas", _whole(1, 1_000_000), 1),
    "l1_fee_oracle": NetworkKey(
        "the GasPriceOracle contract of an OP Stack network, which gives the L1 data fee",
        _ADDRESS,
        "0x420000000000000000000000000000000000000f",
    ),
    "l1_gas_oracle": NetworkKey(
        "the NodeInterface contract of an Arbitrum network, which gives the gas for L1 data",
        _ADDRESS,
        "0x00000000000000000000000000000000000000c8",
    ),
    "head_is_proposed": NetworkKey("true if the latest block may still be replaced", _FLAG, False),
    "has_v2": NetworkKey("true if the Fibrous API V2 serves the network", _FLAG, True),
    "explorer": NetworkKey("the block explorer", _URL, "https://etherscan.io"),
    "router": NetworkKey(
        "the router contract that payloads call", _ADDRESS, "0x3434343434343434343434343434343434343434"
    ),
    "router_dialect": NetworkKey(
        "the dialect of the contract in router; default fibrous", {"enum": list(dialect_names())}, "own"
    ),
    "routers": NetworkKey(
        "routers by dialect",
        _map(_record(ROUTER_KEYS), {"enum": list(dialect_names())}),
        {
            "settler": {
                "registry": "0x00000000000004533fe15556b1e086bb1a72ceae",
                "protocols": {"uniswapV2": "UNISWAPV2"},
            }
        },
    ),
    "transfer_fees_ppm": NetworkKey(
        "fees of tokens that take a part of each transfer; 0 if there is no fee", _map(_whole(0)), {_USDC: 0}
    ),
    "share_tokens": NetworkKey(
        "share-based (rebasing) tokens, such as stETH",
        _list(_ADDRESS),
        ["0xae7ab96520de3a18e5e111b5eaab095312d7fe84"],
    ),
    "blocked_tokens": NetworkKey("tokens that no route trades", _list(_ADDRESS), [_HOOK]),
    "revoke_first_tokens": NetworkKey(
        "tokens whose allowance must be reset to 0 before it can change",
        _list(_ADDRESS),
        ["0xdac17f958d2ee523a2206206994597c13d831ec7"],
    ),
    "price_feeds": NetworkKey(
        "Chainlink USD feeds by token; the verdict on a swap compares the swap's price with them",
        _map(_ADDRESS),
        {_WETH: "0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419"},
    ),
    "quoters": NetworkKey(
        "quote functions of protocols whose maths is unknown",
        _list(_record(QUOTER_KEYS)),
        [{"protocols": ["myQuoted"], "quote": _QUOTE}],
    ),
    "hook_rules": NetworkKey(
        "the effects of Uniswap V4 hooks on swaps",
        _list(_record(HOOK_RULE_KEYS)),
        [{"rule": "fees", "hooks": ["0x00000000000000000000000000000000000000c4"], "fees": {"output": 10000}}],
    ),
    "aggregators": NetworkKey(
        "aggregators to compare with; see swapcli help aggregators",
        _map(_OBJECT),
        {"lifi": {"address": "https://li.quest"}},
    ),
    "sources": NetworkKey(
        "sources of these facts, under labels of your choice", _map(_TEXT), {"tokens": "the bridge's docs"}
    ),
    "unconfirmed": NetworkKey("facts to check before use", _list(_TEXT), ["block_time_s"]),
    "facts_date": NetworkKey("the day on which the facts were compared with their sources", _DAY, "2026-11-25"),
    "unconfirmed_tokens": NetworkKey(
        "unverified tokens, for your records; swapcli ignores them", _list(_OBJECT), [{"symbol": "X"}]
    ),
}
