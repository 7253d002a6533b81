"""Rewrite the texts of commands for a tool: arguments instead of options, tools instead of commands."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from swapcli.faces.cli.command_app import OptionText
from swapcli.faces.cli.tools.tool_table import TOOLS, ToolDefinition, find_tool

_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")
_COMMAND = re.compile(r"\bswapcli ([a-z]+)(?: [a-z]+)?(?= (?:lists|shows|has|says)\b|`|$|[,;.)])")
_USERS_COMMAND = re.compile(r"\bswapcli [^;,.]*")
_QUOTED = re.compile(r'("[^"]*")')
_SETTINGS = {"rpc-url": "the setting rpc_url", "api-url": "the setting api_url", "store": "the setting store_dir"}
"""Options that only the user can set, and the settings with the same effect."""
_PHRASES = {
    "give --rpc-url URL, or set ": "ask the user to set rpc_url or ",
    "give --rpc-url URL": "ask the user to set rpc_url",
    "add --offline": "set offline to true",
}
"""Replacements for phrases about options in which replacing only the option would not give a sentence."""
_ARGUMENTS = {"AMOUNT": "amount", "ADDRESS": "account"}
_PLACEHOLDER = re.compile(r"^(AMOUNT|ADDRESS)(?=[: ])")
"""A command's argument at the beginning of a sentence about it."""
_TOOL_OF_COMMAND = {each.command: each.name for each in reversed(TOOLS)}


def in_words_of(tool: ToolDefinition, document: Any) -> Any:
    """Return a text or a document rewritten for a tool. The tool's own options become arguments; all others are called
    the user's options.

    Quoted text stays unchanged, because an agent wrote it.
    """
    if isinstance(document, dict):
        return {key: in_words_of(tool, each) for key, each in document.items()}
    if isinstance(document, list):
        return [in_words_of(tool, each) for each in document]
    if isinstance(document, str):
        document = _PLACEHOLDER.sub(lambda found: _ARGUMENTS[found[0]], document)
    if not isinstance(document, str) or ("--" not in document and "swapcli " not in document):
        return document
    parts = _QUOTED.split(document)
    return "".join(each if each.startswith('"') else _translate(tool, each) for each in parts)


def _translate(tool: ToolDefinition, text: str) -> str:
    names = _argument_names(tool.name)
    for phrase, replacement in _PHRASES.items():
        text = text.replace(phrase, replacement)
    named = _COMMAND.sub(lambda found: _tool_of(found[1]) or found[0], text)
    users = _USERS_COMMAND.sub(lambda found: _OPTION.sub(r"with the option \1", found[0]), named)
    return _OPTION.sub(lambda found: names.get(found[0]) or _users(tool, found[1]), users)


@cache
def _argument_names(name: str) -> dict[str, str]:
    tool = find_tool(name)
    return (
        {}
        if tool is None
        else {
            note.name: parameter.name
            for parameter in tool.parameters().values()
            if isinstance(note := parameter.annotation.__metadata__[0], OptionText)
        }
    )


def _tool_of(command: str) -> str:
    name = _TOOL_OF_COMMAND.get(command)
    return f"the tool {name}" if name else ""


def _users(tool: ToolDefinition, option: str) -> str:
    if option in tool.defaults:
        return f"the tool {tool.name}"
    return _SETTINGS.get(option) or f"the user's option {option}"
