"""Build the parameters of the router's `swap` on Starknet: protocol ids, rates, pool addresses and extra data.

The `extra_keys` of a protocol in the catalogue name the fields of its pools that `extra_data` contains, in order:

| family | protocols | extra_data | source |
|---|---|---|---|
| constant_product | JediSwap | none | published: callers of the public router send an empty array |
| constant_product | MySwap, 10kSwap, SithSwapV2, StarkDefiV2, NostraV2 | none | deduced from JediSwap |
| bridge | Circle | none | deduced: another aggregator's adapter rejects any |
| solidly_stable | SithSwapStable, StarkDefiStable | none | deduced: the protocol id identifies stable pools |
| concentrated | MyswapCL, JediSwapCL | fee in ppm | deduced: the fee identifies a pool of a pair |
| ekubo, ekubo_twamm | Ekubo, its extensions | fee (0.128), spacing, extension, skip_ahead | deduced: what is left |

The four Ekubo values are members of its PoolKey and RouteNode: the remaining arguments of the core's `swap`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.errors import InvalidRoute
from swapcli.core.model.network import Network, ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.router_dialect import family_of_package
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.families import is_built_in
from swapcli.payload.starknet.felts import check_felt, from_felt_text

_POOL_ID: Final = "poolId"


def build_call(
    route: RouterRouteParam, steps: Sequence[Step], pools: Mapping[str, Pool], network: Network
) -> RouterCall:
    """Build the call for `route` from `steps`, the replay of the route on `pools` (by key).

    Raises `InvalidRoute` if there are no steps, a pool is unknown, or a protocol has no ID on the network.
    """
    if not steps:
        raise InvalidRoute("the route has no swaps")
    if route.swap_type is not SwapType.TOKEN_TO_TOKEN:
        raise InvalidRoute("on Starknet every swap is from token to token: the native token is an ordinary token")
    return RouterCall(route, tuple(_call_swap(step, pools, network) for step in steps))


def extra_felts(pool: Pool, protocol: ProtocolInfo) -> tuple[int, ...]:
    """Return the `extra_data` of a pool: the fields that the protocol's `extra_keys` name, in order.

    A pool's ID identifies it only in the interface. Raises `InvalidRoute` if the pool lacks one of the fields.
    """
    traits = pool.api_extra_data()
    missing = [key for key in protocol.extra_keys if key not in traits]
    if missing:
        raise InvalidRoute(
            f"pool {pool.address} lacks its {missing[0]}, which {protocol.display_name} needs",
            details={"pool": pool.key, "trait": missing[0]},
        )
    return tuple(_felt(key, traits[key]) for key in protocol.extra_keys if key != _POOL_ID)


def _call_swap(step: Step, pools: Mapping[str, Pool], network: Network) -> RouterSwapParam:
    pool = pools.get(step.pool)
    if pool is None:
        raise InvalidRoute(f"the route uses pool {step.pool}, which is not in the market")
    protocol = network.protocol(pool.protocol)
    if protocol is None:
        raise InvalidRoute(
            f"pool {pool.address} belongs to {pool.protocol}, which has no protocol ID on {network.name}",
            details={"pool": pool.key, "protocol": pool.protocol},
        )
    if not is_built_in(pool.family):
        raise family_of_package(pool)
    return RouterSwapParam(
        token_in=step.token_in,
        token_out=step.token_out,
        rate=step.rate,
        protocol_id=protocol.id,
        pool_address=pool.address,
        swap_type=SwapType.TOKEN_TO_TOKEN,
        extra_felts=extra_felts(pool, protocol),
    )


def _felt(key: str, trait: int | str) -> int:
    return from_felt_text(trait) if isinstance(trait, str) else check_felt(key, trait)
