"""Recorded swaps in the form that every family can have: states are those of market files, so that no code replays it.

`vectors/NAME.json.xz`, with integers of more than 2^53 as decimal strings:

    {"format": "recorded-swaps/1", "source": "contract, revision, and how its answers were obtained",
     "pools": [{"family": "psm", "tokens": [...], "decimals": [...], "fee_ppm": 0, "state": {...},
                "steps": [{"sold": 0, "bought": 1, "amount_in": "1000", "amount_out": "997", "state_after": {...}}]}]}

The steps of a pool follow one another. `amount_out` is null where the contract reverts or pays nothing, `state_after`
is optional, and `state` of a step is the state before it, where something else has changed the pool meanwhile. Tokens
are addresses, or numbers in place of them.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families import family
from tests.families.recorded import VECTORS, read_vectors

FORMAT: Final = "recorded-swaps/1"


class RecordedSwap(NamedTuple):
    """A recorded swap of `pool`, and what the pool makes of it. Both outputs are None where it is refused."""

    pool: Pool
    expected: int | None
    amount_out: int | None
    expected_state: Mapping[str, object] | None
    after: Pool | None


@cache
def names_of_recorded_swaps() -> tuple[str, ...]:
    """Return the names of the files of this form."""
    files = sorted(VECTORS.glob("*.json.xz"))
    # Documents begin with their form, so that the long ones of other forms are not parsed.
    return tuple(file.name.partition(".")[0] for file in files if FORMAT in _beginning_of(file.read_bytes()))


def replay_recorded_swaps(name: str) -> Iterator[RecordedSwap]:
    """Yield every swap of a file."""
    for number, recorded in enumerate(read_vectors(name)["pools"], 1):
        pool = _build(recorded, number, recorded["state"])
        for step in recorded["steps"]:
            if "state" in step:
                pool = _build(recorded, number, step["state"])
            expected = int(step["amount_out"] or 0) or None
            sold, bought = pool.tokens[step["sold"]], pool.tokens[step["bought"]]
            try:
                amount_out, after = pool.swap(sold, bought, int(step["amount_in"]))
            except PoolError:
                yield RecordedSwap(pool, expected, None, None, None)
                continue
            yield RecordedSwap(pool, expected, amount_out, step.get("state_after"), after)
            pool = after


def check_recorded_swaps(name: str) -> int:
    """Require that a pool pays what the contract paid, and is left as the contract was; return how many it paid."""
    assert name in names_of_recorded_swaps(), f"TODO {name}: record swaps of the contract in tests/families/vectors"
    paid = 0
    for swap in replay_recorded_swaps(name):
        assert swap.amount_out == swap.expected, swap.pool
        if swap.after and swap.expected_state:
            state = swap.after.state()
            assert (
                family(swap.pool.family).from_state(swap.after.identity, {**state, **swap.expected_state}) == swap.after
            )
        paid += swap.amount_out is not None
    return paid


def _build(recorded: Mapping[str, Any], number: int, state: Mapping[str, object]) -> Pool:
    tokens = tuple(token if isinstance(token, str) else f"0x{token:040x}" for token in recorded["tokens"])
    address = recorded.get("address", f"0x{0xE0000000 + number:040x}")
    identity = PoolIdentity(address, "recorded", tokens, tuple(recorded["decimals"]), recorded["fee_ppm"])
    return family(recorded["family"]).from_state(identity, state)


def _beginning_of(compressed: bytes) -> str:
    return lzma.LZMADecompressor().decompress(compressed, max_length=200).decode(errors="replace")
