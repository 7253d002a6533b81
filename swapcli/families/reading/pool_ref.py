"""References to pools: everything that must be known before a pool's state is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.networks.hook_rules import hook_rule_text
from swapcli.core.networks.quoter_definitions import quoted_protocols
from swapcli.core.records import NamedTuple
from swapcli.families.reading.contract_kinds import KINDS, ContractKind, contract_kinds, kinds_of_family
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_constants import (
    AlgebraConstants,
    C,
    CloberConstants,
    EkuboEvmConstants,
    FactoryConstants,
    HanjiConstants,
    LastBins,
    LastTicks,
    PoolConstants,
    V4Constants,
)
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.families.uniswap.v4_hooks import may_change_amounts

_QUOTER_ROLES: Final = ("quoter_v2", "quoter")
LENS: Final = "lens"
"""The role of a contract that reads the pools of another."""


_RECORDS_WITH_LENS: Final[Mapping[ContractKind, Callable[[str], PoolConstants]]] = {
    ContractKind.CLOBER_V2: CloberConstants,
    ContractKind.EKUBO_EVM: EkuboEvmConstants,
    ContractKind.HANJI: HanjiConstants,
}


class PoolRef(NamedTuple):
    """A pool to read. `address` is the contract to call: the manager of pools with an id. `tokens` are in its order.

    `fee_ppm` is set only if it never changes. `constants` are what else never changes, in the record of the kind. If
    only amounts have changed since `last_read`, one round is enough to read the pool.
    """

    address: str
    protocol: str
    family: str
    kind: ContractKind
    tokens: tuple[str, ...]
    decimals: tuple[int, ...]
    fee_ppm: int = 0
    constants: PoolConstants | None = None
    last_read: LastTicks | LastBins | None = None

    def constants_as(self, record: type[C]) -> C:
        """Return the constants if they are in such a record, else an empty record of the type."""
        return self.constants if isinstance(self.constants, record) else record()

    @property
    def last_ticks(self) -> LastTicks | None:
        """What the last read of a concentrated pool found."""
        return self.last_read if isinstance(self.last_read, LastTicks) else None

    @property
    def last_bins(self) -> LastBins | None:
        """What the last read of a pool of bins found."""
        return self.last_read if isinstance(self.last_read, LastBins) else None

    @property
    def pool_id(self) -> str:
        """The id by which a contract of many pools knows it; empty if there is none."""
        return getattr(self.constants, "pool_id", "")

    @property
    def key(self) -> str:
        """As `Pool.key`."""
        if self.kind is ContractKind.SAMPLED:
            return self.pool_id or self.address
        return self.pool_id if KINDS[self.kind].is_keyed_by_id else self.address


def bare_ref(pool: Pool, network: Network) -> PoolRef | None:
    """Return the reference of a known pool without what only its state has.

    None if its kind of contract is unknown, or it has no state to read.
    """
    kind = _kind_of_pool(pool, network)
    if kind is None:
        return None
    ref = PoolRef(pool.address, pool.protocol, pool.family, kind, pool.tokens, pool.decimals, pool.fee_ppm)
    if kind is ContractKind.ALGEBRA:
        return ref._replace(constants=AlgebraConstants(quoter=network_quoter(pool.protocol, network)))
    if KINDS[kind].needs_lens:
        lens = _only_address(pool.protocol, (LENS,), network)
        return ref._replace(constants=_RECORDS_WITH_LENS[kind](lens))
    if kind is ContractKind.UNISWAP_V4:
        return ref._replace(constants=_rule_of_hook(pool, network))
    if KINDS[kind].constants is not FactoryConstants:
        return ref
    return ref._replace(constants=FactoryConstants(likely_factory=_only_factory(pool.protocol, kind, network)))


def _rule_of_hook(pool: Pool, network: Network) -> V4Constants:
    """Return the rule that a network has for the hook of a Uniswap V4 pool, and who can confirm it."""
    hooks = str(pool.api_extra_data()["hooks"])
    rule = hook_rule_text(network, hooks) if may_change_amounts(hooks) else ""
    if not rule:
        return V4Constants()
    is_quoted = pool.protocol in quoted_protocols(network)
    return V4Constants(hook_rule=rule, quoter=network_quoter(pool.protocol, network), is_quoted=is_quoted)


def network_quoter(protocol: str, network: Network) -> str:
    """Return the quoter that a network names for a protocol; empty if it names none or several."""
    return _only_address(protocol, _QUOTER_ROLES, network)


def _only_factory(protocol: str, kind: ContractKind, network: Network) -> str:
    """Return the factory that a network names for a protocol; empty if it names none or several."""
    return _only_address(protocol, KINDS[kind].roles, network)


def _only_address(protocol: str, roles: Collection[str], network: Network) -> str:
    named = {
        address
        for deployment in network.deployments
        if protocol in deployment.protocols
        for role, address in deployment.addresses.items()
        if role in roles
    }
    return named.pop() if len(named) == 1 else ""


def _kind_of_pool(pool: Pool, network: Network) -> ContractKind | None:
    """Return the kind that the definition names for the pool's protocol and family, else the one that its state shows.

    Where neither does, it is the only kind of the family.
    """
    protocol = network.protocol(pool.protocol)
    named = contract_kinds(protocol, network) if protocol and protocol.contracts else ()
    candidates = [kind for kind in named if pool.family in KINDS[kind].families]
    if len(candidates) == 1:
        return candidates[0]
    kinds = kinds_of_family(pool.family, network.kind)
    if isinstance(pool, ConstantProduct) and ContractKind.SOLIDLY in kinds:
        return ContractKind.SOLIDLY if pool.is_solidly else ContractKind.UNISWAP_V2
    if isinstance(pool, Concentrated) and ContractKind.UNISWAP_V3 in kinds:
        if pool.tick_list.parameters:
            return ContractKind.INFINITY_CL
        if pool.tick_list.pool_id:
            return ContractKind.UNISWAP_V4
        return ContractKind.UNISWAP_V3 if pool.tick_list.word_ticks else ContractKind.ALGEBRA
    if ContractKind.SOLIDLY in kinds:  # other versions are named
        return ContractKind.SOLIDLY
    return kinds[0] if len(kinds) == 1 else None


def with_decimals(ref: PoolRef, tokens: Mapping[str, Token]) -> PoolRef | SkippedItem:
    """Return the reference with the decimals of its tokens, or a skipped item if a token is unknown."""
    missing = next((address for address in ref.tokens if address not in tokens), None)
    if missing:
        return SkippedItem(ref.key, f"its token {missing} is not known or was skipped")
    return ref._replace(decimals=tuple(tokens[address].decimals for address in ref.tokens))
