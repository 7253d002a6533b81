"""Remember in a file the pools that look-ups for quotes have found on a network, with their state when they were found.

A network without a store and without an embedded market has no other list of pools. A damaged file is ignored, and so
is one for another chain, network definition or format. The results of a look-up are valid for a day.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.errors import MarketError
from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import UNKNOWN, TransferBehaviour
from swapcli.core.model.units import DAY_S
from swapcli.core.records import NamedTuple
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.pool_ref_text import format_pool_ref, parse_pool_ref
from swapcli.state.discovery.pair_lookup import Pair, PairQuery
from swapcli.state.markets.fields import MarketFields
from swapcli.state.markets.pools_field import PoolParser, pool_to_json
from swapcli.state.markets.tokens_field import parse_tokens, parse_transfers, token_to_json
from swapcli.state.remembered_json import read_json_file, write_json_file

if TYPE_CHECKING:
    from swapcli.state.discovery.token_pools import LookedUpPools
    from swapcli.state.rpc.node import ChainHead

_FIELD: Final = "found"
_FORM: Final = 1
_TTL_S: Final = DAY_S
"""New pools of a pair are rarely good on their first day; chosen."""
_MAX_BYTES: Final = 16 << 20
_MAX_PAIRS: Final = 2_000
"""Pairs of the newest look-ups to keep: about 60 tokens with each other. For more tokens, a store is better."""


class FoundPools(NamedTuple):
    """The combined results of look-ups. `pairs` maps each pair to the Unix time of its look-up. `block` and `timestamp`
    belong to the oldest state, `newest_block` and `gas_price_wei` to the newest.

    The other fields are as in `LookedUpPools`. `transfers` has the tested transfer behaviour of tokens, by address.
    """

    pools: Mapping[str, Pool] = {}
    tokens: Mapping[str, Token] = {}
    pairs: Mapping[Pair, int] = {}
    refs: Mapping[str, PoolRef] = {}
    queries: Mapping[str, tuple[PairQuery, ...]] = {}
    left_out: tuple[str, ...] = ()
    transfers: Mapping[str, TransferBehaviour] = {}
    block: int | None = None
    timestamp: int | None = None
    newest_block: int | None = None
    gas_price_wei: int = 0

    def with_found(self, found: LookedUpPools, head: ChainHead, now_s: float) -> FoundPools:
        """Return these pools combined with the pools of a new look-up, made at the block of `head`."""
        block, timestamp = head.block.number, head.block.timestamp
        return self._replace(
            pools={**self.pools, **found.pools},
            tokens={**self.tokens, **found.tokens},
            pairs={**self.pairs, **dict.fromkeys(sorted(found.pairs), int(now_s))},
            refs=found.refs,
            queries=found.queries,
            left_out=tuple(dict.fromkeys((*self.left_out, *found.left_out))),
            block=min(block, self.block or block),
            timestamp=min(timestamp, self.timestamp or timestamp),
            newest_block=max(block, self.newest_block or block),
            gas_price_wei=head.gas_price if isinstance(head.gas_price, int) else self.gas_price_wei,
        )

    def without_old(self, now_s: float) -> FoundPools:
        """Return these pools without the pairs whose look-up is too old, and without the pools that were found only for
        those pairs."""
        recent = {pair: at_s for pair, at_s in self.pairs.items() if 0 <= now_s - at_s < _TTL_S}
        if len(recent) > _MAX_PAIRS:
            recent = dict(sorted(recent.items(), key=lambda entry: entry[1])[-_MAX_PAIRS:])
        if len(recent) == len(self.pairs):
            return self
        if not recent:
            return FoundPools(queries=self.queries, transfers=self.transfers, tokens=self.tokens)
        tokens = {token for pair in recent for token in pair}
        pools = {key: pool for key, pool in self.pools.items() if len(tokens.intersection(pool.tokens)) > 1}
        return self._replace(pairs=recent, pools=pools)


class FoundPoolsFile:
    """The file for one network in a folder.

    >>> found = FoundPoolsFile(folder, network, time.time).load()
    """

    def __init__(self, folder: Path, network: Network, now_s: Callable[[], float]) -> None:
        self.path = folder / f"{network.name}.found-pools.json"
        self._network, self._now_s = network, now_s

    def load(self) -> FoundPools:
        """Return the remembered pools that are recent enough; empty if the network's definition has changed."""
        document = read_json_file(self.path, _FIELD, _MAX_BYTES)
        if document.get("of") != self._definition():
            return FoundPools()
        try:
            return self._parse(document).without_old(self._now_s())
        except (MarketError, ValueError, TypeError, KeyError, AttributeError, IndexError):
            return FoundPools()

    def save(self, found: FoundPools) -> None:
        """Replace the remembered pools. Failures are ignored."""
        found = found.without_old(self._now_s())
        # Transfers of the definition's tokens are remembered too.
        tokens = {**{token.address: token for token in self._network.tokens}, **found.tokens}
        document = {
            "of": self._definition(),
            "blocks": [found.block, found.newest_block, found.timestamp],
            "gas_price_wei": found.gas_price_wei,
            "pairs": {" ".join(pair): at_s for pair, at_s in found.pairs.items()},
            "refs": [format_pool_ref(ref) for ref in found.refs.values()],
            "queries": {address: list(map(_query_to_json, each)) for address, each in found.queries.items()},
            "left_out": found.left_out,
            "tokens": [
                token_to_json(token, found.transfers.get(address, UNKNOWN))
                for address, token in tokens.items()
                if address != ZERO_ADDRESS
            ],
            "pools": [pool_to_json(pool) for pool in found.pools.values()],
        }
        write_json_file(self.path, _FIELD, document, indent=None)

    def _definition(self) -> str:
        """Return a digest of everything the pools depend on."""
        network = self._network
        parts = (
            (_FORM, network.kind, network.chain_id, network.wrapped_native_address, network.multicall),
            [(token.address, token.decimals) for token in network.tokens],
            *(network.protocols, network.deployments, network.quoters, network.hook_rules),
        )
        return blake2b(repr(parts).encode(), digest_size=16).hexdigest()

    def _parse(self, document: Mapping[str, Any]) -> FoundPools:
        fields = MarketFields(dict(document), "")
        tokens = parse_tokens(fields, self._network.kind)
        listed = {token.address: token for token in self._network.tokens}
        known = {**tokens, **listed}
        pools, _ = PoolParser(self._network, known).read(document["pools"], skip_bad_pools=True)
        parsed = [parse_pool_ref(text) for text in document["refs"]]
        block, newest_block, timestamp = (None if each is None else int(each) for each in document["blocks"])
        return FoundPools(
            pools=pools,
            tokens={address: token for address, token in tokens.items() if address not in listed},
            pairs={_pair(text): int(at_s) for text, at_s in document["pairs"].items()},
            refs={ref.key: ref for ref in parsed},
            queries={
                address: tuple(_query_of_json(address, each) for each in entries)
                for address, entries in document["queries"].items()
            },
            left_out=tuple(map(str, document["left_out"])),
            transfers=parse_transfers(fields, self._network.kind),
            block=block,
            timestamp=timestamp,
            newest_block=newest_block,
            gas_price_wei=int(document["gas_price_wei"]),
        )


def _pair(text: str) -> Pair:
    one, other = text.split(" ")
    return one, other


def _query_to_json(query: PairQuery) -> list[object]:
    return [query.name, list(query.key), query.factory.fee_ppm]


def _query_of_json(address: str, entry: tuple[str, list[int], int]) -> PairQuery:
    """Return a query, with the part of its factory that it depends on."""
    name, key, fee_ppm = entry
    return PairQuery(Factory(address, "", (), int(fee_ppm)), str(name), tuple(map(int, key)))
