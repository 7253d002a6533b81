"""`swapcli route --batch`: orders in, answers out, line by line."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swapcli.faces.cli import exit_codes
from tests.examples import few
from tests.support.command import CommandResult, clean_environment, run_swapcli
from tests.support.testnet import DAI, LONELY, USDC, WETH
from tests.support.waiting import until

Order = dict[str, Any]


def order(
    number: object, token_in: object = WETH, token_out: object = USDC, amount: object = "1000000000000000000"
) -> Order:
    return {
        "id": number,
        "tokenIn": token_in,
        "tokenOut": token_out,
        "inputAmount": amount,
        "size": "ignored",
        "usd": 0.5,
    }


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
        del document["time"], document["meta"], document["state"], document["expiresAt"]
    assert answer["result"] == alone


def test_orders_may_end_with_a_carriage_return(batch: Callable[..., CommandResult]) -> None:
    ran = batch("\r".join(json.dumps(order(number)) for number in (1, 2)))
    assert [answer["id"] for answer in answers(ran)] == [1, 2]


def test_a_batch_is_read_from_a_file_too(market_file: str, tmp_path: Path) -> None:
    file = tmp_path / "orders.ndjson"
    file.write_text(json.dumps(order(7)) + "\n")
    ran = run_swapcli("route", "testnet", "--market", market_file, "--batch", str(file), "--json")
    assert [answer["id"] for answer in answers(ran)] == [7]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("from_file", [True, False])
def test_batches_of_other_systems_are_read(
    market_file: str, tmp_path: Path, encoding: str, line_end: str, from_file: bool
) -> None:
    content = "".join(json.dumps(order(number)) + line_end for number in (1, "ä")).encode(encoding)
    file = tmp_path / "orders.ndjson"
    file.write_bytes(content)
    name, stdin = (str(file), b"") if from_file else ("-", content)
    ran = run_swapcli("route", "testnet", "--market", market_file, "--batch", name, "--json", stdin=stdin)
    assert [answer["id"] for answer in answers(ran)] == [1, "ä"]


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
        ("{", "is not valid JSON: Expecting property name"),
        ("[]", "is not a JSON object"),
        ("1", "is not a JSON object"),
        ('{"id": 1, "tokenIn": "A"}', "has no tokenOut, amount"),
        ('{"id": NaN, "tokenIn": "A", "tokenOut": "B", "inputAmount": "1"}', "is not valid JSON: NaN is not a number"),
        ('{"id": 0.5, "tokenIn": "A", "tokenOut": "B", "inputAmount": "1"}', "neither a string nor an integer"),
        ('{"id": true, "tokenIn": "A", "tokenOut": "B", "inputAmount": "1"}', "neither a string nor an integer"),
        ('{"id": [], "tokenIn": "A", "tokenOut": "B", "inputAmount": "1"}', "neither a string nor an integer"),
        ("[" * 100_000, "is nested too deeply"),
        ("9" * 5_000, "contains a number that is out of range"),
        ('{"id": 1, "id": 2, "tokenIn": "A", "tokenOut": "B", "inputAmount": "1"}', 'has the key "id" twice'),
        ('{"id": {"a": 1, "a": 1}, "tokenIn": "A", "tokenOut": "B", "inputAmount": "1"}', 'has the key "a" twice'),
        (
            '{"id": 1, "tokenIn": "A", "tokenOut": "B", "inputAmount": "1", "reverse": true}',
            'has the unknown key "reverse"',
        ),
        (
            '{"id": 1, "tokenIn": "A", "tokenOut": "B", "inputAmount": "1", "\\u001b[2J": 1}',
            'has the unknown key "\\u001b[2J"',
        ),
        ('{"Id": 1, "tokenIn": "A", "tokenOut": "B", "inputAmount": "1"}', 'has the unknown key "Id"'),
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
    assert set(json.loads(ran.error["hint"].removeprefix("example of a line: "))) == {
        "id",
        "tokenIn",
        "tokenOut",
        "amount",
    }


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--direct", "--format=plain"), "INVALID_OPTION"),
        (("--format=table",), "INVALID_OPTION"),
        (("ETH",), "USAGE"),
        (("--market", "-"), "INVALID_OPTION"),
        (("--watch",), "INVALID_OPTION"),
        (("--from", "0x" + "11" * 20), "INVALID_OPTION"),
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
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "", "note: the batch contains no orders\n")


def test_a_file_of_titles_says_that_it_has_no_orders(market_file: str, tmp_path: Path) -> None:
    orders = tmp_path / "orders.csv"
    orders.write_text("tokenIn,tokenOut,amount\n")
    ran = run_swapcli("route", "testnet", "--market", market_file, "--batch", str(orders))
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "", "note: the batch contains no orders\n")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("orders.csv", "id;tokenIn;tokenOut;amount\n1;AAA;BBB;1\n", "is separated by semicolons, not by commas"),
        ("orders", "tokenIn\ttokenOut\tamount\nAAA\tBBB\t1\n", "is separated by tabs, not by commas"),
        ("orders.CSV", "AAA,BBB,1\n", "has no column tokenIn, tokenOut, amount"),
    ],
)
def test_a_table_that_is_no_csv_is_not_called_json(
    market_file: str, tmp_path: Path, name: str, text: str, problem: str
) -> None:
    orders = tmp_path / name
    orders.write_text(text)
    ran = run_swapcli("route", "testnet", "--market", market_file, "--batch", str(orders))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert f"line 1 of the batch {problem}" in ran.stderr


def test_a_repeated_id_is_noted_once(market_file: str, tmp_path: Path) -> None:
    orders = tmp_path / "orders.csv"
    orders.write_text("id,tokenIn,tokenOut,amount\n7,WETH,DAI,1\n7,WETH,DAI,2\n7,WETH,DAI,3\n")
    ran = run_swapcli("route", "testnet", "--market", market_file, "--batch", str(orders), "--get", "id")
    assert (ran.exit_code, ran.stdout.split()) == (0, ["7", "7", "7"])
    note = 'note: line 3 of the batch repeats the id "7": results are in the order of the batch'
    assert ran.stderr.count(note) == ran.stderr.count("repeats") == 1


def test_one_order_of_a_file_is_chosen_by_its_id(market_file: str, tmp_path: Path) -> None:
    orders = tmp_path / "orders.csv"

    def calldata(text: str, *options: str) -> tuple[str, str | None]:
        orders.write_text("id,tokenIn,tokenOut,amount\n" + text)
        error = run_swapcli("calldata", "testnet", "--market", market_file, "--order", str(orders), *options, "--json")
        return error.error["message"].removeprefix(f"{orders} "), error.error["hint"]

    assert calldata("", "--id", "a")[0] == "contains no orders"
    two = "first,AAA,BBB,1\nsecond,AAA,BBB,1\n"
    assert calldata(two) == ("has 2 orders, not one", "choose one order with --id")
    assert calldata(two, "--id", "zzz") == ('has no order with the id "zzz"', "its ids are first, second")
    assert calldata(two, "--id", "frist") == ('has no order with the id "frist"', "did you mean first?")
    same = "first,AAA,BBB,1\nfirst,AAA,BBB,2\n"
    assert calldata(same, "--id", "first") == (
        'has 2 orders with the id "first", not one', "give each its own id",
    )  # fmt: skip
    many = "".join(f"{number}00,AAA,BBB,1\n" for number in range(7))
    assert calldata(many, "--id", "x")[1] == "its first ids are 000, 100, 200, 300, 400"


def test_a_batch_file_that_is_missing_is_said_so(market_file: str) -> None:
    ran = run_swapcli("route", "testnet", "--market", market_file, "--batch", "/nonexistent", "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_INPUT")


def normalized(lines: str) -> list[Any]:
    """Results without what depends on the time."""
    found = [json.loads(line) for line in lines.splitlines()]
    for each in found:
        for key in ("time", "meta", "market", "state", "expiresAt"):
            each["result"].pop(key, None)
    return found


@pytest.fixture
def orders_file(tmp_path: Path) -> Path:
    """Forty orders; every eighth one has no route."""
    file = tmp_path / "orders.ndjson"
    tokens = (USDC, DAI, LONELY, USDC)
    lines = (order(k, token_out=tokens[k % 8 % 4 if k % 8 < 3 else 0], amount=10**15 + k) for k in range(40))
    file.write_text("".join(f"{json.dumps(each)}\n\n" for each in lines))
    return file


@pytest.fixture
def run_file(market_file: str, orders_file: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Quote the orders in a process of its own."""

    def run(*options: str, batch: str = str(orders_file)) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "swapcli", "route", "testnet", "--market", market_file, "--batch", batch]
        return subprocess.run(
            [*command, *options], env=clean_environment(), capture_output=True, text=True, timeout=60, check=False
        )

    return run


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.slow
def test_processes_give_the_same_results_in_order(run_file: Run, tmp_path: Path) -> None:
    alone, shared = run_file(), run_file("--workers", "2")
    assert alone.returncode == shared.returncode == 3
    assert len(normalized(alone.stdout)) == 40
    assert normalized(shared.stdout) == normalized(alone.stdout)
    csv = run_file("--workers", "2", "--format", "csv", "--results", str(tmp_path / "r.csv"))
    assert (csv.returncode, csv.stdout) == (3, "")
    assert re.fullmatch(r"note: \d+ orders failed: errorMessage in \S+r\.csv has the reason\n", csv.stderr)
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 41


