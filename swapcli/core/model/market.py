"""A network's pools at one block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

from swapcli.core.annotations import TYPE_CHECKING, Self
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import UNKNOWN, TransferBehaviour
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.skipped_pool import SkippedPool


class Provenance(StrEnum):
    """The source of pool state. `live` state was read from a node for this order and is never stored."""

    RECORDED = "recorded"
    SYNCED = "synced"
    MODELLED = "modelled"
    SYNTHETIC = "synthetic"
    LIVE = "live"


class MarketState(NamedTuple):
    """A market: `tokens` by lower-case address (without the native token: pools hold its wrapped form), and `pools` by
    key.

    `gas_price_wei` 0 ranks routes by gross output; `block` and `timestamp` (Unix seconds) are None if unknown.
    `placeholder_pools` are the keys of pools whose real addresses are unknown; nothing is deployed at their addresses.
    `transfers` has, by address, the tokens whose transfers were tested or that are marked in a file; `UNKNOWN` marks a
    token that could not be tested. `pinned` shows whether the node's answers were proven to belong to `block`; None
    without a node. `tag` is the block's tag when it was read, None for a past block that was requested.
    `clock_offset_s` is the offset to add to this machine's clock to get the network's time; it is 0 unless several
    nodes agree that the clock is wrong. `skipped_pools` could not be read because their readers failed. `coverage`
    describes, for people, which pools were looked up; empty if all were.
    """

    network: Network
    tokens: Mapping[str, Token]
    pools: Mapping[str, Pool]
    provenance: Provenance
    source: str
    gas_price_wei: int
    block: int | None = None
    timestamp: int | None = None
    placeholder_pools: frozenset[str] = frozenset()
    transfers: Mapping[str, TransferBehaviour] = MappingProxyType({})
    pinned: bool | None = None
    tag: BlockTag | None = BlockTag.LATEST
    clock_offset_s: int = 0
    skipped_pools: tuple[SkippedPool, ...] = ()
    coverage: str = ""

    @classmethod
    def of_pools(
        cls,
        network: Network,
        pools: Iterable[Pool],
        tokens: Iterable[Token] | None = None,
        *,
        gas_price_wei: int | None = None,
        block: int | None = None,
        timestamp: int | None = None,
    ) -> Self:
        """Return a market of pools that the caller built; `tokens` defaults to the network's tokens.

        The gas price also defaults to the network's. Raises `InvalidPoolState` for a duplicate key, for a token that
        the market lacks, and for a pool whose decimals differ from the token's.
        """
        by_address = {token.address: token for token in (network.tokens if tokens is None else tokens)}
        by_key: dict[str, Pool] = {}
        for pool in pools:
            if pool.key in by_key:
                raise InvalidPoolState("address", "another pool in the market also has it", pool=pool.key)
            for address, decimals in zip(pool.tokens, pool.decimals, strict=True):
                token = by_address.get(address)
                if token is None:
                    raise InvalidPoolState("tokens", f"the market has no token {address}", pool=pool.key)
                if token.decimals != decimals:
                    problem = f"{address} has {token.decimals} decimals, not {decimals}"
                    raise InvalidPoolState("decimals", problem, pool=pool.key)
            by_key[pool.key] = pool
        price = network.gas_price_wei if gas_price_wei is None else gas_price_wei
        return cls(network, by_address, by_key, Provenance.SYNTHETIC, "pools of a program", price, block, timestamp)

    def network_time_s(self, now_s: float) -> float:
        """Return the network's time in Unix seconds; `now_s` is the time of this machine's clock."""
        return now_s + self.clock_offset_s

    def transfers_of(self, address: str) -> TransferBehaviour:
        """Return the transfer behaviour of a token, from the network's settings or otherwise from the market."""
        return self.network.transfers.get(address) or self.transfers.get(address, UNKNOWN)


class ParsedMarket(NamedTuple):
    """A parsed market, and the errors of the pools that the parser skipped. It skips pools only if the caller allows
    that."""

    market: MarketState
    skipped: tuple[InvalidPoolState, ...] = ()
