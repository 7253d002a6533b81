"""Replays the pools of `pools.json.xz`, and knows the answers that are not to be equal, by `exceptions.json`."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from swapcli.core.errors import InvalidPoolState, PoolError
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families import family

FOLDER = Path(__file__).parent
ADDRESS = "0x" + "11" * 20

Fields = Mapping[str, Any]


class Outcome(StrEnum):
    """What came of a recorded swap; `EXPLAINED` is a difference with a reason."""

    EQUAL = "equal"
    REFUSED = "refused by both"
    EXPLAINED = "explained difference"
    DIFFERENT = "different"


class ReplayedSwap(NamedTuple):
    """A recorded swap: `amount_out` is the pool's answer, None where it refuses; `reason` explains a difference."""

    recorded: Fields
    number: int
    expected: int | None
    amount_out: int | None
    reason: str | None

    @property
    def outcome(self) -> Outcome:
        """Compare both answers. A swap with a reason that is equal after all is an error in `exceptions.json`."""
        if self.expected != self.amount_out:
            return Outcome.EXPLAINED if self.reason else Outcome.DIFFERENT
        assert self.reason is None, f"{self} needs no reason"
        return Outcome.REFUSED if self.expected is None else Outcome.EQUAL


@cache
def recorded_pools() -> list[dict[str, Any]]:
    """Return the recorded pools: those that were collected, and those that `swapcli record` has written."""
    document = json.loads(lzma.decompress((FOLDER / "pools.json.xz").read_bytes()))
    pools: list[dict[str, Any]] = document["pools"]
    for file in sorted((FOLDER / "recordings").glob("*.json")):
        pools += json.loads(file.read_text())
    return pools


@cache
def exceptions() -> Mapping[tuple[str, str], Fields]:
    """Return the explained differences by source and note of the pool: `swaps` (numbers of them) and the `reason`."""
    entries = json.loads((FOLDER / "exceptions.json").read_text())["exceptions"]
    return {(each["source"], each["note"]): each for each in entries}


def replay_all() -> Iterator[ReplayedSwap]:
    """Yield every recorded swap."""
    for recorded in recorded_pools():
        yield from replay(recorded)


def replay(recorded: Fields) -> Iterator[ReplayedSwap]:
    """Yield the swaps of one pool: each on the recorded state, or on the one after the swap before it."""
    explained = exceptions().get((recorded["source"], recorded["note"]), {"swaps": ()})
    pool = build_pool(recorded)
    for index, swap in enumerate(recorded["swaps"]):
        amount_out, after = _swap(pool, swap)
        if recorded["sequential"]:
            pool = after
        reason = explained["reason"] if index in explained["swaps"] else None
        yield ReplayedSwap(recorded, index, int(swap["amount_out"] or 0) or None, amount_out, reason)


def build_pool(recorded: Fields) -> Pool | None:
    """Return the pool; None where the recorded state contradicts itself."""
    tokens, decimals = tuple(recorded["tokens"]), tuple(recorded["decimals"])
    identity = PoolIdentity(ADDRESS, "test", tokens, decimals, recorded["fee_ppm"])
    try:
        return family(recorded["family"]).from_state(identity, recorded["state"])
    except InvalidPoolState:
        return None


def _swap(pool: Pool | None, swap: Fields) -> tuple[int | None, Pool | None]:
    """Return the output, None where it is refused, and the pool afterwards."""
    if pool is None:
        return None, None
    try:
        return pool.swap(swap["token_in"], swap["token_out"], int(swap["amount_in"]))
    except PoolError:
        return None, pool
