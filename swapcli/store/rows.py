"""Tokens and pools as rows, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from swapcli.errors import InvalidPoolState, MarketError
from swapcli.model.pool import Pool, PoolIdentity
from swapcli.model.token import Token
from swapcli.pools import FAMILIES, family

POOL_COLUMNS = "id, key, address, protocol, family, tokens, fee_ppm, state, block, invented"
TOKEN_COLUMNS = "id, address, symbol, name, decimals, price_usd, folded"
POOL_FIELDS = POOL_COLUMNS.count(",") + 1
TOKEN_FIELDS = TOKEN_COLUMNS.count(",") + 1

Row = tuple[Any, ...]


def token_row(number: int, token: Token) -> Row:
    """In the order of `TOKEN_COLUMNS`; symbols are looked up in lower case."""
    return (number, *token, token.symbol.lower())


def token_of(row: Row) -> Token:
    """The token of a row that begins with `TOKEN_COLUMNS`."""
    return Token(*row[1:6])


def pool_row(number: int, pool: Pool, token_numbers: Iterable[int], block: int | None, is_placeholder: bool) -> Row:
    """In the order of `POOL_COLUMNS`."""
    state = json.dumps(_bare(pool.state()), separators=(",", ":"))
    tokens = ",".join(map(str, token_numbers))
    key, address = pool.key, pool.address
    return (number, key, address, pool.protocol, pool.family, tokens, pool.fee_ppm, state, block, int(is_placeholder))


def _bare(value: object) -> object:
    """The state with numbers in place of decimal strings: families read both, and these faster."""
    if isinstance(value, str) and value.removeprefix("-").isdecimal():
        return int(value)
    if isinstance(value, list):
        return [_bare(each) for each in value]
    return {key: _bare(each) for key, each in value.items()} if isinstance(value, dict) else value


class PoolReader:
    """Makes pools of rows; `tokens` by id are those of the pools."""

    def __init__(self, tokens: Mapping[int, Token]) -> None:
        self._tokens = tokens
        self._makers: dict[str, Callable[[PoolIdentity, Mapping[str, object]], Pool]] = {}
        self._sides: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {}

    def pool(self, row: Row) -> Pool:
        """The pool of a row of `POOL_COLUMNS`. Raises `InvalidPoolState` naming it where the row makes no sense."""
        _, key, address, protocol, name, numbers, fee_ppm, state, *_ = row
        try:
            tokens, decimals = self._sides.get(numbers) or self._read_sides(numbers)
            return self._maker(name)(PoolIdentity(address, protocol, tokens, decimals, fee_ppm), json.loads(state))
        except InvalidPoolState as error:
            raise InvalidPoolState(error.field, error.problem, pool=key) from error
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise InvalidPoolState("state", "the store's row of it is damaged", pool=str(key)) from error

    def _read_sides(self, numbers: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        tokens = [self._tokens[int(number)] for number in numbers.split(",")]
        sides = self._sides[numbers] = (tuple([t.address for t in tokens]), tuple([t.decimals for t in tokens]))
        return sides

    def _maker(self, name: str) -> Callable[[PoolIdentity, Mapping[str, object]], Pool]:
        maker = self._makers.get(name)
        if maker is None:
            maker = self._makers[name] = family(name).from_state
        return maker


def checked(pool: Pool, tokens: Mapping[str, tuple[int, Token]]) -> list[int]:
    """The ids of the pool's tokens. Raises `MarketError` unless the store knows them, with the pool's decimals."""
    if pool.family not in FAMILIES:
        raise MarketError(f"pool {pool.key} is of the unknown family {pool.family}")
    numbers = []
    for address, decimals in zip(pool.tokens, pool.decimals, strict=True):
        known = tokens.get(address)
        if known is None or known[1].decimals != decimals:
            what = "does not know" if known is None else f"knows with {known[1].decimals} decimals, not {decimals},"
            raise MarketError(f"pool {pool.key} holds {address}, which the store {what}", details={"pool": pool.key})
        numbers.append(known[0])
    return numbers
