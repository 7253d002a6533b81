"""Convert tokens and pools to database rows and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from swapcli.core.errors import InvalidPoolState, MarketError
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.token import Token
from swapcli.core.plugins import FAMILY_GROUP, skipped_plugin
from swapcli.families import family, is_family

POOL_COLUMNS = "id, key, address, protocol, family, tokens, fee_ppm, state, block, invented"
TOKEN_COLUMNS = "id, address, symbol, name, decimals, price_usd, folded"
POOL_FIELDS = POOL_COLUMNS.count(",") + 1
TOKEN_FIELDS = TOKEN_COLUMNS.count(",") + 1

Row = tuple[Any, ...]


def token_row(token_id: int, token: Token) -> Row:
    """Return the row of a token, in the order of `TOKEN_COLUMNS`. `folded` is the lower-case symbol, for look-ups."""
    return (token_id, *token, token.symbol.lower())


def parse_token(row: Row) -> Token:
    """Return the token in a row that begins with `TOKEN_COLUMNS`."""
    return Token(*row[1:6])


def pool_row(pool_id: int, pool: Pool, token_ids: Iterable[int], block: int | None, is_placeholder: bool) -> Row:
    """Return the row of a pool, in the order of `POOL_COLUMNS`."""
    state = json.dumps(_with_integers(pool.state()), separators=(",", ":"))
    tokens = ",".join(map(str, token_ids))
    key, address = pool.key, pool.address
    return (pool_id, key, address, pool.protocol, pool.family, tokens, pool.fee_ppm, state, block, int(is_placeholder))


def _with_integers(value: object) -> object:
    """Return the state with integers instead of decimal strings: families parse both, and integers faster."""
    if isinstance(value, str) and value.removeprefix("-").isdecimal():
        return int(value)
    if isinstance(value, list):
        return [_with_integers(each) for each in value]
    return {key: _with_integers(each) for key, each in value.items()} if isinstance(value, dict) else value


class PoolRowParser:
    """Parses the rows of pools, given the pools' `tokens` by id."""

    def __init__(self, tokens: Mapping[int, Token]) -> None:
        self._tokens = tokens
        self._constructors: dict[str, Callable[[PoolIdentity, Mapping[str, object]], Pool]] = {}
        self._pool_tokens: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {}

    def parse(self, row: Row) -> Pool:
        """Return the pool in a row in the order of `POOL_COLUMNS`. Raises `InvalidPoolState` for an invalid row."""
        _, key, address, protocol, name, token_ids, fee_ppm, state, *_ = row
        try:
            tokens, decimals = self._pool_tokens.get(token_ids) or self._read_tokens(token_ids)
            return self._constructor(name)(
                PoolIdentity(address, protocol, tokens, decimals, fee_ppm), json.loads(state)
            )
        except InvalidPoolState as error:
            raise InvalidPoolState(error.field, error.problem, pool=key) from error
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise InvalidPoolState("state", "the store's row of it is damaged", pool=str(key)) from error

    def _read_tokens(self, token_ids: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        tokens = [self._tokens[int(token_id)] for token_id in token_ids.split(",")]
        pool_tokens = self._pool_tokens[token_ids] = (
            tuple([t.address for t in tokens]),
            tuple([t.decimals for t in tokens]),
        )
        return pool_tokens

    def _constructor(self, name: str) -> Callable[[PoolIdentity, Mapping[str, object]], Pool]:
        constructor = self._constructors.get(name)
        if constructor is None:
            if not is_family(name):
                problem = f'"{name}" is unknown: the package that adds it may be missing'
                raise InvalidPoolState("family", skipped_plugin(FAMILY_GROUP, name) or problem)
            constructor = self._constructors[name] = family(name).from_state
        return constructor


def require_token_ids(pool: Pool, tokens: Mapping[str, tuple[int, Token]]) -> list[int]:
    """Return the ids of a pool's tokens. Raises `MarketError` unless all tokens are stored, with the same decimals as
    in the pool."""
    if not is_family(pool.family):
        raise MarketError(f"pool {pool.key} belongs to the unknown family {pool.family}")
    token_ids = []
    for address, decimals in zip(pool.tokens, pool.decimals, strict=True):
        known = tokens.get(address)
        if known is None or known[1].decimals != decimals:
            problem = "does not have" if known is None else f"has with {known[1].decimals} decimals, not {decimals},"
            raise MarketError(f"pool {pool.key} holds {address}, which the store {problem}", details={"pool": pool.key})
        token_ids.append(known[0])
    return token_ids
