"""`swapcli route --batch`: orders in, answers out, line by line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swapcli.cli.order_batch import KEYS
from tests.support.command import CommandResult, run_swapcli
from tests.support.testnet import DAI, LONELY, USDC, WETH

Order = dict[str, Any]


def order(
    number: object, token_in: object = WETH, token_out: object = USDC, amount: object = "1000000000000000000"
) -> Order:
    return {"id": number, "token_in": token_in, "token_out": token_out, "amount_in": amount, "size": "ignored"}


@pytest.fixture
def batch(market_file: str) -> Callable[..., CommandResult]:
    def run(*lines: Order | str, options: tuple[str, ...] = ()) -> CommandResult:
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        return run_swapcli("route", "testnet", "--market", market_file, "--batch", "-", *options, stdin=text.encode())

    return run


def answers(ran: CommandResult) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_answers_come_in_order_with_their_ids(batch: Callable[..., CommandResult]) -> None:
    ran = batch(order(1), order("b", USDC, DAI, 5_000_000), "", "  ", order(3, "ETH", "usdc"))
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert [answer["id"] for answer in answers(ran)] == [1, "b", 3]
    assert all(answer["result"]["success"] for answer in answers(ran))


def test_a_batch_answers_as_single_commands_do(
    batch: Callable[..., CommandResult], route: Callable[..., CommandResult]
) -> None:
    (answer,) = answers(batch(order(1)))
    alone = route(WETH, USDC, "1", "--json").json
    for document in (answer["result"], alone):
        del document["time"], document["meta"], document["market"], document["state"], document["expiresAt"]
    assert answer["result"] == alone


def test_a_batch_is_read_from_a_file_too(market_file: str, tmp_path: Path) -> None:
    file = tmp_path / "orders.ndjson"
    file.write_text(json.dumps(order(7)) + "\n")
    ran = run_swapcli("route", "testnet", "--market", market_file, "--batch", str(file), "--json")
    assert [answer["id"] for answer in answers(ran)] == [7]


def test_an_order_that_fails_says_so_and_the_others_go_on(batch: Callable[..., CommandResult]) -> None:
    ran = batch(order(1, token_out=LONELY), order(2), order(3, amount="0"))
    assert ran.exit_code == 2
    assert [answer["result"]["success"] for answer in answers(ran)] == [False, True, False]
    assert answers(ran)[0]["result"]["errorMessage"].startswith("no route")


def test_a_missing_route_alone_is_status_3(batch: Callable[..., CommandResult]) -> None:
    assert batch(order(1), order(2, token_out=LONELY)).exit_code == 3


@pytest.mark.parametrize(
    "bad",
    [
        order(1, token_in=5),
        order(1, amount=1.5),
        order(1, amount=True),
        order(1, amount="1.5"),
        order(1, amount=-5),
        order(1, amount=10**400),
        order(1, token_in=WETH, token_out=WETH),
        order(1, token_out="NOPE"),
    ],
)
def test_a_value_that_is_none_fails_its_order_only(batch: Callable[..., CommandResult], bad: Order) -> None:
    ran = batch(bad, order(2))
    assert ran.exit_code == 2
    assert [answer["result"]["success"] for answer in answers(ran)] == [False, True]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a JSON object"),
        ("1", "is not a JSON object"),
        ('{"id": 1, "token_in": "A"}', "has no token_out, amount_in"),
        ('{"id": NaN, "token_in": "A", "token_out": "B", "amount_in": "1"}', "neither a string nor an integer"),
        ('{"id": true, "token_in": "A", "token_out": "B", "amount_in": "1"}', "neither a string nor an integer"),
        ('{"id": [], "token_in": "A", "token_out": "B", "amount_in": "1"}', "neither a string nor an integer"),
        ("[" * 100_000, "is not JSON"),
        ("9" * 5_000, "is not JSON"),
    ],
)
def test_a_line_that_is_no_order_ends_the_batch_with_its_number(
    batch: Callable[..., CommandResult], line: str, problem: str
) -> None:
    ran = batch(order(1), "", line, order(2), options=("--json",))
    assert ran.exit_code == 2
    assert [answer["id"] for answer in answers(ran)] == [1]
    assert ran.error["details"]["line"] == 3
    assert problem in ran.error["message"]
    assert "line 1" not in ran.error["message"]
    assert set(json.loads(ran.error["hint"].removeprefix("example of a line: "))) == set(KEYS)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--direct", "--plain"), "INVALID_OPTION"),
        (("--table",), "INVALID_OPTION"),
        (("ETH",), "USAGE"),
        (("--market", "-"), "INVALID_OPTION"),
    ],
)
def test_what_does_not_go_with_a_batch_is_refused(options: tuple[str, ...], code: str) -> None:
    ran = run_swapcli("route", "testnet", *options, "--batch", "-", "--json")
    assert ran.exit_code == 2
    assert ran.error["code"] == code


def test_options_hold_for_every_order(batch: Callable[..., CommandResult]) -> None:
    ran = batch(order(1), order(2), options=("--direct", "--api-version", "v1", "--certify"))
    for answer in answers(ran):
        assert {len(segment["swaps"]) for segment in answer["result"]["route"]} == {1}
        assert "meta" not in answer["result"]
        assert "certificate" in answer["result"]


def test_an_empty_batch_is_no_mistake(batch: Callable[..., CommandResult]) -> None:
    ran = batch("")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "", "")


def test_a_batch_file_that_is_missing_is_said_so(market_file: str) -> None:
    ran = run_swapcli("route", "testnet", "--market", market_file, "--batch", "/nonexistent", "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_INPUT")