@pytest.mark.parametrize("form", few(["json", "csv"], 1))
def test_a_killed_batch_resumes_after_its_last_result(
    market_file: str, orders_file: Path, tmp_path: Path, form: str
) -> None:
    results = tmp_path / "results"
    source = ("--market", market_file, "--batch", str(orders_file))
    options = ("route", "testnet", *source, "--format", form, "--results", str(results))
    assert run_swapcli(*options).exit_code == 3
    whole = results.read_bytes()
    ids = [line.split(b",")[0] for line in whole.splitlines()]
    for size in (0, 3, len(whole) // 2, len(whole) - 1, len(whole)):
        results.write_bytes(whole[:size])
        resumed = run_swapcli(*options, "--resume")
        assert resumed.exit_code == 3
        assert "orders failed: errorMessage in" in resumed.stderr
        assert [line.split(b",")[0] for line in results.read_bytes().splitlines()] == ids
        assert results.read_bytes()[: whole.rfind(b"\n", 0, size) + 1] == whole[: whole.rfind(b"\n", 0, size) + 1]


def test_a_batch_reads_the_csv_of_a_backtest() -> None:
    text = "TokenIn, tokenOut, amount\r\nETH,USDC,1.5\r\nETH,NOPE,1\r\n"
    ran = run_swapcli("route", "base", "--batch", "-", "--offline", stdin=text.encode())
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    whole = run_swapcli("route", "base", "ETH", "USDC", "1.5", "--offline", "--json").json
    assert [line["id"] for line in lines] == [1, 2]
    assert lines[0]["result"]["outputAmount"] == whole["outputAmount"]
    assert lines[1]["result"]["errorCode"] == "UNKNOWN_TOKEN"
    ran = run_swapcli("route", "base", "--batch", "-", "--offline", stdin=b"tokenIn,tokenOut,amount\nETH,USDC\n")
    assert (ran.exit_code, "line 2 of the batch has 2 cells instead of 3" in ran.stderr) == (2, True)


def test_titles_may_be_quoted_after_a_space() -> None:
    text = 'tokenOut, "tokenIn", "amount"\nUSDC, "ETH", "1.5"\n'
    ran = run_swapcli("route", "base", "--batch", "-", "--offline", stdin=text.encode())
    assert (ran.exit_code, json.loads(ran.stdout)["id"]) == (0, 1), ran.stderr


LONG_TEXT = "x" * (csv.field_size_limit() + 1)


@pytest.mark.parametrize(
    ("text", "status", "problem"),
    [
        (f'{{"id": "{LONG_TEXT}", "tokenIn": "ETH", "tokenOut": "USDC", "amount": "1"}}\n', 0, ""),
        (f'tokenIn,tokenOut,amount,"{LONG_TEXT}"\n', 2, "line 1 of the batch has a cell with more than"),
        (f'tokenIn,tokenOut,amount\nETH,USDC,"{LONG_TEXT}"\n', 2, "line 2 of the batch has a cell with more than"),
    ],
    ids=["JSON", "titles", "order"],
)
def test_a_long_line_is_read_or_rejected(text: str, status: int, problem: str) -> None:
    """A cell of a CSV has a maximum length; a text in JSON has none."""
    ran = run_swapcli("route", "base", "--batch", "-", "--offline", stdin=text.encode())
    assert (ran.exit_code, problem in ran.stderr) == (status, True), ran.stderr[:300]


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl"])
def test_the_name_of_the_results_chooses_their_format(market_file: str, tmp_path: Path, name: str) -> None:
    results = tmp_path / name
    orders = json.dumps(order(1)).encode()
    batch = ("route", "testnet", "--market", market_file, "--batch", "-", "--results", str(results))
    assert run_swapcli(*batch, stdin=orders).exit_code == 0
    assert results.read_text().startswith("id,network,inputToken," if name == "r.csv" else '{"id": 1, ')
    assert run_swapcli(*batch, "--resume", stdin=orders).exit_code == 0


@pytest.mark.parametrize(("name", "form"), [("r.csv", "json"), ("r.json", "csv"), ("r.svg", "csv")])
def test_results_of_another_format_than_their_name_are_rejected(tmp_path: Path, name: str, form: str) -> None:
    results = tmp_path / name
    ran = run_swapcli("route", "base", "--batch", "-", "--results", str(results), "--format", form, stdin=b"")
    assert (ran.exit_code, "--results: " in ran.stderr, results.exists()) == (2, True, False)


@pytest.mark.slow
def test_a_killed_worker_costs_no_result(market_file: str, tmp_path: Path) -> None:
    results = tmp_path / "results"
    command = [sys.executable, "-m", "swapcli", "route", "testnet", "--market", market_file, "--batch", "-", "--json"]
    with subprocess.Popen(
        [*command, "--workers", "2", "--results", str(results)],
        env=clean_environment(),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stderr
        for number in (1, 2, 3):
            process.stdin.write(f"{json.dumps(order(number))}\n".encode())
            process.stdin.flush()
            until(lambda: results.exists() and len(results.read_bytes().splitlines()) == number)  # noqa: B023
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            assert len(children) == 2
            os.kill(int(children[0]), signal.SIGKILL)
        process.stdin.write(f"{json.dumps(order(4))}\n".encode())
        process.stdin.close()
        assert (process.stderr.read(), process.wait()) == (b"", exit_codes.OK)
    assert [json.loads(line)["id"] for line in results.read_bytes().splitlines()] == [1, 2, 3, 4]
    until(lambda: not Path(f"/proc/{children[1]}").exists())


def test_workers_end_with_a_killed_parent(market_file: str) -> None:
    command = [sys.executable, "-m", "swapcli", "route", "testnet", "--market", market_file, "--batch", "-"]
    with subprocess.Popen(
        [*command, "--workers", "2"], env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{json.dumps(order(1))}\n".encode())
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
    assert len(children) == 2
    until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--workers", "0"), "a whole number from 1 to 256"),
        (("--workers", "two"), "a whole number from 1 to 256"),
        (("--resume",), "--results"),
        (("--resume", "--results", "r", "--get", "id"), "cannot be combined with --get"),
        (("--workers", ""), "a whole number from 1 to 256"),
        (("--results", "/dev/null/r"), "cannot write"),
        (("--results", "/dev/full"), "is not a regular file"),
        (("--results", "/dev/zero", "--resume"), "is not a regular file"),
        (("--results", "-"), "--results needs a file name"),
        (("--results", ""), "--results needs a file name"),
    ],
)
def test_wrong_batch_options_are_refused(batch: Callable[..., CommandResult], options: Any, message: str) -> None:
    ran = batch(order(1), options=(*options, "--json") if "--get" not in options else options)
    assert ran.exit_code == 2
    assert ran.stdout == ""
    assert message in ran.stderr


@pytest.mark.parametrize("option", [("--workers", "2"), ("--results", "r"), ("--resume",)])
def test_batch_options_need_a_batch(option: tuple[str, ...]) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", *option, "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_OPTION")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            '{"id": 1, "result": {}}\n{"id": 9, "result": {}}\n',
            "belongs to order 9, but the batch has order 2 in that place",
        ),
        ('{"id": 1, "result": {}}\n{"id": 2, "result": {}}\n{"id": 3, "result": {}}\n', "the batch has fewer orders"),
        ("nonsense\n", "is not a batch result"),
        ("nonsense without an end of a line", "is not a batch result"),
        ('{"id": 1, "tokenIn": "A", "tokenOut": "B", "inputAmount": "1"}\n', "is not a batch result"),
        ('{"id": 1, "result": {"success": tr\n', "is not a batch result"),
        ('{"id": 1, "result": {"success": tr}}\n', "is not a batch result"),
        ('{"no": 1, "result": {}}\n', "is not a batch result"),
        ('{"id": 1, "result": {"\udcff": 1}}\n', "is not a batch result"),
        ("id,success\n", "is not a batch result"),
        ("\n", "is not a batch result"),
        (f'{{"id": "{"x" * 5_000}", "result": {{}}}}\n', "xxx..., but the batch has order"),
    ],
)
def test_results_of_another_batch_are_left_alone(
    batch: Callable[..., CommandResult], tmp_path: Path, content: str, problem: str
) -> None:
    results = tmp_path / "results"
    results.write_text(content, errors="surrogateescape")
    ran = batch(order(1), order(2), options=("--results", str(results), "--resume", "--json"))
    assert ran.exit_code == 2
    assert problem in ran.error["message"]
    assert len(ran.error["message"]) < 300
    assert results.read_text(errors="surrogateescape") == content
    again = batch(order(1), options=("--results", str(results), "--json"))
    assert "not empty" in again.error["message"]


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize(
    ("lines", "options"),
    [
        ((order(1), order(2)), ("--slippage", "3")),
        ((order(1), order(2)), ("--gas-price", "0", "--direct", "--max-hops", "1", "--exclude-protocols", "5")),
        ((order(1, amount="999"), order(2)), ()),
        ((order(1, token_out=LONELY), order(2)), ()),
    ],
)
def test_results_of_other_settings_are_not_continued(
    batch: Callable[..., CommandResult], tmp_path: Path, form: str, lines: Any, options: Any
) -> None:
    results = tmp_path / "results"
    to_file = ("--results", str(results), "--format", form)
    assert batch(order(1), options=to_file).exit_code == 0
    before = results.read_text()
    ran = batch(*lines, options=(*to_file, *options, "--resume"))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "differs from a fresh quote" in ran.stderr
    assert results.read_text() == before
    assert batch(order(1), order(2), options=(*to_file, "--resume")).exit_code == 0


