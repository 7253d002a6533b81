"""Writes tokens and pools, and keeps what they were before."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

from swapcli.errors import MarketError
from swapcli.model.market import Provenance
from swapcli.model.pool import Pool
from swapcli.model.token import Token
from swapcli.model.transfer_behaviour import TransferBehaviour
from swapcli.store.blocks import BlockMark
from swapcli.store.inventory import LeftOut
from swapcli.store.ranking import Pair, insert_legs, legs_of, rank_all, rank_touched
from swapcli.store.rows import POOL_FIELDS, TOKEN_FIELDS, checked, pool_row, token_row
from swapcli.store.transfers import write_transfers
from swapcli.store.undo_log import keep_note, keep_pool, keep_token, rename

_GROWTH = 1.25  # a store that has grown so much since it was ranked as a whole is ranked anew
_FEW_POOLS = 200

Anchors = Mapping[str, float]
"""Dollars per whole token, by address."""


class BlockWriter:
    """Changes the store inside one transaction; everything holds once the block that it belongs to is left.

    `mark` is the block, None where the store cannot go back behind what is written.
    """

    def __init__(self, connection: sqlite3.Connection, mark: BlockMark | None, anchors: Anchors) -> None:
        self._connection, self.mark, self._anchors = connection, mark, anchors
        self._at = mark and mark.number
        self._touched: set[Pair] = set()

    def move_to(self, mark: BlockMark) -> None:
        """Make all that is written that of a later block."""
        assert self.mark
        rename(self._connection, self.mark.number, mark)
        self.mark, self._at = mark, mark.number

    def put_tokens(self, tokens: Iterable[Token]) -> None:
        """Add tokens, or describe known ones anew."""
        for token in tokens:
            known = self._token(token.address)
            if known and known[1] == token:
                continue
            keep_token(self._connection, self._at, token.address)
            if known:
                self._connection.execute(
                    "UPDATE tokens SET symbol = ?, name = ?, decimals = ?, price_usd = ?, folded = ? WHERE id = ?",
                    (*token_row(known[0], token)[2:], known[0]),
                )
            else:
                marks, row = ", ".join("?" * TOKEN_FIELDS), token_row(self._next("tokens"), token)
                self._connection.execute(f"INSERT INTO tokens VALUES ({marks}, NULL, NULL, NULL, 0.0)", row)

    def put_pools(
        self, pools: Iterable[Pool], *, placeholder_pools: frozenset[str] = frozenset(), block: int | None = None
    ) -> None:
        """Add pools, or give known ones their new state. Their tokens have to be there: `MarketError`.

        `placeholder_pools` are the keys of those whose addresses are made up; `block` is that of their state, the
        writer's own unless told otherwise.
        """
        tokens: dict[str, tuple[int, Token]] = {}
        for pool in pools:
            for address in pool.tokens:
                if address not in tokens and (known := self._token(address)):
                    tokens[address] = known
            numbers = checked(pool, tokens)
            keep_pool(self._connection, self._at, pool.key)
            number = self._forget_legs(pool.key) or self._next("pools")
            marks = ", ".join("?" * POOL_FIELDS)
            row = pool_row(
                number, pool, numbers, block if self._at is None else self._at, pool.key in placeholder_pools
            )
            self._connection.execute(f"INSERT OR REPLACE INTO pools VALUES ({marks})", row)
            self.put_legs(number, pool, numbers)

    def put_legs(self, number: int, pool: Pool, token_numbers: list[int]) -> None:
        """The legs of the pool with that id, which has none."""
        legs = list(legs_of(number, pool, token_numbers))
        insert_legs(self._connection, legs)
        self._touched.update((leg.low, leg.high) for leg in legs)

    def remove(self, keys: Iterable[str]) -> None:
        """Take pools out; those that are not there are no trouble."""
        for key in keys:
            keep_pool(self._connection, self._at, key)
            self.drop_pool(key)

    def drop_pool(self, key: str) -> None:
        """Take a pool out without keeping what it was."""
        self._forget_legs(key)
        self._connection.execute("DELETE FROM pools WHERE key = ?", (key,))

    def drop_idle_tokens(self, kept: str | None) -> None:
        """Take out the tokens that no pool holds, but for the one at the address `kept`; the ranking does not show it
        until `rank`."""
        of_pools = self._connection.execute("SELECT DISTINCT tokens FROM pools")
        held = {int(number) for (numbers,) in of_pools for number in numbers.split(",")}
        tokens = self._connection.execute("SELECT id, address FROM tokens").fetchall()
        idle = [address for number, address in tokens if number not in held and address != kept]
        for address in idle:
            keep_token(self._connection, self._at, address)
            self._connection.execute("DELETE FROM tokens WHERE address = ?", (address,))

    def leave_out(self, entries: Iterable[LeftOut]) -> None:
        """Remember what is not held, and why. Going back leaves that as it is: whatever is held after all counts.

        What is lost stays so, whatever reason is found later.
        """
        self._connection.executemany(
            "INSERT INTO left_out (key, reason, place, is_lost) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
            " reason = excluded.reason, place = excluded.place, is_lost = max(is_lost, excluded.is_lost)",
            entries,
        )

    def put_transfers(self, behaviours: Mapping[str, TransferBehaviour], *, block: int | None = None) -> None:
        """Remember how tokens transfer, by address, as was found at a block: the writer's own unless given."""
        write_transfers(self._connection, behaviours, block if self._at is None else self._at)

    def put_note(self, name: str, value: object, *, of_block: bool = False) -> None:
        """Remember something JSON-ready by name. Going back to an earlier block leaves it as it is, unless `of_block`
        says that it belongs to the block."""
        if of_block:
            keep_note(self._connection, self._at, name)
        self._connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, json.dumps(value)))

    def describe(
        self,
        *,
        provenance: Provenance | None = None,
        source: str | None = None,
        gas_price_wei: int | None = None,
        pinned: bool | None = None,
    ) -> None:
        """Say where the state comes from, and the gas price; what is not given stays as it was."""
        self._connection.execute(
            "UPDATE meta SET provenance = coalesce(?, provenance), source = coalesce(?, source), "
            "gas_price_wei = coalesce(?, gas_price_wei), pinned = coalesce(?, pinned)",
            (provenance, source, None if gas_price_wei is None else str(gas_price_wei), pinned),
        )

    def finish(self) -> None:
        """Bring the ranking up to date; called as the last thing in the transaction."""
        if not self._touched:
            return
        pools, ranked = self._connection.execute(
            "SELECT (SELECT count(*) FROM pools), ranked_pools FROM meta"
        ).fetchone()
        if pools > ranked * _GROWTH + _FEW_POOLS or not ranked:
            self.rank()
        else:
            rank_touched(self._connection, self._touched)

    def rank(self) -> None:
        """Rank every token and pool anew."""
        rank_all(self._connection, self._anchor_worths())

    def _anchor_worths(self) -> dict[int, float]:
        rows = self._connection.execute("SELECT id, address, decimals, price_usd FROM tokens").fetchall()
        per_token = {number: self._anchors[address] for number, address, _, _ in rows if address in self._anchors}
        per_token = per_token or {number: price for number, _, _, price in rows if price}
        decimals = {number: count for number, _, count, _ in rows}
        return {number: price / 10 ** decimals[number] for number, price in per_token.items()}

    def _token(self, address: str) -> tuple[int, Token] | None:
        row = self._connection.execute(
            "SELECT id, address, symbol, name, decimals, price_usd FROM tokens WHERE address = ?", (address,)
        ).fetchone()
        return (row[0], Token(*row[1:])) if row else None

    def _next(self, table: str) -> int:
        (last,) = self._connection.execute(f"SELECT max(id) FROM {table}").fetchone()
        return (last or 0) + 1

    def _forget_legs(self, key: str) -> int | None:
        """Drop the legs of a pool; its id, None where there is no such pool."""
        row = self._connection.execute("SELECT id FROM pools WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        legs = self._connection.execute("SELECT low, high FROM legs WHERE pool = ?", row).fetchall()
        self._touched.update(legs)
        self._connection.execute("DELETE FROM legs WHERE pool = ?", row)
        number: int = row[0]
        return number


def check_order(head: int | None, head_hash: str | None, number: int, block_hash: str | None) -> None:
    """Raises `MarketError` unless the block comes after the store's newest, or is that very one."""
    if head is None or number > head or (number == head and block_hash == head_hash):
        return
    if number == head:
        raise MarketError(f"the store has another block {number}: {head_hash}, not {block_hash}")
    raise MarketError(f"block {number} does not come after {head}, the newest of the store")
