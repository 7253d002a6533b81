"""The orders of a backtest, from a CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapcli import Market
from swapcli.core.errors import InvalidInput, SwapcliError
from swapcli.core.model.token import Token
from swapcli.faces.cli.commands.backtest.orders import read_orders


def find(name: str) -> Token:
    with Market.embedded("base", settings={"live": "never"}) as market:
        return market.token(name)


def read(tmp_path: Path, content: str | bytes, *, raw: bool = False) -> list[tuple[str, str, str, int]]:
    file = tmp_path / "orders.csv"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return [
        (order.id, order.token_in.symbol, order.token_out.symbol, order.amount_in)
        for order in read_orders(str(file), find, raw=raw)
    ]


def test_columns_come_in_any_order_and_orders_are_numbered_from_one(tmp_path: Path) -> None:
    text = "\ufeffAmount, tokenin, TokenOut\n1.5,ETH,USDC\n\n2000,USDC,ETH\n"
    assert read(tmp_path, text) == [("1", "ETH", "USDC", 15 * 10**17), ("2", "USDC", "ETH", 2 * 10**9)]
    assert read(tmp_path, "id,tokenIn,tokenOut,amount\na,ETH,USDC,7\n", raw=True) == [("a", "ETH", "USDC", 7)]
    assert read(tmp_path, "id,token_in,token_out,amount\na,ETH,USDC,7\n", raw=True) == [("a", "ETH", "USDC", 7)]


def test_the_orders_of_a_batch_are_read_too(tmp_path: Path) -> None:
    text = (
        '{"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1.5"}\n'
        '\n{"id": "b", "tokenIn": "USDC", "tokenOut": "ETH", "inputAmount": "7"}\n'
    )
    assert read(tmp_path, text) == [("1", "ETH", "USDC", 15 * 10**17), ("b", "USDC", "ETH", 7)]
    with pytest.raises(InvalidInput, match=r"line 2 of .*orders\.csv has no tokenOut"):
        read(tmp_path, '{"tokenIn": "ETH", "tokenOut": "USDC", "amount": 1}\n{"tokenIn": "ETH", "amount": 1}\n')


def test_a_csv_may_have_amounts_in_base_units(tmp_path: Path) -> None:
    assert read(tmp_path, "tokenIn,tokenOut,inputAmount\nETH,USDC,7\n") == [("1", "ETH", "USDC", 7)]
    with pytest.raises(InvalidInput, match=r"line 1 .* has two amounts: amount and inputAmount"):
        read(tmp_path, "tokenIn,tokenOut,amount,inputAmount\nETH,USDC,1,7\n")


TITLES = "tokenIn,tokenOut,amount"


@pytest.mark.parametrize(
    "content",
    [
        f"{TITLES}\rETH,USDC,2\r",
        f"{TITLES}\r\nETH,USDC,2",
        f"\n {TITLES}\n,,\nETH,USDC,2\n",
        f'{TITLES}\r"ETH", "USDC", "2"\r',
        f"{TITLES}\rETH,USDC,2\r".encode("utf-16"),
        f"\ufeff{TITLES}\rETH,USDC,2\r",
    ],
)
def test_any_line_ends_are_read(tmp_path: Path, content: str | bytes) -> None:
    assert [order[1:] for order in read(tmp_path, content)] == [("ETH", "USDC", 2 * 10**18)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("tokenIn;tokenOut;amount\nETH;USDC;1\n", "line 1 .* is separated by semicolons, not by commas"),
        ("tokenIn\ttokenOut\tamount\r\nETH\tUSDC\t1\r\n", "line 1 .* separated by tabs"),
        ("tokenIn|tokenOut|amount\nETH|USDC|1\n", "line 1 .* separated by vertical bars"),
        ("tokenIn tokenOut amount\nETH USDC 1\n", "line 1 .* separated by spaces"),
        (f"{TITLES}\nETH;USDC;1,5\n", "line 2 .* separated by semicolons"),
        (f"{TITLES}\nETH,USDC,1,500\n", "line 2 .* has 4 cells instead of 3"),
        ("token in,token out,amount\n", "line 1 .* has no column tokenIn, tokenOut"),
        (f"{TITLES}\nETH,USDC,{'9' * 140_000}\n", "line 2 .* has a cell with more than 131,072 characters"),
        (f'{TITLES}\nETH,USDC,"1\n{"ETH,USDC,1" * 14_000}', "line 3 .* has a cell with more than 131,072 characters"),
        (f"{TITLES}\nETH,USDC,{'9' * 120_000}\n", "line 2 .* is 2.256"),
        (f"{TITLES}\nETH,USDC,".encode() + b"1\xa0000\n", "line 2 .* is not UTF-8: byte 11 is 0xa0"),
        (f"{TITLES}\n₮,USDC,1\n".encode("utf-16-le"), "line 1 .* contains a NUL character"),
        (b"\xff\xfet", "line 1 .* is not UTF-8: byte 1 is 0xff"),
        (b"\x1f\x8b\x08\x00", "line 1 .* is not UTF-8"),
    ],
)
def test_a_fault_of_the_format_is_named(tmp_path: Path, content: str | bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem) as caught:
        read(tmp_path, content)
    assert len(caught.value.message) < 200 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column tokenIn"),
        ("tokenInAddress,tokenOut,amount\nETH,USDC,1\n", "has the column tokenInAddress, which must be named tokenIn"),
        ("token_in,tokenIn,tokenOut,amount\nETH,ETH,USDC,1\n", "has the column token_in, which must be named tokenIn"),
        ("tokenIn,tokenOut,amount\n", "contains no orders"),
        ("tokenIn,tokenOut\nETH,USDC\n", "no column amount"),
        ("tokenIn,tokenOut,amount,price\nETH,USDC,1,2\n", "column price"),
        ("tokenIn,tokenOut,amount\nETH,USDC\n", "line 2 .* has 2 cells"),
        ("tokenIn,tokenOut,amount\nETH,NOPE,1\n", "line 2 .*NOPE"),
        ("tokenIn,tokenOut,amount\nETH,USDC,1\nETH,USDC,x\n", "line 3 .*amount"),
        ("tokenIn,tokenOut,amount,id\nETH,USDC,1,a\nETH,USDC,2,a\n", "line 3 .*earlier line"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SwapcliError, match=said) as caught:
        read(tmp_path, text)
    assert isinstance(caught.value, InvalidInput)
