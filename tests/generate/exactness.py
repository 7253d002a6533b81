"""Writes `docs/exactness.md`: `python -m tests.generate.exactness`. Every number in it is counted by replaying."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from swapcli.core.networks.catalogue import find_network_by_chain_id
from swapcli.quoting.recorded_swaps import FILE
from tests.families.vector_replay import REPLAYS, count_states, replay_vectors, source_of
from tests.recorded.mined import catalogue_fees, mined_swaps, recorded_events
from tests.recorded.outside_facts import (
    EVENT_SOURCES,
    all_factories,
    all_families,
    kinds_of,
    seen_pools,
    topics_of,
)
from tests.recorded.replay import Outcome, ReplayedSwap, exceptions, replay_all

PAGE = Path(__file__).parents[2] / "docs" / "exactness.md"
_INTRODUCTION = """# How exact the pools are

This page compares the amounts that swapcli's pools compute with amounts recorded from contracts, to the last unit.
`make exactness` replays every recorded swap and writes this page; a test fails if the page is outdated. If the contract
reverts or pays nothing, swapcli must reject the swap; the two then count as equal. `swapcli verify NETWORK TX` makes
the same comparison for any mined transaction. `swapcli verify NETWORK --recent 3` makes it for the latest swaps in each
protocol on a network."""


_NOT_SEEN = "not yet seen"
_OUTSIDE = """## Evidence from outside swapcli

A test that takes its expected value from the function under test proves nothing. So every family needs at least one ID
or address, one event and one swap from a source outside swapcli, such as bytecode, on-chain records or a published ABI.
The IDs and addresses belong to pools that exist on a chain (`tests/recorded/creations.json`). The tests derive these
IDs and addresses, and find the pools by their creation events. The events are in `tests/recorded/events.json`. If a
factory lists or announces a pool's address, swapcli does not derive it."""
_FACTORIES = """## Factories not yet seen

The tests have no public record of a pool created by any of these factories:"""


class Row(NamedTuple):
    """One family by one source."""

    family: str
    contract: str
    states: int
    swaps: int
    differences: int
    source: str


def render_page() -> str:
    """Return the page."""
    rows = sorted([*_vector_rows(), *_recorded_rows()])
    columns = ("family", "contract", "states", "swaps", "differences", "source")
    sums = (sum(row.states for row in rows), sum(row.swaps for row in rows), sum(row.differences for row in rows))
    total = Row("**all**", "", *sums, "")
    return "\n".join(
        [
            _INTRODUCTION,
            "",
            *_table(columns, [*rows, total]),
            "",
            *_outside(rows),
            "",
            "## Differences",
            "",
            *(f"* {_source_text(each['source'])}: {_count(len(each['swaps']), 'swap')}; {each['reason']}."
              for each in exceptions().values()),
            "",
            "## Mined swaps",
            "",
            "A concentrated pool's swap event implies the fee and the price before the swap. If the fee is not",
            "within 0.3 ppm of a fee in the catalogue, it counts as dynamic. With that fee, swapcli's pool returns",
            "the recorded output and the price after the swap, up to the rounding of the price. A pair's swap event",
            "does not contain the reserves, so it cannot explain the swap.",
            "",
            *_table(("network", "kind", "events", "catalogue fee", "dynamic fee", "not explained"), _mined()),
            "",
        ]
    )  # fmt: skip


