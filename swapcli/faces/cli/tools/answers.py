"""What a command has printed, as the answer of its tool: warnings and verdict first, then whole amounts."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from swapcli.core.errors import SwapcliError
from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.tools.shortening import shorten
from swapcli.faces.cli.tools.swap_check import CHECK, blocked_check, without_payload
from swapcli.faces.cli.tools.tool_table import ToolDefinition
from swapcli.faces.cli.tools.whole_amounts import whole_amounts

_FIRST = ("verdict", "dangers")
_LABELS = ("warning: ", "note: ")


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
    tool: ToolDefinition, network: object, output: CommandOutput, find_network: Callable[[str], Network]
) -> dict[str, Any]:
    """Return the answer of a tool that was called for `network`. A document counts even where the status is not 0.

    Raises `FailedCommand` for an error instead of a document, and `ValueError` for neither.
    """
    lines = output.stderr.splitlines()
    error = next((each for each in map(_parse_error, reversed(lines)) if each is not None), None)
    document, left_out = shorten(tool, _read_document(tool, network, output, error))
    warnings = [*document.get("warnings", ())]
    if error is not None and output.stdout.strip():
        warnings.append({"code": error["code"], "message": error["message"]})
    said = {each["message"] for each in warnings}
    notes = [text for line in lines if (text := _without_label(line)) and text not in said]
    first = {name: document[name] for name in _FIRST if name in document}
    return {
        "warnings": warnings,
        **first,
        "notes": [*notes, *left_out],
        "amounts": _amounts(tool, document, find_network),
        **{name: value for name, value in document.items() if name not in first and name != "warnings"},
    }


def _read_document(
    tool: ToolDefinition, network: object, output: CommandOutput, error: dict[str, Any] | None
) -> dict[str, Any]:
    is_check = tool.document == CHECK
    if output.stdout.strip():
        document = json.loads(output.stdout)
        if tool.list_field:
            return {tool.list_field: document}
        return without_payload(document) if is_check else dict(document)
    if error is None:
        raise ValueError(f"the command ended with status {output.exit_code} and wrote nothing")
    blocked = blocked_check(error, str(network)) if is_check else None
    if blocked is None:
        raise FailedCommand(error)
    return blocked


def _amounts(
    tool: ToolDefinition, document: dict[str, Any], find_network: Callable[[str], Network]
) -> list[dict[str, str]]:
    """Return the whole amounts of a document, or of each document of a list, which may be of several networks."""
    if not tool.list_field:
        return whole_amounts(document, _find(document.get("network"), find_network))
    return [
        amount | {"field": f"{tool.list_field}.{index}.{amount['field']}"}
        for index, each in enumerate(document[tool.list_field])
        for amount in whole_amounts(each, _find(each.get("network"), find_network))
    ]


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
