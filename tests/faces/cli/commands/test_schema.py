"""`swapcli schema`: what commands print is what their schemas say, and nothing more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

from swapcli.faces.cli.tools.schemas import build_schema, printed_by
from swapcli.interface.document_types import DOCUMENTS, KEEPS_EMPTY_FIELDS
from swapcli.interface.json_schemas import build_document_schema
from tests.examples import few
from tests.faces.cli.json_commands import JSON_COMMANDS, LONG_RUNNING, ORDER, WALLET, Run, json_command_runner
from tests.support.command import run_swapcli
from tests.support.service import recipient_on

PAYING = ("--destination", WALLET)
DIALECTS = ("--router-dialect", "universal-router")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return json_command_runner(tmp_path_factory.mktemp("json"))


def check(name: str, document: Any) -> None:
    """Check a document against its schema, closed: fields that the schema does not name are errors."""
    errors = [str(error) for error in Draft202012Validator(closed(build_document_schema(name))).iter_errors(document)]
    assert not errors, errors[0][:500]
    if name not in KEEPS_EMPTY_FIELDS:
        assert [*empty_fields(document)] == []


def empty_fields(document: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of fields that are null, "", [] or {}."""
    if isinstance(document, list):
        for number, each in enumerate(document):
            yield from empty_fields(each, f"{path}{number}.")
    elif isinstance(document, dict):
        for field, value in document.items():
            if value in (None, "", [], {}):
                yield f"{path}{field}"
            yield from empty_fields(value, f"{path}{field}.")


def closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return inner | {"unevaluatedProperties": False} if isinstance(schema.get("required"), list) else inner


def test_every_command_with_json_has_a_schema() -> None:
    documents = {name.replace(" ", "-") for name in {*JSON_COMMANDS, *LONG_RUNNING}}
    assert documents | {
        "backtest-results",
        "plan-next",
        "proof",
        "route-batch",
        "route-watch",
        "sync-watch",
        "error",
    } == set(DOCUMENTS)


@pytest.mark.parametrize("name", few([*DOCUMENTS, *printed_by()], 30))
def test_schemas_are_valid_and_stand_alone(name: str) -> None:
    schema = run_swapcli("schema", name).json
    meta.validate(schema)
    references = json.dumps(schema).count('"$ref": "#/$defs/')
    assert references == json.dumps(schema).count('"$ref"')
    assert (references > 0) != name.endswith("-input")
    assert schema == build_schema(name).document()


@pytest.mark.parametrize("name", sorted(set(JSON_COMMANDS) - {"keys create", "keys revoke", "market import"}))
def test_commands_print_what_their_schemas_say(run: Run, name: str) -> None:
    check(name.replace(" ", "-"), run(name, "--json").json)


def test_what_changes_files_prints_what_its_schema_says(run: Run) -> None:
    check("keys-revoke", run("keys revoke", "--json").json)
    check("keys-create", run("keys create", "--json").json)
    check("market-import", run("market import", "--replace", "--json").json)


@pytest.mark.parametrize(
    "words",
    [
        (*ORDER, "--api-version", "v1", "--certify"),
        (*ORDER, "--certify"),
        ("starknet", "STRK", "USDC", "100"),
        ("base", "ETH", "WETH", "1"),
        ("base", "AERO", "cbBTC", "100", "--slippage", "1"),
        ("monad", "MON", "USDC", "1"),
    ],
)
def test_routes_of_all_kinds_fit_the_schema(words: tuple[str, ...]) -> None:
    paying = ("--destination", recipient_on(words[0]))
    route = run_swapcli("route", *words, "--json")
    check("route", route.json)
    built = run_swapcli("calldata", *words, *paying, "--json")
    check("calldata", built.json)
    check("execute", run_swapcli("execute", *paying, "--json", stdin=route.stdout.encode()).json)


def test_payloads_of_another_router_fit_the_schema() -> None:
    options = (*DIALECTS, "--json")
    check("calldata", run_swapcli("calldata", *ORDER, *PAYING, *options).json)
    route = run_swapcli("route", *ORDER, *options).stdout.encode()
    check("execute", run_swapcli("execute", *PAYING, *options, stdin=route).json)


@pytest.mark.parametrize("options", [(), DIALECTS])
def test_decoded_swaps_fit_the_schema(options: tuple[str, ...]) -> None:
    built = run_swapcli("calldata", "base", "USDC", "AERO", "100", *PAYING, *options, "--json").stdout.encode()
    check("decode", run_swapcli("decode", "-", "--json", stdin=built).json)
    check("decode", run_swapcli("decode", "0xdeadbeef", "--json").json)


def test_lines_of_a_batch_fit_the_schema() -> None:
    orders = [
        {"id": each, "tokenIn": "ETH", "tokenOut": each, "inputAmount": "10000000000000"} for each in ("USDC", "?")
    ]
    stdin = "\n".join(map(json.dumps, orders)).encode()
    lines = run_swapcli("route", "base", "--batch", "-", stdin=stdin).stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        check("route-batch", json.loads(line))


@pytest.mark.parametrize(
    "words", [("tokens", "nosuch"), ("route", "base", "ETH"), ("route", *ORDER, "--slippage", "x")]
)
def test_errors_fit_the_schema(words: tuple[str, ...]) -> None:
    check("error", run_swapcli(*words, "--json").error)


def test_a_document_of_another_shape_does_not_fit() -> None:
    document = run_swapcli("route", *ORDER, "--json").json
    validator = Draft202012Validator(build_document_schema("route"))
    assert validator.is_valid(document)
    for name in ("minReceived", "state", "warnings", "expiresAt", "route"):
        assert not validator.is_valid({key: value for key, value in document.items() if key != name})
    assert not validator.is_valid(document | {"gasUnits": 5})
    assert not validator.is_valid(document | {"minReceived": "1.5"})


def test_an_unknown_document_is_refused_with_near_ones() -> None:
    ran = run_swapcli("schema", "tokns")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.splitlines() == ['error: no document "tokns"', "hint:  did you mean tokens?"]