def _outside(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the tables of what does not come from this program: by family, and by factory."""
    swaps = Counter[str]()
    for row in rows:
        swaps[row.family] += row.swaps
    yield _OUTSIDE
    yield ""
    columns = ("family", "ids and addresses", "events", "swaps", "sources of the ids and events")
    yield from _table(columns, (_family_row(family, swaps[family]) for family in all_families()))
    yield ""
    yield _FACTORIES
    yield ""
    seen = {(pool.network, pool.contract) for pool in seen_pools()}
    by_network: dict[str, list[str]] = {}
    for network, factory in all_factories():
        if (network, factory.address) not in seen:
            names = "/".join(dict.fromkeys(protocol.amm_name for protocol in factory.all_protocols))
            by_network.setdefault(network, []).append(f"{names} (`{factory.address[:10]}`)")
    yield from (f"* {network}: {', '.join(names)}." for network, names in by_network.items())


def _family_row(family: str, swaps: int) -> tuple[object, ...]:
    pools = [pool for pool in seen_pools() if pool.family == family]
    topics = topics_of(family)
    seen = [topic for topic in topics if topic in EVENT_SOURCES]
    sources = {pool.source for pool in pools}
    sources |= {EVENT_SOURCES[topic] for topic in seen}
    counted = f"{len(seen)} of {len(topics)}" if topics else "none" if kinds_of(family) else "no contract"
    return family, len(pools) or _NOT_SEEN, counted, swaps or _NOT_SEEN, ", ".join(sorted(sources))


def _vector_rows() -> Iterator[Row]:
    """Yield a row for each family of each file."""
    for name in REPLAYS:
        answers = list(replay_vectors(name))
        for family in dict.fromkeys(answer.family for answer in answers):
            own = [answer for answer in answers if answer.family == family]
            different = sum(answer.expected != answer.amount_out for answer in own)
            contract, states = _contract(source_of(name)), count_states(name, family)
            yield Row(family, contract, states, len(own), different, f"tests/families/vectors/{name}")


def _recorded_rows() -> Iterator[Row]:
    swaps = list(replay_all())
    for family, source in dict.fromkeys(map(_key, swaps)):
        own = [swap for swap in swaps if _key(swap) == (family, source)]
        states = len({id(swap.recorded) for swap in own})
        different = sum(swap.outcome in (Outcome.EXPLAINED, Outcome.DIFFERENT) for swap in own)
        yield Row(family, "mainnet pools", states, len(own), different, source)


def _key(swap: ReplayedSwap) -> tuple[str, str]:
    repository, _, place = swap.recorded["source"].partition("@")
    return swap.recorded["family"], f"{repository}@{place[:8]}"


def _mined() -> Iterator[tuple[object, ...]]:
    """Yield (network, kind, events, with a fee of the catalogue, with a dynamic fee, not explained)."""
    explained: Counter[tuple[int, str, bool]] = Counter()
    for recorded, swap in mined_swaps():
        is_listed = round(swap.implied_fee_ppm()) in catalogue_fees(recorded)
        explained[recorded["chain_id"], recorded["kind"], is_listed] += 1
    events = Counter((each["chain_id"], each["kind"]) for each in recorded_events())
    for (chain_id, kind), count in sorted(events.items(), reverse=True):
        listed, dynamic = explained[chain_id, kind, True], explained[chain_id, kind, False]
        network = find_network_by_chain_id(chain_id).name
        yield network, kind, count, listed, dynamic, count - listed - dynamic


def _contract(source: str) -> str:
    """Return which contract was recorded: the source up to how that was done."""
    text = re.sub(r"^outputs of (the )?", "", source)
    text = re.split(r"[;:]|, deployed through|, executed|, compiled|\. ", text)[0].strip()
    return text + ")" * (text.count("(") - text.count(")"))


def _source_text(source: str) -> str:
    repository, _, place = source.partition("@")
    commit, _, path = place.partition(":")
    return f"{repository}@{commit[:8]}, {path.rpartition('/')[2]}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    names = list(columns)
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        cells = (f"{each:,}" if isinstance(each, int) else str(each) for each in row)
        yield f"| {' | '.join(cells)} |"


def count_recorded_swaps() -> dict[str, int]:
    """Return how many recorded swaps of pools on a chain each family pays as the chain did."""
    counts = Counter(swap.recorded["family"] for swap in replay_all() if swap.outcome is Outcome.EQUAL)
    counts["concentrated"] += sum(1 for _ in mined_swaps())
    return dict(sorted(counts.items()))


if __name__ == "__main__":
    PAGE.write_text(render_page())
    FILE.write_text(json.dumps(count_recorded_swaps(), indent=1) + "\n")
