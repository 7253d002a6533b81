"""Recorded swaps of a contract, in a format that can be replayed without code for each family.

A file `.json`, or `.json.xz`, has states as in market files, and integers of more than 2^53 as decimal strings:

    {"format": "recorded-swaps/1", "source": "contract, revision, and how its answers were obtained",
     "pools": [{"family": "psm", "tokens": [...], "decimals": [...], "fee_ppm": 0, "state": {...},
                "steps": [{"sold": 0, "bought": 1, "amount_in": "1000", "amount_out": "997", "state_after": {...}}]}]}

The steps of a pool are consecutive. `amount_out` is null if the contract reverts or pays nothing, `state_after` is
optional, and a step has a `state`, the state before it, if something else has changed the pool in between. Tokens are
addresses, or numbers in place of them.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families import family

FORMAT: Final = "recorded-swaps/1"


class RecordedSwap(NamedTuple):
    """A recorded swap in `pool`, and the pool's result for it. Both outputs are None if the swap is rejected."""

    pool: Pool
    expected: int | None
    amount_out: int | None
    expected_state: Mapping[str, object] | None
    after: Pool | None
    place: str = ""
    """The step in the file: `pools[0].steps[3]`."""
    refusal: str = ""
    """The reason why the pool rejects it."""


def replay_recorded_swaps(file: Path, find: Callable[[str], type[Pool]] = family) -> Iterator[RecordedSwap]:
    """Yield every swap in a file. `find` returns the class of a family by name."""
    for number, recorded in enumerate(_read(file)["pools"], 1):
        pool = _build(recorded, number, recorded["state"], find)
        for index, step in enumerate(recorded["steps"]):
            place = f"pools[{number - 1}].steps[{index}]"
            if "state" in step:
                pool = _build(recorded, number, step["state"], find)
            expected = int(step["amount_out"] or 0) or None
            sold, bought = pool.tokens[step["sold"]], pool.tokens[step["bought"]]
            try:
                amount_out, after = pool.swap(sold, bought, int(step["amount_in"]))
            except PoolError as error:
                yield RecordedSwap(pool, expected, None, None, None, place, str(error))
                continue
            yield RecordedSwap(pool, expected, amount_out, step.get("state_after"), after, place)
            pool = after


def check_recorded_swaps(file: Path, find: Callable[[str], type[Pool]] = family) -> int:
    """Require that pools pay the contract's outputs and end in the contract's states; return how many swaps paid."""
    paid = 0
    for swap in replay_recorded_swaps(file, find):
        step = f"{file.name}, {swap.place}"
        recorded = f"{step}: the contract " + (f"paid {swap.expected}" if swap.expected else "paid nothing")
        computed = f"the pool pays {swap.amount_out}" if swap.amount_out else f"the pool does not: {swap.refusal}"
        assert swap.amount_out == swap.expected, f"{recorded}, {computed}\n{swap.pool}"
        if swap.after and swap.expected_state:
            state = {**swap.after.state(), **swap.expected_state}
            assert type(swap.after).from_state(swap.after.identity, state) == swap.after, f"{step}: the states differ"
        paid += swap.amount_out is not None
    return paid


def source_of(file: Path) -> str:
    """Return the source of recorded swaps: the contract, and how its swaps were recorded."""
    return str(_read(file)["source"])


def write_vectors(file: Path, source: str, pools: list[dict[str, object]]) -> None:
    """Write recorded pools, such as the results of `record_swaps`, into a file `.json` or `.json.xz`.

    `source` names the contract and its revision, and how its swaps were recorded.
    """
    text = json.dumps({"format": FORMAT, "source": source, "pools": pools}).encode()
    file.write_bytes(lzma.compress(text) if file.suffix == ".xz" else text + b"\n")


def _read(file: Path) -> Mapping[str, Any]:
    text = file.read_bytes()
    document: dict[str, Any] = json.loads(lzma.decompress(text) if file.suffix == ".xz" else text)
    assert document.get("format") == FORMAT, f'{file} is not of the form "{FORMAT}"'
    return document


def _build(
    recorded: Mapping[str, Any], number: int, state: Mapping[str, object], find: Callable[[str], type[Pool]]
) -> Pool:
    tokens = tuple(token if isinstance(token, str) else f"0x{token:040x}" for token in recorded["tokens"])
    address = recorded.get("address", f"0x{0xE0000000 + number:040x}")
    identity = PoolIdentity(address, "recorded", tokens, tuple(recorded["decimals"]), recorded["fee_ppm"])
    return find(recorded["family"]).from_state(identity, state)
