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


def read(tmp_path: Path, text: str, *, raw: bool = False) -> list[tuple[str, str, str, int]]:
    file = tmp_path / "orders.csv"
    file.write_text(text)
    return [
        (order.id, order.token_in.symbol, order.token_out.symbol, order.amount_in)
        for order in read_orders(str(file), find, raw=raw)
    ]


def test_columns_come_in_any_order_and_lines_number_orders(tmp_path: Path) -> None:
    text = "\ufeffAmount, token_in, token_out\n1.5,ETH,USDC\n\n2000,USDC,ETH\n"
    assert read(tmp_path, text) == [("2", "ETH", "USDC", 15 * 10**17), ("4", "USDC", "ETH", 2 * 10**9)]
    assert read(tmp_path, "id,token_in,token_out,amount\na,ETH,USDC,7\n", raw=True) == [("a", "ETH", "USDC", 7)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column token_in"),
        ("token_in,token_out,amount\n", "has no orders"),
        ("token_in,token_out\nETH,USDC\n", "no column amount"),
        ("token_in,token_out,amount,price\nETH,USDC,1,2\n", "column price"),
        ("token_in,token_out,amount\nETH,USDC\n", "line 2 .* has 2 cells"),
        ("token_in,token_out,amount\nETH,NOPE,1\n", "line 2 .*NOPE"),
        ("token_in,token_out,amount\nETH,USDC,1\nETH,USDC,x\n", "line 3 .*amount"),
        ("token_in,token_out,amount,id\nETH,USDC,1,a\nETH,USDC,2,a\n", "line 3 .*earlier line"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SwapcliError, match=said) as caught:
        read(tmp_path, text)
    assert isinstance(caught.value, InvalidInput)
