"""One step of a store to its node's newest block, as one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import BlockHeader, ChainHead, Node
from swapcli.engine.sync.chain_position import Footing, Overtaken, find_footing
from swapcli.engine.sync.cursor import Search, keep
from swapcli.engine.sync.discover import Found
from swapcli.engine.sync.insert import add_pools, take_out_thin
from swapcli.engine.sync.refresh import Refreshed, Refresher
from swapcli.engine.sync.sync_filter import Advance
from swapcli.engine.sync.transfer_checks import check_transfers
from swapcli.errors import BlockMismatch, ChainReorganized, InvalidUpstreamResponse, MarketError
from swapcli.store import BlockMark, BlockWriter, Store

_TRIES = 4
_MISMATCHES = 8
"""Tries with a node that answers from other blocks than it is asked about: it can be read between two new blocks."""

Hunt = Callable[[BlockReader, Footing], Found]
"""Finds the next portion of pools at the view's block."""


class Step(NamedTuple):
    """What a step did, and what it found on the way."""

    advance: Advance
    found: Found


def take_step(store: Store, node: Node, hunt: Hunt, *, at_rest: bool, may_lose: bool = False) -> Step | None:
    """Bring everything to the newest block and add what `hunt` finds there.

    None where the node is behind the store, and where there is no new block unless `at_rest` asks for a step then, too.
    The block is held against the chain once more before anything is kept. Where the chain took another way, another
    process was faster, or the node answered from another block, all of it begins anew, a few times; where what it
    answered cannot be believed, with another node if there is one. A step that would lose many pools is refused unless
    it `may_lose` them. Raises `UpstreamError`, and `ConfigError` where the store cannot be written to.
    """
    rewound_to: int | None = None
    failures = mismatches = 0
    while True:
        try:
            head = node.head()
            footing = find_footing(store, node, head.block)
            rewound_to = rewound_to if footing.rewound_to is None else footing.rewound_to
            if footing.is_behind or not (at_rest or _is_new(head.block, footing)):
                return None
            return _step(store, node, head, footing._replace(rewound_to=rewound_to), hunt, may_lose)
        except (ChainReorganized, Overtaken):
            failures += 1
            if failures == _TRIES:
                raise
        except BlockMismatch as error:
            mismatches += 1
            if mismatches > _MISMATCHES or (mismatches == _MISMATCHES and not node.use_spare(error)):
                raise
        except InvalidUpstreamResponse as error:
            failures += 1
            if failures == _TRIES or not node.use_spare(error):
                raise


def _is_new(block: BlockHeader, footing: Footing) -> bool:
    return footing.is_lost or footing.held is None or footing.held.number < block.number


def _step(store: Store, node: Node, head: ChainHead, footing: Footing, hunt: Hunt, may_lose: bool) -> Step:
    block = head.block
    view = BlockReader(node, block, store.network.multicall, allow_later_blocks=True)
    with _opened(store, block, footing) as writer:
        # Pools of a way that the chain has left may never have been made on the other.
        refresher = Refresher(store, writer, view, block, may_lose=may_lose or footing.is_lost)
        news = _refreshed(refresher, block, footing)
        found = hunt(view, footing)
        added = add_pools(store, writer, view, [*found.places, *news.revived], found.tokens)
        writer.leave_out(found.left_out)
        is_pinned = view.verify_block()
        if view.has_later_answers:
            block, settled = refresher.settle(view)
            news.touched.extend(key for key in settled if key not in {*news.touched, *added})
            writer.move_to(BlockMark(block.number, block.hash, block.timestamp))
        search, thin = _judge(store, writer, found, added)
        check_transfers(store, writer, view, added)
        keep(search, writer)
        writer.describe(source=node.shown, gas_price_wei=head.gas_price_wei, pinned=is_pinned)
        _check_stands(node, block)
    new = [key for key in added if key not in thin]
    removed = (*news.removed, *(key for key in thin if key not in added))
    return Step(
        Advance(block, tuple(news.touched), tuple(new), removed, tuple(news.drifted), footing.rewound_to), found
    )


def _refreshed(refresher: Refresher, block: BlockHeader, footing: Footing) -> Refreshed:
    if footing.is_lost:
        return refresher.read_all()
    if footing.held is None or footing.held.number == block.number:
        return Refreshed([], [], [], [])
    return refresher.read_since(footing.held.number)


def _judge(store: Store, writer: BlockWriter, found: Found, added: list[str]) -> tuple[Search, set[str]]:
    """Which pools are too thin: of those just added, and of all once everything has been found."""
    search = found.search
    least_usd = search.wanted.min_liquidity_usd
    if search.is_judged:
        return search, set(take_out_thin(store, writer, least_usd, added))
    if not found.is_all:
        return search, set()
    return replace(search, is_judged=True), set(take_out_thin(store, writer, least_usd))


@contextmanager
def _opened(store: Store, block: BlockHeader, footing: Footing) -> Iterator[BlockWriter]:
    """The store at a block that follows what its footing is. Raises `Overtaken`."""
    try:
        with store.block(block.number, block.hash, block.timestamp, anew=footing.is_lost) as writer:
            if store.register.head() != footing.held:
                raise Overtaken(store)
            yield writer
    except MarketError:
        if store.register.head() != footing.held:
            raise Overtaken(store) from None
        raise


def _check_stands(node: Node, block: BlockHeader) -> None:
    """Raises `ChainReorganized`."""
    found = node.block(block.number)
    if found is None or found.hash != block.hash:
        raise ChainReorganized(
            f"the chain of {node.shown} took another way while block {block.number} was read",
            hint="try again",
            details={"block": block.number},
        )
