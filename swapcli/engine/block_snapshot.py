"""A network at one block: the pools that were read at it, and what a transaction costs there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from swapcli.chain.batch_read import BatchRead, SkippedItem, run_batched
from swapcli.chain.l1_fee_params import read_l1_fee_params
from swapcli.chain.loaders import import_loader
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import ChainHead, Node
from swapcli.chain.pool_ref import ref_of_pool
from swapcli.evm.l1_fee import L1FeeParams
from swapcli.model.market import Market, Provenance
from swapcli.model.network import Network
from swapcli.model.pool import Pool

_Found = Pool | L1FeeParams | None


@dataclass
class BlockSnapshot:
    """`since_s` is when its block was told, by a timer. Of pools that could not be read it knows that."""

    node: Node
    network: Network
    head: ChainHead
    since_s: float
    pools: dict[str, Pool | None] = field(default_factory=dict)
    l1_terms: L1FeeParams | None = None
    is_pinned: bool = True

    def read(self, pools: Iterable[Pool]) -> None:
        """Reads those of the pools that have not been read, all in the same rounds. Raises `UpstreamError`."""
        places = [place for pool in pools if pool.key not in self.pools and (place := ref_of_pool(pool))]
        readings: list[tuple[str, BatchRead[_Found]]] = [(each.key, import_loader(each.kind)(each)) for each in places]
        oracle = self.network.l1_fee_oracle if not self.pools else None
        if oracle:
            readings.append((oracle, read_l1_fee_params(oracle)))
        read = self._read(readings)
        self.pools.update({each.key: _pool(found) for each, found in zip(places, read, strict=False)})
        if oracle and isinstance(read[-1], L1FeeParams):
            self.l1_terms = read[-1]

    def _read(self, readings: Sequence[tuple[str, BatchRead[_Found]]]) -> list[_Found | SkippedItem]:
        view = BlockReader(self.node, self.head.block, self.network.multicall)
        found = run_batched(readings, view.call)
        self.is_pinned = view.verify_block() and self.is_pinned
        return found

    def market(self, held: Market, keys: Collection[str]) -> Market:
        """`held` with these pools alone, as they are at the block."""
        pools = {key: pool for key in keys if (pool := self.pools.get(key))}
        unread = f", {len(keys) - len(pools)} could not be read" if len(pools) < len(keys) else ""
        return replace(
            held,
            pools=pools,
            provenance=Provenance.LIVE,
            source=f"{self.node.shown}: {len(pools)} pools considered{unread}",
            gas_price_wei=self.head.gas_price_wei,
            block=self.head.block.number,
            timestamp=self.head.block.timestamp,
            placeholder_pools=frozenset(),
            pinned=self.is_pinned,
        )


def _pool(found: _Found | SkippedItem) -> Pool | None:
    return found if isinstance(found, Pool) else None
