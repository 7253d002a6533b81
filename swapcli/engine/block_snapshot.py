"""The state of a network at one block: its pools as far as they were read, and the costs of a transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from swapcli.chain.l1_fee_params import read_l1_fee_params
from swapcli.chain.loaders import pool_reader, ref_of_pool
from swapcli.chain.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import ChainHead, Node
from swapcli.chain.settler_registry import RegisteredRouter, read_registered_router
from swapcli.errors import InvalidUpstreamResponse
from swapcli.evm.l1_fee import L1FeeParams
from swapcli.model.block_tag import BlockTag
from swapcli.model.market import MarketState, Provenance
from swapcli.model.network import Network
from swapcli.model.pool import Pool
from swapcli.model.router_reading import DEFAULT_READING

_ReadValue = Pool | L1FeeParams | RegisteredRouter | None


@dataclass
class BlockSnapshot:
    """The pools that were read at one block, by key; None for a pool that could not be read.

    `tag` is the requested block; a node without pending state has returned its latest one. `registered_router` is the
    router of a dialect whose registry names it. `read_at_s` is the monotonic time at which the node returned the block.
    `is_pinned` is false once a node has answered from another block. `has_router_changed` means that the router is not
    the contract whose reading the network has.
    """

    node: Node
    network: Network
    head: ChainHead
    read_at_s: float
    tag: BlockTag = BlockTag.LATEST
    pools: dict[str, Pool | None] = field(default_factory=dict)
    l1_fee_params: L1FeeParams | None = None
    registered_router: RegisteredRouter | None = None
    is_pinned: bool = True
    has_router_changed: bool = False

    def read(self, pools: Iterable[Pool]) -> None:
        """Read the pools that have not been read yet, all in the same batches. Raise `UpstreamError`."""
        unread = (pool for pool in pools if pool.key not in self.pools)
        refs = [ref for pool in unread if (ref := ref_of_pool(pool, self.network))]
        reads: list[tuple[str, BatchRead[_ReadValue]]] = [
            (each.key, pool_reader(each.kind).load(each)) for each in refs
        ]
        oracle, registry = self.network.l1_fee_oracle, self.network.router_registry
        if oracle and not self.pools:
            reads.append((oracle, read_l1_fee_params(oracle)))
        if registry and not self.pools:
            reads.append((registry, read_registered_router(registry)))
        results = self._read(reads)
        self.pools.update({each.key: _pool(found) for each, found in zip(refs, results, strict=False)})
        for value in results[len(refs) :]:
            if isinstance(value, L1FeeParams):
                self.l1_fee_params = value
            elif isinstance(value, RegisteredRouter):
                self.registered_router = value

    def with_router(self, network: Network) -> Network:
        """Return a network with the router that its registry names, which is read if it has not been.

        Raise `UpstreamError` if it cannot be read.
        """
        registry = network.router_registry
        if registry is None:
            return network
        if self.registered_router is None:
            (result,) = self._read([(registry, read_registered_router(registry))])
            if not isinstance(result, RegisteredRouter):
                reason = f": {result.reason}" if isinstance(result, SkippedItem) else ""
                raise InvalidUpstreamResponse(
                    f"the registry {registry} of {network.name} does not name a router{reason}",
                    details={"registry": registry},
                )
            self.registered_router = result
        return network.with_registered_router(self.registered_router.address)

    def _read(self, reads: Sequence[tuple[str, BatchRead[_ReadValue]]]) -> list[_ReadValue | SkippedItem]:
        reader = BlockReader(self.node, self.head.block, self.network.multicall)
        results = run_batched(reads, reader.call)
        self.is_pinned = reader.verify_block() and self.is_pinned
        return results

    def market(self, known: MarketState, keys: Collection[str]) -> MarketState:
        """Return `known` with only the pools of these keys, and the router, as they are at the block."""
        pools = {key: pool for key in keys if (pool := self.pools.get(key))}
        network = self.with_router(known.network) if self.registered_router else known.network
        if self.has_router_changed:
            network = network._replace(router_reading=DEFAULT_READING, router_code_hash=None)
        unread = f", {len(keys) - len(pools)} could not be read" if len(pools) < len(keys) else ""
        missing = f", no {self.tag} state" if self.tag is not self.head.tag else ""
        return known._replace(
            network=network,
            pools=pools,
            provenance=Provenance.LIVE,
            source=f"{self.node.redacted_url}: {len(pools)} pools considered{unread}{missing}",
            gas_price_wei=self.head.gas_price_wei,
            block=self.head.block.number,
            timestamp=self.head.block.timestamp,
            placeholder_pools=frozenset(),
            pinned=self.is_pinned,
            tag=self.head.tag,
        )


def _pool(found: _ReadValue | SkippedItem) -> Pool | None:
    return found if isinstance(found, Pool) else None
