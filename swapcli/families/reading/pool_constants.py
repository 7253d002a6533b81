"""What never changes about a pool, by kind of contract; `KindTraits.constants` says which record a kind has.

Every field has a default that means "not known": the reader of the kind then asks the pool for it, or refuses the pool.
"""

from __future__ import annotations

from typing import TypeVar

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.records import NamedTuple
from swapcli.families.infinity_key import step_in


class TickConstants(NamedTuple):
    """Of a concentrated pool with a contract of its own."""

    tick_spacing: int = 0


class AlgebraConstants(NamedTuple):
    """Of a pool of Algebra Integral: the quoter of its deployment, and the deployer of a custom pool.

    `has_dynamic_fee` is whether its plugin could set the fee of a swap at the last read.
    """

    quoter: str = ""
    deployer: str = ""
    has_dynamic_fee: bool = False


class V4Constants(NamedTuple):
    """The key of a Uniswap V4 pool, besides its tokens and a constant fee, and its id.

    A pool that trades the native token lists it in its wrapped form. Of a pool whose hook changes swaps, `hook_rule` is
    the rule of the network's definition, as JSON; `quoter` can confirm it, and `is_quoted` says that the pool can be
    sampled where the rule does not hold.
    """

    pool_id: str = ""
    tick_spacing: int = 0
    hooks: str = ZERO_ADDRESS
    is_native: bool = False
    has_dynamic_fee: bool = False
    hook_rule: str = ""
    quoter: str = ""
    is_quoted: bool = False


class InfinityConstants(NamedTuple):
    """The same of a PancakeSwap Infinity pool. `parameters` has the tick spacing, or the step of the bins."""

    pool_id: str = ""
    parameters: int = 0
    hooks: str = ZERO_ADDRESS
    is_native: bool = False
    has_dynamic_fee: bool = False

    @property
    def step(self) -> int:
        """The tick spacing or the bin step."""
        return step_in(self.parameters)


class EkuboConstants(NamedTuple):
    """The key of an Ekubo pool, besides its tokens, and its id. `extension` is empty if it has none."""

    pool_id: str = ""
    tick_spacing: int = 0
    fee_x128: int = 0
    extension: str = ""


class EkuboEvmConstants(NamedTuple):
    """The key of a pool of Ekubo's EVM contracts, besides its tokens, its id, and the contract that reads its ticks.

    `config` is the PoolConfig, 32 bytes in hex. `is_native` means that token0 is the native token.
    """

    lens: str = ""
    pool_id: str = ""
    config: str = ""
    is_native: bool = False


class FactoryConstants(NamedTuple):
    """Of a pair whose fee its factory knows.

    `likely_factory` is the only one that the network names for the protocol.
    """

    factory: str = ""
    likely_factory: str = ""


class BalancerV2Constants(NamedTuple):
    """Of a pool of Balancer's second vault."""

    vault: str = ""
    pool_id: str = ""


class BalancerV3Constants(NamedTuple):
    """Of a pool of Balancer's third vault. `pool_tokens` are those of a boosted pool itself; others trade theirs."""

    vault: str = ""
    pool_tokens: tuple[str, ...] = ()


class FluidConstants(NamedTuple):
    """Of a Fluid pool: the contract that returns its reserves, and whether it trades the native token."""

    resolver: str = ""
    is_native: bool = False


class MetapoolConstants(NamedTuple):
    """Of a Curve metapool: the pool whose liquidity token is its second coin."""

    base_pool: str = ""


class CryptoSwapConstants(NamedTuple):
    """Of a Curve pool of volatile coins: the version of its contract."""

    version: str = ""


class CloberConstants(NamedTuple):
    """The key of a book of Clober V2, besides its tokens, its id, and the contract that reads its ticks.

    `native` is "base" or "quote" if that token is the native one, listed in its wrapped form.
    """

    lens: str = ""
    pool_id: str = ""
    unit_size: int = 0
    maker_policy: int = 0
    taker_policy: int = 0
    hooks: str = ZERO_ADDRESS
    native: str = ""


class KuruConstants(NamedTuple):
    """Of a market of Kuru: its units, the taker's fee, and which token is the native one, as for Clober."""

    price_precision: int = 0
    size_precision: int = 0
    taker_fee_bps: int = 0
    native: str = ""


class HanjiConstants(NamedTuple):
    """Of an order book of Hanji: the contract that assembles its orders."""

    lens: str = ""


class RingConstants(NamedTuple):
    """Of a pair of RingSwap: the contracts that wrap its tokens."""

    wrappers: tuple[str, ...] = ()


class MaverickConstants(NamedTuple):
    """Of a pool of Maverick V2: its tick spacing, and its kinds of bins as bits."""

    tick_spacing: int = 0
    kinds: int = 0


class SampledConstants(NamedTuple):
    """Of a pool that its protocol quotes. `values` are the arguments of its functions: pairs of a name and a value."""

    pool_id: str = ""
    values: tuple[tuple[str, str], ...] = ()


PoolConstants = (
    TickConstants
    | AlgebraConstants
    | V4Constants
    | InfinityConstants
    | EkuboConstants
    | EkuboEvmConstants
    | FactoryConstants
    | BalancerV2Constants
    | BalancerV3Constants
    | FluidConstants
    | MetapoolConstants
    | CryptoSwapConstants
    | CloberConstants
    | KuruConstants
    | HanjiConstants
    | RingConstants
    | MaverickConstants
    | SampledConstants
)

C = TypeVar("C", bound=PoolConstants)


class LastTicks(NamedTuple):
    """The tick of the last read, and the initialised ticks around it."""

    tick: int
    initialized: tuple[int, ...] = ()


class LastBins(NamedTuple):
    """The active bin of the last read, and the bins with liquidity around it."""

    active_id: int
    ids: tuple[int, ...] = ()
