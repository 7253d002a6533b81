"""All measurements on chains, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.chain.block_to_quote import Announced, measure_block_to_quote
from bench.chain.first_sync import SyncFigures, measure_first_sync
from bench.chain.following import FollowFigures, measure_following
from bench.chain.live import LiveQuote, measure_live
from bench.chain.many_pools import NETWORK, V2, V3, open_many_pools
from bench.chain.received import Mined, measure_received
from bench.plan import ChainPlan
from tests.chain.anvil import running_anvil
from tests.chain.settings import url_of, write_settings


class ChainFigures(NamedTuple):
    """All results. `syncs` are of V2 pairs, of V3 pools, and of both; `client` is the node's version."""

    client: str
    syncs: Sequence[SyncFigures]
    live: Sequence[LiveQuote]
    following: FollowFigures
    announced: Sequence[Announced]
    mined: Sequence[Mined]


def measure_chain(plan: ChainPlan, folder: Path, note: Callable[[str], None]) -> ChainFigures:
    """Measure on fresh chains, with files in `folder`. Raises `BenchmarkFailed`."""
    client, syncs, live = _measure_many_pools(plan, folder, note)
    note(f"chain: {plan.blocks} blocks to follow")
    following = measure_following(plan.blocks, plan.swaps, folder)
    note(f"chain: {plan.announced} blocks to announce at each block time")
    announced = measure_block_to_quote(plan.announced, plan.swaps, folder)
    note(f"chain: {plan.routes} routes to mine")
    return ChainFigures(client, syncs, live, following, announced, measure_received(plan.routes))


def _measure_many_pools(
    plan: ChainPlan, folder: Path, note: Callable[[str], None]
) -> tuple[str, list[SyncFigures], Sequence[LiveQuote]]:
    with running_anvil() as chain:
        note("chain: many pools")
        many = open_many_pools(chain, plan.pairs, plan.pools)
        settings = write_settings(folder, many.network, url_of(chain))
        store_file = folder / "stores" / f"{NETWORK}.sqlite"
        store_file.parent.mkdir(exist_ok=True)
        parts: dict[tuple[str, ...], int] = {(V2.amm_name,): plan.pairs, (V3.amm_name,): plan.pools}
        parts[V2.amm_name, V3.amm_name] = plan.pairs + plan.pools
        note("chain: first syncs")
        # The last sync is of all pools; live quotes use its store.
        syncs = [
            measure_first_sync(settings, store_file, protocols, pools, plan.syncs) for protocols, pools in parts.items()
        ]
        note("chain: live quotes")
        live = measure_live(many.coins, settings, chain.node.port, plan.runs)
        return str(chain.node.ask("web3_clientVersion")), syncs, live
