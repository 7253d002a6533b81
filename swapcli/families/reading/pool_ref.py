"""References to pools: everything that must be known before a pool's state is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeVar, cast

from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.families import family_row
from swapcli.families.reading.contract_kinds import KINDS, contract_kinds, kinds_of_family
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.row import FactoryConstants, PoolConstants

_QUOTER_ROLES: Final = ("quoter_v2", "quoter")
LENS: Final = "lens"
"""The role of a contract that reads another contract's pools."""

C = TypeVar("C", bound=PoolConstants)


class LastTicks(NamedTuple):
    """The pool's tick at the last read, and the initialised ticks around it."""

    tick: int
    initialized: tuple[int, ...] = ()


class LastBins(NamedTuple):
    """The active bin at the last read, and the bins with liquidity around it."""

    active_id: int
    ids: tuple[int, ...] = ()


class PoolRef(NamedTuple):
    """A pool to read. `address` is the contract to call: the manager, for pools with an ID. `tokens` are in the
    contract's order.

    `fee_ppm` is set only if it never changes. `constants` are the other data that never change, in the record type of
    the kind. If only amounts have changed since `last_read`, one round is enough to read the pool.
    """

    address: str
    protocol: str
    family: str
    kind: str
    tokens: tuple[str, ...]
    decimals: tuple[int, ...]
    fee_ppm: int = 0
    constants: PoolConstants | None = None
    last_read: LastTicks | LastBins | None = None

    def constants_as(self, record: type[C]) -> C:
        """Return the constants if they are of the type `record`, otherwise an empty record of that type."""
        return self.constants if isinstance(self.constants, record) else record()

    @property
    def last_ticks(self) -> LastTicks | None:
        """The result of the last read of a concentrated pool."""
        return self.last_read if isinstance(self.last_read, LastTicks) else None

    @property
    def last_bins(self) -> LastBins | None:
        """The result of the last read of a bin pool."""
        return self.last_read if isinstance(self.last_read, LastBins) else None

    @property
    def pool_id(self) -> str:
        """The ID of the pool if its contract has many pools, otherwise an empty string."""
        return getattr(self.constants, "pool_id", "")

    @property
    def key(self) -> str:
        """Same as `Pool.key`."""
        row = KINDS[self.kind]
        if row.is_sampled:
            return self.pool_id or self.address
        return self.pool_id if row.is_keyed_by_id else self.address


def bare_ref(pool: Pool, network: Network) -> PoolRef | None:
    """Return the reference of a known pool without the data that only its state has.

    The result is None if the pool's kind of contract is unknown, or if the pool has no state to read.
    """
    kind = _kind_of_pool(pool, network)
    if kind is None:
        return None
    ref = PoolRef(pool.address, pool.protocol, pool.family, kind, pool.tokens, pool.decimals, pool.fee_ppm)
    row = KINDS[kind]
    if row.constants_of is not None:
        return ref._replace(constants=row.constants_of(pool, network))
    if row.needs_lens:
        record = cast(Callable[..., PoolConstants], row.constants)
        return ref._replace(constants=record(lens=_only_address(pool.protocol, (LENS,), network)))
    if row.constants is not FactoryConstants:
        return ref
    factory = _only_address(pool.protocol, row.roles, network)
    return ref._replace(constants=FactoryConstants(likely_factory=factory))


def network_quoter(protocol: str, network: Network) -> str:
    """Return the quoter that a network names for a protocol; empty if it names none or more than one."""
    return _only_address(protocol, _QUOTER_ROLES, network)


def _only_address(protocol: str, roles: Collection[str], network: Network) -> str:
    named = {
        address
        for deployment in network.deployments
        if protocol in deployment.protocols
        for role, address in deployment.addresses.items()
        if role in roles
    }
    return named.pop() if len(named) == 1 else ""


def _kind_of_pool(pool: Pool, network: Network) -> str | None:
    """Return the kind that the definition names for the pool's protocol and family, otherwise the family's only kind.

    If the family has several kinds, the state determines it.
    """
    protocol = network.protocol(pool.protocol)
    named = contract_kinds(protocol, network) if protocol and protocol.contracts else ()
    candidates = [kind for kind in named if pool.family in KINDS[kind].families]
    if len(candidates) == 1:
        return candidates[0]
    kinds = kinds_of_family(pool.family, network.kind)
    if len(kinds) == 1:
        return kinds[0]
    choose = family_row(pool.family).kind_of_pool if kinds else None
    kind = choose(pool) if choose is not None else None
    return kind if kind in kinds else None


def with_decimals(ref: PoolRef, tokens: Mapping[str, Token]) -> PoolRef | SkippedItem:
    """Return the reference with the decimals of its tokens, or a skipped item if a token is unknown."""
    missing = next((address for address in ref.tokens if address not in tokens), None)
    if missing:
        return SkippedItem(ref.key, f"its token {missing} is unknown or was skipped")
    return ref._replace(decimals=tuple(tokens[address].decimals for address in ref.tokens))
