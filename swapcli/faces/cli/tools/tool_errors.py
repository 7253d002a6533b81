"""The errors of tools: those of the command line, in the words of a tool, with the next step of an agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.records import NamedTuple
from swapcli.faces.cli.command_app import OptionText
from swapcli.faces.cli.tools.tool_table import ToolDefinition

if TYPE_CHECKING:
    from swapcli.interface.document_types import ErrorJson, NextStepJson, ToolErrorJson


class NextStep(NamedTuple):
    """What follows an error of some code: a tool, those of the call's arguments that it takes too, and why.

    Without a tool a person has to decide, and an agent must not.
    """

    reason: str
    tool: str | None = None
    arguments: tuple[str, ...] = ()


_AMOUNT_PAIR = ("network", "token_in", "token_out")
_ASK = "tell the user, who alone decides about this; do not change a limit or an address for it"
NEXT_STEPS: Final[Mapping[str, NextStep]] = MappingProxyType(
    {
        "UNKNOWN_NETWORK": NextStep("networks lists the names", "networks"),
        "UNKNOWN_TOKEN": NextStep("tokens finds symbols and addresses by a part of them", "tokens", ("network",)),
        "AMBIGUOUS_TOKEN": NextStep("tokens shows which address has the most pools", "tokens", ("network",)),
        "NO_ROUTE": NextStep("pools shows which pools trade a token", "pools", ("network",)),
        "INSUFFICIENT_LIQUIDITY": NextStep("depth shows the largest amounts", "depth", _AMOUNT_PAIR),
        "PRICE_IMPACT_TOO_HIGH": NextStep("depth shows up to which amount the impact is low", "depth", _AMOUNT_PAIR),
        "UNREAD_GAIN_TOO_HIGH": NextStep(
            "a node of the user's own reads more pools: tell the user, or use a smaller amount if the user agrees"
        ),
        "MODELLED_STATE": NextStep(
            "there are no live prices; offline=true builds on modelled ones, which only the user may ask for, and which"
            " must not be signed"
        ),
        "LIVE_UNAVAILABLE": NextStep("no node answers: health says what is known, and a node can be set", "health"),
        "UNSAFE_RECIPIENT": NextStep(_ASK),
        "SLIPPAGE_TOO_HIGH": NextStep(_ASK),
        "UNSAFE_SWAP": NextStep(_ASK),
        "FEES_UNUSUAL": NextStep(_ASK),
        "VERDICT_BLOCKS": NextStep("do not sign it: details.verdict says why; tell the user"),
        "SIMULATION_FAILED": NextStep("do not sign it; tell the user"),
        "INSUFFICIENT_BALANCE": NextStep("tell the user, or use a smaller amount if the user agrees"),
        "TOKEN_BLOCKED": NextStep("tell the user, whose settings block the token"),
        "CONFIG_ERROR": NextStep("tell the user, whose settings have to be mended"),
        "INTERNAL": NextStep("tell the user: this is a defect of swapcli"),
    }
)
"""The next step by the code of the error. Others follow from the branches of the error tree, by the exit status."""
_USAGE_STATUS = 2
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


def tool_error(tool: ToolDefinition | None, arguments: Mapping[str, Any], error: ErrorJson) -> ToolErrorJson:
    """Return the answer of a tool that failed with an error of the command line; None is a tool that does not exist."""
    message, hint = error["message"], error["hint"]
    if tool is not None:
        message, hint = _in_words_of(tool, message), None if hint is None else _in_words_of(tool, hint)
    worded: ErrorJson = {**error, "message": message, "hint": hint}
    return {**worded, "next": _next_step(tool, arguments, worded)}


def _next_step(tool: ToolDefinition | None, arguments: Mapping[str, Any], error: ErrorJson) -> NextStepJson:
    name = tool.name if tool else None
    if error["retryable"]:
        wait_s = error["details"].get("retry_after_s", 5)
        return {"tool": name, "arguments": dict(arguments), "reason": f"this may pass: retry in {wait_s} seconds"}
    step = NEXT_STEPS.get(error["code"])
    # An argument that is also a setting is judged as one, and named in front.
    is_argument = any(error["message"].startswith(f"{each}: ") for each in arguments)
    if step is not None and not (is_argument and error["code"] == "CONFIG_ERROR"):
        kept = {each: arguments[each] for each in step.arguments if each in arguments}
        return {"tool": step.tool, "arguments": kept, "reason": step.reason}
    if error["exit_code"] == _USAGE_STATUS:
        return {"tool": name, "arguments": dict(arguments), "reason": "correct the arguments as message and hint say"}
    return {"tool": None, "arguments": {}, "reason": "tell the user what message and hint say"}


def _in_words_of(tool: ToolDefinition, sentence: str) -> str:
    """Return a sentence with the names of arguments in the place of options; other options are for people."""
    names = {
        note.name: parameter.name
        for parameter in tool.parameters().values()
        if isinstance(note := parameter.annotation.__metadata__[0], OptionText)
    }
    return _OPTION.sub(lambda found: names.get(found[0], found[0]), sentence)
