"""Which commands are tools, under which names, and which of their options an agent may set.

Options that read or write files, name other hosts or run programs are never among them: those are for the person who
starts the server, on its own command line or in the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from swapcli.core.records import NamedTuple
from swapcli.faces.cli.command_app import CommandParameter, RegisteredCommand, load_app
from swapcli.faces.cli.overview import command_module
from swapcli.interface.document_types import TOOL_DOCUMENTS


class ToolDefinition(NamedTuple):
    """A tool: its command, and the parameters of the command that an agent may set, by name.

    `required` are those without which the tool is not called. `document` is the name of what the command prints, in
    `DOCUMENTS`; a list is put into the field `list_field` of an object. `notes` say to agents what the summary of the
    command does not. `defaults` are values where the agent gives none, and `stdin` is the parameter that is passed on
    stdin.
    """

    name: str
    command: str
    title: str
    document: str
    inputs: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    notes: str = ""
    list_field: str = ""
    defaults: Mapping[str, str] = MappingProxyType({})
    stdin: str = ""
    asks_nodes: bool = True

    def description(self) -> str:
        """Return the summary of the command, as its help has it, with the notes. Imports its module."""
        summary = (self.registered().function.__doc__ or "").partition("\n")[0]
        return self.notes if self.document in TOOL_DOCUMENTS else f"{summary} {self.notes}".strip()

    def registered(self) -> RegisteredCommand:
        """Return the command's record. Imports its module."""
        command = load_app(command_module(self.command)).only_command
        assert command is not None
        return command

    def parameters(self) -> dict[str, CommandParameter]:
        """Return the parameters that an agent may set, by name, the required ones first."""
        known = {each.name: each for each in self.registered().parameters()}
        return {name: known[name] for name in dict.fromkeys((*self.required, *self.inputs))}


_ORDER = ("network", "token_in", "token_out", "amount")
_PAID = (*_ORDER, "destination")
_ROUTING = ("raw", "max_hops", "exclude_protocols", "extended_protocols", "gas_price")
_STATE = ("state", "live", "offline", "max_age")
_ANY_STATE = (*_STATE, "block")

TOOLS: tuple[ToolDefinition, ...] = (
    ToolDefinition(
        "quote", "route", "Quote a swap", "route",
        (
            *_ROUTING, "reverse", "direct", "max_pools", "simple", "shares", "certify", "slippage", "sender",
            *_ANY_STATE,
        ),
        _ORDER,
        "The answer has the output, the minimum after slippage, the price impact, the gas and the route. It builds"
        " nothing to sign.",
    ),
    ToolDefinition(
        "compare",
        "compare",
        "Compare ways to fill an order",
        "compare",
        (*_ROUTING, "aggregators", "sender", *_ANY_STATE),
        _ORDER,
        "The split route, the best single path, the best direct swap and each protocol alone, on one state. With"
        " aggregators, names or all, public aggregators are asked too: tokens, amount and sender then leave this"
        " machine, so only where the user wants that. With a node, offers rank by what their payloads pay in a"
        " simulation.",
    ),
    ToolDefinition(
        "depth",
        "depth",
        "Show price impact by amount",
        "depth",
        ("amounts", *_ROUTING, *_ANY_STATE),
        _ORDER[:3],
        "Its levels are the largest amounts that stay below 0.1%, 0.5%, 1% and 5%. It quotes many amounts, which takes"
        " some seconds.",
    ),
    ToolDefinition(
        "pools",
        "pools",
        "List pools",
        "pools",
        ("token", "other", "limit", *_ANY_STATE),
        ("network",),
        "With one token or two, those that trade them.",
    ),
    ToolDefinition(
        "price",
        "price",
        "Price tokens",
        "price",
        ("unit", *_ANY_STATE),
        ("network", "tokens"),
        "These are mid prices; an order gets less, and the tool quote says how much.",
    ),
    ToolDefinition(
        "build_transaction",
        "calldata",
        "Build an unsigned transaction",
        "calldata",
        (*_ROUTING, "reverse", "direct", "max_pools", "simple", "slippage", "router_dialect", "sender", "deadline",
         "simulate", *_STATE),
        _PAID,
        "The answer has the transactions to sign, an approval first where one is needed, and the verdict of a rehearsal"
        " where a node can do one. Nothing is signed or sent: the user does that, after reading the warnings.",
    ),
    ToolDefinition(
        "decode",
        "decode",
        "Say what a payload does",
        "decode",
        ("network", "to", "value", "sender", "destination", "slippage", *_STATE),
        ("calldata",),
        "It reads calls, approvals and permits of any origin, and compares them with a fresh quote. Do not sign a"
        " payload whose field dangers is not empty.",
        stdin="calldata",
    ),
    ToolDefinition(
        "check",
        "calldata",
        "Check a swap on a node",
        "check",
        (*_ROUTING, "slippage", "sender", "router_dialect", "state", "live", "max_age"),
        _PAID,
        "A node rehearses the swap of an order and a sale of what it buys, without sending anything. The verdict is ok,"
        " warn or block: a token that cannot be sold again is blocked. No payload is in the answer.",
        defaults=MappingProxyType({"check": "always"}),
    ),
    ToolDefinition(
        "health",
        "health",
        "Check networks",
        "health",
        ("networks", "state", "offline", "max_age"),
        notes="It quotes a sample order on each network. Without networks it checks all.",
        list_field="health",
    ),
    ToolDefinition(
        "networks", "networks", "List the networks", "networks", list_field="networks", asks_nodes=False,
        notes="Their names are the argument network of the other tools.",
    ),
    ToolDefinition(
        "tokens", "tokens", "Find tokens", "tokens", ("pattern",), ("network",), list_field="tokens", asks_nodes=False,
        notes="With a pattern only those that match it. Symbols are not unique on a chain: compare addresses.",
    ),
)  # fmt: skip


def find_tool(name: str) -> ToolDefinition | None:
    """Return the tool called `name`."""
    return next((each for each in TOOLS if each.name == name), None)
