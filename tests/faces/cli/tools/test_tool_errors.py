"""Errors name the next step: a tool that exists, or the user."""

from __future__ import annotations

from typing import Any

import pytest

from swapcli.core import errors
from swapcli.core.errors import RateLimited, SwapcliError, UnknownToken
from swapcli.faces.cli.errors import error_document, report_of
from swapcli.faces.cli.tools.tool_errors import NEXT_STEPS, tool_error
from swapcli.faces.cli.tools.tool_table import TOOLS, find_tool

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


def test_what_passes_is_called_again_with_the_same_arguments() -> None:
    answer = document_of(RateLimited("too many requests", retry_after_s=7))
    assert answer["retryable"]
    assert (answer["next"]["tool"], answer["next"]["arguments"]) == ("quote", ORDER)
    assert "7 seconds" in answer["next"]["reason"]


@pytest.mark.parametrize("code", ["MODELLED_STATE", "UNSAFE_RECIPIENT", "VERDICT_BLOCKS", "SLIPPAGE_TOO_HIGH"])
def test_what_only_a_person_decides_leads_to_no_tool(code: str) -> None:
    raised = next(each for each in classes() if each.code == code)("message")
    assert document_of(raised)["next"]["tool"] is None


def test_options_are_named_as_arguments() -> None:
    answer = document_of(errors.InvalidOption("--max-hops: no", hint="give --exclude-protocols, not --no-such-option"))
    assert answer["message"] == "max_hops: no"
    assert answer["hint"] == "give exclude_protocols, not --no-such-option"