@pytest.mark.parametrize(("first", "then"), [("json", "csv"), ("csv", "json")])
def test_results_in_another_format_are_not_continued(
    batch: Callable[..., CommandResult], tmp_path: Path, first: str, then: str
) -> None:
    results = str(tmp_path / "results")
    assert batch(order(1), options=("--results", results, "--format", first)).exit_code == 0
    ran = batch(order(1), order(2), options=("--results", results, "--format", then, "--resume"))
    assert ran.exit_code == 2
    assert "is not a batch result in this format" in ran.stderr


def test_two_processes_do_not_write_to_one_file(market_file: str, tmp_path: Path) -> None:
    results = tmp_path / "results"
    command = [sys.executable, "-m", "swapcli", "route", "testnet", "--market", market_file, "--batch", "-"]
    options = ("--results", str(results), "--resume", "--json")
    with subprocess.Popen([*command, *options], env=clean_environment(), stdin=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write(f"{json.dumps(order(1))}\n".encode())
        process.stdin.flush()
        until(lambda: results.exists() and results.read_bytes().endswith(b"\n"))
        ran = run_swapcli("route", "testnet", "--market", market_file, "--batch", os.devnull, *options)
        assert ran.exit_code == 2
        assert "another process is writing" in ran.error["message"]
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.parametrize(
    "line",
    [
        '{"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1.5"}',
        '{"tokenIn": "ETH", "tokenOut": "USDC", "amount": 1.5}',
        '{"tokenIn": "ETH", "tokenOut": "USDC", "inputAmount": 1.5e+18}',
        '{"tokenIn": "ETH", "tokenOut": "USDC", "inputAmount": "15e17"}',
    ],
)
def test_an_order_is_read_as_other_programs_write_it(line: str) -> None:
    usual = run_swapcli("route", "base", "ETH", "USDC", "1.5", "--get", "outputAmount").stdout
    ran = run_swapcli("route", "base", "--batch", "-", stdin=f"\n{line}\n".encode())
    (answer,) = (json.loads(each) for each in ran.stdout.splitlines())
    assert (answer["id"], f"{answer['result']['outputAmount']}\n") == (2, usual)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"tokenIn": "ETH", "tokenOut": "USDC", "inputAmount": "1", "amount": "1"}', "has two amounts"),
        ('{"tokenIn": "ETH", "tokenOut": "USDC", "inputAmount": "1", "outputAmount": "1"}', "has two amounts"),
        ('{"tokenIn": "ETH", "token_in": "ETH", "tokenOut": "USDC", "amount": "1"}', "has the key token_in"),
    ],
)
def test_an_order_that_says_a_thing_twice_is_refused(line: str, problem: str) -> None:
    ran = run_swapcli("route", "base", "--batch", "-", stdin=line.encode())
    assert (ran.exit_code, problem in ran.stderr) == (2, True)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        # With the interface's names, amounts are in base units: they are not read as whole tokens.
        ('{"tokenInAddress": "ETH", "tokenOutAddress": "USDC", "amount": "1"}', "which must be named tokenIn"),
    ],
)
def test_a_key_of_another_name_is_named(line: str, problem: str) -> None:
    ran = run_swapcli("route", "base", "--batch", "-", stdin=line.encode())
    assert (ran.exit_code, ran.stdout, problem in ran.stderr) == (2, "", True)


