"""`docs/clear-signing`: wallets that read ERC-7730 show every call of this project's router as it is.

The rules are those of the standard's schema, version 2 (github LedgerHQ/clear-signing-erc7730-registry, specs), which
the file was validated against; the contract's ABI is that of its compiler.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from eth_abi.abi import decode
from eth_utils.crypto import keccak

import swapcli
from swapcli import Market
from swapcli.core.model.swap_type import SwapType
from tests.payload.handoff.orders import ROUTER, SAFE

ROOT = Path(__file__).parents[4]
FILE = ROOT / "docs/clear-signing/calldata-SwapRouter.json"
DOCUMENT: dict[str, Any] = json.loads(FILE.read_text())
FORMATS: dict[str, Any] = DOCUMENT["display"]["formats"]
ABI: list[dict[str, Any]] = json.loads((ROOT / "swapcli/payload/evm/router/artifact.json").read_text())["abi"]
FUNCTIONS = {each["name"]: each for each in ABI if each["type"] == "function" and each["name"].startswith("swap")}

NAMES = {"raw", "amount", "tokenAmount", "date", "addressName", "enum"}
"""Formats of the standard that the file uses."""
FIELDS = {"path", "label", "format", "params", "visible"}
KEY = re.compile(
    r"[A-Za-z_]\w*\((?:(?:\((?:[^()]|\([^()]*\))*\)|[a-z]+[0-9]*)(?:\[\])* [A-Za-z_]\w*(?:, (?!\))|(?=\))))*\)"
)
"""A function with the names of its parameters."""


def signature(inputs: list[dict[str, Any]], *, named: bool) -> str:
    """Return parameters as they stand between parentheses."""
    return ("," if not named else ", ").join(
        (f"({signature(each['components'], named=named)}){each['type'][5:]}" if "components" in each else each["type"])
        + (f" {each['name']}" if named else "")
        for each in inputs
    )


def leaves(inputs: list[dict[str, Any]], path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each value of a call with its type, by its path in the descriptor."""
    for each in inputs:
        inner = f"{path}{each['name']}" + (".[]" if each["type"].endswith("[]") else "")
        if "components" in each:
            yield from leaves(each["components"], f"{inner}.")
        else:
            yield inner, each["type"]


def test_it_has_the_functions_of_the_compiled_contract() -> None:
    expected = {f"{name}({signature(each['inputs'], named=True)})" for name, each in FUNCTIONS.items()}
    assert set(FORMATS) == expected
    assert {each["$id"] for each in FORMATS.values()} == set(FUNCTIONS)
    assert all(KEY.fullmatch(key) for key in FORMATS)


def test_their_selectors_are_those_of_its_bytecode() -> None:
    bytecode = json.loads((ROOT / "swapcli/payload/evm/router/artifact.json").read_text())["bytecode"]
    for name, each in FUNCTIONS.items():
        selector = keccak(text=f"{name}({signature(each['inputs'], named=False)})")[:4]
        assert f"63{selector.hex()}" in bytecode, name  # PUSH4 of the contract's dispatcher


@pytest.mark.parametrize("key", FORMATS)
def test_every_value_of_a_call_is_shown_or_hidden_on_purpose(key: str) -> None:
    types = dict(leaves(FUNCTIONS[FORMATS[key]["$id"]]["inputs"])) | {"@.value": "uint256"}
    fields = FORMATS[key]["fields"]
    assert sorted(each["path"] for each in fields) == sorted(types)
    for field in fields:
        assert set(field) <= FIELDS
        assert field["format"] in NAMES
        assert field["label"]
        kind, params = types[field["path"]], field.get("params", {})
        match field["format"]:
            case "tokenAmount":
                assert (kind, types[params["tokenPath"]]) == ("uint256", "address")
            case "date":
                assert (kind, params) == ("uint256", {"encoding": "timestamp"})
            case "addressName":
                assert kind == "address"
            case "enum":
                assert params == {"$ref": "$.metadata.enums.currency"}
    for path in re.findall(r"\{([^}]*)\}", FORMATS[key]["interpolatedIntent"]):
        assert path in types
    always = {each["path"] for each in fields if each["visible"] == "always"}
    assert {"route.amount_in", "route.min_received", "route.destination", "route.swap_type"} <= always
    assert ("deadline" in types) == ("deadline" in always)


def test_the_rest_is_what_the_standard_asks_for() -> None:
    assert DOCUMENT["$schema"].endswith("/specs/erc7730-v2.schema.json")
    # The file has no address: each user deploys their own router, and adds its address.
    assert DOCUMENT["context"] == {"$id": "swapcli SwapRouter", "contract": {"deployments": []}}
    assert set(DOCUMENT["metadata"]["enums"]["currency"]) == {str(int(each)) for each in SwapType}
    assert DOCUMENT["metadata"].keys() == {"owner", "contractName", "enums"}


def test_a_swap_reads_as_it_was_quoted() -> None:
    """The descriptor on calldata that eth_abi decodes, by the types of its own key."""
    settings = {"networks.base.router": ROUTER, "networks.base.router_dialect": "own"}
    with Market.embedded("base", settings=settings) as market:
        quote = market.quote("USDC", "ETH", "1500")
        prepared = quote.prepare(destination=SAFE, deadline="3d")
        shown = read(prepared.transactions[-1]["data"])
        assert shown == {
            "You sell": (1_500_000_000, market.token("USDC").address),
            "You get at least": (quote.min_received, market.token("WETH").address),
            "Recipient": SAFE,
            "Native currency": "Buys the native currency",
            "Fails after": datetime.fromtimestamp(prepared.payload.call.deadline_s or 0, UTC),
        }
    assert swapcli.decode(json.dumps(prepared.transactions), offline=True, settings=settings)


def read(calldata: str) -> dict[str, Any]:
    """Return what a wallet shows of a call, by label."""
    raw = bytes.fromhex(calldata[2:])
    for name, each in FUNCTIONS.items():
        types = [signature([part], named=False) for part in each["inputs"]]
        if keccak(text=f"{name}({','.join(types)})")[:4] == raw[:4]:
            break
    else:
        raise AssertionError("a function without a descriptor")
    (form,) = [form for form in FORMATS.values() if form["$id"] == name]
    values: dict[str, Any] = {"@.value": 0}
    for part, value in zip(each["inputs"], decode(types, raw[4:]), strict=True):
        values[part["name"]] = value
        if part["type"] == "tuple":
            values |= {
                f"{part['name']}.{inner['name']}": got for inner, got in zip(part["components"], value, strict=True)
            }
    return dict(_shown(field, values) for field in form["fields"] if _is_visible(field, values))


def _is_visible(field: dict[str, Any], values: dict[str, Any]) -> bool:
    rule = field["visible"]
    if isinstance(rule, str):
        return rule != "never"
    value = values[field["path"]]
    return (f"0x{value.hex()}" if isinstance(value, bytes) else str(value)) not in rule["ifNotIn"]


def _shown(field: dict[str, Any], values: dict[str, Any]) -> tuple[str, Any]:
    value = values[field["path"]]
    match field["format"]:
        case "tokenAmount":
            value = (value, values[field["params"]["tokenPath"]])
        case "date":
            value = datetime.fromtimestamp(value, UTC)
        case "enum":
            value = DOCUMENT["metadata"]["enums"]["currency"][str(value)]
    return field["label"], value
