"""Which commands are tools, under which names, and which of their options an agent may set.

An agent may never set options that read or write files, name other hosts or run programs. The person who starts the
server sets them, on its command line or in the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from swapcli.core.records import NamedTuple
from swapcli.faces.cli.command_app import CommandParameter, RegisteredCommand, load_app
from swapcli.faces.cli.overview import command_module
from swapcli.interface.quote_parameters import tool_arguments
from swapcli.quoting.order_keys import AMOUNT, TOKEN_IN, TOKEN_OUT

BRIEF, FULL = "brief", "full"
DETAILS = (BRIEF, FULL)
DETAIL, LIMIT, OFFSET, PAYLOAD, ORDERS, PROOF = "detail", "limit", "offset", "payload", "orders", "proof"
ORDER_FIELDS = (TOKEN_IN, TOKEN_OUT, AMOUNT)
TOKEN_ARGUMENTS = ("token_in", "token_out", "token", "other", "unit")
"""Arguments of the tools that name one token."""
MAX_ORDERS = 15
"""Maximum number of orders in a batch, so that the result fits into one response."""


class ToolDefinition(NamedTuple):
    """A tool: its command, and the parameters of the command that an agent may set, by name.

    `required` are the parameters without which the tool cannot be called. `document` is the name of the command's
    output in `DOCUMENTS`. If the output is a list, it goes into the field `list_field` of an object. `description` is
    for agents. `defaults` are values that the agent cannot set, and `stdin` is the argument that is passed on stdin.
    `paged` is the list to which limit and offset apply. With `takes_payload`, the argument payload replaces the
    required ones. With `has_proof`, the server keeps the file that the command writes for --proof. A tool that `builds`
    returns a transaction.
    """

    name: str
    command: str
    title: str
    document: str
    description: str
    inputs: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    list_field: str = ""
    defaults: Mapping[str, str] = MappingProxyType({})
    stdin: str = ""
    paged: str = ""
    takes_payload: bool = False
    has_proof: bool = False
    reads_nodes: bool = True
    needs_node: bool = False
    builds: bool = False

    def own_arguments(self) -> tuple[str, ...]:
        """Return the arguments that the server handles, rather than the command."""
        pages = (LIMIT, OFFSET) if self.paged else ()
        orders = (ORDERS,) if ORDERS in self.required else ()
        proof = (PROOF,) if self.has_proof else ()
        return (*orders, *((PAYLOAD,) if self.takes_payload else ()), *proof, *pages, DETAIL)

    def registered(self) -> RegisteredCommand:
        """Return the command's record. Imports its module."""
        command = load_app(command_module(self.command)).only_command
        assert command is not None
        return command

    def parameters(self) -> dict[str, CommandParameter]:
        """Return the parameters that an agent may set, by name, the required ones first."""
        known = {each.name: each for each in self.registered().parameters()}
        names = (each for each in dict.fromkeys((*self.required, *self.inputs)) if each != ORDERS)
        return {name: known[name] for name in names}


_ORDER = ("network", "token_in", "token_out", "amount")
_PAID = (*_ORDER, "destination")
_PLANNING = ("parts", "risk", "start", "band")
_STATE = ("block", "live", "offline", "max_age")

