"""The rows from which pools are selected, and the protocol for their source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from swapcli.core.records import NamedTuple

TokenPair = tuple[int, int]
"""The ids of the sold token and of the bought token."""

LegRow = tuple[int, Any, Any, float, float]
"""`(pool, up, down, in_low, in_high)`: fields of `depth_ranking.Leg`.

A plain tuple, because an order reads thousands.
"""


class RankedToken(NamedTuple):
    """The ranking of a token.

    `price_usd` is in dollars per base unit. `throughput_usd` is about how many dollars can be traded through the token.
    `parent` is the next token on the widest path to a dollar token, None if there is none.
    """

    price_usd: float
    throughput_usd: float
    parent: int | None


class PoolLimit(NamedTuple):
    """How many pools of a pair to read: the deepest pools, and in each direction the pools with the best rates."""

    deepest: int
    best_rate: int


class RankingReader(Protocol):
    """A source of ranked tokens and pools, without the pools of the protocols that the order excludes."""

    def token_id(self, address: str | None) -> int | None:
        """Return the ID of a token; None if it is unknown."""

    def token(self, token_id: int) -> RankedToken:
        """Return the ranking of a token, with the lowest price if the token has no price."""

    def hubs(self, limit: int) -> list[int]:
        """Return the tokens with the largest throughput, largest first."""

    def neighbours(self, token_id: int, limit: int) -> list[tuple[int, float]]:
        """Return the neighbours through which the most dollars can be traded, with the amounts, largest first."""

    def pairs(self, token_ids: Iterable[int]) -> list[tuple[int, int, int]]:
        """Return the pairs that have pools, as (lower id, higher id, number of pools)."""

    def legs(self, low: int, high: int, limit: PoolLimit, directions: Iterable[str]) -> list[LegRow]:
        """Return up to `limit` pools of a pair, without duplicates. `directions` are "up" (sells `low`) and "down"."""

    def deepest_pools(self, low: int, high: int, limit: int) -> list[int]:
        """Return the deepest pools of a pair, both among all protocols and among the protocols that are not
        excluded."""