@pytest.mark.parametrize(
    "line",
    [
        b'{"token_in": "ETH", "token_out": "USDC", "amount_in": "1000000000000000000"}',
        b'{"token_in": "ETH", "tokenOut": "USDC", "amount_decimal": 1}',
    ],
)
def test_keys_in_snake_case_are_aliases(line: bytes) -> None:
    current = b'{"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1"}'
    ran = run_swapcli("route", "base", "--batch", "-", "--offline", stdin=line + b"\n" + current)
    alias, expected = (json.loads(each)["result"]["outputAmount"] for each in ran.stdout.splitlines())
    assert alias == expected


def test_an_amount_to_buy_is_the_output_amount_of_a_reverse_order() -> None:
    line = b'{"tokenIn": "ETH", "tokenOut": "USDC", "outputAmount": "3000000000"}\n'
    ran = run_swapcli("route", "base", "--batch", "-", "--reverse", "--offline", stdin=line)
    assert json.loads(ran.stdout)["result"]["outputAmount"] == "3000000000"
    without = run_swapcli("route", "base", "--batch", "-", "--offline", stdin=line)
    assert json.loads(without.stdout)["result"]["errorMessage"] == (
        "outputAmount cannot be the amount of an order without --reverse"
    )


@pytest.mark.parametrize("amount", ['"inputAmount": 1.55e+1', '"inputAmount": "1.5"', '"inputAmount": 1.5'])
def test_part_of_a_unit_is_refused_with_the_key_for_tokens(amount: str) -> None:
    line = f'{{"tokenIn": "ETH", "tokenOut": "USDC", {amount}}}'
    ran = run_swapcli("route", "base", "--batch", "-", stdin=line.encode())
    assert ran.exit_code == 2
    assert "inputAmount must be an integer in base units, not 1" in json.loads(ran.stdout)["result"]["errorMessage"]
