"""The errors of tools: the command line's errors in the words of a tool, with the next step for the agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.records import NamedTuple
from swapcli.faces.cli.tools.tool_table import TOKEN_ARGUMENTS, ToolDefinition
from swapcli.faces.cli.tools.wording import in_words_of
from swapcli.interface.own_document import own_document

if TYPE_CHECKING:
    from swapcli.interface.document_types import ErrorJson, NextStepJson, ToolErrorJson


class NextStep(NamedTuple):
    """The step after an error with a given code: a tool, which of the failed call's arguments to pass to it, and the
    reason.

    `renamed` maps arguments of the failed call to the tool's names for them. Without a tool, the agent must leave the
    decision to a person.
    """

    reason: str
    tool: str | None = None
    arguments: tuple[str, ...] = ()
    renamed: Mapping[str, str] = MappingProxyType({})


_AMOUNT_PAIR = ("network", "token_in", "token_out")
_ASK = "tell the user, who must decide; do not change a limit or an address to get around it"
NEXT_STEPS: Final[Mapping[str, NextStep]] = MappingProxyType(
    {
        "UNKNOWN_NETWORK": NextStep("the tool networks lists the names", "networks"),
        "UNKNOWN_TOKEN": NextStep(
            "the tool tokens finds symbols and addresses by part of a name", "tokens", ("network",)
        ),
        "AMBIGUOUS_TOKEN": NextStep("the tool tokens shows which address has the most pools", "tokens", ("network",)),
        "UNKNOWN_PROTOCOL": NextStep("the tool protocols lists the names", "protocols", ("network",)),
        "NO_ROUTE": NextStep(
            "the tool pools shows which pools trade a token",
            "pools",
            ("network",),
            MappingProxyType({"token_in": "token"}),
        ),
        "INSUFFICIENT_LIQUIDITY": NextStep("the tool depth shows the largest amounts", "depth", _AMOUNT_PAIR),
        "PRICE_IMPACT_TOO_HIGH": NextStep(
            "the tool depth shows up to which amount the impact is low", "depth", _AMOUNT_PAIR
        ),
        "UNREAD_GAIN_TOO_HIGH": NextStep(
            "the user's own node would read more pools: tell the user, or use a smaller amount if the user agrees"
        ),
        "MODELLED_STATE": NextStep(
            "no live prices: tell the user, and use modelled prices (offline true) only if the user requests it; "
            "never sign a payload built on them"
        ),
        "LIVE_UNAVAILABLE": NextStep(
            "no node responds: the tool health shows which state is known; the user can set a node", "health"
        ),
        "UNSAFE_RECIPIENT": NextStep(_ASK),
        "SLIPPAGE_TOO_HIGH": NextStep(_ASK),
        "UNSAFE_SWAP": NextStep(_ASK),
        "FEES_UNUSUAL": NextStep(_ASK),
        "VERDICT_BLOCKS": NextStep("do not sign it: details.verdict has the reasons; tell the user"),
        "SIMULATION_FAILED": NextStep("do not sign it; tell the user"),
        "INSUFFICIENT_BALANCE": NextStep("tell the user, or use a smaller amount if the user agrees"),
        "TOKEN_BLOCKED": NextStep("tell the user that the settings block this token"),
        "CONFIG_ERROR": NextStep("tell the user that the settings need a correction"),
        "INTERNAL": NextStep("tell the user: this is a bug in swapcli"),
    }
)
"""The next step by error code. For other codes, it depends on the branch of the error tree and the exit status."""
_USAGE_STATUS = 2
_CORRECT = "correct the call as `message` and `hint` describe"

Repair = Callable[[ToolDefinition, Mapping[str, Any], "ErrorJson"], "dict[str, Any] | None"]


@own_document
def tool_error(tool: ToolDefinition | None, arguments: Mapping[str, Any], error: ErrorJson) -> ToolErrorJson:
    """Return a tool's error, made from the command line's error. `tool` is None if the called tool does not exist."""
    hint = error.get("hint")
    if tool is not None and hint is not None and any(f"--{name}" in hint for name in tool.defaults):
        hint = None  # it would be to leave out an option that every call of this tool has
    worded: ErrorJson = error if tool is None else in_words_of(tool, {**error, "hint": hint})
    step = _next_step(tool, arguments, worded)
    if tool is not None and (step["tool"], step["arguments"]) == (tool.name, dict(arguments)):
        step = {"tool": None, "arguments": {}, "reason": step["reason"]}
    return {**worded, "next": step}


def _next_step(tool: ToolDefinition | None, arguments: Mapping[str, Any], error: ErrorJson) -> NextStepJson:
    """Return the repaired call, the call of a tool that helps, or none. Never the call that failed."""
    if error["retryable"]:
        wait_s = error.get("details", {}).get("retryAfterS", 5)
        return _without_call(f"this may be temporary: retry the same call in {wait_s} seconds, at most twice")
    if tool is None:
        return _same_call_of_another(arguments, error)
    for repair in _REPAIRS:
        repaired = repair(tool, arguments, error)
        if repaired is not None:
            return {"tool": tool.name, "arguments": repaired, "reason": "this is the corrected call"}
    step = NEXT_STEPS.get(error["code"])
    # An argument that is also a setting is judged as one, and named in front.
    is_argument = any(error["message"].startswith(f"{each}: ") for each in arguments)
    if step is not None and not (is_argument and error["code"] == "CONFIG_ERROR"):
        if error["code"] == "UNKNOWN_TOKEN" and (found := _look_up(arguments, error)):
            return found
        kept = {each: arguments[each] for each in step.arguments if each in arguments}
        renamed = {name: arguments[each] for each, name in step.renamed.items() if each in arguments}
        return {"tool": step.tool, "arguments": kept | renamed, "reason": step.reason}
    if error["exitCode"] == _USAGE_STATUS:
        return _without_call(_CORRECT if error.get("hint") else "correct the call as the message describes")
    return _without_call("tell the user the message and the hint")


def _without_call(reason: str) -> NextStepJson:
    return {"tool": None, "arguments": {}, "reason": reason}


def _same_call_of_another(arguments: Mapping[str, Any], error: ErrorJson) -> NextStepJson:
    closest = _closest(error)
    if len(closest) == 1:
        return {"tool": closest[0], "arguments": dict(arguments), "reason": "this tool has the closest name"}
    return _without_call(_CORRECT)


def _look_up(arguments: Mapping[str, Any], error: ErrorJson) -> NextStepJson | None:
    token = str(error.get("details", {}).get("token", ""))
    if token[:2].lower() != "0x" or "network" not in arguments:
        return None
    reason = "no store has this token: find_pools looks up its pools on a node; then repeat the call"
    return {"tool": "find_pools", "arguments": {"network": arguments["network"], "tokens": [token]}, "reason": reason}


def _closest(error: ErrorJson) -> list[str]:
    closest = error.get("details", {}).get("closest")
    return [str(each) for each in closest] if isinstance(closest, list | tuple) else []


def _rename_argument(_: ToolDefinition, arguments: Mapping[str, Any], error: ErrorJson) -> dict[str, Any] | None:
    wrong, closest = error.get("details", {}).get("argument"), _closest(error)
    if wrong not in arguments or len(closest) != 1 or closest[0] in arguments:
        return None
    return {closest[0] if name == wrong else name: value for name, value in arguments.items()}


def _replace_name(_: ToolDefinition, arguments: Mapping[str, Any], error: ErrorJson) -> dict[str, Any] | None:
    """Replace a misspelled network or token if exactly one name is near."""
    details = error.get("details", {})
    closest = _closest(error)
    names = {"UNKNOWN_NETWORK": ("network",), "UNKNOWN_TOKEN": TOKEN_ARGUMENTS}.get(error["code"], ())
    wrong = details.get("network" if error["code"] == "UNKNOWN_NETWORK" else "token")
    if len(closest) != 1 or closest[0] == wrong:
        return None
    repaired = {name: closest[0] if name in names and value == wrong else value for name, value in arguments.items()}
    return repaired if repaired != dict(arguments) else None


_REPAIRS: Final[tuple[Repair, ...]] = (_rename_argument, _replace_name)
