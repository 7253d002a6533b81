"""The JSON schemas of the tools: inputs from the types of the commands' options, documents from the types of their
JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swapcli import InvalidOption
from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.text import printable, truncate
from swapcli.faces.cli.command_app import CommandParameter
from swapcli.faces.cli.tools.arguments import NO_SERVER_OPTIONS, ServerOptions, allowed_parameters, choices, json_types
from swapcli.faces.cli.tools.brief_documents import name_units
from swapcli.faces.cli.tools.tool_table import (
    DETAIL,
    DETAILS,
    LIMIT,
    MAX_ORDERS,
    OFFSET,
    ORDER_FIELDS,
    ORDERS,
    PAYLOAD,
    PROOF,
    TOOLS,
    ToolDefinition,
    find_tool,
)
from swapcli.faces.cli.tools.wording import in_words_of
from swapcli.interface.document_types import DOCUMENTS, KEEPS_EMPTY_FIELDS, TOOL_DOCUMENTS
from swapcli.interface.quote_parameters import QUOTE_PARAMETERS
from swapcli.quoting.document_schemas import NETWORK_FILE

if TYPE_CHECKING:
    from swapcli import JsonSchema

PREFIX, INPUT = "mcp-", "-input"
ERROR = f"{PREFIX}error"
CALLDATA = "calldata"
_STDIN_TYPES = {"type": ["string", "object", "array"]}
_STDIN_TEXT = "Calldata in hex, felts, or transactions as JSON."
_OWN: dict[str, dict[str, Any]] = {
    DETAIL: {"enum": list(DETAILS)},
    LIMIT: {"type": "integer"},
    OFFSET: {"type": "integer"},
    PAYLOAD: {"type": "string", "description": "URI from build_transaction; replaces the order or calldata."},
    PROOF: {"type": "boolean", "description": "Add proofFile, a URI."},
    ORDERS: {
        "type": "array",
        "maxItems": MAX_ORDERS,
        "items": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("id", *ORDER_FIELDS)},
            "required": list(ORDER_FIELDS),
        },
    },
}
"""The schemas of arguments that the server handles."""
_DESCRIPTIONS: dict[str, str] = {
    "network": "",
    "token_in": "Symbol or address.",
    "token_out": "",
    "amount": "1.5 or 2k tokens, $1000, or 50% or all of the sender's balance.",
    "sender": "Sending account.",
    "spender": "",
    "token": "Symbol or address.",
    "other": "Second token.",
    "raw": "amount is in base units.",
    "live": "require: fail without a node.",
    "offline": "Only at the user's request: stored or modelled prices.",
    "max_age": "Of stored state, in seconds.",
    "block": "latest, pending, safe, finalized; for quotes also a number or hash.",
    "aggregators": "Names of aggregators, or all.",
    "amounts": "Amounts, such as 1, 50 or 2k.",
    "networks": "",
    "tokens": "Symbols or addresses.",
} | {each.name: each.tool for each in QUOTE_PARAMETERS if each.tool is not None}
"""Descriptions of arguments that are shorter than their options' help, or say what only agents need to know."""
_SCHEMA_VERSION = "https://json-schema.org/draft/2020-12/schema"


def printed_by() -> dict[str, str]:
    """Return where each document of the tools is used, by the document's name."""
    answers = {f"{PREFIX}{each.name}": f"the tool {each.name} of swapcli mcp" for each in TOOLS}
    inputs = {f"{PREFIX}{each.name}{INPUT}": f"the arguments of the tool {each.name}" for each in TOOLS}
    return {**answers, **inputs, ERROR: "every tool of swapcli mcp that fails"}


def build_schema(document: str) -> JsonSchema:
    """Return the JSON schema of a command's or a tool's document. Raises `InvalidOption` if there is none."""
    from swapcli import JsonSchema, schema

    if document in (*DOCUMENTS, NETWORK_FILE):
        return schema(document)
    if document == ERROR:
        return JsonSchema(build_error_schema())
    name = document.removeprefix(PREFIX)
    if document.startswith(PREFIX) and (tool := find_tool(name)):
        return JsonSchema(build_answer_schema(tool))
    if document.startswith(PREFIX) and (tool := find_tool(name.removesuffix(INPUT))):
        return JsonSchema(build_input_schema(tool))
    known = [*DOCUMENTS, NETWORK_FILE, *printed_by()]
    hint = did_you_mean(closest_names(document, known)) or f"documents: {', '.join(known)}"
    raise InvalidOption(f'no document "{printable(truncate(document, 40))}"', hint=hint)


def build_input_schema(tool: ToolDefinition, server: ServerOptions = NO_SERVER_OPTIONS) -> dict[str, Any]:
    """Return the schema of a tool's arguments on a server."""
    title = f"swapcli {PREFIX}{tool.name}{INPUT}"
    listed = build_listed_schema(tool, server)
    return {"$schema": _SCHEMA_VERSION, "title": title, **listed, "additionalProperties": False}


def build_listed_schema(tool: ToolDefinition, server: ServerOptions = NO_SERVER_OPTIONS) -> dict[str, Any]:
    """Return the schema of a tool's arguments in the short form that the server lists, because models pay by the
    character. It does not forbid other arguments: the error for one suggests the right name."""
    properties = {name: _argument_schema(tool, each) for name, each in allowed_parameters(tool, server).items()}
    properties |= {name: _OWN[name] for name in tool.own_arguments()}
    if tool.stdin == CALLDATA:
        properties[CALLDATA] = _STDIN_TYPES | {"description": _STDIN_TEXT}
    ordered = {name: properties[name] for name in dict.fromkeys((*tool.required, *properties)) if name in properties}
    required = {} if tool.takes_payload or not tool.required else {"required": list(tool.required)}
    return {"type": "object", "properties": ordered, **required}


def build_answer_schema(tool: ToolDefinition) -> dict[str, Any]:
    """Return the schema of a tool's full document: the command's document, with its amounts in whole tokens added."""
    from swapcli.interface.json_schemas import build_tool_schema

    types = TOOL_DOCUMENTS.get(tool.name) or DOCUMENTS[tool.document]
    title = f"swapcli {PREFIX}{tool.name}"
    is_own = tool.document not in KEEPS_EMPTY_FIELDS
    schema = build_tool_schema(title, types, tool.list_field, is_paged=bool(tool.paged), is_own=is_own)
    named: dict[str, Any] = name_units(schema)
    return named


def build_error_schema() -> dict[str, Any]:
    """Return the schema of a tool's error."""
    from swapcli.interface.json_schemas import build_stand_alone_schema

    return build_stand_alone_schema(f"swapcli {ERROR}", TOOL_DOCUMENTS["error"], is_own=True)


def _argument_schema(tool: ToolDefinition, parameter: CommandParameter) -> dict[str, Any]:
    text = _DESCRIPTIONS.get(parameter.name)
    if text is None:
        text = in_words_of(tool, parameter.annotation.__metadata__[0].text)
    described = {"description": text} if text else {}
    types = json_types(parameter)
    if types == ("array",):
        return {"type": "array", "items": {"type": "string"}, **described}
    if values := choices(parameter):
        return {"enum": list(values), **described}
    return {"type": types[0] if len(types) == 1 else list(types), **described}
