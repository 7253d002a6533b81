"""The table of quote parameters agrees with the types that are written by hand, and names what is missing."""

from __future__ import annotations

import json

import pytest

from swapcli.core.errors import InvalidOption
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.networks.catalogue import find_network
from swapcli.faces.cli.tools.tool_table import TOOLS
from swapcli.faces.service.parameter_descriptions import describe_order
from swapcli.interface.quote_parameters import PARAMETERS, QUOTE_PARAMETERS, SENT, QuoteParameter, tool_arguments
from swapcli.interface.requests import ROUTE_V1, parse_calldata_body, parse_order
from swapcli.quoting.config import TABLE, Settings
from swapcli.quoting.quote_keywords import QuoteKeywords

BASE = find_network("base")
ORDER = {"amount": "1000", "tokenInAddress": "0x" + "11" * 20, "tokenOutAddress": "0x" + "22" * 20}
TERMS = {"slippage": 0.5, "destination": "0x" + "ab" * 20}


@pytest.mark.parametrize("row", [each for each in QUOTE_PARAMETERS if each.field], ids=lambda each: each.name)
def test_the_field_of_a_parameter_exists_with_the_same_default(row: QuoteParameter) -> None:
    defaults = Order._field_defaults | QuoteRequest._field_defaults
    assert row.field in defaults, f"add the field {row.field} to Order or QuoteRequest"
    # A program that builds a request itself sets no limit of time.
    assert defaults[row.field] == (None if row.name == "solve_time_s" else row.default)
    if row.setting:
        assert row.field in Settings._fields, f"add {row.field} to Settings in quoting/config/settings.py"


def test_settings_are_in_the_table_of_settings() -> None:
    assert {each.key or each.name for each in QUOTE_PARAMETERS if each.setting} <= TABLE.keys()


def test_the_keywords_of_programs_are_those_of_the_table() -> None:
    expected = {each.name for each in QUOTE_PARAMETERS if each.is_keyword} - {"reverse"}
    assert set(QuoteKeywords.__annotations__) == expected, "add the missing keyword to quoting/quote_keywords.py"


def test_the_tools_of_the_table_exist_and_list_limits_first() -> None:
    assert {tool for each in QUOTE_PARAMETERS for tool in each.tools} <= {each.name for each in TOOLS}
    assert tool_arguments("quote_batch") == ("max_hops", "exclude_protocols", "only_protocols", "reverse", "slippage")


def test_parameters_of_the_service_are_described_in_their_types() -> None:
    described = {each.name: each for each in describe_order(ROUTE_V1, BASE)}
    assert {each.query for each in SENT} <= described.keys()
    assert described["direct"].schema == {"type": "boolean", "default": False}
    assert described["shares"].schema == {"type": "string", "enum": ["fine", "whole"], "default": "whole"}


def test_a_query_and_a_body_give_the_same_values() -> None:
    query = parse_order([*ORDER.items(), ("direct", "1"), ("shares", "fine")], BASE, ROUTE_V1)
    document = json.loads(json.dumps(ORDER | TERMS | {"direct": True, "shares": "fine"}))
    body = parse_calldata_body(document, BASE, 0)
    assert query.values == (("direct", True), ("shares", "fine")) == body.values  # type: ignore[union-attr]
    assert parse_order([*ORDER.items(), ("direct", "false"), ("shares", "whole")], BASE, ROUTE_V1).values == ()


def test_an_option_that_is_no_setting_says_what_it_expects() -> None:
    assert PARAMETERS["max_pools"].parse_option("4") == 4
    with pytest.raises(InvalidOption, match=r"^--max-pools: expected a whole number above zero$"):
        PARAMETERS["max_pools"].parse_option("0")
