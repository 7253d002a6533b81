"""Turn a command's output into its tool's document: warnings and verdict first, then amounts in whole tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from swapcli import InvalidOption, Network, SwapcliError
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.tools.arguments import CallArguments
from swapcli.faces.cli.tools.brief_documents import name_units, page_field
from swapcli.faces.cli.tools.tool_table import FULL, ORDERS, ToolDefinition
from swapcli.faces.cli.tools.whole_amounts import whole_amounts
from swapcli.faces.cli.tools.wording import in_words_of
from swapcli.quoting.swap_check import blocked_check, without_payload

_FIRST = ("verdict", "dangers")
_LABELS = ("warning: ", "note: ")
MAX_LISTED, MAX_BRIEF_LISTED = 100, 25
"""Maximum number of list entries if the call gives no limit."""


class CommandOutput(NamedTuple):
    """What a command has written, and its exit status."""

    stdout: str
    stderr: str
    exit_code: int


class FailedCommand(Exception):
    """A command that printed an error, a document of `ErrorJson`, and nothing else."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.error = error


def read_answer(
    tool: ToolDefinition,
    call: CallArguments,
    output: CommandOutput,
    find_network: Callable[[str], Network],
) -> dict[str, Any]:
    """Return a tool's full document from its command's output. A document is accepted even if the exit status is not 0.

    Raises `FailedCommand` if the output is an error, and `ValueError` if it is neither a document nor an error.
    """
    lines = output.stderr.splitlines()
    error = next((each for each in map(_parse_error, reversed(lines)) if each is not None), None)
    document, left_out = _select(tool, call, _read_document(tool, call.command.get("network"), output, error))
    warnings = [*document.get("warnings", ())]
    if error is not None and output.stdout.strip():
        warnings.append({"code": error["code"], "message": error["message"]})
    said = {each["message"] for each in warnings}
    notes = [text for line in lines if (text := _without_label(line)) and text not in said]
    first = {name: document[name] for name in _FIRST if name in document}
    answer = {
        "warnings": warnings,
        **first,
        "notes": [*notes, *left_out],
        "amounts": _amounts(tool, document, find_network),
        **{name: value for name, value in document.items() if name not in first and name != "warnings"},
    }
    named: dict[str, Any] = in_words_of(tool, name_units(answer))
    return named


def networks_of(document: Mapping[str, Any], find_network: Callable[[str], Network]) -> dict[str, Network]:
    """Return the networks named in a document, by name."""
    named = [document, *(each for value in document.values() if isinstance(value, list) for each in value)]
    names = {each["network"] for each in named if isinstance(each, dict) and isinstance(each.get("network"), str)}
    return {name: found for name in names if (found := _find(name, find_network)) is not None}


def _select(tool: ToolDefinition, call: CallArguments, document: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a document with the page of its list that was called for, and notes on what is left out."""
    notes = []
    if tool.command == "compare":
        # A network has dozens of protocols that do not trade a pair.
        others = ("service", "aggregator")
        listed = document["alternatives"]
        found = [each for each in listed if each.get("outputAmount") is not None or each["kind"] in others]
        if len(found) < len(listed):
            notes = [f"{len(listed) - len(found)} alternatives have no route and are not shown"]
        document = document | {"alternatives": found}
    if not tool.paged:
        return document, notes
    listed = document.get(tool.paged, [])
    total = document.get("count", len(listed))
    if call.offset >= max(total, 1):
        raise InvalidOption(
            f"offset: {call.offset:,} is too large: there are {total:,} {tool.paged}", hint="use a smaller offset"
        )
    shown = listed[call.offset : call.offset + page_size(call)]
    rest = {name: each for name, each in document.items() if name != tool.paged}
    return rest | {"page": page_field(call.offset, len(shown), total), tool.paged: shown}, notes


def page_size(call: CallArguments) -> int:
    """Return how many list entries to return for a call."""
    return call.limit or (MAX_LISTED if call.detail == FULL else MAX_BRIEF_LISTED)


def _read_document(
    tool: ToolDefinition, network: object, output: CommandOutput, error: dict[str, Any] | None
) -> dict[str, Any]:
    is_check = tool.document == "check"
    if output.stdout.strip():
        if tool.stdin == ORDERS:
            return _read_batch(output.stdout)
        document = json.loads(output.stdout)
        if tool.list_field:
            return {tool.list_field: document}
        return without_payload(document) if is_check else dict(document)
    if error is None:
        raise ValueError(f"the command exited with status {output.exit_code} and wrote nothing")
    blocked = blocked_check(error, str(network)) if is_check else None
    if blocked is None:
        raise FailedCommand(error)
    return blocked


def _read_batch(lines: str) -> dict[str, Any]:
    """Return the document of a batch: each quote with the id of its order, and the warnings of any, once."""
    quotes, warnings = [], {}
    for line in lines.splitlines():
        entry = json.loads(line)
        result = entry["result"]
        for each in result.get("warnings", ()):
            warnings[each["code"], each["message"]] = each
        quotes.append(entry)
    return {"warnings": [*warnings.values()], "quotes": quotes}


def _amounts(
    tool: ToolDefinition, document: dict[str, Any], find_network: Callable[[str], Network]
) -> list[dict[str, str]]:
    """Return the whole amounts of a document, or of each document of a list, which may be of several networks."""
    if not tool.list_field:
        return whole_amounts(document, _find(document.get("network"), find_network))
    amounts = []
    for index, entry in enumerate(document[tool.list_field]):
        quoted = entry.get("result", entry)  # an order of a batch has its quote in `result`
        of_entry = whole_amounts(entry, _find(quoted.get("network"), find_network))
        amounts += [each | {"field": f"{tool.list_field}.{index}.{each['field']}"} for each in of_entry]
    return amounts


def _parse_error(line: str) -> dict[str, Any] | None:
    with suppress(ValueError):
        document = json.loads(line)
        if isinstance(document, dict) and {"code", "message"} <= document.keys():
            return document
    return None


def _without_label(line: str) -> str:
    return next((line.removeprefix(label) for label in _LABELS if line.startswith(label)), "")


def _find(name: object, find_network: Callable[[str], Network]) -> Network | None:
    """Return the network of a document; a market file may have one of its own, which is not known here."""
    with suppress(SwapcliError):
        return find_network(name) if isinstance(name, str) else None
    return None
