"""Errors name the next step: a tool that exists, or the user."""

from __future__ import annotations

from typing import Any

import pytest

from swapcli.core import errors
from swapcli.core.errors import RateLimited, SwapcliError, UnknownToken
from swapcli.faces.cli.errors import error_document, report_of
from swapcli.faces.cli.tools.tool_errors import NEXT_STEPS, tool_error
from swapcli.faces.cli.tools.tool_table import TOOLS, find_tool
from tests.examples import few

ORDER = {"network": "base", "token_in": "ETH", "token_out": "USDC", "amount": "1"}


def document_of(error: SwapcliError) -> dict[str, Any]:
    return dict(tool_error(find_tool("quote"), ORDER, error_document(report_of(error))))


def classes(root: type[SwapcliError] = SwapcliError) -> list[type[SwapcliError]]:
    return [root, *(each for child in root.__subclasses__() for each in classes(child))]


def test_next_steps_are_for_codes_and_tools_that_exist() -> None:
    codes = {each.code for each in classes() if each.__module__ == errors.__name__} | {"INTERNAL"}
    assert set(NEXT_STEPS) <= codes
    assert {step.tool for step in NEXT_STEPS.values()} - {None} <= {each.name for each in TOOLS}
    for step in NEXT_STEPS.values():
        tool = step.tool and find_tool(step.tool)
        assert not tool or set(step.arguments) <= set(tool.parameters())


def test_an_unknown_token_leads_to_the_tokens() -> None:
    answer = document_of(UnknownToken('no token "X" on base'))
    assert answer["next"]["tool"] == "tokens"
    assert answer["next"]["arguments"] == {"network": "base"}


def test_a_passing_error_names_the_time_to_wait() -> None:
    answer = document_of(RateLimited("too many requests", retry_after_s=7))
    assert answer["retryable"]
    assert answer["next"].keys() == {"reason"}
    assert "7 seconds" in answer["next"]["reason"]


@pytest.mark.parametrize("error", few(classes(), 24), ids=lambda each: each.__name__)
def test_no_step_is_the_call_that_failed(error: type[SwapcliError]) -> None:
    """For each tool, as for health, which is also the step after some errors."""
    if error.__module__ != errors.__name__:
        return
    for tool in TOOLS:
        arguments = {"network": "base"} if "network" in tool.parameters() else {}
        raised = SwapcliError("message")
        document = error_document(report_of(raised)) | {"code": error.code}
        step = tool_error(tool, arguments, document)["next"]
        assert (step.get("tool"), step.get("arguments", {})) != (tool.name, arguments)


def test_a_misspelling_is_corrected_if_one_name_is_near() -> None:
    details = {"token": "USDCC", "network": "base", "closest": ["USDC"]}
    error = error_document(report_of(UnknownToken("none", details=details)))
    step = tool_error(find_tool("quote"), ORDER | {"token_out": "USDCC"}, error)["next"]
    assert (step["tool"], step["arguments"]) == ("quote", ORDER)
    error["details"] = details | {"closest": ["USDC", "USDT"]}
    step = tool_error(find_tool("quote"), ORDER | {"token_out": "USDCC"}, error)["next"]
    assert step["tool"] == "tokens"


def test_an_unknown_address_is_looked_up() -> None:
    address = "0x" + "12" * 20
    error = error_document(report_of(UnknownToken("none", details={"token": address, "network": "base"})))
    step = tool_error(find_tool("quote"), ORDER | {"token_in": address}, error)["next"]
    assert (step["tool"], step["arguments"]) == ("find_pools", {"network": "base", "tokens": [address]})


@pytest.mark.parametrize("code", ["MODELLED_STATE", "UNSAFE_RECIPIENT", "VERDICT_BLOCKS", "SLIPPAGE_TOO_HIGH"])
def test_what_only_a_person_decides_leads_to_no_tool(code: str) -> None:
    raised = next(each for each in classes() if each.code == code)("message")
    assert document_of(raised)["next"].get("tool") is None


def test_options_are_named_as_arguments() -> None:
    answer = document_of(errors.InvalidOption("--max-hops: no", hint="give --exclude-protocols"))
    assert answer["message"] == "max_hops: no"
    assert answer["hint"] == "give exclude_protocols"


def test_no_hint_is_to_leave_out_what_makes_the_tool() -> None:
    raised = errors.InvalidOption("--check needs a node", hint="remove --check")
    answer = tool_error(find_tool("check"), ORDER, error_document(report_of(raised)))
    assert (answer["message"], answer.get("hint")) == ("the tool check needs a node", None)
