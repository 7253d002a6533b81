"""One style in all JSON of swapcli's own: camelCase, no empty fields, and schemas that say so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from swapcli.faces.cli.synonyms import FIELDS
from swapcli.faces.cli.tools.schemas import build_schema, printed_by
from swapcli.interface.document_types import DOCUMENTS

CAMEL_CASE: Final = re.compile(r"[a-z][a-zA-Z0-9]*")

PUBLISHED: Final = frozenset(
    {
        "token_in", "token_out", "amount_in", "amount_out", "min_received", "swap_type", "swap_parameters",
        "protocol_id", "pool_address", "extra_data", "router_address",
    }
)  # fmt: skip
"""Fields of the published interface that are not in camelCase, from its specification: of CalldataRoute, of
SwapParameter, and of V2 calldata."""

EXCEPTIONS: Final[Mapping[str, frozenset[str]]] = {
    "the argument of the router's contract, beside the published swap_parameters": frozenset({"integrator_data"}),
    "an invoke transaction of Starknet, as its JSON-RPC specification writes it": frozenset(
        {
            "sender_address", "resource_bounds", "l1_gas", "l2_gas", "l1_data_gas", "max_amount", "max_price_per_unit",
            "paymaster_data", "account_deployment_data", "nonce_data_availability_mode",
            "fee_data_availability_mode",
        }
    ),
}  # fmt: skip
"""Fields that keep the name of another standard, by the reason."""

RECORDED: Final = "record"
"""The file format of recorded pools, whose fields are those of market files: `tests/recorded` has hundreds of them."""

KEPT: Final = frozenset({"calldata", "execute", "plan-next", "proof", "record", "route", "route-batch", "route-watch"})
"""Documents that can be posted back to the published interface, or are files with a format of their own."""

KEPT_TOOLS: Final = frozenset({"mcp-quote", "mcp-quote_batch", "mcp-build_transaction"})
"""Tools whose documents are among them."""


def fields_of(schema: Any) -> Iterator[str]:
    """Yield the names of all properties in a schema."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            yield from properties
        for each in schema.values():
            yield from fields_of(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from fields_of(each)


def allows_null(schema: Any) -> bool:
    """Whether a field of any object may be null; an entry of a list may always be."""
    if isinstance(schema, dict):
        return schema.get("type") == "null" or any(allows_null(schema[key]) for key in schema if key != "items")
    return isinstance(schema, list) and any(map(allows_null, schema))


DESCRIBED: Final = [*DOCUMENTS, *(each for each in printed_by() if not each.endswith("-input"))]


@pytest.mark.parametrize("name", [each for each in DESCRIBED if each != RECORDED])
def test_fields_are_in_camel_case(name: str) -> None:
    allowed = PUBLISHED.union(*EXCEPTIONS.values())
    found = set(fields_of(build_schema(name).document()))
    assert {each for each in found - allowed if not CAMEL_CASE.fullmatch(each)} == set()


@pytest.mark.parametrize("name", sorted(set(DESCRIBED) - KEPT - KEPT_TOOLS))
def test_no_field_of_an_own_document_is_null_or_an_empty_list(name: str) -> None:
    schema = build_schema(name).document()
    assert not allows_null(schema)
    for definition in schema["$defs"].values():
        properties = definition["properties"]
        assert all(properties[each].get("type") != "array" for each in definition.get("required", ()))


@pytest.mark.parametrize("name", sorted(KEPT - {"record"}))
def test_documents_that_can_be_posted_back_keep_null(name: str) -> None:
    assert allows_null(build_schema(name).document())


def test_the_present_names_of_renamed_fields_exist() -> None:
    found = {each for name in DESCRIBED for each in fields_of(build_schema(name).document())}
    assert {each for names in FIELDS.values() for each in names} <= found


@pytest.mark.parametrize("word", ["netOfGas", "venue", "leftOut", "rehears", "amm"])
def test_a_thing_has_one_name(word: str) -> None:
    """The words of the glossary that other words replace; `venues` of a network is the key of its definition."""
    found = {each for name in DESCRIBED for each in fields_of(build_schema(name).document())}
    assert {each for each in found if word.lower() in each.lower()} <= {"venues"}