TOOLS: tuple[ToolDefinition, ...] = (
    ToolDefinition(
        "quote", "route", "Quote a swap", "route",
        "Find the best route for a swap: output, minimum after slippage, price impact, gas and route. Builds nothing.",
        (
            "raw", *tool_arguments("quote"), "sender", *_STATE,
        ),
        _ORDER, has_proof=True,
    ),
    ToolDefinition(
        "quote_batch", "route", "Quote several swaps", "route-batch",
        f"Quote up to {MAX_ORDERS} orders of one network on the same state.",
        (*tool_arguments("quote_batch"), *_STATE),
        ("network", ORDERS),
        list_field="quotes", defaults=MappingProxyType({"batch": "-"}), stdin=ORDERS,
    ),
    ToolDefinition(
        "compare", "compare", "Compare ways to fill an order", "compare",
        "Compare the split route, the best single path, the best direct swap and each protocol alone, on one state."
        " aggregators also queries public aggregators: tokens, amount and sender then leave this machine, so use it"
        " only if the user wants that.",
        ("raw", *tool_arguments("compare"), "aggregators", "sender", *_STATE), _ORDER, paged="alternatives",
    ),
    ToolDefinition(
        "depth", "depth", "Show price impact by amount", "depth",
        "Show the price impact of increasingly large trades. levels has the largest amounts with an impact below 0.1%,"
        " 0.5%, 1% and 5%. Takes a few seconds.",
        ("amounts", "raw", *tool_arguments("depth"), *_STATE), _ORDER[:3],
    ),
    ToolDefinition(
        "plan", "plan", "Plan a large sale in parts", "plan",
        "Split a large sale into parts over time, with the cost of each way. Does not build them.",
        (*_PLANNING, "raw", *tool_arguments("plan"), *_STATE[1:]), (*_ORDER, "over"),
    ),
    ToolDefinition(
        "pools", "pools", "List pools", "pools",
        "List the pools of a network, a token or a pair, deepest first.",
        ("token", "other", *_STATE), ("network",), paged="pools",
    ),
    ToolDefinition(
        "find_pools", "sync", "Look up the pools of a token", "sync",
        "Look up the pools of a token, by its address, on a node, if no other tool finds it. Later calls with this"
        " address use these pools. Takes up to a minute.",
        (), ("network", "tokens"), needs_node=True,
    ),
    ToolDefinition(
        "price", "price", "Price tokens", "price",
        "Show mid prices of tokens. An order gets a lower price; quote shows which.",
        ("unit", *_STATE), ("network", "tokens"),
    ),
    ToolDefinition(
        "build_transaction", "calldata", "Build an unsigned transaction", "calldata",
        "Find the best route and build the transactions to sign, with an approval if one is needed, and a simulation's"
        " verdict if a node can run one. Returns the payload's URI for decode, check and wallets. Signs and sends"
        " nothing.",
        ("raw", *tool_arguments("build_transaction"), "sender", "deadline", "simulate", *_STATE),
        _PAID, builds=True,
    ),
    ToolDefinition(
        "decode", "decode", "Explain a payload", "decode",
        "Explain calls, approvals and permits from any source, and compare them with a fresh quote. Pass the user's"
        " account as sender. Do not sign unless the verdict is no_danger_found; if unknown, find the missing facts.",
        ("network", "to", "value", "sender", "destination", "slippage", *_STATE), ("calldata",),
        stdin="calldata", takes_payload=True,
    ),
    ToolDefinition(
        "check", "calldata", "Check a swap on a node", "check",
        "Simulate the swap of an order and a sale of the bought tokens on a node. The verdict is ok, warn or block (as"
        " for a token that cannot be sold). With payload: decode that payload and check its order.",
        ("raw", *tool_arguments("check"), "sender", "router_dialect", "block", "live", "max_age"), _PAID,
        defaults=MappingProxyType({"check": "always"}), takes_payload=True,
    ),
    ToolDefinition(
        "balance", "balance", "Show the balances of an account", "balance",
        "Show the tokens of an account at the latest block.", ("tokens",), ("network", "account"),
        paged="balances", needs_node=True,
    ),
    ToolDefinition(
        "allowance", "allowance", "Show an allowance", "allowance",
        "Show how much of an account's token a spender (by default the network's router) may take.",
        ("spender",), ("network", "owner", "token"), needs_node=True,
    ),
    ToolDefinition(
        "health", "health", "Check networks", "health",
        "Quote a sample order on each network, or on the given networks.",
        ("networks", "block", "offline", "max_age"), list_field="health",
    ),
    ToolDefinition(
        "networks", "networks", "List networks", "networks", "List the networks that the other tools accept.",
        list_field="networks", reads_nodes=False,
    ),
    ToolDefinition(
        "tokens", "tokens", "Find tokens", "tokens",
        "List the tokens of a network, or those that match a pattern. Several tokens may share a symbol: compare"
        " addresses.",
        ("pattern",), ("network",), list_field="tokens", paged="tokens", reads_nodes=False,
    ),
    ToolDefinition(
        "protocols", "protocols", "List protocols", "protocols",
        "List the protocols of a network, for use in exclude_protocols and only_protocols.",
        (), ("network",), list_field="protocols", paged="protocols", reads_nodes=False,
    ),
)  # fmt: skip


def find_tool(name: str) -> ToolDefinition | None:
    """Return the tool called `name`."""
    return next((each for each in TOOLS if each.name == name), None)
