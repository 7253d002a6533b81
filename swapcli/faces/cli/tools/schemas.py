"""The JSON schemas of the tools: inputs from the types of the commands' options, answers from those of their JSON."""

from __future__ import annotations

from typing import Any

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import InvalidOption
from swapcli.faces.cli.command_app import CommandParameter
from swapcli.faces.cli.tools.arguments import NO_SERVER_OPTIONS, ServerOptions, allowed_parameters, choices, json_types
from swapcli.faces.cli.tools.tool_table import TOOLS, ToolDefinition, find_tool
from swapcli.interface.document_types import DOCUMENTS, TOOL_DOCUMENTS

PREFIX, INPUT = "mcp-", "-input"
ERROR = f"{PREFIX}error"
_STDIN_TYPES = {"type": ["string", "object", "array"]}
_STDIN_TEXT = "Calldata in hex, felts, or transactions as JSON."
_SCHEMA_VERSION = "https://json-schema.org/draft/2020-12/schema"


def printed_by() -> dict[str, str]:
    """Return where the documents of the tools occur, by document."""
    answers = {f"{PREFIX}{each.name}": f"the tool {each.name} of swapcli mcp" for each in TOOLS}
    inputs = {f"{PREFIX}{each.name}{INPUT}": f"the arguments of the tool {each.name}" for each in TOOLS}
    return {**answers, **inputs, ERROR: "every tool of swapcli mcp that fails"}


def build_schema(document: str) -> dict[str, Any]:
    """Return the JSON schema of a document of a command or a tool. Raises `InvalidOption` if there is none."""
    from swapcli.interface.json_schemas import build_document_schema

    if document in DOCUMENTS:
        return build_document_schema(document)
    if document == ERROR:
        return build_error_schema()
    name = document.removeprefix(PREFIX)
    if document.startswith(PREFIX) and (tool := find_tool(name)):
        return build_answer_schema(tool)
    if document.startswith(PREFIX) and (tool := find_tool(name.removesuffix(INPUT))):
        return build_input_schema(tool)
    known = [*DOCUMENTS, *printed_by()]
    hint = did_you_mean(closest_names(document, known)) or f"documents: {', '.join(known)}"
    raise InvalidOption(f'no document "{printable(truncate(document, 40))}"', hint=hint)


def build_input_schema(tool: ToolDefinition, server: ServerOptions = NO_SERVER_OPTIONS) -> dict[str, Any]:
    """Return the schema of a tool's arguments on a server."""
    properties = {name: _argument_schema(each) for name, each in allowed_parameters(tool, server).items()}
    if tool.stdin:
        properties[tool.stdin] = _STDIN_TYPES | {"description": _STDIN_TEXT}
    return {
        "$schema": _SCHEMA_VERSION,
        "title": f"swapcli {PREFIX}{tool.name}{INPUT}",
        "type": "object",
        "properties": properties,
        "required": list(tool.required),
        "additionalProperties": False,
    }


def build_answer_schema(tool: ToolDefinition) -> dict[str, Any]:
    """Return the schema of a tool's answer: the document of its command, with its amounts in whole tokens."""
    from swapcli.interface.json_schemas import build_tool_schema

    types = DOCUMENTS.get(tool.document) or TOOL_DOCUMENTS[tool.document]
    return build_tool_schema(f"swapcli {PREFIX}{tool.name}", types, tool.list_field)


def build_error_schema() -> dict[str, Any]:
    """Return the schema of a tool's error."""
    from swapcli.interface.json_schemas import build_stand_alone_schema

    return build_stand_alone_schema(f"swapcli {ERROR}", TOOL_DOCUMENTS["error"])


def _argument_schema(parameter: CommandParameter) -> dict[str, Any]:
    text = parameter.annotation.__metadata__[0].text
    types = json_types(parameter)
    if types == ("array",):
        return {"type": "array", "items": {"type": "string"}, "description": text}
    schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else list(types), "description": text}
    return schema | {"enum": list(values)} if (values := choices(parameter)) else schema
